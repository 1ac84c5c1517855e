//! What lies in the accounts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::azure::estate::{Description, Estate};
use ghost_base::Timestamp;

/// How many bytes are held, of all accounts together.
const MAX_BYTES: u64 = 512 << 20;
/// How many blobs and blocks.
const MAX_BLOBS: usize = 20_000;
const MAX_CONTAINERS: usize = 1_000;

/// All containers of all accounts.
#[derive(Debug, Clone, Default)]
pub(in crate::azure) struct Store {
    /// By account, in lower case, and name.
    containers: BTreeMap<(String, String), Container>,
    /// How many changes there were: tags are made of it.
    changes: u64,
    /// How many refusals were answered.
    pub(super) refusals: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Container {
    pub(super) tag: String,
    pub(super) modified: Timestamp,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) blobs: BTreeMap<String, Blob>,
    /// Blocks that belong to no blob yet, by the blob to which they shall.
    pub(super) blocks: BTreeMap<String, BTreeMap<String, Arc<[u8]>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Blob {
    pub(super) content: Arc<[u8]>,
    /// The blocks that it is made of and their lengths, where it is made of blocks.
    pub(super) blocks: Vec<(String, usize)>,
    pub(super) tag: String,
    pub(super) created: Timestamp,
    pub(super) modified: Timestamp,
    /// `content-type` and its like, as they were sent; names as in answers.
    pub(super) headers: BTreeMap<&'static str, String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tier: Option<String>,
}

impl Store {
    /// Begins with what a description says.
    pub(in crate::azure) fn of(about: &Description, estate: &Estate) -> Self {
        let mut store = Self::default();
        let begin = Timestamp::from_millis(1_748_854_800_000);
        let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let account =
            estate.of("Microsoft.Storage/storageAccounts").find_map(|account| text(account, "name"));
        let Some(account) = account else { return store };
        for (name, blobs) in &about.containers {
            let Some(_) = store.make(&account, name, BTreeMap::new(), begin) else { continue };
            for blob in blobs {
                let Some(called) = text(blob, "name") else { continue };
                let kind = text(blob, "contentType").unwrap_or_else(|| "application/octet-stream".to_owned());
                let headers = BTreeMap::from([("Content-Type", kind)]);
                store.put(&account, name, &called, content(blob), headers, begin);
            }
        }
        store
    }

    pub(super) fn container(&self, account: &str, name: &str) -> Option<&Container> {
        self.containers.get(&(account.to_ascii_lowercase(), name.to_owned()))
    }

    pub(super) fn container_mut(&mut self, account: &str, name: &str) -> Option<&mut Container> {
        self.containers.get_mut(&(account.to_ascii_lowercase(), name.to_owned()))
    }

    /// Returns the containers of an account, by name.
    pub(super) fn containers(&self, account: &str) -> impl Iterator<Item = (&str, &Container)> {
        let account = account.to_ascii_lowercase();
        let own = self.containers.iter().filter(move |((owner, _), _)| *owner == account);
        own.map(|((_, name), container)| (name.as_str(), container))
    }

    /// Makes an empty container; says whether it is there now.
    pub(in crate::azure) fn begin(&mut self, account: &str, name: &str, now: Timestamp) -> bool {
        self.make(account, name, BTreeMap::new(), now).is_some()
    }

    /// Makes a container where none is; nothing where no more fit.
    pub(super) fn make(
        &mut self,
        account: &str,
        name: &str,
        metadata: BTreeMap<String, String>,
        now: Timestamp,
    ) -> Option<&Container> {
        if self.containers.len() >= MAX_CONTAINERS {
            return None;
        }
        let tag = self.tag();
        let new = Container { tag, modified: now, metadata, blobs: BTreeMap::new(), blocks: BTreeMap::new() };
        let key = (account.to_ascii_lowercase(), name.to_owned());
        Some(self.containers.entry(key).or_insert(new))
    }

