//! The port, and the machine behind it.

use async_trait::async_trait;

use crate::{CancelSignal, ExecError, Output, Permit, Setting, exec};

/// Carries out what is permitted.
#[async_trait]
pub trait Runner: Send + Sync {
    /// Runs what the permit permits, and waits for its end.
    ///
    /// # Errors
    /// Fails where nothing ran. A command that failed by itself is an [`Output`].
    async fn run(&self, permit: Permit, setting: &Setting, cancel: CancelSignal)
    -> Result<Output, ExecError>;

    /// Tells whether it starts processes of this machine, which a sandbox has to confine.
    fn starts_processes(&self) -> bool {
        true
    }
}

/// Runs processes of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Processes;

#[async_trait]
impl Runner for Processes {
    async fn run(
        &self,
        permit: Permit,
        setting: &Setting,
        cancel: CancelSignal,
    ) -> Result<Output, ExecError> {
        exec::run(permit, setting, cancel).await
    }
}
