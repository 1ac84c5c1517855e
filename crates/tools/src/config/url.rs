//! What an address in the configuration may be.

/// Tells whether it is an address of HTTP, with or without TLS, that holds no name, password, query or blank.
pub(super) fn is_plain(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty()) && !url.contains(['@', '?', '#', ' '])
}

/// Tells whether what is sent there can be read by nobody on its path: it goes by TLS, or stays on this machine.
pub(super) fn is_private(url: &str) -> bool {
    match url.strip_prefix("http://") {
        Some(rest) => {
            let host = rest.split(['/', ':', '@']).next().unwrap_or_default();
            matches!(host, "127.0.0.1" | "localhost")
        }
        None => url.starts_with("https://"),
    }
}
