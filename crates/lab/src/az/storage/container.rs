//! `az storage container …`.

use serde_json::{Value, json};

use super::access::{Access, BlobRequest, path};
use super::{shape, trouble, xml};
use crate::az::failure::Failure;
use crate::az::line::Line;
use crate::az::session::Session;
use crate::az::table::CommandResult;
use crate::azure::{Answer, Body, Verb};

fn query() -> BlobRequest<'static> {
    BlobRequest { query: vec![("restype", "container".to_owned())], ..BlobRequest::default() }
}

/// Returns the document of a list.
pub(super) fn document(answer: &Answer) -> Result<xml::Element, Failure> {
    let text = match &answer.body {
        Body::Text(_, text) => text.clone(),
        Body::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Body::Empty | Body::Json(_) => String::new(),
    };
    xml::read(&text).ok_or_else(|| Failure::new(1, "XML is invalid: no document"))
}

/// Lists containers.
pub(super) fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let prefix = line.one("--prefix").map(|prefix| ("prefix", prefix.to_owned()));
    let most = line.one("--num-results").filter(|most| *most != "*").unwrap_or("5000").to_owned();
    let mut found = Vec::new();
    let mut marker: Option<String> = line.one("--marker").map(str::to_owned);
    loop {
        let mut query = vec![("comp", "list".to_owned())];
        query.extend(prefix.clone());
        query.extend(marker.take().map(|marker| ("marker", marker)));
        query.extend([("maxresults", most.clone()), ("include", String::new())]);
        let answer = access.call(session, Verb::Get, "/", BlobRequest { query, ..BlobRequest::default() })?;
        let page = document(&answer)?;
        let containers =
            page.child("Containers").map(|containers| containers.within.as_slice()).unwrap_or_default();
        found.extend(containers.iter().map(shape::container));
        match page.text_of("NextMarker") {
            Some(next) if line.one("--num-results") == Some("*") => marker = Some(next.to_owned()),
            Some(next) => {
                session.warnings.extend(["Next Marker:".to_owned(), next.to_owned()]);
                break;
            }
            None => break,
        }
    }
    Ok(Some(Value::Array(found)))
}

/// Makes a container.
pub(super) fn create(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let mut asked = query();
    if let Some(public) = line.one("--public-access").filter(|public| *public != "off") {
        asked.headers.push(("x-ms-blob-public-access", public.to_owned()));
    }
    let answer = access.ask(session, Verb::Put, &path(line.need("--name")?, None), asked)?;
    let failure = (answer.status >= 400).then(|| trouble::failure(&answer));
    match failure {
        None => Ok(Some(json!({"created": true}))),
        Some(failure) if failure.text.contains("ContainerAlreadyExists") && !line.has("--fail-on-exist") => {
            Ok(Some(json!({"created": false})))
        }
        Some(failure) => Err(failure),
    }
}

/// Tells whether a container is there.
pub(super) fn exists(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let answer = access.ask(session, Verb::Get, &path(line.need("--name")?, None), query())?;
    there(&answer)
}

/// Tells whether an answer means that something is there.
pub(super) fn there(answer: &Answer) -> CommandResult {
    match answer.status {
        404 => Ok(Some(json!({"exists": false}))),
        400.. => Err(trouble::failure(answer)),
        _ => Ok(Some(json!({"exists": true}))),
    }
}
