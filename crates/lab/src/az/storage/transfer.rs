//! Blobs up and down.

use serde_json::json;

use super::access::{Access, BlobRequest, path};
use super::{shape, trouble};
use crate::az::failure::Failure;
use crate::az::line::Line;
use crate::az::retry::header;
use crate::az::session::Session;
use crate::az::table::CommandResult;
use crate::az::update::put_in;
use crate::azure::{Answer, Body, Verb};

/// The size of each ranged read.
const FIRST: u64 = 32 << 20;
const RANGE_BYTES: u64 = 4 << 20;

/// The largest blob that goes up whole; a larger one would go up in blocks, which this one does not do.
const MAX_UPLOAD_BYTES: usize = 256 << 20;

/// How content is called by the ending of its file.
const KINDS: [(&str, &str); 8] = [
    ("txt", "text/plain"),
    ("json", "application/json"),
    ("html", "text/html"),
    ("csv", "text/csv"),
    ("xml", "text/xml"),
    ("pcap", "application/vnd.tcpdump.pcap"),
    ("gz", "application/octet-stream"),
    ("cap", "application/vnd.tcpdump.pcap"),
];

/// Writes a file into a blob.
pub(super) fn upload(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let (bytes, file) = match (line.one("--file"), line.one("--data")) {
        (Some(file), _) => {
            let bytes = session
                .environment
                .read(file)
                .map_err(|_| Failure::new(1, format!("[Errno 2] No such file or directory: '{file}'")))?;
            (bytes, file.to_owned())
        }
        (None, Some(data)) => (data.as_bytes().to_vec(), String::new()),
        (None, None) => return Err(Failure::new(1, "usage error: --file PATH | --data TEXT")),
    };
    if bytes.len() > MAX_UPLOAD_BYTES {
        return Err(Failure::new(
            1,
            format!(
                "The file has {} bytes; the az of the lab uploads at most {MAX_UPLOAD_BYTES}.",
                bytes.len()
            ),
        ));
    }
    let name = line
        .one("--name")
        .map_or_else(|| file.rsplit('/').next().unwrap_or_default().to_owned(), str::to_owned);
    if name.is_empty() {
        return Err(Failure::usage("the following arguments are required: --name/-n"));
    }
    let ending = file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let guessed = KINDS.iter().find(|(known, _)| ending.as_deref() == Some(*known)).map(|(_, kind)| *kind);
    let kind = line.one("--content-type").or(guessed).unwrap_or("application/octet-stream").to_owned();
    let access = Access::find(session, line)?;
    let mut headers = vec![
        ("x-ms-blob-type", "BlockBlob".to_owned()),
        ("x-ms-blob-content-type", kind),
        ("content-type", "application/octet-stream".to_owned()),
    ];
    if line.wants("--overwrite") != Some(true) {
        headers.push(("if-none-match", line.one("--if-none-match").unwrap_or("*").to_owned()));
    }
    if let Some(tag) = line.one("--if-match") {
        headers.push(("if-match", tag.to_owned()));
    }
    let place = path(line.need("--container-name")?, Some(&name));
    let answer = access.call(
        session,
        Verb::Put,
        &place,
        BlobRequest { headers, body: bytes, ..BlobRequest::default() },
    )?;
    Ok(Some(shape::written(&answer)))
}

fn bytes(answer: Answer) -> Vec<u8> {
    match answer.body {
        Body::Bytes(bytes) => bytes,
        Body::Text(_, text) => text.into_bytes(),
        Body::Json(document) => document.to_string().into_bytes(),
        Body::Empty => Vec::new(),
    }
}

fn ranged(from: u64, to: u64) -> Vec<(&'static str, String)> {
    vec![("x-ms-range", format!("bytes={from}-{to}"))]
}

/// Writes a blob into a file, or prints it where no file is named.
pub(super) fn download(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let (container, name) = (line.need("--container-name")?, line.need("--name")?);
    let place = path(container, Some(name));
    if let (Some(first), Some(last), None) =
        (line.number("--start-range"), line.number("--end-range"), line.one("--file"))
    {
        let (first, last) =
            (u64::try_from(first).unwrap_or_default(), u64::try_from(last).unwrap_or_default());
        let headers = ranged(first, last);
        let answer =
            access.call(session, Verb::Get, &place, BlobRequest { headers, ..BlobRequest::default() })?;
        session.bytes = bytes(answer);
        return Ok(None);
    }
    let asked = BlobRequest { headers: ranged(0, FIRST - 1), ..BlobRequest::default() };
    let mut answer = access.ask(session, Verb::Get, &place, asked)?;
    if answer.status == 416 {
        // An empty blob has no first byte.
        answer = access.ask(session, Verb::Get, &place, BlobRequest::default())?;
    }
    if answer.status >= 400 {
        return Err(trouble::failure(&answer));
    }
    let range = header(&answer, "content-range").map(str::to_owned);
    let total = range.as_deref().and_then(|range| range.rsplit('/').next()?.parse::<u64>().ok());
    let tag = header(&answer, "etag").map(str::to_owned);
    let mut out = shape::headed(container, name, &answer);
    let mut content = bytes(answer);
    let total = total.unwrap_or(content.len() as u64);
    while (content.len() as u64) < total {
        let from = content.len() as u64;
        let mut headers = ranged(from, (from + RANGE_BYTES).min(total) - 1);
        headers.extend(tag.clone().map(|tag| ("if-match", tag)));
        let answer =
            access.call(session, Verb::Get, &place, BlobRequest { headers, ..BlobRequest::default() })?;
        let more = bytes(answer);
        if more.is_empty() {
            return Err(Failure::new(1, format!("The blob ends after {from} of {total} bytes.")));
        }
        content.extend(more);
    }
    put_in(&mut out, "contentMd5", json!(null));
    if let Some(properties) = out.get_mut("properties") {
        put_in(properties, "contentLength", json!(content.len()));
        if let Some(last) = total.checked_sub(1).filter(|_| range.is_some()) {
            put_in(properties, "contentRange", json!(format!("bytes 0-{last}/{total}")));
        }
    }
    match line.one("--file") {
        Some(file) => {
            session
                .environment
                .write(file, &content)
                .map_err(|error| Failure::new(1, format!("{file}: {error}")))?;
            Ok(Some(out))
        }
        None => {
            session.bytes = content;
            Ok(None)
        }
    }
}
