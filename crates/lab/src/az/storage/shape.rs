//! How blobs and containers are printed.

use serde_json::{Value, json};

use super::xml::Element;
use crate::az::model::moment;
use crate::az::retry::header;
use crate::azure::Answer;

fn blank(container: &str, name: &str) -> Value {
    json!({"container": container, "content": "", "deleted": null, "encryptedMetadata": null, "encryptionKeySha256": null,
        "encryptionScope": null, "hasLegalHold": null, "hasVersionsOnly": null,
        "immutabilityPolicy": {"expiryTime": null, "policyMode": null}, "isAppendBlobSealed": null, "isCurrentVersion": null,
        "lastAccessedOn": null, "metadata": {}, "name": name, "objectReplicationDestinationPolicy": null,
        "objectReplicationSourceProperties": [],
        "properties": {"appendBlobCommittedBlockCount": null, "blobTier": null, "blobTierChangeTime": null,
            "blobTierInferred": null, "blobType": null, "contentLength": null, "contentRange": null,
            "contentSettings": {"cacheControl": null, "contentDisposition": null, "contentEncoding": null,
                "contentLanguage": null, "contentMd5": null, "contentType": null},
            "copy": {"completionTime": null, "destinationSnapshot": null, "id": null, "incrementalCopy": null,
                "progress": null, "source": null, "status": null, "statusDescription": null},
            "creationTime": null, "deletedTime": null, "etag": null, "lastModified": null,
            "lease": {"duration": null, "state": null, "status": null}, "pageBlobSequenceNumber": null, "pageRanges": null,
            "rehydrationStatus": null, "remainingRetentionDays": null, "serverEncrypted": null},
        "rehydratePriority": null, "requestServerEncrypted": null, "snapshot": null, "tagCount": null, "tags": null,
        "versionId": null})
}

/// Where a property is printed, how the list calls it, and how headers call it.
const PROPERTIES: [(&str, &str, &str); 15] = [
    ("/properties/blobType", "BlobType", "x-ms-blob-type"),
    ("/properties/contentLength", "Content-Length", "content-length"),
    ("/properties/contentSettings/contentType", "Content-Type", "content-type"),
    ("/properties/contentSettings/contentMd5", "Content-MD5", "content-md5"),
    ("/properties/contentSettings/contentEncoding", "Content-Encoding", "content-encoding"),
    ("/properties/contentSettings/contentLanguage", "Content-Language", "content-language"),
    ("/properties/contentSettings/contentDisposition", "Content-Disposition", "content-disposition"),
    ("/properties/contentSettings/cacheControl", "Cache-Control", "cache-control"),
    ("/properties/blobTier", "AccessTier", "x-ms-access-tier"),
    ("/properties/blobTierInferred", "AccessTierInferred", "x-ms-access-tier-inferred"),
    ("/properties/creationTime", "Creation-Time", "x-ms-creation-time"),
    ("/properties/lastModified", "Last-Modified", "last-modified"),
    ("/properties/lease/status", "LeaseStatus", "x-ms-lease-status"),
    ("/properties/lease/state", "LeaseState", "x-ms-lease-state"),
    ("/properties/serverEncrypted", "ServerEncrypted", "x-ms-server-encrypted"),
];

/// Reads a value as what it is meant for.
fn read(place: &str, text: &str) -> Value {
    match place {
        "/properties/contentLength" => text.parse::<u64>().map_or(Value::Null, Value::from),
        "/properties/blobTierInferred" | "/properties/serverEncrypted" => {
            json!(text.eq_ignore_ascii_case("true"))
        }
        "/properties/creationTime" | "/properties/lastModified" => {
            moment(text).map_or_else(|| json!(text), Value::from)
        }
        _ => json!(text),
    }
}

fn put(document: &mut Value, place: &str, value: Value) {
    if let Some(at) = document.pointer_mut(place) {
        *at = value;
    }
}

/// Prints a blob of a list.
pub(super) fn listed(container: &str, blob: &Element) -> Value {
    let mut out = blank(container, blob.text_of("Name").unwrap_or_default());
    let Some(properties) = blob.child("Properties") else { return out };
    for (place, name, _) in PROPERTIES {
        if let Some(text) = properties.text_of(name) {
            put(&mut out, place, read(place, text));
        }
    }
    put(&mut out, "/properties/etag", properties.text_of("Etag").map_or(Value::Null, Value::from));
    out
}

/// Prints a blob from the headers of an answer.
pub(super) fn headed(container: &str, name: &str, answer: &Answer) -> Value {
    let mut out = blank(container, name);
    for (place, _, known) in PROPERTIES {
        if let Some(text) = header(answer, known) {
            put(&mut out, place, read(place, text));
        }
    }
    let field_text = |name: &str| header(answer, name).map_or(Value::Null, Value::from);
    put(&mut out, "/properties/etag", field_text("etag"));
    put(&mut out, "/properties/contentRange", field_text("content-range"));
    put(&mut out, "/deleted", json!(false));
    let whole = field_text("x-ms-blob-content-md5");
    if !whole.is_null() {
        put(&mut out, "/properties/contentSettings/contentMd5", whole);
    }
    if let Some(text) = header(answer, "x-ms-server-encrypted") {
        put(&mut out, "/requestServerEncrypted", json!(text.eq_ignore_ascii_case("true")));
    }
    out
}

/// Prints the result of an upload.
pub(super) fn written(answer: &Answer) -> Value {
    let field_text = |name: &str| header(answer, name).map_or(Value::Null, Value::from);
    let time = |name: &str| header(answer, name).and_then(moment).map_or(Value::Null, Value::from);
    let encrypted =
        header(answer, "x-ms-request-server-encrypted").map(|text| text.eq_ignore_ascii_case("true"));
    json!({"client_request_id": field_text("x-ms-client-request-id"), "content_md5": field_text("content-md5"), "date": time("date"),
        "encryption_key_sha256": null, "encryption_scope": null, "etag": field_text("etag"), "lastModified": time("last-modified"),
        "request_id": field_text("x-ms-request-id"), "request_server_encrypted": encrypted, "structured_body": null,
        "version": field_text("x-ms-version"), "version_id": null})
}

/// Prints a container of a list.
pub(super) fn container(container: &Element) -> Value {
    let field_text =
        |name: &str| container.child("Properties").and_then(|properties| properties.text_of(name));
    let text = |name: &str| field_text(name).map_or(Value::Null, Value::from);
    let flag =
        |name: &str| field_text(name).map_or(Value::Null, |text| json!(text.eq_ignore_ascii_case("true")));
    held(
        container.text_of("Name").unwrap_or_default(),
        json!({"etag": text("Etag"), "hasImmutabilityPolicy": flag("HasImmutabilityPolicy"),
            "hasLegalHold": flag("HasLegalHold"), "lastModified": field_text("Last-Modified").and_then(moment),
            "lease": {"duration": null, "state": text("LeaseState"), "status": text("LeaseStatus")}, "publicAccess": text("PublicAccess")}),
    )
}

fn held(name: &str, properties: Value) -> Value {
    json!({"deleted": null, "encryptionScope": {"defaultEncryptionScope": "$account-encryption-key",
        "preventEncryptionScopeOverride": false}, "immutableStorageWithVersioningEnabled": null, "metadata": null, "name": name,
        "properties": properties, "version": null})
}
