//! The subcommands of `ghost hook`.

use clap::{Args, Subcommand, ValueEnum};

use super::call::Client;
use super::{doctor, install, run as runs};
use crate::config::AskWhom;
use crate::global::Global;

/// The arguments of `ghost hook`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost hook install claude --print\n  ghost hook doctor\n  echo '{\"tool\":\"shell\",\"cwd\":\"/tmp\",\"input\":{\"command\":\"ss -tln\"}}' | ghost hook generic"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Answers a hook of Claude Code: the call on standard input, the answer in its own form.
    #[command(
        after_help = "Exit codes: 0 with the decision as JSON, or with nothing where the client's own rules decide; 2 with a line of reason stops the call.\n\nExamples:\n  ghost hook claude --config /etc/ghost.toml < call.json\n  ghost hook claude --approve ask < call.json\n  ghost hook claude --approve slack --config /etc/ghost.toml < call.json"
    )]
    Claude(AnswerArguments),
    /// Answers a hook of Codex: the call on standard input, the answer in its own form.
    #[command(
        after_help = "Exit codes: 0 lets the call happen; 2 with a line of reason stops it. Codex cannot ask: --approve ask stops, too.\n\nExamples:\n  ghost hook codex --config /etc/ghost.toml < call.json"
    )]
    Codex(AnswerArguments),
    /// Answers a script: `{\"tool\",\"cwd\",\"input\"}` on standard input, a decision on standard output.
    #[command(
        after_help = "The tool is `shell` with `command` and `reasoning`, `read` or `write` with `path`, `fetch` with `url`, or any other name.\n\nExit codes: 0 it may happen, 3 it may not, 4 somebody else has to be asked, 2 the call was not understood.\n\nExamples:\n  echo '{\"tool\":\"shell\",\"cwd\":\"/tmp\",\"input\":{\"command\":\"ss -tln\"}}' | ghost hook generic\n  ghost hook generic < call.json && ./do-it"
    )]
    Generic(AnswerArguments),
    /// Writes the settings that make a client ask, so that a failure of the hook stops the call.
    Install(install::Arguments),
    /// Proves for everything that is installed that a blocked command is stopped and a safe one is not.
    Doctor(doctor::Arguments),
}

/// What answering takes.
#[derive(Debug, Args)]
pub(super) struct AnswerArguments {
    /// Who is asked about what needs consent; `[hook] approve` unless said.
    #[arg(long, value_enum)]
    pub approve: Option<Whom>,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Whom {
    /// Whoever sits in front of the client, where it can ask.
    Ask,
    /// A human in Slack, through the bot; `[outside]` of the configuration says how it is reached.
    Slack,
    /// Nobody: what needs consent is denied.
    Deny,
}

impl From<Whom> for AskWhom {
    fn from(whom: Whom) -> Self {
        match whom {
            Whom::Ask => Self::Ask,
            Whom::Slack => Self::Slack,
            Whom::Deny => Self::Deny,
        }
    }
}

impl Arguments {
    /// Tells whether an answer to a call is wanted.
    pub fn answers(&self) -> bool {
        match self.command {
            Sub::Claude(_) | Sub::Codex(_) | Sub::Generic(_) => true,
            Sub::Install(_) | Sub::Doctor(_) => false,
        }
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Claude(arguments) => Ok(runs::answer(Client::Claude, arguments, global)),
        Sub::Codex(arguments) => Ok(runs::answer(Client::Codex, arguments, global)),
        Sub::Generic(arguments) => Ok(runs::answer(Client::Generic, arguments, global)),
        Sub::Install(arguments) => install::run(arguments, global),
        Sub::Doctor(arguments) => doctor::run(arguments, global),
    }
}
