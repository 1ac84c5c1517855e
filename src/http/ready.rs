//! Which parts are ready.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// The version of what `/ready` and `/live` answer.
pub(super) const FORMAT: u32 = 1;

/// Why a part is not ready. It is a word of this program, so that no address and no error text is ever served.
type Why = &'static str;

type Ask = Arc<dyn Fn() -> Result<(), Why> + Send + Sync>;

/// Knows the parts that have to be ready before this process takes work.
#[derive(Clone, Default)]
pub struct Components(Arc<Mutex<BTreeMap<&'static str, Source>>>);

#[derive(Clone)]
enum Source {
    Reported(Result<(), Why>),
    Asked(Ask),
}

impl fmt::Debug for Components {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.lock().keys()).finish()
    }
}

/// What `/ready` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The version of this form.
    pub format: u32,
    /// Whether every part is ready, and there is one.
    pub ready: bool,
    /// Every part, by name.
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    pub name: &'static str,
    /// Whether it is ready.
    pub ready: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

impl Components {
    /// Adds a part that tells by itself. Until it does, it is not ready.
    #[must_use]
    pub fn check(&self, name: &'static str) -> Check {
        self.lock().insert(name, Source::Reported(Err("it has not started")));
        Check { parts: self.clone(), name }
    }

    /// Adds a part that is asked each time. The question is answered at once, without waiting for anything.
    pub fn ask(
        &self,
        name: &'static str,
        ask: impl Fn() -> Result<(), &'static str> + Send + Sync + 'static,
    ) {
        self.lock().insert(name, Source::Asked(Arc::new(ask)));
    }

    /// Returns how things stand.
    ///
    /// Nothing is ready before somebody has said what has to be.
    #[must_use]
    pub fn report(&self) -> Report {
        // The lock is not held while parts are asked: what they look at may be telling something at this moment.
        let sources = self.lock().clone();
        let parts: Vec<_> = sources
            .into_iter()
            .map(|(name, source)| {
                let state = match source {
                    Source::Reported(state) => state,
                    Source::Asked(ask) => ask(),
                };
                Part { name, ready: state.is_ok(), why: state.err() }
            })
            .collect();
        Report { format: FORMAT, ready: !parts.is_empty() && parts.iter().all(|part| part.ready), parts }
    }

    fn tell(&self, name: &'static str, state: Result<(), Why>) {
        self.lock().insert(name, Source::Reported(state));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Source>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part's side of it.
#[derive(Debug, Clone)]
pub struct Check {
    parts: Components,
    name: &'static str,
}

impl Check {
    /// Says that the part is ready.
    pub fn ready(&self) {
        self.parts.tell(self.name, Ok(()));
    }

    /// Takes the part out: what it stood for is over, or another part says it from now on.
    pub fn retire(self) {
        self.parts.lock().remove(self.name);
    }

    /// Says that the part is not ready, and why.
    pub fn not_ready(&self, why: &'static str) {
        self.parts.tell(self.name, Err(why));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn nothing_is_ready_before_somebody_has_said_what_has_to_be() {
        assert!(!Components::default().report().ready);
    }

    #[test]
    fn a_part_is_not_ready_until_it_says_so() {
        let parts = Components::default();
        let store = parts.check("store");
        assert_eq!(
            parts.report().parts,
            [Part { name: "store", ready: false, why: Some("it has not started") }]
        );
        store.ready();
        assert!(parts.report().ready);
        store.not_ready("it does not answer");
        assert_eq!(
            parts.report().parts,
            [Part { name: "store", ready: false, why: Some("it does not answer") }]
        );
    }

    #[test]
    fn one_part_that_is_not_ready_is_enough() {
        let parts = Components::default();
        parts.check("store").ready();
        let open = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&open);
        parts
            .ask("sockets", move || seen.load(Ordering::SeqCst).then_some(()).ok_or("no connection is open"));
        assert!(!parts.report().ready);
        open.store(true, Ordering::SeqCst);
        assert!(parts.report().ready);
    }

    #[test]
    fn a_part_may_look_at_the_parts_while_it_is_asked() {
        let parts = Components::default();
        let model = parts.check("model");
        parts.ask("self", move || {
            model.ready();
            Ok(())
        });
        assert_eq!(parts.report().parts.len(), 2);
    }
}
