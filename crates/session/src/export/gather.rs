//! Collecting what belongs to a session.

use std::io::{self, Read as _};
use std::path::Path;

use crate::EvidenceFolder;
use crate::export::Export;
use crate::export::verify::named;
use ghost_base::SessionId;
use ghost_investigate::event::{LedgerError, read};
use ghost_investigate::tool::Evidence as _;
use ghost_shell::audit;
use ghost_store::{Store, StoreError};

/// A longer audit file is none of a session.
const MAX_AUDIT_BYTES: u64 = 256 << 20;

/// Why a session cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is none of that name.
    #[error("there is no session {session}")]
    Missing { session: SessionId },
    /// The store refuses.
    #[error("the store refused")]
    Store(#[from] StoreError),
    /// Its lines are no ledger.
    #[error("the session cannot be read")]
    Ledger(#[from] LedgerError),
    /// Its audit cannot be read.
    #[error("the audit of the session cannot be read")]
    Audit(#[from] audit::Error),
    /// Its audit cannot be read.
    #[error("the audit of the session cannot be read")]
    Io(#[from] io::Error),
    /// Its audit is longer than any.
    #[error("the audit of the session is longer than {MAX_AUDIT_BYTES} bytes")]
    LongAudit,
}

/// Collects a session: its events, the texts that they name and that are still there, its audit. `data` is the data folder.
///
/// # Errors
/// Fails where there is no such session, or where a part of it cannot be read.
pub async fn export(
    store: &dyn Store,
    session: &SessionId,
    data: &Path,
    version: &str,
) -> Result<Export, ExportError> {
    let ledger = store.read(session, 0).await?;
    let recorded = read(session, ledger.iter().map(String::as_str))?;
    let Some(last) = recorded.last() else { return Err(ExportError::Missing { session: session.clone() }) };
    let folder = EvidenceFolder::new(data.join("evidence"));
    let text = |digest| folder.text(&format!("{digest}")).map(|text| (digest, text));
    let evidence = named(&recorded).into_iter().filter_map(text).collect();
    Ok(Export {
        session: session.clone(),
        version: version.to_owned(),
        head: last.hash,
        evidence,
        audit: audit_of(session, data)?,
        ledger,
    })
}

fn audit_of(session: &SessionId, data: &Path) -> Result<Option<Vec<u8>>, ExportError> {
    let path = data.join("audit").join(format!("{session}.jsonl"));
    if !path.try_exists()? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    audit::for_reading(&path)?.take(MAX_AUDIT_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_AUDIT_BYTES) {
        return Err(ExportError::LongAudit);
    }
    Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
}
