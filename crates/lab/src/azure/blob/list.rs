//! Lists of containers and blobs, in XML.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::account::{Access, Right};
use super::read::date;
use super::store::{Blob, Container};
use super::trouble::{BAD_QUERY, BlobError, NO_CONTAINER, NO_VERB};
use crate::azure::cloud::Cloud;
use crate::azure::request::{Answer, Body, Request, Verb};

/// How many entries a list has at most.
const MAX_ENTRIES: usize = 5_000;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";

/// Answers what is asked of the whole account.
pub(super) fn service(
    cloud: &Cloud,
    account: &str,
    request: &Request,
    access: &Access,
) -> Result<Answer, BlobError> {
    let word = |name: &str| request.parameter(name).unwrap_or_default().to_ascii_lowercase();
    match (request.verb, word("restype").as_str(), word("comp").as_str()) {
        (Verb::Get, "", "list") => {
            access.demand(Right::List)?;
            containers(cloud, account, request)
        }
        (Verb::Get | Verb::Head, "account", "properties") => Ok(Answer::empty(200)
            .with("x-ms-sku-name", "Standard_LRS")
            .with("x-ms-account-kind", "StorageV2")
            .with("x-ms-is-hns-enabled", "false")),
        (Verb::Get, "service", "properties") => {
            access.demand(Right::Read)?;
            Ok(xml(format!(
                "{HEAD}<StorageServiceProperties><Cors /><DefaultServiceVersion>2021-12-02</DefaultServiceVersion></StorageServiceProperties>"
            )))
        }
        (Verb::Get | Verb::Head | Verb::Put | Verb::Delete, _, _) => Err(BAD_QUERY.into()),
        (Verb::Post | Verb::Patch, _, _) => Err(NO_VERB.into()),
    }
}

/// What of a list is wanted.
struct ListQuery<'a> {
    prefix: &'a str,
    marker: &'a str,
    most: usize,
}

fn wanted(request: &Request) -> Result<ListQuery<'_>, BlobError> {
    let most = match request.parameter("maxresults") {
        None | Some("") => MAX_ENTRIES,
        Some(text) => text.parse().ok().filter(|most| *most > 0).ok_or(BAD_QUERY)?,
    };
    let word = |name: &str| request.parameter(name).unwrap_or_default();
    Ok(ListQuery { prefix: word("prefix"), marker: word("marker"), most: most.min(MAX_ENTRIES) })
}

/// Writes what begins every list. The prefix is left out: clients know what they asked.
fn opening(account: &str, container: Option<&str>, request: &Request) -> String {
    let mut text = format!(
        "{HEAD}<EnumerationResults ServiceEndpoint=\"https://{}.blob.core.windows.net/\"",
        escaped(account)
    );
    if let Some(container) = container {
        let _ = write!(text, " ContainerName=\"{}\"", escaped(container));
    }
    text.push('>');
    for (name, field) in [("marker", "Marker"), ("delimiter", "Delimiter")] {
        if let Some(value) = request.parameter(name).filter(|value| !value.is_empty()) {
            let _ = write!(text, "<{field}>{}</{field}>", escaped(value));
        }
    }
    text
}

fn containers(cloud: &Cloud, account: &str, request: &Request) -> Result<Answer, BlobError> {
    let wanted = wanted(request)?;
    let mut found = cloud
        .store
        .containers(account)
        .filter(|(name, _)| name.starts_with(wanted.prefix) && *name >= wanted.marker);
    let mut text = opening(account, None, request) + "<Containers>";
    for (name, container) in found.by_ref().take(wanted.most) {
        one_container(&mut text, name, container);
    }
    let next = found.next().map(|(name, _)| name.to_owned());
    closing(&mut text, "Containers", next.as_deref());
    Ok(xml(text))
}

fn one_container(text: &mut String, name: &str, container: &Container) {
    let _ = write!(
        text,
        "<Container><Name>{}</Name><Properties><Last-Modified>{}</Last-Modified><Etag>\"{}\"</Etag><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState><DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope><DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride><HasImmutabilityPolicy>false</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold></Properties></Container>",
        escaped(name),
        date(container.modified),
        container.tag
    );
}

