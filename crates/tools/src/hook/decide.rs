//! From a tool call to an answer: judged, asked about and on record.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::answer::Answer;
use super::approver::NobodyAsked;
use super::call::{Call, CallError, Client};
use super::place::Project;
use super::run::{answer_timeout, explained};
use super::slack::AsksInSlack;
use super::table::{self, TableRuling};
use super::tool::{self, ToolAction};
use crate::config::{AskWhom, ToolRule};
use crate::reach::{Reach, machine};
use crate::setup::Setup;
use ghost_base::{Digest, SessionId};
use ghost_session::outside::{About, OutsideKind};
use ghost_shell::{
    Action, Admission, Approver, CancelSignal, Impact, Known, Response, Ruling, Sandbox, Shell, Verdict,
    quote,
};

/// A longer value of a tool call is shown and recorded by its digest.
const MAX_SHOWN_BYTES: usize = 2_000;

/// What it takes to answer.
pub(super) struct Deciding<'a> {
    /// Configuration and data folder.
    pub setup: &'a Setup,
    /// Whose call it is.
    pub client: Client,
    /// Who is asked.
    pub whom: AskWhom,
}

/// What a call would do, with everything that its judgement needs.
struct Judged {
    shell: Shell,
    action: ToolAction,
    table: TableRuling,
    reasoning: String,
    /// Every file that it reads or writes, by its name in the call and by its real path.
    files: Vec<String>,
    /// What of its input Ghost cannot judge.
    odd: Option<String>,
    /// Who is asked in Slack, where somebody is.
    asks: Option<Arc<AsksInSlack>>,
}

