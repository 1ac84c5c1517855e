//! What both backends can do.

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;

use super::fabric::{Fabric, ServerHealth};
use super::stage::{Protocol, Stage};

/// The guests, whoever plays them.
#[async_trait]
pub trait Host: Send + Sync {
    /// Puts the network in step with what the resource manager knows.
    async fn fabric(&self, fabric: Fabric) -> Result<(), HostError>;

    /// Replaces services, traffic and oddities.
    async fn stage(&self, stage: Stage) -> Result<(), HostError>;

    /// Runs a script on a machine, as root, and returns when it is done.
    async fn run(&self, machine: &str, script: &Script) -> Result<ScriptOutput, HostError>;

    /// Tries a connection.
    async fn dial(
        &self,
        machine: &str,
        to: IpAddr,
        protocol: Protocol,
        port: u16,
    ) -> Result<ConnectOutcome, HostError>;

    /// Asks the servers behind an application gateway, as the gateway does.
    async fn health(&self, gateway: &str) -> Result<Vec<ServerHealth>, HostError> {
        Err(HostError::Lacking(format!("nobody asks the servers of {gateway} here")))
    }

    /// Begins a capture; its name is the caller's.
    async fn capture(&self, name: &str, order: CaptureOrder) -> Result<(), HostError>;

    /// Ends a capture and returns its file.
    async fn captured(&self, name: &str) -> Result<Vec<u8>, HostError>;

    /// Remembers how all machines are.
    async fn keep(&self) -> Result<(), HostError>;

    /// Makes all machines as they were when they were last remembered; without that, as they were in the beginning.
    async fn restore(&self) -> Result<(), HostError>;

    /// Leaves nothing behind.
    async fn close(&self);
}

/// A script for a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub text: String,
    /// `$1`, `$2` and so on.
    pub arguments: Vec<String>,
    /// Named variables.
    pub variables: Vec<(String, String)>,
    /// How it comes to the machine.
    pub transport: ScriptTransport,
}

/// How a script comes to a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptTransport {
    /// The platform's agent fetches it from the wire server (168.63.129.16, tcp/80 and tcp/32526) and reports to it.
    Agent,
    /// A person's shell.
    Ssh,
}

/// The result of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptOutput {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit code.
    pub code: u8,
    /// How long it took, by the clock of the lab.
    pub took: Duration,
}

/// The result of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectOutcome {
    /// It came up after so long.
    Open(Duration),
    /// It was refused.
    Refused,
    /// Nothing came back.
    Silent,
}

/// What is captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureOrder {
    pub machine: String,
    /// The most bytes of a packet; 0 is all.
    pub snaplen: u32,
    /// The most bytes of the file; 0 is no end.
    pub most: u64,
    /// Only what one of these describes; all, if there is none.
    pub filters: Vec<CaptureFilter>,
}

/// Which packets are captured. Texts are the platform's: `10.0.1.4`, `10.0.0.0-10.0.0.9`, `80;443`, `1000-2000`; empty is any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaptureFilter {
    /// `TCP`, `UDP`, `Any`.
    pub protocol: String,
    /// The machine's own addresses.
    pub local_address: String,
    /// The machine's own ports.
    pub local_port: String,
    /// The far side's addresses.
    pub remote_address: String,
    /// The far side's ports.
    pub remote_port: String,
}

/// Why nothing came of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// There is no such machine.
    #[error("there is no machine `{0}`")]
    Unknown(String),
    #[error("the machine `{0}` does not run")]
    Off(String),
    /// Its agent does not reach the wire server: the platform gives up after minutes.
    #[error("the agent of `{0}` has not reported its status")]
    Silent(String),
    /// What was asked for cannot be done by this backend here; why.
    #[error("{0}")]
    Lacking(String),
    /// Something of this machine failed.
    #[error("{what}: {error}")]
    Failed {
        /// What was tried.
        what: String,
        /// What happened.
        error: String,
    },
}
