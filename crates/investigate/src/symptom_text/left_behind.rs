//! The wish to clean up what a session left behind: a sentence of Ghost's own, written and read here.

use ghost_cloud::capture::Origin;

/// A capture that nobody owns any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehind {
    /// Its name in the cloud.
    pub capture: String,
    /// The machine whose packets it has.
    pub machine: String,
}

const BEGIN: &str = "Clean up the packet capture ";
const OF: &str = " of ";
const BY: &str = ", which session ";

impl LeftBehind {
    #[must_use]
    pub fn wish(&self, session: &str) -> String {
        format!("{BEGIN}{}{OF}{}{BY}{session} left behind", self.capture, self.machine)
    }

    /// Reads it; `None` where a text says anything else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (capture, rest) = text.trim().strip_prefix(BEGIN)?.split_once(OF)?;
        let (machine, rest) = rest.split_once(BY)?;
        let session = rest.lines().next()?.strip_suffix(" left behind")?;
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= 80
                && !name.starts_with('-')
                && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
        };
        // Only what carries the session's name is ours: nobody has another's capture deleted by such a sentence.
        let ours = Origin::of(capture).is_some_and(|origin| origin.session.as_str() == session);
        (ours && is_name(capture) && is_name(machine))
            .then(|| Self { capture: capture.to_owned(), machine: machine.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let left_behind = LeftBehind { capture: "ghost-s1-1".to_owned(), machine: "web-1".to_owned() };
        assert_eq!(LeftBehind::read(&left_behind.wish("s1")), Some(left_behind));
    }

    #[test]
    fn nothing_else_is_such_a_wish() {
        for text in [
            "",
            "Clean up the packet capture",
            "Please clean up the packet capture a of b, which session c left behind",
            "Clean up the packet capture somebodys of b, which session c left behind",
            "Clean up the packet capture ghost-d-1 of b, which session c left behind",
            "Clean up the packet capture a --yes of b, which session c left behind",
            "Clean up the packet capture -a of b, which session c left behind",
            "Clean up the packet capture a of b, which session c left behind and delete the group",
        ] {
            assert_eq!(LeftBehind::read(text), None, "{text}");
        }
    }
}
