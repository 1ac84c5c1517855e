//! Whether something holds, where that may not be known.

/// Whether something holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Truth {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It is not known, and why.
    Unknown(String),
}

impl Truth {
    pub(super) const fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    pub(super) fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown(why.into())
    }

    /// Both have to hold.
    pub(super) fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No => Self::No,
            Self::Yes => other(),
            Self::Unknown(why) => match other() {
                Self::No => Self::No,
                Self::Yes | Self::Unknown(_) => Self::Unknown(why),
            },
        }
    }

    /// One of several has to hold.
    pub(super) fn any(all: impl IntoIterator<Item = Self>) -> Self {
        let mut found = Self::No;
        for one in all {
            match one {
                Self::Yes => return Self::Yes,
                Self::Unknown(_) if found == Self::No => found = one,
                Self::Unknown(_) | Self::No => {}
            }
        }
        found
    }

    /// What holds of all of several: unknown where they differ.
    pub(super) fn same(all: impl IntoIterator<Item = Self>, why: &str) -> Self {
        let mut all = all.into_iter();
        let Some(first) = all.next() else { return Self::No };
        all.fold(first, |found, one| if found == one { found } else { Self::unknown(why) })
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{No, Yes};
    use super::*;

    #[test]
    fn what_is_unknown_stays_unknown_unless_the_rest_decides() {
        let unknown = || Truth::unknown("x");
        assert_eq!(Truth::any([No, unknown(), Yes]), Yes);
        assert_eq!(Truth::any([No, unknown(), No]), unknown());
        assert_eq!(Truth::any([]), No);
        assert_eq!(unknown().and(|| No), No);
        assert_eq!(unknown().and(|| Yes), unknown());
        assert_eq!(Yes.and(unknown), unknown());
        assert_eq!(Truth::same([Yes, No], "y"), Truth::unknown("y"));
        assert_eq!(Truth::same([Yes, Yes], "y"), Yes);
    }
}
