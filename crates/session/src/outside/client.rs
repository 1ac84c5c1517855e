//! The agent's side: asks, waits, and uses a consent up.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::kept::Kept;
use super::link::{Link, LinkError, StandingQuery};
use ghost_base::SessionId;
use ghost_investigate::event::OutsideRequest;
use ghost_investigate::outside::{Granted, Standing};

/// How long the other end may hold an answer back.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// How often a request is sent before nobody counts as there.
const ASK_ATTEMPTS: u32 = 3;

/// How long nothing is asked after the other end could not be reached.
const OUTAGE_PAUSE: Duration = Duration::from_millis(500);

/// How long it may take until a consent is confirmed as used up by this process, once it was given.
const TAKE_TIMEOUT: Duration = Duration::from_secs(20);

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutsideAnswer {
    /// A human said yes, and this process alone may use it, once.
    Granted(Granted),
    /// A human said no.
    Denied {
        by: String,
        /// Why, in their words.
        reason: String,
    },
    /// Nobody answered before the question ran out, or nobody used a yes in time.
    Expired {
        /// Which of both.
        reason: String,
    },
    /// It never runs, or nobody can be asked.
    Refused {
        /// Why.
        reason: String,
    },
    /// Nobody answered while it was waited for. An answer that comes later counts once, for exactly the same text.
    Pending {
        /// The session in which it is asked.
        id: SessionId,
        /// Until when somebody can answer, RFC 3339; empty where that is not known yet.
        until: String,
    },
}

/// One caller.
#[derive(Clone)]
pub struct Client {
    link: Arc<dyn Link>,
    kept: Kept,
    nonce: Arc<dyn Fn() -> String + Send + Sync>,
}

impl Client {
    /// Takes a link, where open requests are kept on this machine, and what draws a text that nobody can guess.
    #[must_use]
    pub fn new(link: Arc<dyn Link>, kept: Kept, nonce: Arc<dyn Fn() -> String + Send + Sync>) -> Self {
        Self { link, kept, nonce }
    }

    /// Makes a request, or goes on with an open one for exactly the same; returns the session in which it is asked.
    ///
    /// # Errors
    /// Fails where nobody can be asked.
    pub async fn open(&self, request: &OutsideRequest) -> Result<SessionId, LinkError> {
        for id in self.kept.open(request) {
            match self.standing(&id).await? {
                Some(standing) if standing.is_open() || is_unread(&standing) => {
                    drop(self.link.attend(&id, true).await);
                    return Ok(id);
                }
                Some(_) | None => self.kept.forget(request, &id),
            }
        }
        let nonce = (self.nonce)();
        let mut attempt = 1;
        let id = loop {
            match self.link.ask(&nonce, request).await {
                Err(LinkError::Unreachable(_)) if attempt < ASK_ATTEMPTS => attempt += 1,
                asked => break asked?,
            }
            sleep(OUTAGE_PAUSE).await;
        };
        // What is not remembered is asked once more later; the answer to this one still counts while it is waited for.
        if let Err(error) = self.kept.remember(request, &id) {
            tracing::warn!("open request not remembered: {error}");
        }
        Ok(id)
    }

    /// Says where a request stands now; nothing where this caller has none of that name.
    ///
    /// # Errors
    /// Fails where that cannot be found out.
    pub async fn standing(&self, id: &SessionId) -> Result<Option<Standing>, LinkError> {
        self.link.standing(id, StandingQuery { wait: Duration::ZERO, beyond_granted: false }).await
    }

    /// Says that nobody waits for an answer any more.
    pub async fn leave(&self, id: &SessionId) {
        drop(self.link.attend(id, false).await);
    }

    /// Asks, waits for an answer for as long as `patience`, and uses a yes up. Where nobody answers, an answer still counts later: ask
    /// exactly the same again.
    ///
    /// # Errors
    /// Fails where nobody can be asked. The answer is then no.
    pub async fn decide(
        &self,
        request: &OutsideRequest,
        patience: Duration,
    ) -> Result<OutsideAnswer, LinkError> {
        let end = Instant::now() + patience;
        let id = self.open(request).await?;
        let answer = self.wait(&id, end).await?;
        if !matches!(answer, OutsideAnswer::Pending { .. }) {
            self.kept.forget(request, &id);
        }
        Ok(answer)
    }

