//! When a token is asked for: once for all who want it, before the one that is held ends, and never so that a read waits without end.
//!
//! Goes in: that somebody needs a token, and which one was refused. Comes out: a token, or why there is none. Never: two requests of one
//! identity at once; a wait for a new token while the one that is held is good; a request that goes on when nobody waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use ghost_base::Secret;
use tokio::time::{Instant, timeout};

use super::failure::Failure;

/// A token is renewed so long before its end.
const RENEW_BEFORE: Duration = Duration::from_secs(300);

/// So long somebody waits for a new token who could go on with the one that is held; and so much later it is tried again.
const RENEW_WAIT: Duration = Duration::from_secs(10);
const RENEW_AGAIN: Duration = Duration::from_secs(30);

/// So long anybody waits for a token, other tries and all.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// No token is believed to be good for longer.
const MAX_SECONDS: u64 = 86_400;

/// What the next token has to be asked for with.
pub(super) type Claims = Arc<str>;

/// A token, and how many seconds it is good; or why there is none.
pub(super) type Fetched = Result<(Secret, u64), Failure>;

type Request = Shared<BoxFuture<'static, Fetched>>;

/// A token, and which one it is.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) secret: Secret,
    number: u64,
}

/// A token that the platform did not take.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) token: Token,
    /// What it demands of the next one.
    pub(super) claims: Option<Claims>,
}

#[derive(Debug)]
struct Held {
    token: Token,
    claims: Option<Claims>,
    renew_at: Instant,
    until: Instant,
}

/// A request that somebody waits for: it ends with the last who does.
#[derive(Debug)]
struct Running {
    number: u64,
    claims: Option<Claims>,
    request: WeakShared<BoxFuture<'static, Fetched>>,
}

/// What one identity has.
#[derive(Debug, Default)]
struct State {
    count: u64,
    held: Option<Held>,
    running: Option<Running>,
}

/// What somebody who needs a token does.
enum Step {
    Take(Token),
    /// Waits for a request, and goes on with this one where that takes too long.
    Wait {
        request: Request,
        number: u64,
        claims: Option<Claims>,
        meanwhile: Option<Token>,
    },
}

/// Gives out the token of one identity.
#[derive(Debug, Default)]
pub(super) struct Renewal(Mutex<State>);

