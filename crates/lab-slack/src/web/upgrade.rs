//! Opening sockets, and the addresses that interactions give to an app.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio::time::Instant;

use crate::deliver;
use crate::server::Inner;
use crate::web::arguments::arguments;

/// How large a frame of an app may be.
const MAX_FRAME_BYTES: usize = 4 << 20;

/// Opens a connection for the holder of a ticket.
pub(crate) async fn link(
    State(inner): State<Arc<Inner>>,
    Query(query): Query<HashMap<String, String>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let app = query.get("ticket").and_then(|ticket| inner.sockets().take(ticket, Instant::now()));
    let Some(app) = app else {
        return (StatusCode::FORBIDDEN, "the ticket is unknown or was used\n").into_response();
    };
    let upgrade = upgrade.max_message_size(MAX_FRAME_BYTES).max_frame_size(MAX_FRAME_BYTES);
    upgrade.on_upgrade(move |socket| deliver::open(inner, app, socket))
}

/// Takes an answer through a `response_url`.
pub(crate) async fn hook(
    State(inner): State<Arc<Inner>>,
    Path((_, _, secret)): Path<(String, String, String)>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let args = match arguments(&uri, &headers, body).await {
        Ok((args, _)) => args,
        Err(error) => return (StatusCode::BAD_REQUEST, error.body().to_string()).into_response(),
    };
    // In the days of forms the whole answer stood in one field.
    let inside = args.text("payload").and_then(|text| serde_json::from_str(&text).ok());
    let answer = inside.unwrap_or(Value::Object(args.0));
    match inner.act(|workspace, now| workspace.hooked(&secret, &answer, now)) {
        Ok(()) => "ok".into_response(),
        Err(error) => {
            let gone = matches!(error.code(), "invalid_url" | "expired_url" | "used_url");
            let status = if gone { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
            (status, [("content-type", "application/json")], error.body().to_string()).into_response()
        }
    }
}
