//! What the bot waits for before it starts: Slack and the store.
//!
//! Goes in: an attempt and what its failure means. Comes out: what the attempt made, as soon as it works. Never: an end because something is
//! away for a while, and never another attempt after a mistake that only a person can correct.

use std::time::Duration;

use ghost_agent::http::{Check, Vitals};
use ghost_slack::web::{CallError, Identity, Web};
use ghost_store::{Store, StoreError};
use ghost_tools::print::{Hinted, Misconfigured};
use ghost_tools::setup::Setup;
use std::sync::Arc;

/// The first pause between two attempts; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two attempts: whoever mends the cause sees the bot back after half a minute.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Why a part is not there.
#[derive(Debug)]
enum Missing {
    /// It is away, and may come back by itself. `why` is what `/ready` shows.
    Away { why: &'static str, error: anyhow::Error },
    /// A person has to change something first.
    Wrong(anyhow::Error),
}

/// Waits until Slack has said who the bot is, and until the store is open, both at the same time.
///
/// # Errors
/// Fails where waiting does not help: a wrong token, a wrong address.
pub(super) async fn ready(
    setup: &Setup,
    web: &Web,
    vitals: &Vitals,
) -> anyhow::Result<(Identity, Arc<dyn Store>)> {
    let identity =
        wait_for(vitals.parts.check("slack"), "Slack", async || web.auth_test().await.map_err(missing_slack));
    let store = wait_for(vitals.parts.check("store"), "the store", async || {
        setup.store().await.map_err(missing_store)
    });
    tokio::try_join!(identity, store)
}

/// Repeats an attempt with growing pauses until it works.
async fn wait_for<T>(
    check: Check,
    name: &str,
    attempt: impl AsyncFn() -> Result<T, Missing>,
) -> anyhow::Result<T> {
    let mut pause = FIRST_PAUSE;
    let mut has_waited = false;
    loop {
        match attempt().await {
            Ok(found) => {
                if has_waited {
                    tracing::info!("{name} is back");
                }
                // From now on other parts report on it.
                check.retire();
                return Ok(found);
            }
            Err(Missing::Wrong(error)) => return Err(Misconfigured(error).into()),
            Err(Missing::Away { why, error }) => {
                check.not_ready(why);
                let wait_s = pause.as_secs();
                tracing::warn!(wait_s, "start waits for {name}, next attempt in {wait_s} s: {error:#}");
            }
        }
        has_waited = true;
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn missing_slack(error: CallError) -> Missing {
    const OF_SLACK: [&str; 7] = [
        "fatal_error",
        "internal_error",
        "request_timeout",
        "service_unavailable",
        "ratelimited",
        "rate_limited",
        "accesslimited",
    ];
    match error.code() {
        Some(code) if !OF_SLACK.contains(&code) => Missing::Wrong(
            Hinted::new(
                error,
                "is SLACK_BOT_TOKEN the bot token (xoxb-) of an app that is installed in the workspace?",
            )
            .into(),
        ),
        _ => Missing::Away { why: "Slack cannot be reached", error: error.into() },
    }
}

fn missing_store(error: anyhow::Error) -> Missing {
    let away = match Hinted::below(&error).downcast_ref::<StoreError>() {
        Some(StoreError::Unavailable { .. }) => Some("the store cannot be reached"),
        // Another process may be about to end.
        Some(StoreError::InUse { .. }) => Some("another process holds the store"),
        _ => None,
    };
    match away {
        Some(why) => Missing::Away { why, error },
        None => Missing::Wrong(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn away() -> Missing {
        Missing::Away { why: "it is away", error: anyhow::anyhow!("refused") }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_away_is_tried_again_until_it_is_there() {
        let (vitals, tries) = (Vitals::default(), AtomicUsize::new(0));
        let began = tokio::time::Instant::now();
        let found = wait_for(vitals.parts.check("store"), "the store", async || {
            match tries.fetch_add(1, Ordering::SeqCst) {
                0..7 => {
                    assert_eq!(vitals.parts.report().parts.len(), 1);
                    Err(away())
                }
                last => Ok(last),
            }
        });
        assert_eq!(found.await.unwrap(), 7);
        // 1 + 2 + 4 + 8 + 16 + 30 + 30
        assert_eq!(began.elapsed(), Duration::from_secs(91));
        assert_eq!(vitals.parts.report().parts, []);
    }

    #[tokio::test(start_paused = true)]
    async fn a_mistake_is_not_tried_again() {
        let (vitals, tries) = (Vitals::default(), AtomicUsize::new(0));
        let found = wait_for(vitals.parts.check("slack"), "Slack", async || {
            tries.fetch_add(1, Ordering::SeqCst);
            Err::<(), _>(Missing::Wrong(anyhow::anyhow!("invalid_auth")))
        });
        assert!(found.await.unwrap_err().is::<Misconfigured>());
        assert_eq!(tries.into_inner(), 1);
    }

    #[test]
    fn a_refused_token_is_a_mistake_and_an_error_of_slack_is_none() {
        let refused = |code: &str| CallError::Refused {
            method: "auth.test".to_owned(),
            code: code.to_owned(),
            messages: Vec::new(),
        };
        for code in ["invalid_auth", "account_inactive", "not_allowed_token_type", "missing_scope"] {
            assert!(matches!(missing_slack(refused(code)), Missing::Wrong(_)), "{code}");
        }
        let unreachable = CallError::Unreachable {
            method: "auth.test".to_owned(),
            what: "the answer has the status 503".to_owned(),
        };
        for error in [refused("internal_error"), refused("service_unavailable"), unreachable] {
            assert!(matches!(missing_slack(error), Missing::Away { .. }));
        }
    }
}
