//! The names of namespaces: they say whose they are.

use std::path::PathBuf;

/// Where named namespaces lie.
pub(super) const FOLDER: &str = "/run/netns";

/// How long the readable part of a name is at most.
const MAX_READABLE_LEN: usize = 32;

/// The name of a namespace of a lab. It is made from a lab and a number alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::host) struct Namespace(String);

impl Namespace {
    /// Names a namespace; what it stands for is only there to be read.
    pub(in crate::host) fn new(prefix: &Prefix, number: usize, what: &str) -> Self {
        let readable = what.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
        let readable: String = readable.take(MAX_READABLE_LEN).collect();
        Self(format!("{}{number}-{readable}", prefix.0))
    }

    /// Returns the name if it is one of a lab's.
    pub(super) fn of(prefix: &Prefix, name: &str) -> Option<Self> {
        let rest = name.strip_prefix(&prefix.0)?;
        let fits = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (fits && rest.len() <= MAX_READABLE_LEN + 24).then(|| Self(name.to_owned()))
    }

    pub(in crate::host) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the file that stands for it.
    pub(in crate::host) fn path(&self) -> PathBuf {
        PathBuf::from(FOLDER).join(&self.0)
    }
}

/// What the names of all namespaces of a lab begin with: its number and its owner's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host) struct Prefix(String);

impl Prefix {
    /// Makes it; nothing where the lab's number is none.
    pub(in crate::host) fn new(lab: &str, owner: u32) -> Option<Self> {
        let fits = lab.len() == 8 && lab.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(format!("ghost-{lab}-{owner}-")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_by_its_lab_and_its_owner_alone() {
        let own = Prefix::new("00ff00ff", 12).unwrap();
        let space = Namespace::new(&own, 3, "web/../1 x");
        assert_eq!(space.as_str(), "ghost-00ff00ff-12-3-web----1-x");
        assert_eq!(Namespace::of(&own, space.as_str()), Some(space.clone()));
        assert_eq!(Namespace::of(&Prefix::new("00ff00ff", 1).unwrap(), space.as_str()), None);
        assert_eq!(Namespace::of(&Prefix::new("00ff00fe", 12).unwrap(), space.as_str()), None);
        assert_eq!(Namespace::of(&own, "ghost-00ff00ff-12-../x"), None);
    }

    #[test]
    fn a_lab_has_a_number() {
        for hostile in ["", "../../ab", "00FF00FF", "00ff00ff0"] {
            assert_eq!(Prefix::new(hostile, 1), None, "{hostile}");
        }
    }
}
