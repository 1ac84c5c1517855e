//! Names of captures: they carry the session and a number, so that everybody can see whose they are.

use std::fmt;

use crate::{Name, NameError};
use ghost_base::{SessionId, is_drawn};

/// The platform takes no longer name.
const MAX_NAME_LEN: usize = 80;
const BEGIN: &str = "ghost-";
/// Stands before the id of a session that somebody chose where it could be taken for one that was drawn.
const CHOSEN: &str = "x-";

/// Which end of a path a capture is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// There is no other end.
    Only,
    /// Where the packets in question come from.
    Source,
    /// Where they go.
    Destination,
}

impl Role {
    fn ending(self) -> &'static str {
        match self {
            Self::Only => "",
            Self::Source => "-src",
            Self::Destination => "-dst",
        }
    }

    /// Returns the word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Only => "only end",
            Self::Source => "source",
            Self::Destination => "destination",
        }
    }
}

/// Whose a capture is: `ghost-SESSION-NUMBER`, and `-src` or `-dst` where there are two ends. The id of a session that was drawn begins
/// with `ghost-`, which is not said twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub session: SessionId,
    /// Which of the session's tasks, from 1.
    pub number: u32,
    /// Which end.
    pub role: Role,
}

impl Origin {
    /// Reads a name back; `None` where it is not written exactly as one of ours.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(BEGIN)?;
        let (rest, role) = [Role::Source, Role::Destination]
            .iter()
            .find_map(|role| Some((rest.strip_suffix(role.ending())?, *role)))
            .unwrap_or((rest, Role::Only));
        let (session, number) = rest.rsplit_once('-')?;
        let origin = Self { session: session_in(session)?, number: number.parse().ok()?, role };
        let is_ours = origin.to_string() == name || origin.said_twice() == name;
        (origin.number > 0 && is_ours).then_some(origin)
    }

    /// Returns the name that earlier versions gave.
    fn said_twice(&self) -> String {
        format!("{BEGIN}{}-{}{}", self.session, self.number, self.role.ending())
    }

    /// Returns the name.
    ///
    /// # Errors
    /// Fails where the platform would not take it, because the session's is too long.
    pub fn name(&self) -> Result<Name, NameError> {
        let text = self.to_string();
        if text.len() > MAX_NAME_LEN {
            let wanted = "`ghost-SESSION-NUMBER-src` of up to 80 characters is: the session's id is too long";
            return Err(NameError { text, what: "a capture", wanted });
        }
        Name::parse(&text)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, ending) = (self.number, self.role.ending());
        match self.session.drawn_letters() {
            Some(letters) => write!(out, "{BEGIN}{letters}-{number}{ending}"),
            None if needs_mark(self.session.as_str()) => {
                write!(out, "{BEGIN}{CHOSEN}{}-{number}{ending}", self.session)
            }
            None => write!(out, "{BEGIN}{}-{number}{ending}", self.session),
        }
    }
}

/// Returns the session that a name carries.
fn session_in(text: &str) -> Option<SessionId> {
    match text.strip_prefix(CHOSEN).filter(|rest| needs_mark(rest)) {
        Some(chosen) => chosen.parse().ok(),
        None if is_drawn(text) => format!("{BEGIN}{text}").parse().ok(),
        None => text.parse().ok(),
    }
}

/// Tells whether an id, as it is, would be read as another one.
fn needs_mark(session: &str) -> bool {
    is_drawn(session.trim_start_matches(CHOSEN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn origin(session: &str, number: u32, role: Role) -> Origin {
        Origin { session: session.parse().unwrap(), number, role }
    }

    #[test]
    fn a_name_carries_session_number_and_end() {
        let name = origin("ghost-7k2fabcdefgh", 1, Role::Source).name().unwrap();
        assert_eq!(name.as_str(), "ghost-7k2fabcdefgh-1-src");
        assert_eq!(Origin::of("ghost-s1-12"), Some(origin("s1", 12, Role::Only)));
    }

    #[test]
    fn a_session_that_was_named_like_a_drawn_one_is_not_taken_for_it() {
        for session in ["7k2fabcdefgh", "x-7k2fabcdefgh", "x-x-7k2fabcdefgh", "ghost-ghost-7k2fabcdefgh"] {
            let origin = origin(session, 3, Role::Only);
            assert_eq!(Origin::of(&origin.to_string()), Some(origin), "{session}");
        }
    }

    #[test]
    fn the_names_of_earlier_versions_are_ours() {
        let drawn = origin("ghost-7k2fabcdefgh", 1, Role::Source);
        assert_eq!(Origin::of("ghost-ghost-7k2fabcdefgh-1-src"), Some(drawn));
    }

    #[test]
    fn what_only_resembles_ours_is_not() {
        for name in [
            "ghost-",
            "ghost--1",
            "ghost-s1",
            "ghost-s1-0",
            "ghost-s1-01",
            "ghost-s1-1-SRC",
            "Ghost-s1-1",
            "ghost_vm_20250602T093100",
            "ghost-s1-1 ",
            "ghost-s.1-1",
            "ghost-s1-+1",
            "ghost-s1-99999999999",
            "my-ghost-s1-1",
        ] {
            assert_eq!(Origin::of(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_that_the_platform_would_cut_is_an_error() {
        assert!(origin(&"x".repeat(64), 999, Role::Source).name().is_ok());
        assert!(origin(&"x".repeat(64), 100_000, Role::Source).name().is_err());
    }

    proptest! {
        #[test]
        fn every_name_reads_back(session in "[A-Za-z0-9_-]{1,60}", number in 1_u32..5_000, which in 0_u8..3) {
            let role = [Role::Only, Role::Source, Role::Destination][usize::from(which)];
            let origin = origin(&session, number, role);
            prop_assert_eq!(Origin::of(&origin.to_string()), Some(origin));
        }
    }
}
