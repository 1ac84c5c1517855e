//! Putting an exported session into a store.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::export::{Export, Unsound};
use ghost_base::{Digest, SessionId, private_dir, write_private};
use ghost_shell::audit;
use ghost_store::{Lease, Store, StoreError};

/// How long nobody else may take the session while it is put in.
const LEASE: Duration = Duration::from_secs(120);

/// Why a session cannot be put in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is one of that name.
    #[error("the session {session} is there already")]
    Exists { session: SessionId },
    /// It is not what was written.
    #[error("the export is not what was written")]
    Unsound(#[from] Unsound),
    /// The store refuses.
    #[error("the store refused")]
    Store(#[from] StoreError),
    /// A file cannot be written.
    #[error("writing {what}")]
    Io {
        what: String,
        /// Why not.
        source: io::Error,
    },
}

/// What was put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub events: usize,
    /// How many texts behind observations.
    pub evidence: usize,
    /// What became of the audit.
    pub audit: AuditFate,
}

/// What became of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditFate {
    /// There was none.
    None,
    /// It was written.
    Written,
    /// One is there already and stays as it is.
    Kept,
    /// It is not whole, and was left out.
    Refused(String),
}

/// Puts a session into a store where it is not yet. The events come last and in one step: until then there is no session.
///
/// # Errors
/// Fails where the session is there already, or is not what was written.
pub async fn import(store: &dyn Store, export: &Export, data: &Path) -> Result<Imported, ImportError> {
    let session = &export.session;
    let state = export.session()?;
    let exists = || ImportError::Exists { session: session.clone() };
    if !store.read(session, 0).await?.is_empty() || !store.inbox(session).await?.is_empty() {
        return Err(exists());
    }
    let owner = format!("import-{}", std::process::id());
    let lease = store.acquire(session, &owner, LEASE).await?.ok_or_else(exists)?;
    let head = state.as_ref().and_then(|state| state.audit_head());
    match put(store, &lease, export, head, data).await {
        Ok(imported) => {
            release(store, &lease).await?;
            Ok(imported)
        }
        Err(error) => {
            release(store, &lease).await?;
            // Nothing of it is left in the list, unless somebody else put it in meanwhile.
            if store.read(session, 0).await?.is_empty() && store.inbox(session).await?.is_empty() {
                store.erase(session, &[]).await?;
            }
            Err(error)
        }
    }
}

async fn put(
    store: &dyn Store,
    lease: &Lease,
    export: &Export,
    head: Option<&str>,
    data: &Path,
) -> Result<Imported, ImportError> {
    let folder = data.join("evidence");
    private_dir(&folder).map_err(writing("the evidence folder"))?;
    for (digest, text) in &export.evidence {
        let path = folder.join(format!("{digest}.txt"));
        let there = std::fs::read(&path).is_ok_and(|found| Digest::of(&found) == *digest);
        if !there {
            write_private(&path, text.as_bytes()).map_err(writing("evidence"))?;
        }
    }
    let audit = put_audit(export, head, data)?;
    match store.append(lease, 0, &export.ledger, 0).await {
        Ok(_) => {}
        Err(StoreError::LengthMismatch { .. }) => {
            return Err(ImportError::Exists { session: export.session.clone() });
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Imported { events: export.ledger.len(), evidence: export.evidence.len(), audit })
}

async fn release(store: &dyn Store, lease: &Lease) -> Result<(), StoreError> {
    match store.release(lease).await {
        Ok(()) | Err(StoreError::Fenced) => Ok(()),
        Err(error) => Err(error),
    }
}

#[derive(Deserialize)]
struct Named {
    session: String,
}

/// Writes the audit where there is none and where it is whole, this session's, and holds the head that the ledger names.
fn put_audit(export: &Export, head: Option<&str>, data: &Path) -> Result<AuditFate, ImportError> {
    let Some(bytes) = &export.audit else { return Ok(AuditFate::None) };
    let folder = data.join("audit");
    let path = folder.join(format!("{}.jsonl", export.session));
    if std::fs::symlink_metadata(&path).is_ok() {
        return Ok(AuditFate::Kept);
    }
    let found = audit::verify(bytes.as_slice(), head).map_err(writing("the audit"))?;
    if !found.ok {
        return Ok(AuditFate::Refused(found.reason.unwrap_or_else(|| "it is not whole".to_owned())));
    }
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let named = lines.find_map(|line| serde_json::from_slice::<Named>(line).ok());
    if named.is_none_or(|named| named.session != export.session.as_str()) {
        return Ok(AuditFate::Refused("it is another session's".to_owned()));
    }
    private_dir(&folder).map_err(writing("the audit folder"))?;
    write_private(&path, bytes).map_err(writing("the audit"))?;
    Ok(AuditFate::Written)
}

fn writing(what: &str) -> impl FnOnce(io::Error) -> ImportError {
    move |source| ImportError::Io { what: what.to_owned(), source }
}
