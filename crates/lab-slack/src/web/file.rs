//! The bytes of files: sent by an app in the second step of an upload, fetched by one with its token.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequest as _, Multipart, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio::time::Instant;

use crate::deliver;
use crate::server::Inner;
use crate::web::arguments::{arguments, media};

/// Takes the bytes of an upload, plain or as the file of a form.
pub(crate) async fn upload(
    State(inner): State<Arc<Inner>>,
    Path(ticket): Path<String>,
    request: Request,
) -> Response {
    let Some(bytes) = content(request).await else {
        return (StatusCode::BAD_REQUEST, "no file came\n").into_response();
    };
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    match inner.act(|workspace, _| workspace.bytes_came(&ticket, size)) {
        Ok(id) => {
            inner.bytes().insert(id, bytes);
            format!("OK - {size}").into_response()
        }
        Err(_) => (StatusCode::NOT_FOUND, "the address is unknown or was used\n").into_response(),
    }
}

async fn content(request: Request) -> Option<Bytes> {
    if media(request.headers()) != "multipart/form-data" {
        return Bytes::from_request(request, &()).await.ok().filter(|bytes| !bytes.is_empty());
    }
    let mut form = Multipart::from_request(request, &()).await.ok()?;
    while let Ok(Some(field)) = form.next_field().await {
        let named = matches!(field.name(), Some("file" | "filename" | "body"));
        if named || field.file_name().is_some() {
            return field.bytes().await.ok();
        }
    }
    None
}

/// `url_private`
pub(crate) async fn private_file(
    State(inner): State<Arc<Inner>>,
    Path((file, _)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    private(&inner, &file, &headers)
}

/// `url_private_download`
pub(crate) async fn private_download(
    State(inner): State<Arc<Inner>>,
    Path((file, _)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    private(&inner, &file, &headers)
}

fn private(inner: &Inner, file: &str, headers: &HeaderMap) -> Response {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if inner.workspace().app_of_bot_token(token).is_none() {
        // Slack sends whoever has no token to a page to sign in.
        return (StatusCode::FOUND, [(header::LOCATION, "/lab/")]).into_response();
    }
    let id = file.split_once('-').map_or(file, |(_, id)| id);
    bytes(inner, id, None)
}

/// Sends a file's bytes so that no browser takes them for a page.
pub(crate) fn bytes(inner: &Inner, id: &str, user: Option<&str>) -> Response {
    let found = inner.workspace().file_for(id, user);
    let content = inner.bytes().get(id).cloned();
    let (Ok((kind, name)), Some(content)) = (found, content) else {
        return (StatusCode::NOT_FOUND, "no such file\n").into_response();
    };
    let plain: String =
        name.chars().map(|char| if char.is_ascii_graphic() && char != '"' { char } else { '_' }).collect();
    let shown = if kind.starts_with("image/") { "inline" } else { "attachment" };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("{shown}; filename=\"{plain}\"")),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
    ];
    (headers, content).into_response()
}

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
