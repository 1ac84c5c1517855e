//! Who may speak with a server on the loopback address: programs of this machine, and its own page.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

/// What this machine calls itself.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Turns away what came under a foreign name or from a foreign page.
///
/// A name that an attacker's DNS points here arrives with that name in `Host`; a foreign page sends its `Origin`, or a
/// browser says in `Sec-Fetch-Site` that the request is not from here.
pub(crate) async fn guard(State(port): State<u16>, request: Request, next: Next) -> Response {
    if is_ours(request.headers(), port) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "this address answers only to this machine and to its own page\n").into_response()
}

fn is_ours(headers: &HeaderMap, port: u16) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let bare = |host: &str| NAMES.contains(&host);
    let full = |host: &str| NAMES.iter().any(|name| host == format!("{name}:{port}"));
    let host = text(header::HOST);
    let origin = text(header::ORIGIN);
    let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
    // Slack's own client for Python leaves the port away when it opens a socket. A browser does so on port 80 alone.
    let own = |name: &str| Some(name) == host && (full(name) || port == 80);
    host.is_some_and(|host| bare(host) || full(host))
        && origin.is_none_or(|origin| origin.strip_prefix("http://").is_some_and(own))
        && site.is_none_or(|site| matches!(site, "same-origin" | "none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pairs: &[(&'static str, &str)], expected: bool) {
        check_on(7777, pairs, expected);
    }

    #[track_caller]
    fn check_on(port: u16, pairs: &[(&'static str, &str)], expected: bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        assert_eq!(is_ours(&headers, port), expected, "{pairs:?}");
    }

    #[test]
    fn programs_and_the_own_page_are_let_in() {
        check(&[("host", "127.0.0.1:7777")], true);
        check(&[("host", "localhost:7777"), ("origin", "http://localhost:7777")], true);
        check(&[("host", "127.0.0.1:7777"), ("sec-fetch-site", "none")], true);
    }

    #[test]
    fn a_program_may_leave_the_port_away_but_no_page() {
        check(&[("host", "127.0.0.1")], true);
        check(&[("host", "localhost")], true);
        check(&[("host", "evil.example")], false);
        // The page of another server on this machine.
        check(&[("host", "127.0.0.1"), ("origin", "http://127.0.0.1")], false);
        check(&[("host", "127.0.0.1:7777"), ("origin", "http://127.0.0.1")], false);
        check(&[("host", "127.0.0.1"), ("origin", "http://127.0.0.1:7777")], false);
    }

    #[test]
    fn on_the_port_of_the_web_the_page_itself_leaves_it_away() {
        let host = [("host", "localhost"), ("origin", "http://localhost")];
        check_on(80, &host, true);
        check_on(80, &[("host", "localhost"), ("origin", "http://127.0.0.1")], false);
    }

    #[test]
    fn foreign_names_and_foreign_pages_are_not() {
        check(&[], false);
        check(&[("host", "evil.example:7777")], false);
        check(&[("host", "127.0.0.1:80")], false);
        check(&[("host", "127.0.0.1:7777"), ("origin", "http://evil.example")], false);
        check(&[("host", "127.0.0.1:7777"), ("origin", "null")], false);
        check(&[("host", "127.0.0.1:7777"), ("origin", "http://127.0.0.1:8888")], false);
        check(&[("host", "127.0.0.1:7777"), ("origin", "http://localhost:7777")], false);
        check(&[("host", "127.0.0.1:7777"), ("sec-fetch-site", "cross-site")], false);
        check(&[("host", "127.0.0.1:7777"), ("sec-fetch-site", "same-site")], false);
    }
}
