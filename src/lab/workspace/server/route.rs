//! Which address leads where.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

use crate::lab::workspace::person;
use crate::lab::workspace::server::guard::guard;
use crate::lab::workspace::server::inner::Inner;
use crate::lab::workspace::state::LARGEST_FILE;
use crate::lab::workspace::web;

/// How large a request may be that is no upload.
const LARGEST_BODY: usize = 4 << 20;

/// Builds the whole server.
pub(crate) fn router(inner: Arc<Inner>, port: u16) -> Router {
    let large = usize::try_from(LARGEST_FILE).unwrap_or(LARGEST_BODY) + (1 << 20);
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
        .route("/lab/press", post(person::press))
        .route("/lab/submit", post(person::submit))
        .route("/lab/close", post(person::close))
        .route("/lab/command", post(person::command))
        .route("/lab/shortcut", post(person::shortcut))
        .route("/lab/fault", post(person::fault))
        .route("/lab/app", post(person::app))
        .route("/lab/{act}", get(person::look).post(person::act))
        .layer(DefaultBodyLimit::max(LARGEST_BODY));
    uploads.merge(others).layer(from_fn_with_state(port, guard)).with_state(inner)
}
