//! Who may ask from outside, by their tokens, and how often.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ghost_base::{Clock, Digest, Secret, Timestamp, same};

/// A shorter token could be guessed.
pub const MIN_TOKEN_CHARS: usize = 24;

const MINUTE: Duration = Duration::from_secs(60);

/// So many wrong tokens a minute are answered and logged. Whoever has a token is served all the same: nobody is kept out by the guesses of another.
const MAX_FAILURES_PER_MINUTE: usize = 60;

/// Somebody who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Their name.
    pub name: String,
    /// The person whose agents these are.
    pub owner: Option<String>,
}

/// Returns the token of a caller at the present moment.
pub type TokenNow = dyn Fn() -> Secret + Send + Sync;

/// How often callers may do what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// How many requests one caller may make in a minute.
    pub requests_per_minute: usize,
    /// How many calls of any kind.
    pub calls_per_minute: usize,
}

/// Why somebody is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotServed {
    /// Their token is none.
    Unknown,
    /// They ask too often.
    TooOften,
}

/// Everybody who may ask.
pub struct Callers {
    all: Vec<(Caller, Arc<TokenNow>)>,
    rates: Rates,
    clock: Arc<dyn Clock>,
    /// When what was done, by caller and kind.
    times: Mutex<BTreeMap<(String, bool), VecDeque<Timestamp>>>,
    failures: Mutex<VecDeque<Timestamp>>,
}

impl Callers {
    /// Takes callers with their tokens.
    #[must_use]
    pub fn new(all: Vec<(Caller, Arc<TokenNow>)>, rates: Rates, clock: Arc<dyn Clock>) -> Self {
        Self { all, rates, clock, times: Mutex::default(), failures: Mutex::default() }
    }

    /// Tells whether nobody may ask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Finds out whose token it is. Every token is compared, in a time that does not depend on where they differ.
    pub(super) fn find(&self, token: &str) -> Result<&Caller, NotServed> {
        // Digests have one length, so that the comparison says nothing about that of a token either.
        let given = Digest::of(token).to_string();
        let mut found = None;
        for (caller, secret) in &self.all {
            let secret = secret();
            let fits = same(&given, &Digest::of(secret.expose()).to_string());
            if fits && secret.expose().chars().count() >= MIN_TOKEN_CHARS {
                found = Some(caller);
            }
        }
        found.ok_or_else(|| {
            let now = self.clock.now();
            let mut failures = lock(&self.failures);
            if within(&mut failures, now) >= MAX_FAILURES_PER_MINUTE {
                return NotServed::TooOften;
            }
            failures.push_back(now);
            NotServed::Unknown
        })
    }

    /// Counts what a caller does.
    pub(super) fn count(&self, caller: &Caller, is_request: bool) -> Result<(), NotServed> {
        let now = self.clock.now();
        let mut times = lock(&self.times);
        for (is_request, limit) in
            [(false, self.rates.calls_per_minute), (true, self.rates.requests_per_minute)]
                .into_iter()
                .take(if is_request { 2 } else { 1 })
        {
            let done = times.entry((caller.name.clone(), is_request)).or_default();
            if within(done, now) >= limit {
                return Err(NotServed::TooOften);
            }
            done.push_back(now);
        }
        Ok(())
    }
}

/// Forgets what is older than a minute, and returns how much is left.
fn within(times: &mut VecDeque<Timestamp>, now: Timestamp) -> usize {
    while times.front().is_some_and(|at| now.since(*at) >= MINUTE) {
        times.pop_front();
    }
    times.len()
}

fn lock<T>(held: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_base::SystemClock;

    const TOKEN: &str = "a-token-of-enough-letters-1";

    fn callers(rates: Rates) -> Callers {
        let token = |text: &'static str| -> Arc<TokenNow> { Arc::new(move || Secret::new(text)) };
        let caller = |name: &str| Caller { name: name.to_owned(), owner: None };
        let all = vec![
            (caller("short"), token("short")),
            (caller("empty"), token("")),
            (caller("m1"), token(TOKEN)),
            (caller("m2"), token("a-token-of-enough-letters-2")),
        ];
        Callers::new(all, rates, Arc::new(SystemClock))
    }

    const MANY: Rates = Rates { requests_per_minute: 100, calls_per_minute: 100 };

    #[test]
    fn only_a_whole_long_token_names_a_caller() {
        let callers = callers(MANY);
        assert_eq!(callers.find(TOKEN).map(|caller| caller.name.as_str()), Ok("m1"));
        for wrong in ["", "short", "a-token-of-enough-letters-", "A-token-of-enough-letters-1"] {
            assert_eq!(callers.find(wrong), Err(NotServed::Unknown), "{wrong}");
        }
    }

    #[test]
    fn who_guesses_is_refused_and_nobody_else() {
        let callers = callers(MANY);
        for _ in 0..MAX_FAILURES_PER_MINUTE {
            assert_eq!(callers.find("guess"), Err(NotServed::Unknown));
        }
        assert_eq!(callers.find("guess"), Err(NotServed::TooOften));
        assert_eq!(callers.find(TOKEN).map(|caller| caller.name.as_str()), Ok("m1"));
    }

    #[test]
    fn one_caller_cannot_ask_for_another() {
        let callers = callers(Rates { requests_per_minute: 2, calls_per_minute: 3 });
        let (one, other) =
            (callers.find(TOKEN).unwrap(), callers.find("a-token-of-enough-letters-2").unwrap());
        assert_eq!([callers.count(one, true), callers.count(one, true)], [Ok(()), Ok(())]);
        assert_eq!(callers.count(one, true), Err(NotServed::TooOften));
        assert_eq!(callers.count(other, true), Ok(()));
    }
}
