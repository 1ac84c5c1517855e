//! Which address leads where.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};

use crate::page::{CONTENT_SECURITY_POLICY, asset};
use crate::person;
use crate::server::guard::guard;
use crate::server::inner::Inner;
use crate::state::MAX_FILE_BYTES;
use crate::web;

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
