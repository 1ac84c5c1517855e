//! What an operation is, the result of a command, and who runs it.

use async_trait::async_trait;
use ghost_base::Timestamp;

use crate::line::Line;

/// A sequence of commands with one result.
pub trait Operation: Send {
    /// The result type.
    type Result;

    /// Returns the next step. It changes nothing and can be called repeatedly.
    fn next(&self, now: Timestamp) -> Next<Self::Result>;

    /// Takes the result of the command that [`Operation::next`] said.
    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp);

    /// Returns commands that only read and come after the next one whatever is answered before them: whoever can may run them now.
    fn ahead(&self) -> Vec<CommandRequest> {
        Vec::new()
    }
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next<T> {
    Run(Box<CommandRequest>),
    /// Ask again at this moment.
    Wait {
        /// When.
        until: Timestamp,
        /// What is waited for.
        why: String,
    },
    Over(T),
}

impl<T> Next<T> {
    /// Maps the result.
    pub fn map<U>(self, over: impl FnOnce(T) -> U) -> Next<U> {
        match self {
            Self::Run(order) => Next::Run(order),
            Self::Wait { until, why } => Next::Wait { until, why },
            Self::Over(result) => Next::Over(over(result)),
        }
    }
}

/// One command of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRequest {
    /// The command.
    pub what: CommandKind,
    /// Why; a human who is asked reads it.
    pub why: String,
    /// All commands that one consent covers, this one first; empty where it stands alone.
    pub plan: Vec<String>,
}

/// A command, or a declared script and what carries it to its guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandKind {
    /// A command.
    Line(Line),
    /// A script of the policy.
    Script {
        /// The words before its text.
        carrier: Line,
        script: &'static str,
        variables: Vec<(&'static str, String)>,
    },
}

impl CommandRequest {
    /// Makes an order of one command.
    #[must_use]
    pub fn line(line: Line, why: impl Into<String>) -> Self {
        Self { what: CommandKind::Line(line), why: why.into(), plan: Vec::new() }
    }

    /// Makes an order of a declared script.
    #[must_use]
    pub fn script(
        carrier: Line,
        script: &'static str,
        variables: Vec<(&'static str, String)>,
        why: impl Into<String>,
    ) -> Self {
        Self { what: CommandKind::Script { carrier, script, variables }, why: why.into(), plan: Vec::new() }
    }

    /// Says that one consent covers these commands, this one among them.
    #[must_use]
    pub fn within(mut self, plan: Vec<String>) -> Self {
        self.plan = plan;
        self
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutcome {
    Ran {
        /// Its exit code.
        exit: Option<i32>,
        /// All that it printed.
        stdout: String,
        /// And as an error.
        stderr: String,
    },
    /// A human said no, or nobody answered.
    Denied {
        /// Why.
        reason: String,
        /// The question was about all commands of the plan.
        all: bool,
    },
    /// The policy forbids it.
    Refused {
        /// Why.
        reason: String,
    },
    /// It could not be started.
    NotRun {
        /// Why.
        reason: String,
    },
    /// It was cut off: nobody knows whether it took effect.
    Unknown { reason: String },
}

/// What an operation needs of its environment.
#[async_trait]
pub trait OperationExecutor: Send + Sync {
    /// Runs a command.
    async fn run(&self, order: &CommandRequest) -> CommandOutcome;

    /// Waits until then; `false` means that the operation was interrupted.
    async fn wait(&self, until: Timestamp, why: &str) -> bool;

    /// Says how many commands that only read it runs at the same time.
    fn at_once(&self) -> usize {
        1
    }
}
