//! Which address leads where.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};

use crate::page::{CONTENT_SECURITY_POLICY, asset};
use crate::server::inner::Inner;
use crate::state::MAX_FILE_BYTES;
use crate::{person, web};

/// How large a request may be that is no upload.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Builds the whole server.
pub(crate) fn router(inner: Arc<Inner>, port: u16) -> Router {
    let large = usize::try_from(MAX_FILE_BYTES).unwrap_or(MAX_BODY_BYTES) + (1 << 20);
    let uploads = Router::new()
        .route("/upload/v1/{ticket}", any(web::upload))
        .route("/lab/upload", post(person::upload))
        .layer(DefaultBodyLimit::max(large));
    let others = Router::new()
        .route("/api/{method}", any(web::call))
        .route("/link", any(web::link))
        .route("/link/", any(web::link))
        .route("/hooks/{kind}/{team}/{secret}", post(web::hook))
        .route("/files-pri/{file}/{name}", get(web::private_file))
        .route("/files-pri/{file}/download/{name}", get(web::private_download))
        .route("/lab", get(person::documentation))
        .route("/lab/", get(person::documentation))
        .route("/lab/events", get(person::events))
        .route("/lab/file", get(person::file))
        .route("/lab/fidelity", get(person::fidelity))
        .route("/lab/press", post(person::press))
        .route("/lab/options", post(person::options))
        .route("/lab/submit", post(person::submit))
        .route("/lab/close", post(person::close))
        .route("/lab/command", post(person::command))
        .route("/lab/shortcut", post(person::shortcut))
        .route("/lab/fault", post(person::fault))
        .route("/lab/app", post(person::app))
        .route("/lab/play", get(person::demo_state).post(person::demo))
        .route("/lab/{act}", get(person::look).post(person::act))
        .fallback(get(page))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES));
    uploads.merge(others).layer(from_fn_with_state(port, guard)).with_state(inner)
}

/// Answers with a file of the page.
async fn page(uri: Uri) -> Response {
    match asset(uri.path()) {
        Some(found) => {
            let headers = [
                (header::CONTENT_TYPE, found.content_type),
                (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
                (header::CACHE_CONTROL, "no-cache"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (header::REFERRER_POLICY, "no-referrer"),
            ];
            (headers, found.body).into_response()
        }
        None => (StatusCode::NOT_FOUND, "there is nothing here; the page is /\n").into_response(),
    }
}

/// What this machine calls itself.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Turns away what came under a foreign name or from a foreign page.
///
/// A name that an attacker's DNS points here arrives with that name in `Host`; a foreign page sends its `Origin`, or a
/// browser says in `Sec-Fetch-Site` that the request is not from here.
async fn guard(State(port): State<u16>, request: Request, next: Next) -> Response {
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
