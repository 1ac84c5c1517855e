//! A run at a terminal: commands go through the shell, progress goes to standard error, Ctrl-C ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use async_trait::async_trait;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;

use crate::consent::Consent;
use crate::print::harmless;
use crate::print::note;
use crate::setup::Setup;
use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_cloud::meter::run::{MeasurementContext, Run};
use ghost_cloud::operation::{CommandOutcome, CommandRequest, ShellExecutor};
use ghost_shell::{Cancel, Policy};

/// A package manager takes its time.
const MAX_COMMAND_SECONDS: u64 = 900;

/// A run at a terminal.
pub(super) struct Terminal {
    gate: ShellExecutor,
    leaving: AtomicBool,
    /// Something was agreed to: from here on a command is not cut off at the first word.
    agreed: AtomicBool,
    /// Ctrl-C, a request to end, the end of the terminal.
    words: Mutex<[Signal; 3]>,
    begun: Timestamp,
    last_line: std::sync::Mutex<String>,
}

impl Terminal {
    pub(super) fn new(setup: &Setup, policy: Policy, run: &Run, approve: Consent) -> anyhow::Result<Self> {
        let timeout = setup.config.shell.timeout_seconds.max(MAX_COMMAND_SECONDS);
        let shell = setup.shell(run.ask().session.clone(), Some(timeout))?;
        let shell = shell.policy(Arc::new(policy)).approver(approve.approver(setup)).build()?;
        Ok(Self {
            gate: ShellExecutor::new(Arc::new(shell), setup.data()?.join("evidence")),
            leaving: AtomicBool::new(false),
            agreed: AtomicBool::new(false),
            words: Mutex::new([
                word(SignalKind::interrupt())?,
                word(SignalKind::terminate())?,
                word(SignalKind::hangup())?,
            ]),
            begun: SystemClock.now(),
            last_line: std::sync::Mutex::new(String::new()),
        })
    }

    /// Waits until somebody wants it to end.
    async fn interrupted(&self) {
        let mut words = self.words.lock().await;
        let [interrupt, terminate, hangup] = &mut *words;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

fn word(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("listening for Ctrl-C")
}

#[async_trait]
impl MeasurementContext for Terminal {
    async fn run(&self, order: &CommandRequest) -> CommandOutcome {
        let (cancel, stop) = Cancel::new();
        let running = self.gate.run(order, stop);
        tokio::pin!(running);
        let patient = !order.plan.is_empty() && self.agreed.load(Ordering::SeqCst);
        let answer = loop {
            tokio::select! {
                answer = &mut running => break answer,
                () = self.interrupted() => {
                    let again = self.leaving.swap(true, Ordering::SeqCst);
                    if again || !patient {
                        cancel.cancel();
                    } else {
                        note("It ends, and its servers, as soon as this command is over; Ctrl-C once more cuts the command off.");
                    }
                }
            }
        };
        if !order.plan.is_empty() && !matches!(answer, CommandOutcome::Denied { .. }) {
            self.agreed.store(true, Ordering::SeqCst);
        }
        answer
    }

    async fn wait(&self, until: Timestamp) {
        tokio::select! {
            () = tokio::time::sleep(until.since(SystemClock.now())) => {}
            () = self.interrupted() => self.leaving.store(true, Ordering::SeqCst),
        }
    }

    fn is_left(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
    }

    fn tell(&self, run: &Run, doing: &str) {
        let elapsed = SystemClock.now().since(self.begun).as_secs();
        let Ok(mut last_line) = self.last_line.lock() else { return };
        if *last_line != doing {
            note(&harmless(&format!(
                "{:02}:{:02} {} · {doing}",
                elapsed / 60,
                elapsed % 60,
                run.state().word()
            )));
            doing.clone_into(&mut last_line);
        }
    }
}
