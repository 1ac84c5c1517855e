//! What a store may lose although it has acknowledged it.

use std::fmt;

/// A setting of a server under which it may lose what it has acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurabilityGap {
    /// Writes are not appended to a file.
    NoAppendOnlyFile,
    /// The file reaches the disk later than the answer (`appendfsync`).
    LateSync(String),
    /// Keys are removed when the memory is full (`maxmemory-policy`).
    Evicts(String),
    /// The server does not say, as many that are managed by others.
    Unreadable,
}

impl DurabilityGap {
    /// Judges the settings of a server, as it names them.
    #[must_use]
    pub fn of(setting: impl Fn(&str) -> Option<String>) -> Vec<Self> {
        let mut gaps = Vec::new();
        match (setting("appendonly").as_deref(), setting("appendfsync")) {
            (Some("yes"), Some(sync)) if sync != "always" => gaps.push(Self::LateSync(sync)),
            (Some("yes"), Some(_)) => {}
            (Some("yes") | None, _) => gaps.push(Self::Unreadable),
            (Some(_), _) => gaps.push(Self::NoAppendOnlyFile),
        }
        if let Some(policy) = setting("maxmemory-policy").filter(|policy| policy != "noeviction") {
            gaps.push(Self::Evicts(policy));
        }
        gaps
    }
}

impl fmt::Display for DurabilityGap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAppendOnlyFile => out.write_str(
                "a restart loses sessions and approvals: set `appendonly yes` and `appendfsync always`",
            ),
            Self::LateSync(sync) => {
                write!(
                    out,
                    "a power cut can lose the last approvals: `appendfsync` is `{sync}`, set it to `always`"
                )
            }
            Self::Evicts(policy) => {
                write!(
                    out,
                    "sessions are forgotten when the memory is full: `maxmemory-policy` is `{policy}`, set it to `noeviction`"
                )
            }
            Self::Unreadable => out.write_str(
                "the server does not say whether it keeps what it acknowledged; ask whoever runs it",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DurabilityGap::{self, Evicts, LateSync, NoAppendOnlyFile, Unreadable};

    fn of(settings: &[(&str, &str)]) -> Vec<DurabilityGap> {
        DurabilityGap::of(|name| {
            settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_setting_that_may_lose_something_is_named() {
        let (file, sync, keep) =
            (("appendonly", "yes"), ("appendfsync", "always"), ("maxmemory-policy", "noeviction"));
        assert_eq!(of(&[file, sync, keep]), []);
        assert_eq!(of(&[("appendonly", "no"), sync, keep]), [NoAppendOnlyFile]);
        assert_eq!(of(&[file, ("appendfsync", "everysec"), keep]), [LateSync("everysec".to_owned())]);
        assert_eq!(
            of(&[file, sync, ("maxmemory-policy", "allkeys-lru")]),
            [Evicts("allkeys-lru".to_owned())]
        );
        assert_eq!(of(&[keep]), [Unreadable]);
        assert_eq!(of(&[file]), [Unreadable]);
    }
}