impl Deciding<'_> {
    /// Decides about a call. Where anything fails the answer is no.
    pub(super) async fn decide(&self, call: &Call, cancel: CancelSignal) -> Answer {
        match self.judged(call) {
            Ok(judged) => {
                let answer = self.answer(&judged, call, cancel).await;
                match (answer, judged.asks.as_ref().and_then(|asks| asks.advice())) {
                    // What the record says in a word the model has to understand.
                    (Answer::Refuse { audit_id, .. }, Some(advice)) => {
                        Answer::Refuse { reason: format!("{advice}; nothing ran"), audit_id }
                    }
                    (answer, _) => answer,
                }
            }
            Err(error) => refused(explained(&error)),
        }
    }

    /// Refuses a call that was not understood, and puts that on record where there is a place for it.
    pub(super) async fn refuse(&self, error: &CallError) -> Answer {
        let reason = format!("{error}; nothing ran");
        let shell =
            session(self.client, "unread").and_then(|session| self.shell(session, Path::new("/"), None));
        let audit_id = match shell {
            Ok(shell) => {
                shell.refuse("a call that was not understood", self.client.name(), &reason).await.audit_id
            }
            Err(_) => String::new(),
        };
        Answer::Refuse { reason, audit_id }
    }

    fn judged(&self, call: &Call) -> anyhow::Result<Judged> {
        let action = tool::action(self.client, call)?;
        let environment = &self.setup.environment;
        // Codex knows no such variable: what stands there was put there by something else.
        let root = match self.client {
            Client::Claude => environment.path("CLAUDE_PROJECT_DIR"),
            Client::Codex | Client::Generic => None,
        };
        let project = Project::new(&call.folder, root.as_deref(), environment.path("HOME").as_deref());
        let table = table::judge(&self.setup.config.hook, &call.tool, &action, &project);
        let odd = tool::odd_member(self.client, call);
        let files = match &action {
            ToolAction::Read(files) | ToolAction::Write(files) => files.as_slice(),
            ToolAction::Shell { .. }
            | ToolAction::Fetch(_)
            | ToolAction::Mcp
            | ToolAction::Nothing
            | ToolAction::Other => &[],
        };
        let real = |name: &String| project.locate(name).path.to_string_lossy().into_owned();
        let files = files.iter().flat_map(|name| [name.clone(), real(name)]).collect();
        let said = if let ToolAction::Shell { reasoning, .. } = &action { reasoning.clone() } else { None };
        let who = match &call.agent {
            Some(agent) => format!("{} ({agent})", self.client.name()),
            None => self.client.name().to_owned(),
        };
        let reasoning = said.unwrap_or_else(|| "no reason given".to_owned());
        let asks = match self.whom {
            AskWhom::Slack => {
                let about = About {
                    agent: who.clone(),
                    machine: machine(),
                    folder: call.folder.display().to_string(),
                    conversation: call.session.clone(),
                    kind: match &action {
                        ToolAction::Shell { .. } if odd.is_none() => OutsideKind::Command,
                        ToolAction::Shell { .. }
                        | ToolAction::Read(_)
                        | ToolAction::Write(_)
                        | ToolAction::Fetch(_)
                        | ToolAction::Mcp
                        | ToolAction::Nothing
                        | ToolAction::Other => OutsideKind::Call,
                    },
                    reasoning: reasoning.clone(),
                };
                let patience = Duration::from_secs(self.setup.config.hook.wait_seconds);
                Some(Arc::new(AsksInSlack::new(Reach::new(self.setup)?, about, patience)))
            }
            AskWhom::Ask | AskWhom::Deny => None,
        };
        let reasoning = format!("{who} in {}: {reasoning}", call.folder.display());
        let shell = self.shell(session(self.client, &call.session)?, &call.folder, asks.clone())?;
        Ok(Judged { shell, action, table, reasoning, files, odd, asks })
    }

    /// Opens the gate of the client's session. What it admits runs elsewhere, so that no sandbox is tried out.
    fn shell(
        &self,
        session: SessionId,
        folder: &Path,
        asks: Option<Arc<AsksInSlack>>,
    ) -> anyhow::Result<Shell> {
        let setup = self.setup;
        let approver: Arc<dyn Approver> = match asks {
            Some(asks) => asks,
            None => Arc::new(NobodyAsked),
        };
        Ok(Shell::builder(session, setup.data()?)
            .policy(setup.policy()?)
            .known(Known::of(&setup.places()?))
            .anchor(setup.anchor()?)
            .audit_end()
            .sandbox(Sandbox::BestEffort)
            .environment(setup.environment.all().clone())
            .captures(setup.config.capture.folder.clone())
            .cwd(folder.to_owned())
            .approver(approver)
            .expiry(answer_timeout(setup, self.whom))
            .build()?)
    }

    async fn answer(&self, judged: &Judged, call: &Call, cancel: CancelSignal) -> Answer {
        let Judged { shell, action, table, reasoning, odd, .. } = judged;
        if let ToolAction::Shell { command, .. } = action {
            if table.rule == ToolRule::Deny {
                let why = format!("{} ({})", table.reason, table.name);
                return self.refusal(&shell.refuse(command, reasoning, &why).await);
            }
            if odd.is_none() {
                return self.command(shell, command, reasoning, cancel).await;
            }
        }
        let what = described(&call.tool, &call.input);
        let ruling = match action {
            ToolAction::Shell { command, .. } => shell.examine(command).await,
            ToolAction::Read(_)
            | ToolAction::Write(_)
            | ToolAction::Fetch(_)
            | ToolAction::Mcp
            | ToolAction::Nothing
            | ToolAction::Other => tool_ruling(judged),
        };
        let ruling = odd.as_ref().map_or_else(|| ruling.clone(), |odd| unread(ruling.clone(), odd));
        let passes = ruling.verdict == Verdict::Safe;
        if ruling.verdict == Verdict::Risky && self.asks_in_client() {
            return self.left_to_client(shell, &what, reasoning, ruling).await;
        }
        match shell.admit_as(&what, reasoning, ruling, cancel).await {
            Admission::Admitted(admitted) if passes => {
                Answer::Pass { reason: admitted.reason, audit_id: admitted.audit_id }
            }
            admission @ (Admission::Admitted(_) | Admission::Refused(_)) => self.admission(admission, None),
        }
    }

    async fn command(&self, shell: &Shell, command: &str, reasoning: &str, cancel: CancelSignal) -> Answer {
        if let Some(ruling) = written_outside(&shell.judge(command)) {
            if self.asks_in_client() {
                return self.left_to_client(shell, command, reasoning, ruling).await;
            }
            return self.admission(shell.admit_as(command, reasoning, ruling, cancel).await, Some(command));
        }
        if self.client == Client::Codex || self.asks_in_client() {
            let ruling = shell.examine(command).await;
            // What is typed into it later passes no hook.
            if self.client == Client::Codex && ruling.verdict == Verdict::Safe && reads_terminal(&ruling) {
                let ruling = Ruling {
                    verdict: Verdict::Risky,
                    rule: "hook.typed".into(),
                    reason: "Codex can type into it while it runs, and no hook sees that".into(),
                    impact: Some(Impact::Change),
                    ..ruling
                };
                let admission = shell.admit_as(command, reasoning, ruling, cancel).await;
                return self.admission(admission, Some(command));
            }
            // An empty command is an error of its own.
            if ruling.verdict == Verdict::Risky && self.asks_in_client() && !command.trim().is_empty() {
                return self.left_to_client(shell, command, reasoning, ruling).await;
            }
        }
        self.admission(shell.admit(command, reasoning, cancel).await, Some(command))
    }

    /// Tells whether whoever sits in front of the client is asked by the client itself.
    fn asks_in_client(&self) -> bool {
        self.whom == AskWhom::Ask && self.client != Client::Codex
    }

    async fn left_to_client(&self, shell: &Shell, what: &str, reasoning: &str, ruling: Ruling) -> Answer {
        let reason = format!("{} ({})", ruling.reason, ruling.rule);
        match shell.hand_over(what, reasoning, ruling, "left to whoever sits in front of the client").await {
            Ok(audit_id) => Answer::Ask { reason, audit_id },
            Err(response) => self.refusal(&response),
        }
    }

    /// Puts into words what came of it. `sent` is the command, where it is one.
    fn admission(&self, admission: Admission, sent: Option<&str>) -> Answer {
        match admission {
            Admission::Refused(response) => self.refusal(&response),
            Admission::Admitted(admitted) => {
                let reason = match (&admitted.who, admitted.action) {
                    (Some(who), Action::UserModified) => format!("changed and approved by {who}"),
                    (Some(who), _) => format!("approved by {who}"),
                    (None, _) => format!("{} ({})", admitted.reason, admitted.rule),
                };
                let changed =
                    sent.filter(|sent| admitted.action == Action::UserModified && *sent != admitted.command);
                let changed = changed.map(|_| admitted.command.clone());
                Answer::Allow { reason, changed, audit_id: admitted.audit_id }
            }
        }
    }

    fn refusal(&self, response: &Response) -> Answer {
        let (rule, why) = (&response.rule, &response.reason);
        let reason = match response.action {
            Action::Blocked => format!("BLOCKED: {why} ({rule}); nobody can approve it, in no spelling"),
            Action::Expired => format!("nobody answered in time ({rule}); nothing ran"),
            // It says by whom already.
            Action::UserDenied if why.starts_with("denied by ") => format!("{why}; nothing ran"),
            Action::UserDenied => format!("denied: {why} ({rule}); nothing ran"),
            Action::AutoApproved | Action::UserApproved | Action::UserModified | Action::UserAbandoned => {
                format!("{why}; nothing ran")
            }
        };
        Answer::Refuse { reason, audit_id: response.audit_id.clone() }
    }
}

