//! The bytes of files: sent by an app in the second step of an upload, fetched by one with its token.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest as _, Multipart, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::server::Inner;
use crate::web::arguments::media;

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