    async fn wait(&self, id: &SessionId, end: Instant) -> Result<OutsideAnswer, LinkError> {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let query = StandingQuery { wait: left.min(MAX_WAIT), beyond_granted: false };
            let standing = match self.link.standing(id, query).await {
                // It may be back before the time is up.
                Err(LinkError::Unreachable(_)) if left > OUTAGE_PAUSE => {
                    sleep(OUTAGE_PAUSE).await;
                    continue;
                }
                found => found?,
            };
            let until = match standing {
                Some(Standing::Granted { .. }) => return self.take(id).await,
                Some(Standing::Waiting { until, .. }) => until,
                Some(Standing::Queued) => String::new(),
                Some(closed) => return Ok(ended(closed)),
                None => {
                    return Ok(OutsideAnswer::Refused {
                        reason: "the request is not known there".to_owned(),
                    });
                }
            };
            if left.is_zero() {
                self.leave(id).await;
                return Ok(OutsideAnswer::Pending { id: id.clone(), until });
            }
        }
    }

    /// Uses a consent up. Only what is recorded as used by this process is used by it.
    async fn take(&self, id: &SessionId) -> Result<OutsideAnswer, LinkError> {
        let (key, end) = ((self.nonce)(), Instant::now() + TAKE_TIMEOUT);
        let mut sent = false;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let query = StandingQuery { wait: left.min(MAX_WAIT), beyond_granted: true };
            let tried = async {
                if !sent {
                    self.link.take(id, &key).await?;
                    sent = true;
                }
                self.link.standing(id, query).await
            };
            match tried.await {
                Err(LinkError::Unreachable(_)) if left > OUTAGE_PAUSE => sleep(OUTAGE_PAUSE).await,
                Err(error) => return Err(error),
                Ok(Some(Standing::Taken { granted, key: theirs })) if theirs == key => {
                    return Ok(OutsideAnswer::Granted(granted));
                }
                Ok(Some(Standing::Granted { .. })) if !left.is_zero() => {}
                Ok(Some(Standing::Granted { .. } | Standing::Queued | Standing::Waiting { .. })) => {
                    self.leave(id).await;
                    let reason =
                        "the approval was not handed over in time; everything may be frozen".to_owned();
                    return Ok(OutsideAnswer::Expired { reason });
                }
                Ok(Some(closed)) => return Ok(ended(closed)),
                Ok(None) => {
                    return Ok(OutsideAnswer::Refused {
                        reason: "the request is not known there".to_owned(),
                    });
                }
            }
        }
    }
}

/// Tells whether somebody said no while nobody waited: whoever asks again has to learn that.
fn is_unread(standing: &Standing) -> bool {
    matches!(standing, Standing::Denied { .. } | Standing::Refused { .. })
}