/// Turns a row of the table into a ruling.
fn tool_ruling(judged: &Judged) -> Ruling {
    let Judged { shell, action, table, files, .. } = judged;
    let (verdict, impact) = match table.rule {
        ToolRule::Pass => (Verdict::Safe, None),
        ToolRule::Ask => (Verdict::Risky, Some(Impact::Change)),
        ToolRule::Deny => (Verdict::Blocked, None),
    };
    // What no command may read, write or ask for, no tool may.
    let command = match action {
        ToolAction::Fetch(Some(url)) => Some(format!("curl -s {}", quote(url))),
        ToolAction::Read(_) => Some(line("cat", files)),
        ToolAction::Write(_) => Some(line("tee", files)),
        ToolAction::Fetch(None)
        | ToolAction::Shell { .. }
        | ToolAction::Mcp
        | ToolAction::Nothing
        | ToolAction::Other => None,
    };
    let ruling = command.map(|command| shell.judge(&command));
    if let Some(ruling) = ruling.filter(|ruling| ruling.verdict == Verdict::Blocked) {
        return Ruling { argv: None, ..ruling };
    }
    if let Some(pattern) =
        files.iter().find(|name| verdict == Verdict::Safe && shell.may_name_credential(name))
    {
        return Ruling {
            verdict: Verdict::Risky,
            impact: Some(Impact::Change),
            rule: "hook.credential".into(),
            reason: format!("{pattern:?} can stand for a file that holds credentials").into(),
            ..Ruling::default()
        };
    }
    Ruling {
        verdict,
        impact,
        rule: table.name.into(),
        reason: table.reason.clone().into(),
        ..Ruling::default()
    }
}