/// Lists the blobs of a container.
pub(super) fn blobs(
    cloud: &Cloud,
    account: &str,
    name: &str,
    request: &Request,
) -> Result<Answer, BlobError> {
    let container = cloud.store.container(account, name).ok_or(NO_CONTAINER)?;
    let wanted = wanted(request)?;
    let delimiter = request.parameter("delimiter").filter(|text| !text.is_empty());
    let mut text = opening(account, Some(name), request);
    if let Some(most) = request.parameter("maxresults").filter(|text| !text.is_empty()) {
        let _ = write!(text, "<MaxResults>{}</MaxResults>", escaped(most));
    }
    text.push_str("<Blobs>");
    let (mut count, mut next, mut folders) = (0, None, BTreeSet::new());
    let entries = container.blobs.iter();
    for (name, blob) in
        entries.filter(|(name, _)| name.starts_with(wanted.prefix) && name.as_str() >= wanted.marker)
    {
        let rest = name.get(wanted.prefix.len()..).unwrap_or_default();
        let folder = delimiter.and_then(|delimiter| {
            rest.find(delimiter).and_then(|at| name.get(..wanted.prefix.len() + at + delimiter.len()))
        });
        if folder.is_some_and(|folder| folders.contains(folder)) {
            continue;
        }
        if count == wanted.most {
            next = Some(name.as_str());
            break;
        }
        count += 1;
        match folder {
            Some(folder) => {
                folders.insert(folder.to_owned());
                let _ = write!(text, "<BlobPrefix>{}</BlobPrefix>", named(folder));
            }
            None => one_blob(&mut text, name, blob),
        }
    }
    closing(&mut text, "Blobs", next);
    Ok(xml(text))
}

fn one_blob(text: &mut String, name: &str, blob: &Blob) {
    let header = |name: &str, field: &str| match blob.headers.get(name) {
        Some(value) => format!("<{field}>{}</{field}>", escaped(value)),
        None => format!("<{field} />"),
    };
    let _ = write!(
        text,
        "<Blob>{}<Properties><Creation-Time>{}</Creation-Time><Last-Modified>{}</Last-Modified><Etag>{}</Etag><Content-Length>{}</Content-Length>{}{}{}<Content-CRC64 />{}{}{}<BlobType>BlockBlob</BlobType>",
        named(name),
        date(blob.created),
        date(blob.modified),
        blob.tag,
        blob.content.len(),
        header("Content-Type", "Content-Type"),
        header("Content-Encoding", "Content-Encoding"),
        header("Content-Language", "Content-Language"),
        header("Content-MD5", "Content-MD5"),
        header("Cache-Control", "Cache-Control"),
        header("Content-Disposition", "Content-Disposition"),
    );
    let tier = match &blob.tier {
        Some(tier) => format!("<AccessTier>{}</AccessTier>", escaped(tier)),
        None => "<AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred>".to_owned(),
    };
    text.push_str(&tier);
    text.push_str("<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState><ServerEncrypted>true</ServerEncrypted></Properties><OrMetadata /></Blob>");
}

fn closing(text: &mut String, list: &str, next: Option<&str>) {
    let next = next.map_or_else(
        || "<NextMarker />".to_owned(),
        |next| format!("<NextMarker>{}</NextMarker>", escaped(next)),
    );
    let _ = write!(text, "</{list}>{next}</EnumerationResults>");
}

/// Writes a name; one that XML cannot hold is escaped as addresses are.
fn named(name: &str) -> String {
    if name.chars().all(|letter| !letter.is_control() && letter < '\u{fffe}') {
        return format!("<Name>{}</Name>", escaped(name));
    }
    let text = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
    format!("<Name Encoded=\"true\">{text}</Name>")
}

/// Escapes a text for XML; what XML cannot hold goes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}

/// Answers with XML.
pub(super) fn xml(text: String) -> Answer {
    Answer { status: 200, headers: Vec::new(), body: Body::Text("application/xml", text) }
        .with("Content-Type", "application/xml")
}
