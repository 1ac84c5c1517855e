//! What a path of the blob service names.

/// An account, a container, a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlobPath {
    /// The account, in lower case.
    pub(super) account: String,
    pub(super) container: Option<String>,
    pub(super) blob: Option<String>,
}

impl BlobPath {
    /// Takes a path apart; without an account of its own the path begins with it.
    pub(super) fn parse(account: Option<&str>, path: &str) -> Option<Self> {
        let rest = path.trim_start_matches('/');
        let (account, rest) = match account {
            Some(account) => (account, rest),
            None => rest.split_once('/').unwrap_or((rest, "")),
        };
        let (container, blob) = rest.split_once('/').unwrap_or((rest, ""));
        let part = |text: &str| (!text.is_empty()).then(|| decoded(text));
        Some(Self { account: account.to_ascii_lowercase(), container: part(container), blob: part(blob) })
            .filter(|place| !place.account.is_empty())
    }
}

/// Tells whether a container may be called so.
pub(in crate::azure) fn is_container(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    matches!(name, "$root" | "$logs" | "$web")
        || ((3..=63).contains(&name.len())
            && name.bytes().all(|byte| plain(byte) || byte == b'-')
            && !name.starts_with('-')
            && !name.ends_with('-')
            && !name.contains("--"))
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(account: Option<&str>, path: &str, expected: Option<(&str, Option<&str>, Option<&str>)>) {
        let found = BlobPath::parse(account, path);
        let found = found
            .as_ref()
            .map(|place| (place.account.as_str(), place.container.as_deref(), place.blob.as_deref()));
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn a_path_names_an_account_a_container_a_blob() {
        check(Some("A"), "/", Some(("a", None, None)));
        check(Some("a"), "/c", Some(("a", Some("c"), None)));
        check(Some("a"), "/c/b/d%20e", Some(("a", Some("c"), Some("b/d e"))));
        check(None, "/a", Some(("a", None, None)));
        check(None, "/a/c/b", Some(("a", Some("c"), Some("b"))));
        check(None, "/", None);
    }

    #[test]
    fn a_container_has_a_plain_name() {
        for good in ["abc", "a-1", "$root", &"a".repeat(63)] {
            assert!(is_container(good), "{good}");
        }
        for bad in ["", "ab", "Abc", "a--b", "-ab", "ab-", "a_b", &"a".repeat(64)] {
            assert!(!is_container(bad), "{bad}");
        }
    }
}
