//! The loop: ask the errand what is next, do it, tell the errand what came of it.

use async_trait::async_trait;

use super::answer::Answer;
use super::port::{Errand, Next, Order};
use ghost_base::{Clock, Timestamp};

/// What an errand needs of the world.
#[async_trait]
pub trait Hands: Send + Sync {
    /// Runs a command.
    async fn run(&self, order: &Order) -> Answer;

    /// Waits until that moment; `false` where somebody wants it to end.
    async fn wait(&self, until: Timestamp, why: &str) -> bool;
}

/// Drives an errand to its end; `None` where somebody ended it before.
pub async fn drive<E: Errand>(errand: &mut E, hands: &dyn Hands, clock: &dyn Clock) -> Option<E::Result> {
    loop {
        match errand.next(clock.now()) {
            Next::Run(order) => {
                let answer = hands.run(&order).await;
                errand.heard(&answer, clock.now());
            }
            Next::Wait { until, why } => {
                if !hands.wait(until, &why).await {
                    return None;
                }
            }
            Next::Over(result) => return Some(result),
        }
    }
}