fn line(program: &str, files: &[String]) -> String {
    files.iter().fold(program.to_owned(), |line, file| format!("{line} {}", quote(file)))
}

/// Makes a call ask because a part of its input was not judged. A BLOCKED call stays BLOCKED.
fn unread(ruling: Ruling, odd: &str) -> Ruling {
    let reason = match ruling.verdict {
        Verdict::Blocked => return ruling,
        Verdict::Safe => odd.to_owned(),
        Verdict::Risky => format!("{odd}; and {}", ruling.reason),
    };
    Ruling {
        verdict: Verdict::Risky,
        rule: "hook.member".into(),
        reason: reason.into(),
        impact: Some(Impact::Change),
        ..Ruling::default()
    }
}

fn refused(reason: String) -> Answer {
    Answer::Refuse { reason, audit_id: String::new() }
}

/// Tells whether a SAFE command reads what somebody types.
fn reads_terminal(ruling: &Ruling) -> bool {
    let sends = |argv: &[String]| {
        let program = argv.first().map(|word| word.rsplit('/').next().unwrap_or(word));
        program == Some("openssl") && argv.iter().any(|word| word == "s_client")
    };
    let heads = ruling.list.iter().flat_map(ghost_shell::List::heads);
    ruling.argv.as_deref().is_some_and(sends) || heads.map(|stage| stage.argv.as_slice()).any(sends)
}

/// Makes a SAFE command ask that writes a file of its own: only the sandbox, which no hook has, keeps that in a scratch folder.
fn written_outside(ruling: &Ruling) -> Option<Ruling> {
    let writes = ruling.profiles().iter().any(|profile| profile.scratch);
    (ruling.verdict == Verdict::Safe && writes).then(|| Ruling {
        verdict: Verdict::Risky,
        rule: "hook.scratch".into(),
        reason: "it writes a file of its own, and no sandbox keeps that in a scratch folder here".into(),
        impact: Some(Impact::Change),
        ..ruling.clone()
    })
}

/// Names the audit file of a client's session.
fn session(client: Client, name: &str) -> anyhow::Result<SessionId> {
    let digest = Digest::of_fields([client.word(), name]).to_string();
    let short = digest.get(..12).unwrap_or_default();
    Ok(format!("hook-{}-{short}", client.word()).parse()?)
}

/// Writes a call so that two calls are never the same text. What is long stands there by its digest.
fn described(tool: &str, input: &Map<String, Value>) -> String {
    format!("{tool} {}", shortened(&Value::Object(input.clone())))
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_SHOWN_BYTES => {
            Value::String(format!("sha256:{} ({} bytes)", Digest::of(text), text.len()))
        }
        Value::Array(values) => Value::Array(values.iter().map(shortened).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), shortened(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
