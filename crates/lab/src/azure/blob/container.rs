//! Containers.

use std::collections::BTreeMap;

use super::account::{Access, Right};
use super::list;
use super::read::{date, met};
use super::store::Container;
use super::trouble::{BAD_METADATA, BAD_QUERY, BlobError, CONTAINER_THERE, FULL, NO_CONTAINER, NO_VERB};
use crate::azure::cloud::Cloud;
use crate::azure::request::{Answer, Request, Verb};
use ghost_base::Timestamp;

/// How many bytes of metadata there may be.
const MAX_METADATA_BYTES: usize = 8 << 10;

/// Answers what is asked of a container.
pub(super) fn answer(
    cloud: &mut Cloud,
    (account, name): (&str, &str),
    request: &Request,
    access: &Access,
    now: Timestamp,
) -> Result<Answer, BlobError> {
    let what = request.parameter("comp").unwrap_or_default().to_ascii_lowercase();
    match (request.verb, what.as_str()) {
        (Verb::Get, "list") => {
            access.demand(Right::List)?;
            list::blobs(cloud, account, name, request)
        }
        (Verb::Get | Verb::Head, "" | "metadata") => {
            access.demand(Right::Read)?;
            let found = cloud.store.container(account, name).ok_or(NO_CONTAINER)?;
            let shown = with_headers(Answer::empty(200), found);
            Ok(shown.with("x-ms-lease-status", "unlocked").with("x-ms-lease-state", "available"))
        }
        (Verb::Put, "") => {
            access.demand(Right::Manage)?;
            let metadata = metadata(request)?;
            if cloud.store.container(account, name).is_some() {
                return Err(CONTAINER_THERE.into());
            }
            let made = cloud.store.make(account, name, metadata, now).ok_or(FULL)?;
            Ok(with_headers(Answer::empty(201), made))
        }
        (Verb::Put, "metadata") => {
            access.demand(Right::Manage)?;
            let metadata = metadata(request)?;
            let tag = cloud.store.tag();
            let found = cloud.store.container_mut(account, name).ok_or(NO_CONTAINER)?;
            (found.metadata, found.tag, found.modified) = (metadata, tag, now);
            Ok(with_headers(Answer::empty(200), found))
        }
        (Verb::Delete, "") => {
            access.demand(Right::Manage)?;
            let found = cloud.store.container(account, name).ok_or(NO_CONTAINER)?;
            met(request, Some((&found.tag, found.modified)))?;
            cloud.store.drop_container(account, name);
            Ok(Answer::empty(202))
        }
        (Verb::Post | Verb::Patch, _) => Err(NO_VERB.into()),
        (Verb::Get | Verb::Head | Verb::Put | Verb::Delete, _) => Err(BAD_QUERY.into()),
    }
}

fn with_headers(answer: Answer, container: &Container) -> Answer {
    let answer =
        answer.with("ETag", format!("\"{}\"", container.tag)).with("Last-Modified", date(container.modified));
    container
        .metadata
        .iter()
        .fold(answer, |answer, (name, value)| answer.with(&format!("x-ms-meta-{name}"), value.clone()))
}

/// Reads the metadata of a request.
pub(super) fn metadata(request: &Request) -> Result<BTreeMap<String, String>, BlobError> {
    let own = |(name, value): (&String, &String)| {
        name.strip_prefix("x-ms-meta-").map(|name| (name.to_owned(), value.clone()))
    };
    let found: BTreeMap<String, String> = request.headers.iter().filter_map(own).collect();
    let size: usize = found.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MAX_METADATA_BYTES { Err(BAD_METADATA.into()) } else { Ok(found) }
}