/// Puts into words how a request ended that this process has no consent from.
fn ended(standing: Standing) -> OutsideAnswer {
    match standing {
        Standing::Denied { by, reason } => OutsideAnswer::Denied { by, reason },
        Standing::Expired { reason } => OutsideAnswer::Expired { reason },
        Standing::Refused { reason } => OutsideAnswer::Refused { reason },
        Standing::Taken { .. } => {
            OutsideAnswer::Refused { reason: "the approval was used up by another process".to_owned() }
        }
        Standing::Queued | Standing::Waiting { .. } | Standing::Granted { .. } => {
            OutsideAnswer::Refused { reason: "the request is still open".to_owned() }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::{Mutex, PoisonError};

    use async_trait::async_trait;

    use super::*;
    use ghost_investigate::event::{Impact, OutsideKind};

    pub(in crate::outside) fn request(text: &str) -> OutsideRequest {
        OutsideRequest {
            agent: "Claude Code".to_owned(),
            machine: "m1".to_owned(),
            folder: "/srv/app".to_owned(),
            conversation: "s1".to_owned(),
            kind: OutsideKind::Command,
            text: text.to_owned(),
            reasoning: "why".to_owned(),
            rule: "text".to_owned(),
            reason: "not known".to_owned(),
            impact: Impact::Change,
        }
    }

    fn granted() -> Granted {
        Granted { text: "touch a".to_owned(), by: "@ben".to_owned(), changed: false }
    }

    /// What the other end says, one answer after the other; the last one again and again.
    struct Says {
        answers: Mutex<Vec<Result<Standing, LinkError>>>,
        calls: Mutex<Vec<String>>,
        /// Whose key is recorded, once somebody wants to take.
        taker: Option<&'static str>,
    }

    impl Says {
        fn note(&self, what: String) {
            self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        }
    }

    #[async_trait]
    impl Link for Says {
        async fn ask(&self, _: &str, _: &OutsideRequest) -> Result<SessionId, LinkError> {
            self.note("ask".to_owned());
            Ok("ghost-abcdefghjkmn".parse().unwrap())
        }

        async fn standing(&self, _: &SessionId, query: StandingQuery) -> Result<Option<Standing>, LinkError> {
            let answer = {
                let mut answers = self.answers.lock().unwrap();
                if answers.len() > 1 { answers.remove(0) } else { answers.first().cloned().unwrap() }
            };
            if matches!(answer, Ok(Standing::Waiting { .. })) {
                sleep(query.wait).await;
            }
            let taken = self
                .calls
                .lock()
                .unwrap()
                .iter()
                .find_map(|what| what.strip_prefix("take ").map(str::to_owned));
            match (taken, query.beyond_granted) {
                (Some(key), true) => {
                    let key = self.taker.map_or(key, str::to_owned);
                    Ok(Some(Standing::Taken { granted: granted(), key }))
                }
                _ => answer.map(Some),
            }
        }

        async fn take(&self, _: &SessionId, key: &str) -> Result<(), LinkError> {
            self.note(format!("take {key}"));
            Ok(())
        }

        async fn attend(&self, _: &SessionId, waits: bool) -> Result<(), LinkError> {
            self.note(format!("attend {waits}"));
            Ok(())
        }
    }

    fn waiting() -> Standing {
        Standing::Waiting { until: "09:46".to_owned(), votes: 0, votes_needed: 1 }
    }

    async fn asked(
        answers: Vec<Result<Standing, LinkError>>,
        taker: Option<&'static str>,
    ) -> (Result<OutsideAnswer, LinkError>, Vec<String>) {
        let data = tempfile::tempdir().unwrap();
        let link = Arc::new(Says { answers: Mutex::new(answers), calls: Mutex::default(), taker });
        let client = Client::new(link.clone(), Kept::below(data.path()), Arc::new(|| "k1".to_owned()));
        let answer = client.decide(&request("touch a"), Duration::from_secs(60)).await;
        let calls = link.calls.lock().unwrap().clone();
        (answer, calls)
    }

    #[tokio::test(start_paused = true)]
    async fn a_yes_is_used_up_before_it_counts() {
        let offered = Standing::Granted { granted: granted(), until: "10:01".to_owned() };
        let (answer, calls) = asked(vec![Ok(waiting()), Ok(offered.clone())], None).await;
        assert_eq!(answer, Ok(OutsideAnswer::Granted(granted())));
        assert_eq!(calls, ["ask", "take k1"]);
        let (answer, _) = asked(vec![Ok(offered)], Some("another")).await;
        assert!(matches!(answer, Ok(OutsideAnswer::Refused { .. })), "{answer:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_and_an_outage_are_no_yes() {
        let (answer, calls) = asked(vec![Ok(waiting())], None).await;
        assert!(matches!(answer, Ok(OutsideAnswer::Pending { .. })), "{answer:?}");
        assert_eq!(calls, ["ask", "attend false"]);
        let gone = || LinkError::Unreachable("refused".to_owned());
        let (answer, _) = asked(vec![Err(gone())], None).await;
        assert_eq!(answer, Err(gone()));
        let denied = Standing::Denied { by: "@ben".to_owned(), reason: "not before 22:00".to_owned() };
        let (answer, _) = asked(vec![Err(gone()), Ok(waiting()), Err(gone()), Ok(denied)], None).await;
        let expected = OutsideAnswer::Denied { by: "@ben".to_owned(), reason: "not before 22:00".to_owned() };
        assert_eq!(answer, Ok(expected));
    }
}