impl Renewal {
    /// Returns a token that is good for a while. One that was refused is replaced, once for all who hold it.
    pub(super) async fn token(
        &self,
        refused: Option<&Refused>,
        fetch: impl Fn(Option<Claims>) -> BoxFuture<'static, Fetched>,
    ) -> Result<Token, Failure> {
        let demanded = refused.and_then(|refused| refused.claims.clone());
        loop {
            let (request, number, claims, meanwhile) = match self.step(refused, &fetch) {
                Step::Take(token) => return Ok(token),
                Step::Wait { request, number, claims, meanwhile } => (request, number, claims, meanwhile),
            };
            let came = match &meanwhile {
                Some(_) => timeout(RENEW_WAIT, request).await.ok(),
                None => Some(request.await),
            };
            let is_other = claims != demanded && demanded.is_some();
            match (came, meanwhile) {
                (Some(Ok((secret, seconds))), _) => {
                    let token = Token { secret, number };
                    self.hold(&token, claims, seconds);
                    if !is_other {
                        return Ok(token);
                    }
                }
                (Some(Err(_)) | None, Some(token)) => {
                    self.postpone(number);
                    return Ok(token);
                }
                (Some(Err(_)), None) if is_other => {}
                (Some(Err(failure)), None) => return Err(failure),
                (None, None) => return Err(no_answer()),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(
        &self,
        refused: Option<&Refused>,
        fetch: &impl Fn(Option<Claims>) -> BoxFuture<'static, Fetched>,
    ) -> Step {
        let mut state = self.state();
        let now = Instant::now();
        let demanded = refused.and_then(|refused| refused.claims.clone());
        let running = state.running.as_ref().and_then(|one| Some((one.request.upgrade()?, one)));
        let running = running.map(|(request, one)| (request, one.number, one.claims.clone()));
        let fits = |held: &&Held| {
            let is_refused = refused.is_some_and(|refused| refused.token.number == held.token.number);
            held.until > now && !is_refused && (demanded.is_none() || held.claims == demanded)
        };
        let held = state.held.as_ref().filter(fits);
        let meanwhile = held.map(|held| held.token.clone());
        match (held, running) {
            (Some(held), _) if held.renew_at > now => return Step::Take(held.token.clone()),
            // Somebody renews it already.
            (Some(held), Some(_)) => return Step::Take(held.token.clone()),
            (None, Some((request, number, claims))) => {
                return Step::Wait { request, number, claims, meanwhile: None };
            }
            (Some(_) | None, None) => {}
        }
        // What was demanded of the last one is demanded of the next one, too.
        let claims = demanded.or_else(|| state.held.as_ref().and_then(|held| held.claims.clone()));
        let asked = fetch(claims.clone());
        let bounded = async move { timeout(MAX_WAIT, asked).await.unwrap_or_else(|_| Err(no_answer())) };
        let request = bounded.boxed().shared();
        state.count += 1;
        let number = state.count;
        let weak = request.downgrade();
        state.running = weak.map(|request| Running { number, claims: claims.clone(), request });
        Step::Wait { request, number, claims, meanwhile }
    }

    /// Keeps a token that came, unless a later one is there.
    fn hold(&self, token: &Token, claims: Option<Claims>, seconds: u64) {
        let mut state = self.state();
        if state.held.as_ref().is_some_and(|held| held.token.number >= token.number) {
            return;
        }
        let (now, good) = (Instant::now(), Duration::from_secs(seconds.min(MAX_SECONDS)));
        let renew_at = now + good.saturating_sub(RENEW_BEFORE).max(good / 2);
        state.held = Some(Held { token: token.clone(), claims, renew_at, until: now + good });
    }

    /// Goes on with the token that is held, and tries later again.
    fn postpone(&self, number: u64) {
        let mut state = self.state();
        if let Some(held) = state.held.as_mut().filter(|held| held.token.number < number) {
            held.renew_at = Instant::now() + RENEW_AGAIN;
        }
    }
}

fn no_answer() -> Failure {
    Failure::token(format!("no answer came within {} s", MAX_WAIT.as_secs()))
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts who asks, and answers after a while; with an endless while, never.
    struct Authority {
        asked: AtomicUsize,
        open: Arc<AtomicUsize>,
    }

    struct Open(Arc<AtomicUsize>);

    impl Drop for Open {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl Authority {
        fn new() -> Self {
            Self { asked: AtomicUsize::new(0), open: Arc::default() }
        }

        fn fetch(&self, wait: Option<u64>, answer: Fetched) -> BoxFuture<'static, Fetched> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let open = Arc::clone(&self.open);
            async move {
                open.fetch_add(1, Ordering::SeqCst);
                let _open = Open(Arc::clone(&open));
                assert_eq!(open.load(Ordering::SeqCst), 1, "two requests at once");
                match wait {
                    Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
                    None => pending().await,
                }
                answer
            }
            .boxed()
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::SeqCst)
        }
    }

    fn good(text: &str, seconds: u64) -> Fetched {
        Ok((Secret::new(text), seconds))
    }

    async fn advance(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn all_who_want_a_token_wait_for_one_request() {
        let (renewal, authority) = (Renewal::default(), Authority::new());
        let one = || renewal.token(None, |_| authority.fetch(Some(3), good("t1", 3_600)));
        let (first, second, third) = tokio::join!(one(), one(), one());
        for token in [first, second, third] {
            assert_eq!(token.unwrap().secret.expose(), "t1");
        }
        assert_eq!(authority.asked(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn while_a_renewal_hangs_everybody_goes_on_with_the_token_that_is_held() {
        let (renewal, authority) = (Renewal::default(), Authority::new());
        drop(renewal.token(None, |_| authority.fetch(Some(0), good("t1", 3_600))).await.unwrap());
        advance(3_400).await;
        let begun = Instant::now();
        let leader = renewal.token(None, |_| authority.fetch(None, good("t2", 3_600)));
        let others = async {
            for _ in 0..20 {
                let token = renewal.token(None, |_| authority.fetch(None, good("t3", 3_600))).await;
                assert_eq!(token.unwrap().secret.expose(), "t1");
            }
            begun.elapsed()
        };
        let (leader, others) = tokio::join!(leader, others);
        assert_eq!(others, Duration::ZERO, "nobody else waits");
        assert_eq!((leader.unwrap().secret.expose(), begun.elapsed()), ("t1", RENEW_WAIT));
        assert_eq!(authority.open.load(Ordering::SeqCst), 0, "nobody waits for it, so it is over");
        assert_eq!(authority.asked(), 2);
        advance(RENEW_AGAIN.as_secs()).await;
        let renewed = renewal.token(None, |_| authority.fetch(Some(1), good("t4", 3_600))).await;
        assert_eq!(renewed.unwrap().secret.expose(), "t4");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_hangs_ends_for_all_at_once_and_the_next_one_begins_anew() {
        let (renewal, authority) = (Renewal::default(), Authority::new());
        let begun = Instant::now();
        let one = || renewal.token(None, |_| authority.fetch(None, good("t1", 3_600)));
        let late = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            one().await
        };
        let (first, second, late) = tokio::join!(one(), one(), late);
        for failed in [first, second, late] {
            assert!(failed.unwrap_err().text.contains("no answer came within 60 s"));
        }
        assert_eq!((begun.elapsed(), authority.asked()), (MAX_WAIT, 1));
        let next = renewal.token(None, |_| authority.fetch(Some(1), good("t2", 3_600))).await;
        assert_eq!(next.unwrap().secret.expose(), "t2");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_canceled_leaves_the_request_to_the_others_and_the_last_one_ends_it() {
        let (renewal, authority) = (Renewal::default(), Authority::new());
        let one = || renewal.token(None, |_| authority.fetch(Some(30), good("t1", 3_600)));
        let canceled = timeout(Duration::from_secs(5), one());
        let (canceled, other) = tokio::join!(canceled, one());
        assert!(canceled.is_err() && other.unwrap().secret.expose() == "t1");
        assert_eq!(authority.asked(), 1);
        let renewal = Renewal::default();
        let alone = renewal.token(None, |_| authority.fetch(None, good("t1", 3_600)));
        assert!(timeout(Duration::from_secs(5), alone).await.is_err());
        assert_eq!(authority.open.load(Ordering::SeqCst), 0);
        // Nobody is left with what was given up long ago.
        advance(600).await;
        let next = renewal.token(None, |_| authority.fetch(Some(1), good("t2", 3_600))).await;
        assert_eq!(next.unwrap().secret.expose(), "t2");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_was_refused_is_replaced_once_and_with_what_was_demanded() {
        let (renewal, authority) = (Renewal::default(), Authority::new());
        let first = renewal.token(None, |_| authority.fetch(Some(0), good("t1", 3_600))).await.unwrap();
        let plain = Refused { token: first.clone(), claims: None };
        let (one, two) = tokio::join!(
            renewal.token(Some(&plain), |_| authority.fetch(Some(1), good("t2", 3_600))),
            renewal.token(Some(&plain), |_| authority.fetch(Some(1), good("t3", 3_600)))
        );
        assert_eq!((one.unwrap().secret.expose(), two.unwrap().secret.expose()), ("t2", "t2"));
        // A token that nobody demanded anything of is none that was demanded.
        let demands = Refused { token: first, claims: Some("{}".into()) };
        let demanded = |claims: Option<Claims>| {
            assert_eq!(claims.as_deref(), Some("{}"));
            authority.fetch(Some(1), good("t4", 3_600))
        };
        assert_eq!(renewal.token(Some(&demands), demanded).await.unwrap().secret.expose(), "t4");
        assert_eq!(renewal.token(Some(&demands), demanded).await.unwrap().secret.expose(), "t4");
        assert_eq!(authority.asked(), 3);
        // What comes after it is asked for with the same.
        advance(3_600).await;
        assert_eq!(renewal.token(None, demanded).await.unwrap().secret.expose(), "t4");
    }
}