    /// Puts a blob in, in place of the one that was there; nothing where it does not fit.
    pub(super) fn put(
        &mut self,
        account: &str,
        container: &str,
        name: &str,
        content: Arc<[u8]>,
        mut headers: BTreeMap<&'static str, String>,
        now: Timestamp,
    ) -> Option<&mut Blob> {
        let before = self.container(account, container)?.blobs.get(name);
        let (freed, created) = before.map_or((0, now), |blob| (blob.content.len(), blob.created));
        if !self.fits(content.len(), freed) {
            return None;
        }
        headers.entry("Content-MD5").or_insert_with(|| digest(&content));
        let tag = self.tag();
        let new = Blob {
            content,
            blocks: Vec::new(),
            tag,
            created,
            modified: now,
            headers,
            metadata: BTreeMap::new(),
            tier: None,
        };
        let found = self.container_mut(account, container)?;
        found.blocks.remove(name);
        found.blobs.insert(name.to_owned(), new);
        found.blobs.get_mut(name)
    }

    /// Writes a file of the platform's; a container that is missing is made. Says whether it fits.
    pub(in crate::azure) fn write(
        &mut self,
        account: &str,
        container: &str,
        name: &str,
        bytes: &[u8],
        now: Timestamp,
    ) -> bool {
        if self.container(account, container).is_none()
            && self.make(account, container, BTreeMap::new(), now).is_none()
        {
            return false;
        }
        let headers = BTreeMap::from([("Content-Type", "application/octet-stream".to_owned())]);
        self.put(account, container, name, bytes.into(), headers, now).is_some()
    }

    /// Returns what a blob holds.
    pub(in crate::azure) fn content(&self, account: &str, container: &str, name: &str) -> Option<Arc<[u8]>> {
        self.container(account, container)?.blobs.get(name).map(|blob| Arc::clone(&blob.content))
    }

    /// Tells whether so many bytes more fit, where so many go.
    pub(super) fn fits(&self, more: usize, freed: usize) -> bool {
        let blobs =
            self.containers.values().flat_map(|container| container.blobs.values().map(|blob| &blob.content));
        let blocks = self
            .containers
            .values()
            .flat_map(|container| container.blocks.values().flat_map(BTreeMap::values));
        let (count, held) = blobs
            .chain(blocks)
            .fold((0_usize, 0_usize), |(count, held), bytes| (count + 1, held + bytes.len()));
        let after = held.saturating_sub(freed).saturating_add(more);
        count < MAX_BLOBS && u64::try_from(after).is_ok_and(|after| after <= MAX_BYTES)
    }

    /// Takes a container out.
    pub(super) fn drop_container(&mut self, account: &str, name: &str) -> bool {
        self.containers.remove(&(account.to_ascii_lowercase(), name.to_owned())).is_some()
    }

    /// Forgets all that lay in an account.
    pub(in crate::azure) fn drop_account(&mut self, account: &str) {
        let account = account.to_ascii_lowercase();
        self.containers.retain(|(owner, _), _| *owner != account);
    }

    /// Returns a tag that nothing had before.
    pub(super) fn tag(&mut self) -> String {
        self.changes += 1;
        format!("0x8DDA{:011X}", self.changes)
    }
}

/// Returns the digest that the service tells of bytes.
pub(super) fn digest(bytes: &[u8]) -> String {
    use base64::Engine as _;
    use md5::Digest as _;
    base64::engine::general_purpose::STANDARD.encode(md5::Md5::digest(bytes))
}

/// How a capture begins, little-endian.
const CAPTURE: [u8; 8] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];

/// Returns what a description says a blob holds: base64, text, or so many bytes that begin as a capture does.
fn content(blob: &Value) -> Arc<[u8]> {
    use base64::Engine as _;
    let text = |field: &str| blob.get(field).and_then(Value::as_str);
    if let Some(text) = text("base64") {
        return base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default().into();
    }
    if let Some(text) = text("text") {
        return text.as_bytes().into();
    }
    let length = blob.get("bytes").and_then(Value::as_u64).unwrap_or(0).min(64 << 20);
    let length = usize::try_from(length).unwrap_or(0);
    CAPTURE.into_iter().chain(std::iter::repeat(0)).take(length).collect()
}
