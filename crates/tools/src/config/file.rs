//! The TOML file of the whole program. Every part of Ghost that can be configured has its section here.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::mistakes::read_with_mistakes;
use serde::Deserialize;

/// A configuration file is small; whatever is longer is something else.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Programs outside the folders for programs, by name: absolute paths.
    pub programs: BTreeMap<String, PathBuf>,
    /// Log lines.
    pub log: super::Log,
    /// The safety shell.
    pub shell: Shell,
    /// The audit trail.
    pub audit: Audit,
    /// Packet captures.
    pub capture: Capture,
    /// As whom the cloud is read and acted on.
    pub azure: super::Azure,
    /// What reads the cloud.
    pub cloud: super::Cloud,
    /// How guests are reached by ssh.
    pub ssh: super::Ssh,
    /// Machines that are read themselves, by name.
    pub hosts: BTreeMap<String, super::HostEntry>,
    /// Kubernetes clusters whose inside is read, by name.
    pub clusters: BTreeMap<String, super::ClusterEntry>,
    /// Measurements between machines.
    pub meter: super::Meter,
    /// Where sessions are kept.
    pub store: super::Store,
    /// How long what is kept.
    pub retention: super::Retention,
    /// The model provider, or the playbook.
    pub model: super::Model,
    /// Who may say yes to what.
    pub approval: super::Approval,
    /// What a session may spend.
    pub limits: super::Limits,
    /// What the sessions of a channel may use in a day.
    pub usage: super::Usage,
    /// How the bot reaches Slack.
    pub slack: super::Slack,
    /// How the bot behaves.
    pub bot: super::Bot,
    /// What holds in single channels.
    pub channel: BTreeMap<String, super::Channel>,
    /// The HTTP server of the bot.
    pub http: super::Http,
    /// Coding agents that ask before they act.
    pub hook: super::Hook,
    /// Consent for agents that no session of the bot drives.
    pub outside: super::Outside,
    /// Programs whose alerts open sessions, by name.
    pub alerts: BTreeMap<String, super::AlertSource>,
    /// Where a post-mortem may be sent.
    pub export: super::Export,
    /// Who takes traces and metrics.
    pub telemetry: super::Telemetry,
    /// What a site has written about itself.
    pub site: super::Site,
    /// Agents that speak the Model Context Protocol over HTTP.
    pub mcp: super::Mcp,
}

/// `[shell]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shell {
    /// A site's own policy file: tightens, or extends the allow list with examples.
    pub policy: Option<PathBuf>,
    /// How long a command may run, in seconds; 120 unless said.
    pub timeout_seconds: u64,
    /// How long an approver may take, in minutes; 15 unless said.
    pub approval_minutes: u64,
    /// Where a command may send something without asking, beside what is known anyway: addresses, prefixes, exact names.
    pub destinations: Vec<String>,
    /// What becomes of SAFE commands where the kernel cannot confine them; they ask unless said.
    pub sandbox: Sandbox,
}

/// What becomes of SAFE commands on a machine that cannot confine them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// They ask.
    #[default]
    Required,
    /// They run with what there is.
    BestEffort,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            policy: None,
            timeout_seconds: 120,
            approval_minutes: 15,
            destinations: Vec::new(),
            sandbox: Sandbox::default(),
        }
    }
}

/// `[audit]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// Where the head of every chain is noted beside the chain: `none`, `syslog` or the absolute path of a file;
    /// `DATA/heads.log` unless said.
    pub anchor: Option<String>,
}

/// `[capture]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capture {
    /// The captures folder; `/tmp/captures` unless said.
    pub folder: PathBuf,
    /// The storage account that the platform writes captures to. No model and no case can name another one.
    pub storage_account: Option<String>,
    /// The container in it; `captures` unless said.
    pub storage_container: String,
    /// The account's resource group, where it is not that of the machines.
    pub storage_group: Option<String>,
}

impl Default for Capture {
    fn default() -> Self {
        Self {
            folder: "/tmp/captures".into(),
            storage_account: None,
            storage_container: "captures".to_owned(),
            storage_group: None,
        }
    }
}

/// Where the heads of audit chains are noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchoring {
    Nowhere,
    /// The system's log.
    Syslog,
    File(PathBuf),
}

