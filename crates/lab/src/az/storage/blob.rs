//! `az storage blob …`, and the rows of `az storage container …`.

use serde_json::Value;

use super::access::{Access, BlobRequest, path};
use super::{container, shape, transfer};
use crate::az::line::Line;
use crate::az::session::Session;
use crate::az::table::{Command, CommandResult};
use crate::azure::Verb;

/// Writes the options of a row behind those by which every command names the account.
macro_rules! options {
    ($own:literal) => {
        concat!(
            $own,
            " --account-name --account-key --auth-mode --connection-string --sas-token --blob-endpoint --timeout#"
        )
    };
}

pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::own("storage container list", options!("--prefix --num-results --marker"), container::list)
        .rows(container_row),
    Command::own(
        "storage container create",
        options!("--name,-n! --fail-on-exist? --public-access"),
        container::create,
    ),
    Command::own("storage container exists", options!("--name,-n!"), container::exists),
    Command::own(
        "storage blob list",
        options!("--container-name,-c! --prefix --num-results --marker --include"),
        list,
    )
    .rows(row),
    Command::own("storage blob exists", options!("--container-name,-c! --name,-n!"), exists),
    Command::own("storage blob show", options!("--container-name,-c! --name,-n!"), show).rows(row),
    Command::own("storage blob delete", options!("--container-name,-c! --name,-n!"), delete),
    Command::own(
        "storage blob upload",
        options!(
            "--container-name,-c! --name,-n --file,-f --data --content-type --overwrite% --if-match --if-none-match --no-progress? --type,-t"
        ),
        transfer::upload,
    ),
    Command::own(
        "storage blob download",
        options!(
            "--container-name,-c! --name,-n! --file,-f --no-progress? --overwrite% --start-range# --end-range#"
        ),
        transfer::download,
    ),
];

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let name = line.need("--container-name")?;
    let all = line.one("--num-results") == Some("*");
    let most = line.one("--num-results").filter(|_| !all).unwrap_or("5000").to_owned();
    let mut found = Vec::new();
    let mut marker = line.one("--marker").map(str::to_owned);
    loop {
        let mut query = vec![("restype", "container".to_owned()), ("comp", "list".to_owned())];
        query.extend(line.one("--prefix").map(|prefix| ("prefix", prefix.to_owned())));
        query.extend(marker.take().map(|marker| ("marker", marker)));
        query.push(("maxresults", most.clone()));
        let answer = access.call(
            session,
            Verb::Get,
            &path(name, None),
            BlobRequest { query, ..BlobRequest::default() },
        )?;
        let page = container::document(&answer)?;
        let blobs = page.child("Blobs").map(|blobs| blobs.within.as_slice()).unwrap_or_default();
        found.extend(blobs.iter().filter(|blob| blob.name == "Blob").map(|blob| shape::listed(name, blob)));
        match page.text_of("NextMarker") {
            Some(next) if all => marker = Some(next.to_owned()),
            Some(next) => {
                session.warnings.extend(["Next Marker:".to_owned(), next.to_owned()]);
                break;
            }
            None => break,
        }
    }
    Ok(Some(Value::Array(found)))
}

fn exists(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let place = path(line.need("--container-name")?, Some(line.need("--name")?));
    let answer = access.ask(session, Verb::Head, &place, BlobRequest::default())?;
    container::there(&answer)
}

fn show(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let (container, name) = (line.need("--container-name")?, line.need("--name")?);
    let answer = access.call(session, Verb::Head, &path(container, Some(name)), BlobRequest::default())?;
    Ok(Some(shape::headed(container, name, &answer)))
}

fn delete(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let access = Access::find(session, line)?;
    let place = path(line.need("--container-name")?, Some(line.need("--name")?));
    access.call(session, Verb::Delete, &place, BlobRequest::default()).map(|_| None)
}

/// A row of a table of blobs.
fn row(blob: &Value) -> Vec<(&'static str, Value)> {
    let own = |place: &str| blob.pointer(place).cloned().unwrap_or_default();
    vec![
        ("Name", own("/name")),
        ("Blob Type", own("/properties/blobType")),
        ("Blob Tier", own("/properties/blobTier")),
        ("Length", own("/properties/contentLength")),
        ("Content Type", own("/properties/contentSettings/contentType")),
        ("Last Modified", own("/properties/lastModified")),
        ("Snapshot", own("/snapshot")),
    ]
}

/// A row of a table of containers.
fn container_row(container: &Value) -> Vec<(&'static str, Value)> {
    let own = |place: &str| container.pointer(place).cloned().unwrap_or_default();
    vec![
        ("Name", own("/name")),
        // The real one searches in a place where it is not.
        ("Lease Status", Value::Null),
        ("Last Modified", own("/properties/lastModified")),
    ]
}
