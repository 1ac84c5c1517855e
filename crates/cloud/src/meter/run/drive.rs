//! The loop: what is next, do it, keep its result.

use std::path::Path;

use async_trait::async_trait;

use super::progress::{Run, State};
use super::store::{Store, StoreError};
use crate::operation::{CommandKind, CommandOutcome, CommandRequest, Next, Operation as _};
use ghost_base::{Clock, Timestamp};

/// What a run needs of the world.
#[async_trait]
pub trait MeasurementContext: Send + Sync {
    /// Runs a command.
    async fn run(&self, order: &CommandRequest) -> CommandOutcome;

    /// Waits until that moment, or until somebody wants it to end.
    async fn wait(&self, until: Timestamp);

    /// Tells whether somebody wants it to end.
    fn is_left(&self) -> bool;

    /// Tells how far it is.
    fn tell(&self, run: &Run, doing: &str);
}

/// Drives a run to its end. What is measured is on the disk before the next command runs.
///
/// # Errors
/// Fails where the disk takes nothing; then servers are ended all the same, and the error comes last.
pub async fn carry_out(
    run: &mut Run,
    context: &dyn MeasurementContext,
    store: &Store,
    clock: &dyn Clock,
) -> Result<State, StoreError> {
    let mut kept = store.save(run);
    loop {
        if (context.is_left() || kept.is_err()) && !matches!(run.next(clock.now()), Next::Over(_)) {
            run.cancel(clock.now());
        }
        match run.next(clock.now()) {
            Next::Run(order) => {
                context.tell(run, &run.doing().unwrap_or_default());
                let answer = fetched(context.run(&order).await, &order, store.folder());
                run.on_result(&answer, clock.now());
            }
            Next::Wait { until, why } => {
                context.tell(run, &why);
                context.wait(until).await;
                continue;
            }
            Next::Over(state) => return kept.map(|()| state),
        }
        if kept.is_ok() {
            kept = store.save(run);
        }
    }
}

/// Puts what was fetched in the place of what `az` printed about it.
fn fetched(answer: CommandOutcome, order: &CommandRequest, folder: &Path) -> CommandOutcome {
    let CommandKind::Line(line) = &order.what else { return answer };
    let words = line.words();
    if !words.windows(3).any(|path| path == ["storage", "blob", "download"]) {
        return answer;
    }
    let file = words.windows(2).find_map(|pair| match pair {
        [option, file] if option == "--file" => Some(Path::new(file)),
        _ => None,
    });
    match (answer, file.filter(|file| file.parent() == Some(folder))) {
        (CommandOutcome::Ran { exit: Some(0), stderr, .. }, Some(file)) => {
            let stdout = std::fs::read_to_string(file).unwrap_or_default();
            CommandOutcome::Ran { exit: Some(0), stdout, stderr }
        }
        (answer, _) => answer,
    }
}
