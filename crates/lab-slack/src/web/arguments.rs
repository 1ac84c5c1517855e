//! Reading the arguments of a call: query, form or JSON.

use axum::body::{Body, Bytes};
use axum::extract::{Form, FromRequest as _, Multipart, Query};
use axum::http::{HeaderMap, Request, Uri, header};
use serde_json::{Map, Value};

use crate::state::{Args, SlackError};

/// The type of a body, without what stands behind it.
pub(crate) fn media(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Reads the arguments, the ones in the body last. Also returns a warning, where Slack gives one.
pub(crate) async fn arguments(
    uri: &Uri,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<(Args, Option<&'static str>), SlackError> {
    let mut map = Map::new();
    if let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) {
        map.extend(pairs.into_iter().map(|(name, value)| (name, Value::String(value))));
    }
    if body.is_empty() {
        return Ok((Args(map), None));
    }
    let mut warning = None;
    match media(headers).as_str() {
        "application/json" => {
            let read: Value = serde_json::from_slice(&body).map_err(|_| SlackError::new("invalid_json"))?;
            let Value::Object(fields) = read else { return Err(SlackError::new("json_not_object")) };
            map.extend(fields);
            let kind =
                headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            warning = (!kind.contains("charset")).then_some("missing_charset");
        }
        "application/x-www-form-urlencoded" => {
            let request =
                Request::post("/").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            let request = request.body(Body::from(body)).map_err(|_| SlackError::new("invalid_form_data"))?;
            let form = Form::<Vec<(String, String)>>::from_request(request, &()).await;
            let Form(pairs) = form.map_err(|_| SlackError::new("invalid_form_data"))?;
            map.extend(pairs.into_iter().map(|(name, value)| (name, Value::String(value))));
        }
        "multipart/form-data" => map.extend(parts(headers, body).await?),
        _ => return Err(SlackError::new("invalid_post_type")),
    }
    Ok((Args(map), warning))
}

/// Reads the fields of a form in parts. A file among them is no argument: it is returned apart.
async fn parts(headers: &HeaderMap, body: Bytes) -> Result<Map<String, Value>, SlackError> {
    let wrong = || SlackError::new("invalid_form_data");
    let mut request = Request::post("/").body(Body::from(body)).map_err(|_| wrong())?;
    if let Some(kind) = headers.get(header::CONTENT_TYPE) {
        request.headers_mut().insert(header::CONTENT_TYPE, kind.clone());
    }
    let mut form = Multipart::from_request(request, &()).await.map_err(|_| wrong())?;
    let mut map = Map::new();
    while let Some(field) = form.next_field().await.map_err(|_| wrong())? {
        let name = field.name().unwrap_or_default().to_owned();
        if field.file_name().is_none() && !name.is_empty() {
            map.insert(name, Value::String(field.text().await.map_err(|_| wrong())?));
        }
    }
    Ok(map)
}