/// Why a configuration cannot be used: every problem at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    path: PathBuf,
    problems: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the configuration {} cannot be used", self.path.display())?;
        self.problems
            .iter()
            .try_for_each(|problem| write!(out, "\n  - {}", problem.trim_end().replace('\n', "\n    ")))
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// Fails with every problem that the file has.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let wrong = |problems: Vec<String>| ConfigError { path: path.to_owned(), problems };
        let text = read_small(path).map_err(|error| wrong(vec![error.to_string()]))?;
        let (config, mut problems) = read_with_mistakes::<Self>(&text);
        if let Some((config, sections)) = config {
            // What a section with a mistake lacks is no mistake of another.
            let is_of_others = |problem: &String| {
                !sections.iter().any(|section| problem.starts_with(&format!("[{section}")))
            };
            problems.extend(config.problems().into_iter().filter(is_of_others));
            if problems.is_empty() {
                return Ok(config);
            }
        }
        Err(wrong(problems))
    }

    fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        for (name, path) in &self.programs {
            if !path.is_absolute() {
                problems.push(format!("[programs] {name} = {path:?}: the path has to be absolute"));
            }
        }
        {
            let mut within = |name: &str, value: u64, least: u64, most: u64| {
                if !(least..=most).contains(&value) {
                    problems
                        .push(format!("[shell] {name} = {value}: it has to lie between {least} and {most}"));
                }
            };
            within("timeout_seconds", self.shell.timeout_seconds, 1, 24 * 3600);
            within("approval_minutes", self.shell.approval_minutes, 1, 24 * 60);
            if let Err(error) = ghost_shell::Surroundings::read(&self.shell.destinations, "") {
                problems.push(format!("[shell] destinations: {error}"));
            }
            if !self.capture.folder.is_absolute() {
                problems.push(format!(
                    "[capture] folder = {:?}: the path has to be absolute",
                    self.capture.folder
                ));
            }
            if let Some(anchor) = self
                .audit
                .anchor
                .as_deref()
                .filter(|anchor| !matches!(*anchor, "none" | "syslog") && !anchor.starts_with('/'))
            {
                problems
                    .push(format!("[audit] anchor = {anchor:?}: it is `none`, `syslog` or an absolute path"));
            }
        }
        problems.extend(self.azure.problems());
        problems.extend(self.cloud.problems(&self.azure));
        problems.extend(self.host_problems());
        problems.extend(self.clusters.iter().flat_map(|(name, entry)| entry.problems(name)));
        problems.extend(self.store.problems());
        problems.extend(self.model.problems().into_iter().chain(self.limits.problems()));
        {
            problems.extend(super::bot::problems(&self.slack, &self.bot, &self.channel, self.http));
            problems.extend(self.approval.problems());
            problems.extend(self.hook.problems());
            problems.extend(self.outside.problems());
            problems.extend(self.mcp.problems());
            problems.extend(self.export.problems());
            problems.extend(self.site.problems());
            problems.extend(self.telemetry.problems());
            problems.extend(self.usage.problems("[usage]"));
            problems.extend(self.alert_problems());
        }
        problems
    }

    /// A scope that names a machine which nobody knows opens nothing, and means something else.
    fn host_problems(&self) -> Vec<String> {
        let mut problems: Vec<String> =
            self.hosts.iter().flat_map(|(name, entry)| entry.problems(name)).collect();
        let channels = self.channel.iter().map(|(id, channel)| (format!("channel.{id}"), &channel.scope));
        for (place, scope) in channels.chain([("bot".to_owned(), &self.bot.scope)]) {
            let clusters = scope.iter().flat_map(|scope| &scope.clusters);
            problems.extend(
                clusters
                    .filter(|name| !self.clusters.contains_key(*name))
                    .map(|name| format!("[{place}] scope: there is no [clusters.{name}]")),
            );
            let named = scope.iter().flat_map(|scope| &scope.hosts);
            problems.extend(
                named
                    .filter(|name| !self.hosts.contains_key(*name))
                    .map(|name| format!("[{place}] scope: there is no [hosts.{name}]")),
            );
        }
        problems
    }

    fn alert_problems(&self) -> Vec<String> {
        let mut problems: Vec<String> =
            self.alerts.iter().flat_map(|(name, source)| source.problems(name)).collect();
        if !self.alerts.is_empty() && self.http.listen.is_none() {
            problems.push("[alerts]: [http] listen has to say where they arrive".to_owned());
        }
        for (name, source) in &self.alerts {
            if self.bot.only_named_channels && !self.channel.contains_key(&source.channel) {
                let channel = &source.channel;
                problems.push(format!(
                    "[alerts.{name}] channel = {channel:?}: [bot] only_named_channels, and no [channel.{channel}]"
                ));
            }
        }
        problems
    }

    /// Returns where the heads of audit chains are noted.
    #[must_use]
    pub fn anchoring(&self, data: &Path) -> Anchoring {
        match self.audit.anchor.as_deref() {
            Some("none") => Anchoring::Nowhere,
            Some("syslog") => Anchoring::Syslog,
            Some(path) => Anchoring::File(path.into()),
            None => Anchoring::File(data.join("heads.log")),
        }
    }
}

/// Why a small file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not there, not readable, or no text.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is longer than any configuration.
    #[error("it is longer than {MAX_FILE_BYTES} bytes")]
    TooLong,
}

/// Reads a small file as text.
///
/// # Errors
/// Fails where it cannot be read, is no text, or is longer than any configuration.
pub fn read_small(path: &Path) -> Result<String, ReadError> {
    let file = std::fs::File::open(path)?;
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_FILE_BYTES) {
        return Err(ReadError::TooLong);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ghost.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(&path)
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(load(""), Ok(Config::default()));
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let error = load("[programs]\naz = \"az\"\n[shell]\ntimeout_seconds = 0\n[audit]\nanchor = \"x\"\n")
            .unwrap_err();
        assert_eq!(error.problems.len(), 3, "{error}");
    }

    #[test]
    fn a_sandbox_is_required_unless_best_effort_is_said() {
        let of = |text: &str| load(text).map(|config| config.shell.sandbox);
        assert_eq!(of(""), Ok(Sandbox::Required));
        assert_eq!(of("[shell]\nsandbox = \"required\"\n"), Ok(Sandbox::Required));
        assert_eq!(of("[shell]\nsandbox = \"best_effort\"\n"), Ok(Sandbox::BestEffort));
        assert!(of("[shell]\nsandbox = \"none\"\n").is_err());
    }

    #[test]
    fn a_misspelled_key_is_an_error_that_names_its_line() {
        let text = load("[shell]\ntimeuot_seconds = 5\n").unwrap_err().to_string();
        assert!(text.contains("timeuot_seconds") && text.contains("line 2"), "{text}");
    }

    #[test]
    fn a_file_that_is_missing_or_no_text_is_an_error() {
        assert!(Config::load(Path::new("/nonexistent.toml")).is_err());
        let folder = tempfile::tempdir().unwrap();
        assert!(Config::load(folder.path()).is_err());
    }
}
