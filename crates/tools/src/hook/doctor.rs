//! `ghost hook doctor`: runs what is installed, with a command that has to be stopped and one that has not.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::call::Client;
use super::entry::{self, Installed};
use super::install::text_of;
use super::line::HookLine;
use super::run::{ANSWER_TIMEOUT, answer_timeout};
use super::target::{Scope, Target};
use super::toml_text;
use crate::consent::human;
use crate::global::Global;
use crate::name::new_session;
use crate::print::line;
use crate::setup::Setup;
use crate::wait::drive;
use ghost_shell::{Approver, Choice, Decision, DenyAll, Limits, Request, Response, Reviewer, Shell, quote};

/// What no policy lets run.
const BLOCKED: &str = "shutdown -h now";

/// What every policy lets run.
const SAFE: &str = "uname -s";

/// How long a hook may take for a command about which nobody is asked.
const PROOF_TIMEOUT: Duration = Duration::from_secs(30);

/// Something does not hold.
const DOES_NOT_HOLD: u8 = 3;

/// The arguments of `ghost hook doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "It reads the settings of the administrator, at yours, and at those of the project, and runs each line that `install` wrote twice:\nwith a command that has to be stopped, and with one that has not. Any other line is not run.\n\nExit codes: 0 it holds, 3 it does not, 1 it could not be found out.\n\nExamples:\n  ghost hook doctor\n  ghost hook doctor --project ~/site --json"
)]
pub(super) struct Arguments {
    /// The project whose settings are looked at; the working folder unless said.
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// The folder in place of `/etc`.
    #[arg(long, value_name = "DIR", default_value = "/etc")]
    etc: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Finding {
    client: &'static str,
    file: String,
    state: State,
    what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Problem,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let setup = Setup::of_line(global)?;
    let project = std::path::absolute(&arguments.project)?;
    let home = setup.environment.path("HOME");
    let (mut findings, mut hooks) = (Vec::new(), 0);
    for client in [Client::Claude, Client::Codex] {
        let mut off = Vec::new();
        let mut managed = false;
        for scope in [Scope::Managed, Scope::User, Scope::Project(project.clone())] {
            let Some(target) = Target::new(client, scope, &arguments.etc, home.as_deref()) else { continue };
            let mut found = Findings { target: &target, list: &mut findings };
            match text_of(&target.path) {
                Ok(None) => {}
                Err(error) => found.add(State::Problem, format!("{error:#}")),
                Ok(Some(text)) => {
                    let installed = found.examine(&setup, &text)?;
                    hooks += installed;
                    managed |= installed > 0 && target.scope == Scope::Managed;
                    if switches_off(client, &text) {
                        off.push(target);
                    }
                }
            }
        }
        for target in off {
            let state =
                if managed && target.scope != Scope::Managed { State::Warning } else { State::Problem };
            Findings { target: &target, list: &mut findings }.add(
                state,
                "it switches hooks off; only the administrator's hooks run in spite of that".to_owned(),
            );
        }
    }
    let ok = hooks > 0 && findings.iter().all(|finding| finding.state != State::Problem);
    if arguments.json {
        line(&json!({ "ok": ok, "hooks": hooks, "findings": findings }).to_string())?;
    } else {
        for finding in &findings {
            let state = match finding.state {
                State::Ok => "ok     ",
                State::Warning => "warning",
                State::Problem => "PROBLEM",
            };
            line(&format!("{state}  {}  {}: {}", finding.client, finding.file, finding.what))?;
        }
        if hooks == 0 {
            line("PROBLEM  no hook of Ghost's is installed; `ghost hook install` writes one")?;
        }
    }
    Ok(if ok { 0 } else { DOES_NOT_HOLD })
}

fn switches_off(client: Client, text: &str) -> bool {
    match client {
        Client::Codex => toml_text::switches_off(text),
        Client::Claude | Client::Generic => entry::switches_off(text),
    }
}

/// The findings about one file.
struct Findings<'a> {
    target: &'a Target,
    list: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, state: State, what: String) {
        let file = self.target.path.display().to_string();
        self.list.push(Finding { client: self.target.client.word(), file, state, what });
    }

    /// Examines every hook of Ghost's in a file, and returns how many there are.
    fn examine(&mut self, setup: &Setup, text: &str) -> anyhow::Result<usize> {
        let installed = match self.target.client {
            Client::Codex => toml_text::in_codex(text),
            Client::Claude | Client::Generic => entry::in_claude(text),
        };
        let installed = match installed {
            Ok(installed) => installed,
            Err(error) => {
                self.add(State::Problem, error.to_string());
                return Ok(0);
            }
        };
        for hook in &installed {
            self.settings(hook);
            match HookLine::parse(&hook.command) {
                Some(parsed) => {
                    let trusted = self.program(&parsed.program);
                    self.time(setup, hook);
                    if trusted {
                        self.prove(setup, &parsed)?;
                    }
                }
                None => self.add(
                    State::Problem,
                    format!("this line was not written by `install` and is not run here: {}", hook.command),
                ),
            }
        }
        if let Some(weakness) = self.target.weakness().filter(|_| !installed.is_empty()) {
            self.add(State::Warning, weakness.to_owned());
        }
        Ok(installed.len())
    }

    fn settings(&mut self, hook: &Installed) {
        let all: &[&str] = match self.target.client {
            Client::Codex => &["", ".*"],
            Client::Claude | Client::Generic => &["", "*"],
        };
        if !all.contains(&hook.matcher.as_str()) {
            self.add(
                State::Problem,
                format!("it is asked about {:?} alone; other tools act unseen", hook.matcher),
            );
        }
        if self.target.client == Client::Claude && !hook.blocks_on_failure {
            let what = "without \"onFailure\": \"block\" the client goes on where the hook takes too long";
            self.add(State::Problem, what.to_owned());
        }
    }

    /// The hook's own limit has to come before that of the client, which goes on at its own.
    fn time(&mut self, setup: &Setup, hook: &Installed) {
        // Both clients give ten minutes unless said.
        let own = answer_timeout(setup, setup.config.hook.approve) + ANSWER_TIMEOUT;
        let (timeout, least) = (hook.timeout.unwrap_or(600), own.as_secs());
        if timeout < least {
            let what =
                format!("the client goes on after {timeout} s; it has to give the hook {least} s or more");
            self.add(State::Problem, what);
        }
    }

    /// Whoever can change the program answers in its place.
    fn program(&mut self, path: &Path) -> bool {
        let wrong = match fs::metadata(path) {
            Err(error) => Some(format!("{} cannot be run: {error}", path.display())),
            Ok(file) if !file.is_file() || file.permissions().mode() & 0o111 == 0 => {
                Some(format!("{} is no program", path.display()))
            }
            Ok(file) if file.permissions().mode() & 0o022 != 0 => {
                Some(format!("{} can be changed by others", path.display()))
            }
            Ok(file) if file.uid() != 0 && file.uid() != rustix::process::getuid().as_raw() => {
                Some(format!("{} belongs to somebody else", path.display()))
            }
            Ok(_) => None,
        };
        let trusted = wrong.is_none();
        if let Some(wrong) = wrong {
            self.add(State::Problem, wrong);
        }
        trusted
    }

    /// Runs the line twice, and says what it came to.
    fn prove(&mut self, setup: &Setup, parsed: &HookLine) -> anyhow::Result<()> {
        let stopped = run_line(setup, parsed, BLOCKED)?;
        if stopped.exit_code == Some(2) && !stopped.stderr.trim().is_empty() {
            self.add(State::Ok, format!("`{BLOCKED}` is stopped"));
        } else {
            self.add(State::Problem, format!("`{BLOCKED}` is not stopped: {}", summary(&stopped)));
        }
        let let_run = run_line(setup, parsed, SAFE)?;
        let said = match parsed.client {
            Client::Codex | Client::Generic => let_run.output.trim().is_empty(),
            Client::Claude => {
                let answer: Value = serde_json::from_str(let_run.output.trim()).unwrap_or_default();
                answer.pointer("/hookSpecificOutput/permissionDecision") == Some(&json!("allow"))
            }
        };
        if let_run.exit_code == Some(0) && said {
            self.add(State::Ok, format!("`{SAFE}` is allowed"));
        } else {
            self.add(State::Problem, format!("`{SAFE}` is not allowed: {}", summary(&let_run)));
        }
        Ok(())
    }
}

