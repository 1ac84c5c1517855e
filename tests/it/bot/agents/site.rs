//! A person's machine: a home, a project, the settings that `ghost hook install` writes, and an agent that is started there.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::model::{Call, Model};
use crate::bot::outside::TOKEN;

/// No run of an agent takes longer, however busy the machine is.
const RUN_TIMEOUT: Duration = Duration::from_secs(240);

/// Which agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
}

impl Agent {
    /// Returns the word of `ghost hook`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Returns how it is started; nothing where it is left out.
    #[expect(clippy::disallowed_methods, reason = "the test reads what it may leave out")]
    pub(super) fn program(self) -> Option<Vec<String>> {
        let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
        if without.split(',').any(|name| name == self.word()) {
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("sdk/agents/node_modules");
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let line = match self {
            Self::Claude => vec![path("claude")],
            Self::Codex => vec!["node".to_owned(), path("@openai/codex/bin/codex.js")],
        };
        let there = Path::new(line.last().unwrap()).exists();
        assert!(
            there,
            "{self:?} is not installed: run tests/sdk/install, or set GHOST_TEST_WITHOUT={}",
            self.word()
        );
        Some(line)
    }
}

/// A person's machine.
pub(super) struct Site {
    pub(super) agent: Agent,
    program: Vec<String>,
    home: TempDir,
    folder: TempDir,
}

impl Site {
    /// Prepares it. `hook` and `outside` are those sections of the configuration.
    pub(super) fn new(agent: Agent, hook: &str, url: &str) -> Option<Self> {
        let program = agent.program()?;
        let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let site = Self { agent, program, home, folder };
        fs::create_dir(site.project()).unwrap();
        fs::write(site.place("token"), TOKEN).unwrap();
        let token = site.place("token");
        let outside = match url {
            "" => String::new(),
            url => format!("[outside]\nurl = '{url}'\ntoken_file = '{}'\n", token.display()),
        };
        fs::write(site.place("ghost.toml"), format!("{outside}[hook]\n{hook}\n")).unwrap();
        Some(site)
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.place("project")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.place("data")
    }

    /// Returns a path in the project.
    pub(super) fn file(&self, name: &str) -> String {
        self.project().join(name).to_string_lossy().into_owned()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.project().join(name).exists()
    }

    /// Returns the settings that `install` writes.
    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    fn settings(&self) -> String {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ghost"))
            .args(["hook", "install", self.agent.word(), "--user", "--print", "--config"])
            .arg(self.place("ghost.toml"))
            .arg("--data-dir")
            .arg(self.data())
            .env("HOME", self.home.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Lets the agent take these turns; returns the conversation as the model saw it in the end.
    #[expect(clippy::disallowed_methods, reason = "the test starts the agent")]
    pub(super) async fn run(&self, turns: Vec<Vec<Call>>) -> String {
        let model = Model::new(turns).await;
        let mut command = tokio::process::Command::new(self.program.first().unwrap());
        command
            .args(self.program.get(1..).unwrap())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.home.path())
            .current_dir(self.project())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        match self.agent {
            Agent::Claude => {
                let settings = self.place("settings.json");
                fs::write(&settings, self.settings()).unwrap();
                let server = json!({"mcpServers": {"other": self.other()}});
                fs::write(self.place("mcp.json"), server.to_string()).unwrap();
                command
                    .args(["-p", "go", "--output-format", "json", "--strict-mcp-config", "--settings"])
                    .arg(settings)
                    .arg("--mcp-config")
                    .arg(self.place("mcp.json"))
                    .args(["--allowedTools", "Bash,Write,Edit,WebFetch,mcp__other"])
                    .env("ANTHROPIC_BASE_URL", &model.url)
                    .env("ANTHROPIC_API_KEY", "x")
                    .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                    .env("DISABLE_TELEMETRY", "1")
                    .env("DISABLE_AUTOUPDATER", "1")
                    .env("ENABLE_TOOL_SEARCH", "false");
            }
            Agent::Codex => {
                let folder = self.home.path().join(".codex");
                fs::create_dir_all(&folder).unwrap();
                // What is printed holds what is there already, also from a run before.
                drop(fs::remove_file(folder.join("config.toml")));
                let other = self.other();
                let text = format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"stand_in\"\n\n[model_providers.stand_in]\nname = \"stand-in\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\n[mcp_servers.other]\ncommand = {}\nargs = {}\n\n{}",
                    model.url,
                    other["command"],
                    other["args"],
                    self.settings()
                );
                fs::write(folder.join("config.toml"), text).unwrap();
                command.args([
                    "exec",
                    "--json",
                    "--skip-git-repo-check",
                    "-s",
                    "danger-full-access",
                    "--dangerously-bypass-hook-trust",
                    "go",
                ]);
            }
        }
        let output = tokio::time::timeout(RUN_TIMEOUT, command.output()).await.unwrap().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}");
        model.end().await
    }

    /// A server of tools that the hook knows nothing about; it runs what it is given.
    fn other(&self) -> Value {
        let data = self.place("other");
        json!({"type": "stdio", "command": env!("CARGO_BIN_EXE_ghost"), "args": ["mcp", "--data-dir", data]})
    }

    /// Returns the process of the hook that waits.
    pub(super) fn hook_process(&self) -> Option<rustix::process::Pid> {
        let data = self.data().to_string_lossy().into_owned();
        let words = ["hook", self.agent.word(), data.as_str()];
        fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
            let number: i32 = entry.file_name().to_str()?.parse().ok()?;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let line: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
            let ours = line.first().is_some_and(|program| program.ends_with("/ghost"));
            let all = words.iter().all(|word| line.iter().any(|one| one == word));
            (ours && all).then(|| rustix::process::Pid::from_raw(number)).flatten()
        })
    }

    /// Returns the records of the audit: what each was about, and who or what settled it.
    pub(super) fn records(&self) -> Vec<Value> {
        let folder = self.data().join("audit");
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap();
            all.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
        all
    }
}
