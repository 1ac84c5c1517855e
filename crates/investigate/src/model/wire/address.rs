//! A provider's base address: what it must look like, and what is appended to it.

use std::net::IpAddr;

use reqwest::Url;

use crate::model::wire::egress::BuildError;

/// Reads a base address: https, or http on this machine, without a name and a password in it.
pub(super) fn read(provider: &'static str, base: &str) -> Result<Url, BuildError> {
    let problem = |what: &str| BuildError::Address { provider, what: what.to_owned() };
    let url = Url::parse(base.trim()).map_err(|error| problem(&error.to_string()))?;
    if !url.has_host() || !matches!(url.scheme(), "http" | "https") {
        return Err(problem("it does not begin with https:// and a host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(problem("it holds a name or a password; a key has a place of its own"));
    }
    if url.fragment().is_some() {
        return Err(problem("it has a part behind #"));
    }
    if url.scheme() == "http" && !is_loopback(&url) {
        return Err(BuildError::Plain { provider, host: host(&url) });
    }
    Ok(url)
}

/// Appends a path to a base address. A query stays behind it.
pub(super) fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    url.set_path(&format!("{}/{}", base.path().trim_end_matches('/'), path.trim_start_matches('/')));
    let query: Vec<_> = [base.query(), query].into_iter().flatten().filter(|part| !part.is_empty()).collect();
    url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
    url
}

/// Names the host, with its port where it is not the usual one.
pub(super) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Tells whether an address can only be this machine. The client holds `localhost` to that.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn joined(base: &str, path: &str, expected: &str) {
        assert_eq!(join(&Url::parse(base).unwrap(), path).as_str(), expected);
    }

    #[test]
    fn a_path_is_appended_to_the_base() {
        joined("https://api.example.com", "/v1/messages", "https://api.example.com/v1/messages");
        joined("https://api.example.com/", "v1/messages", "https://api.example.com/v1/messages");
        joined("https://a.example/openai/v1/", "/chat", "https://a.example/openai/v1/chat");
        joined(
            "https://a.example/x?api-version=1",
            "/chat?alt=sse",
            "https://a.example/x/chat?api-version=1&alt=sse",
        );
        joined("https://a.example", "/models/m:stream?alt=sse", "https://a.example/models/m:stream?alt=sse");
    }

    #[test]
    fn plain_http_stays_on_this_machine() {
        assert!(read("openai", "http://127.0.0.1:8000/v1").is_ok());
        assert!(read("openai", "http://localhost:8000/v1").is_ok());
        assert!(read("openai", "http://[::1]:8000/v1").is_ok());
        let plain = |host: &str| Err(BuildError::Plain { provider: "openai", host: host.to_owned() });
        assert_eq!(read("openai", "http://10.0.0.5:8000"), plain("10.0.0.5:8000"));
        assert_eq!(read("openai", "http://localhost.example.com"), plain("localhost.example.com"));
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        for base in [
            "",
            "api.example.com",
            "ftp://a.example",
            "file:///etc/passwd",
            "https://",
            "https://a.example#x",
        ] {
            assert!(matches!(read("openai", base), Err(BuildError::Address { .. })), "{base}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let error = read("openai", "https://me:hunter2secret@a.example").unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