fn summary(response: &Response) -> String {
    match response.exit_code {
        Some(code) => format!("exit code {code}, {:?} {:?}", response.output.trim(), response.stderr.trim()),
        None => response.reason.clone(),
    }
}

/// Runs a line with a call on its standard input. Whoever typed the subcommand wants exactly this.
fn run_line(setup: &Setup, parsed: &HookLine, command: &str) -> anyhow::Result<Response> {
    let call = json!({
        "session_id": "doctor", "cwd": "/", "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": "Bash", "tool_input": { "command": command },
    });
    let text = format!("printf %s {} | {}", quote(&call.to_string()), parsed.text());
    let approver = OwnLine { text: text.clone(), who: human(setup) };
    let shell = Shell::builder(new_session("doctor")?, setup.data()?)
        .policy(setup.judged_policy()?)
        .anchor(setup.anchor()?)
        .environment(setup.environment.all().clone())
        .limits(Limits { timeout: PROOF_TIMEOUT, ..Limits::default() })
        .approver(Arc::new(approver))
        .build()?;
    drive(|| async { shell.run(&text, "does the hook stop what it has to?").await })
}

/// Approves the one line that the subcommand was started for.
struct OwnLine {
    text: String,
    who: String,
}

#[async_trait]
impl Approver for OwnLine {
    async fn decide(&self, request: &Request) -> Decision {
        if request.command == self.text && request.round == 1 {
            return Decision { choice: Choice::Approve, who: Reviewer::new(self.who.clone()) };
        }
        DenyAll.decide(request).await
    }
}
