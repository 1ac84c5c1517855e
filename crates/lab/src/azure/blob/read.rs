//! Blobs that are read, whole or in part.

use ghost_base::Timestamp;
use time::format_description::FormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use super::answer::Name;
use super::store::{Blob, digest};
use super::trouble::{BAD_HEADER, BLOB_THERE, BlobError, NO_BLOB, NO_CONTAINER, RANGE, UNCHANGED, UNMET};
use crate::azure::cloud::Cloud;
use crate::azure::request::{Answer, Body, Request, Verb};

/// Reads a blob, or tells of it.
pub(super) fn read(
    cloud: &Cloud,
    (account, container, name): Name<'_>,
    request: &Request,
) -> Result<Answer, BlobError> {
    let found = cloud.store.container(account, container).ok_or(NO_CONTAINER)?;
    let blob = found.blobs.get(name).ok_or(NO_BLOB)?;
    met(request, Some((&blob.tag, blob.modified)))?;
    let size = blob.content.len();
    if request.verb == Verb::Head || request.parameter("comp").is_some() {
        let bare = request.parameter("comp").is_some();
        let answer = with_headers(Answer::empty(200), blob, false);
        let answer = answer.with("Content-Length", if bare { 0 } else { size }.to_string());
        return Ok(answer.with("x-ms-access-tier", blob.tier.clone().unwrap_or_else(|| "Hot".to_owned())));
    }
    let range = request.header("x-ms-range").or_else(|| request.header("range"));
    let Some((first, last)) = range.map(|text| part(text, size)).transpose()? else {
        return Ok(with_headers(bytes(200, &blob.content), blob, false));
    };
    let content = blob.content.get(first..=last).unwrap_or_default();
    let answer = with_headers(bytes(206, content), blob, true)
        .with("Content-Range", format!("bytes {first}-{last}/{size}"));
    let wants =
        request.header("x-ms-range-get-content-md5").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    Ok(if wants && content.len() <= 4 << 20 { answer.with("Content-MD5", digest(content)) } else { answer })
}

fn bytes(status: u16, content: &[u8]) -> Answer {
    Answer { status, headers: Vec::new(), body: Body::Bytes(content.to_vec()) }
}

/// Reads `bytes=0-99` or `bytes=100-`: the first and the last byte.
fn part(text: &str, size: usize) -> Result<(usize, usize), BlobError> {
    let beyond = || BlobError::from(RANGE).with("Content-Range", format!("bytes */{size}"));
    let (first, last) =
        text.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-')).ok_or(BAD_HEADER)?;
    let number = |text: &str| text.parse::<usize>().map_err(|_| BlobError::from(BAD_HEADER));
    let first = number(first)?;
    let last = if last.is_empty() { usize::MAX } else { number(last)? };
    if last < first {
        return Err(BAD_HEADER.into());
    }
    if first >= size {
        return Err(beyond());
    }
    Ok((first, last.min(size - 1)))
}

/// Describes a blob in headers. The digest of the whole has another name in the answer to a ranged read.
fn with_headers(answer: Answer, blob: &Blob, partial: bool) -> Answer {
    let mut answer = answer
        .with("ETag", format!("\"{}\"", blob.tag))
        .with("Last-Modified", date(blob.modified))
        .with("x-ms-creation-time", date(blob.created))
        .with("Accept-Ranges", "bytes")
        .with("x-ms-blob-type", "BlockBlob")
        .with("x-ms-lease-status", "unlocked")
        .with("x-ms-lease-state", "available")
        .with("x-ms-server-encrypted", "true");
    for (name, value) in &blob.headers {
        let name = if partial && *name == "Content-MD5" { "x-ms-blob-content-md5" } else { name };
        answer = answer.with(name, value.clone());
    }
    for (name, value) in &blob.metadata {
        answer = answer.with(&format!("x-ms-meta-{name}"), value.clone());
    }
    answer
}

const FORM: &[FormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// Writes a moment as headers do.
pub(super) fn date(moment: Timestamp) -> String {
    let found = OffsetDateTime::from_unix_timestamp(moment.as_millis().div_euclid(1000)).ok();
    found.and_then(|found| found.format(FORM).ok()).unwrap_or_default()
}

/// Checks the conditions of a request against what is there: its tag and when it changed.
pub(super) fn met(request: &Request, there: Option<(&str, Timestamp)>) -> Result<(), BlobError> {
    let reads = matches!(request.verb, Verb::Get | Verb::Head);
    let unmet = || BlobError::from(if reads { UNCHANGED } else { UNMET });
    let tags = |text: &str| -> Vec<String> {
        text.split(',').map(|tag| tag.trim().trim_start_matches("W/").trim_matches('"').to_owned()).collect()
    };
    let names = |text: &str| {
        let tags = tags(text);
        there.is_some_and(|(tag, _)| tags.iter().any(|wanted| wanted == "*" || wanted == tag))
    };
    if let Some(wanted) = request.header("if-match").filter(|text| !text.is_empty())
        && !names(wanted)
    {
        return Err(UNMET.into());
    }
    if let Some(wanted) = request.header("if-none-match").filter(|text| !text.is_empty())
        && names(wanted)
    {
        return Err(if wanted.trim() == "*" && !reads { BLOB_THERE.into() } else { unmet() });
    }
    let moment = |name: &str| -> Result<Option<i64>, BlobError> {
        let Some(text) = request.header(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        let read = PrimitiveDateTime::parse(text, FORM).map_err(|_| BlobError::from(BAD_HEADER))?;
        Ok(Some(read.assume_utc().unix_timestamp()))
    };
    let changed = there.map(|(_, changed)| changed.as_millis().div_euclid(1000));
    if let (Some(since), Some(changed)) = (moment("if-modified-since")?, changed)
        && changed <= since
    {
        return Err(unmet());
    }
    if let (Some(since), Some(changed)) = (moment("if-unmodified-since")?, changed)
        && changed > since
    {
        return Err(UNMET.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_headers_write_it() {
        assert_eq!(date("2025-06-02T09:31:00.500Z".parse().unwrap()), "Mon, 02 Jun 2025 09:31:00 GMT");
    }
}
