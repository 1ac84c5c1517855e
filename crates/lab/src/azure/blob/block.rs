//! Blobs that are written block by block.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;

use super::answer::Name;
use super::list::{escaped, xml};
use super::read::date;
use super::store::Container;
use super::trouble::{BAD_BLOCK, BAD_BLOCKS, BAD_XML, BlobError, FULL, NO_BLOB, NO_CONTAINER};
use super::write;
use crate::azure::cloud::Cloud;
use crate::azure::request::{Answer, Request};
use ghost_base::Timestamp;

/// How many blocks a blob has at most.
const MAX_BLOCKS: usize = 50_000;

/// Takes a block that belongs to no blob yet.
pub(super) fn stage(
    cloud: &mut Cloud,
    (account, container, name): Name<'_>,
    request: &Request,
) -> Result<Answer, BlobError> {
    let id = request.parameter("blockid").unwrap_or_default();
    let raw = base64::engine::general_purpose::STANDARD.decode(id).unwrap_or_default();
    if raw.is_empty() || raw.len() > 64 {
        return Err(BAD_BLOCK.into());
    }
    write::whole(request.header("content-md5"), &request.body)?;
    let found = cloud.store.container(account, container).ok_or(NO_CONTAINER)?;
    let freed = found.blocks.get(name).and_then(|blocks| blocks.get(id)).map_or(0, |block| block.len());
    if !cloud.store.fits(request.body.len(), freed) {
        return Err(FULL.into());
    }
    let found = cloud.store.container_mut(account, container).ok_or(NO_CONTAINER)?;
    let blocks = found.blocks.entry(name.to_owned()).or_default();
    blocks.insert(id.to_owned(), request.body.as_slice().into());
    Ok(Answer::empty(201).with("x-ms-request-server-encrypted", "true"))
}

/// Makes a blob of blocks.
pub(super) fn commit(
    cloud: &mut Cloud,
    name: Name<'_>,
    request: &Request,
    now: Timestamp,
) -> Result<Answer, BlobError> {
    let text = std::str::from_utf8(&request.body).map_err(|_| BAD_XML)?;
    let wanted = ids(text)?;
    let found = cloud.store.container(name.0, name.1).ok_or(NO_CONTAINER)?;
    let mut content = Vec::new();
    let mut blocks = Vec::new();
    for (kind, id) in wanted {
        let block = find(found, name.2, kind, &id).ok_or(BAD_BLOCKS)?;
        if !cloud.store.fits(content.len() + block.len(), 0) {
            return Err(FULL.into());
        }
        content.extend_from_slice(&block);
        blocks.push((id, block.len()));
    }
    let answer = write::store(cloud, name, request, content.into(), now)?;
    if let Some(blob) =
        cloud.store.container_mut(name.0, name.1).and_then(|found| found.blobs.get_mut(name.2))
    {
        blob.blocks = blocks;
    }
    Ok(answer)
}

/// Tells which blocks there are.
pub(super) fn listed(
    cloud: &Cloud,
    (account, container, name): Name<'_>,
    request: &Request,
) -> Result<Answer, BlobError> {
    let found = cloud.store.container(account, container).ok_or(NO_CONTAINER)?;
    let (blob, staged) = (found.blobs.get(name), found.blocks.get(name));
    if blob.is_none() && staged.is_none() {
        return Err(NO_BLOB.into());
    }
    let kind = request.parameter("blocklisttype").unwrap_or("committed").to_ascii_lowercase();
    let mut text = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>".to_owned();
    let mut list = |field: &str, blocks: Vec<(&str, usize)>| {
        let _ = write!(text, "<{field}>");
        for (id, size) in blocks {
            let _ = write!(text, "<Block><Name>{}</Name><Size>{size}</Size></Block>", escaped(id));
        }
        let _ = write!(text, "</{field}>");
    };
    if kind != "uncommitted" {
        let blocks = blob.into_iter().flat_map(|blob| &blob.blocks);
        list("CommittedBlocks", blocks.map(|(id, size)| (id.as_str(), *size)).collect());
    }
    if kind != "committed" {
        let blocks = staged.into_iter().flat_map(BTreeMap::iter);
        list("UncommittedBlocks", blocks.map(|(id, block)| (id.as_str(), block.len())).collect());
    }
    text.push_str("</BlockList>");
    let answer = xml(text);
    Ok(match blob {
        Some(blob) => answer
            .with("ETag", format!("\"{}\"", blob.tag))
            .with("Last-Modified", date(blob.modified))
            .with("x-ms-blob-content-length", blob.content.len().to_string()),
        None => answer,
    })
}

/// Where a block is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Latest,
    Committed,
    Uncommitted,
}

fn find(container: &Container, name: &str, kind: Kind, id: &str) -> Option<Arc<[u8]>> {
    let staged = || container.blocks.get(name).and_then(|blocks| blocks.get(id)).cloned();
    let committed = || {
        let blob = container.blobs.get(name)?;
        let at = blob.blocks.iter().position(|(known, _)| known == id)?;
        let from: usize = blob.blocks.iter().take(at).map(|(_, size)| size).sum();
        let (_, size) = blob.blocks.get(at)?;
        blob.content.get(from..from + size).map(Arc::from)
    };
    match kind {
        Kind::Latest => staged().or_else(committed),
        Kind::Committed => committed(),
        Kind::Uncommitted => staged(),
    }
}

/// Reads `<Latest>id</Latest>` and its like, in their order.
fn ids(text: &str) -> Result<Vec<(Kind, String)>, BlobError> {
    let start = text.find("<BlockList").ok_or(BAD_XML)?;
    let text = text.get(start..).unwrap_or_default();
    if text.trim_end().ends_with("<BlockList/>") || text.trim_end().ends_with("<BlockList />") {
        return Ok(Vec::new());
    }
    let (_, inside) = text.split_once('>').ok_or(BAD_XML)?;
    let (inside, _) = inside.split_once("</BlockList>").ok_or(BAD_XML)?;
    let mut found = Vec::new();
    let mut rest = inside.trim();
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')).ok_or(BAD_XML)?;
        let kind = match name {
            "Latest" => Kind::Latest,
            "Committed" => Kind::Committed,
            "Uncommitted" => Kind::Uncommitted,
            _ => return Err(BAD_XML.into()),
        };
        let (id, after) = after.split_once(&format!("</{name}>")).ok_or(BAD_XML)?;
        if found.len() == MAX_BLOCKS {
            return Err(BAD_BLOCKS.into());
        }
        found.push((kind, id.trim().to_owned()));
        rest = after.trim_start();
    }
    Ok(found)
}
