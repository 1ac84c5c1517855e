//! Blobs that are written, changed, removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::answer::Name;
use super::container::metadata;
use super::read::{date, met};
use super::store::{Blob, digest};
use super::trouble::{BAD_DIGEST, BAD_HEADER, BlobError, FULL, NO_BLOB, NO_CONTAINER};
use crate::azure::cloud::Cloud;
use crate::azure::request::{Answer, Request};
use ghost_base::Timestamp;

/// Headers that tell what a blob is, by their names in answers.
const HEADERS: [(&str, &str); 6] = [
    ("content-type", "Content-Type"),
    ("content-encoding", "Content-Encoding"),
    ("content-language", "Content-Language"),
    ("content-md5", "Content-MD5"),
    ("cache-control", "Cache-Control"),
    ("content-disposition", "Content-Disposition"),
];

/// Puts a whole blob.
pub(super) fn put(
    cloud: &mut Cloud,
    name: Name<'_>,
    request: &Request,
    now: Timestamp,
) -> Result<Answer, BlobError> {
    let kind = request.header("x-ms-blob-type").unwrap_or_default();
    if !kind.eq_ignore_ascii_case("BlockBlob") || request.header("x-ms-copy-source").is_some() {
        return Err(BAD_HEADER.into());
    }
    whole(request.header("content-md5"), &request.body)?;
    let content: Arc<[u8]> = request.body.as_slice().into();
    store(cloud, name, request, content, now)
}

/// Stores content as a blob, with what the request says of it.
pub(super) fn store(
    cloud: &mut Cloud,
    (account, container, name): Name<'_>,
    request: &Request,
    content: Arc<[u8]>,
    now: Timestamp,
) -> Result<Answer, BlobError> {
    let found = cloud.store.container(account, container).ok_or(NO_CONTAINER)?;
    met(request, found.blobs.get(name).map(|blob| (blob.tag.as_str(), blob.modified)))?;
    let new_metadata = metadata(request)?;
    let mut headers = described(request);
    headers.entry("Content-Type").or_insert_with(|| "application/octet-stream".to_owned());
    let sum = digest(&content);
    let tier = request.header("x-ms-access-tier").map(str::to_owned);
    let blob = cloud.store.put(account, container, name, content, headers, now).ok_or(FULL)?;
    (blob.metadata, blob.tier) = (new_metadata, tier);
    Ok(changed(201, blob).with("Content-MD5", sum).with("x-ms-request-server-encrypted", "true"))
}

/// Changes the metadata of a blob.
pub(super) fn change(
    cloud: &mut Cloud,
    (account, container, name): Name<'_>,
    what: &str,
    request: &Request,
    now: Timestamp,
) -> Result<Answer, BlobError> {
    let new_metadata = metadata(request)?;
    let tag = cloud.store.tag();
    let found = cloud.store.container_mut(account, container).ok_or(NO_CONTAINER)?;
    let blob = found.blobs.get_mut(name).ok_or(NO_BLOB)?;
    met(request, Some((&blob.tag, blob.modified)))?;
    match what {
        "metadata" => blob.metadata = new_metadata,
        "tier" => {
            let tier = request.header("x-ms-access-tier").unwrap_or_default();
            if !["Hot", "Cool", "Cold", "Archive"].contains(&tier) {
                return Err(BAD_HEADER.into());
            }
            blob.tier = Some(tier.to_owned());
            return Ok(Answer::empty(200));
        }
        _ => blob.headers = described(request),
    }
    (blob.tag, blob.modified) = (tag, now);
    Ok(changed(200, blob))
}

/// Removes a blob.
pub(super) fn delete(
    cloud: &mut Cloud,
    (account, container, name): Name<'_>,
    request: &Request,
) -> Result<Answer, BlobError> {
    let found = cloud.store.container_mut(account, container).ok_or(NO_CONTAINER)?;
    let blob = found.blobs.get(name).ok_or(NO_BLOB)?;
    met(request, Some((&blob.tag, blob.modified)))?;
    found.blobs.remove(name);
    Ok(Answer::empty(202).with("x-ms-delete-type-permanent", "true"))
}

/// Refuses content whose digest is another one than was sent.
pub(super) fn whole(sent: Option<&str>, content: &[u8]) -> Result<(), BlobError> {
    match sent.filter(|sent| !sent.is_empty()) {
        Some(sent) if sent != digest(content) => Err(BAD_DIGEST.into()),
        Some(_) | None => Ok(()),
    }
}

fn changed(status: u16, blob: &Blob) -> Answer {
    Answer::empty(status).with("ETag", format!("\"{}\"", blob.tag)).with("Last-Modified", date(blob.modified))
}

/// Reads what a request says of a blob: `x-ms-blob-content-type`, or `content-type` where that is missing.
fn described(request: &Request) -> BTreeMap<&'static str, String> {
    let one = |(name, shown): (&str, &'static str)| {
        let own = request.header(&format!("x-ms-blob-{name}"));
        let plain = request.header(name).filter(|_| matches!(name, "content-type" | "content-encoding"));
        own.or(plain).filter(|value| !value.is_empty()).map(|value| (shown, value.to_owned()))
    };
    HEADERS.into_iter().filter_map(one).collect()
}
