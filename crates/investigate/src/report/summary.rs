//! A session in a line of a list.

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::event::{Content, Event, Recorded};
use crate::report::plain;
use crate::report::spell::fit;
use crate::state::{FoldError, State};
use ghost_base::SessionId;

/// A session in a list. Its keys are those of the contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Its name.
    pub id: String,
    /// Where it stands: see [`State::standing`]; `erased`, `newer` or `broken` where there is no state.
    pub state: String,
    /// When it was opened, RFC 3339 in UTC; `null` where there is not a single event.
    pub opened: Option<String>,
    /// What was asked, as it was said; `null` where it was erased.
    pub symptom: Option<String>,
    /// What came of it; `null` while it runs, and where it was erased.
    pub outcome: Option<Outcome>,
}

impl Summary {
    /// Sums up a session.
    #[must_use]
    pub fn of(state: &State) -> Self {
        Self {
            id: state.session.to_string(),
            state: state.standing().to_owned(),
            opened: Some(state.opened_at.to_string()),
            symptom: Some(state.opened.symptom.clone()),
            outcome: state.concluded.as_ref().map(|(_, concluded)| concluded.outcome),
        }
    }

    /// Sums up a session from its events, also one that was erased or that this version does not understand.
    #[must_use]
    pub fn of_recorded(session: &SessionId, events: &[Recorded]) -> Self {
        let state = match State::fold(session, events) {
            Ok(state) => return Self::of(&state),
            Err(FoldError::Erased) => "erased",
            Err(FoldError::Foreign { .. }) => "newer",
            Err(FoldError::Empty | FoldError::NotOpened | FoldError::Misplaced { .. }) => "broken",
        };
        let known = || events.iter().filter_map(known);
        Self {
            id: session.to_string(),
            state: state.to_owned(),
            opened: events.first().map(|first| first.at.to_string()),
            symptom: known().find_map(|event| {
                if let Event::Opened(opened) = event { Some(opened.symptom.clone()) } else { None }
            }),
            outcome: known().rev().find_map(|event| {
                if let Event::Concluded(concluded) = event { Some(concluded.outcome) } else { None }
            }),
        }
    }

    /// Returns a line of at most so many columns that a terminal only prints.
    #[must_use]
    pub fn line(&self, columns: usize) -> String {
        let outcome = self.outcome.map_or("-", Outcome::as_str);
        let (opened, symptom) =
            (self.opened.as_deref().unwrap_or("-"), self.symptom.as_deref().unwrap_or("-"));
        let line = format!("{:<16}  {:<9}  {opened}  {outcome:<14}  {symptom}", self.id, self.state);
        fit(&plain(&line), columns)
    }
}

/// Returns the events that a report covers: all up to the last conclusion. What follows is its delivery, and a report that contained its
/// own delivery would not be the one that was delivered.
#[must_use]
pub fn reported(events: &[Recorded]) -> &[Recorded] {
    let end = events.iter().rposition(|event| matches!(known(event), Some(Event::Concluded(_))));
    end.and_then(|end| events.get(..=end)).unwrap_or(events)
}

fn known(event: &Recorded) -> Option<&Event> {
    match &event.content {
        Content::Known(event) => Some(event),
        Content::Foreign | Content::Erased => None,
    }
}
