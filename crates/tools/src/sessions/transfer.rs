//! `ghost sessions export`, `import` and `delete`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

use anyhow::Context as _;
use serde_json::json;

use super::command::{missing, shown, store_of};
use crate::print::{Hinted, line, note};
use crate::setup::Setup;
use crate::sweep::{sweep_clients, sweep_own};
use ghost_base::{SessionId, private_dir, write_private};
use ghost_session::EraseError;
use ghost_session::export::{AuditFate, Export, ExportError, ImportError};

/// Writes a session out.
pub(super) async fn export(setup: &Setup, session: &SessionId, out: Option<&Path>) -> anyhow::Result<()> {
    let store = store_of(setup, session).await?;
    let version = env!("CARGO_PKG_VERSION");
    let found = match ghost_session::export::export(store.as_ref(), session, setup.data()?, version).await {
        Ok(found) => found,
        Err(ExportError::Missing { session }) => return Err(missing(&session)),
        Err(error) => return Err(error.into()),
    };
    match out {
        None => found.write(&mut BufWriter::new(io::stdout().lock())).context("writing the export")?,
        Some(path) => {
            let mut text = Vec::new();
            found.write(&mut text)?;
            write_private(path, &text).with_context(|| format!("writing {}", shown(path)))?;
            note(&format!("{session}: {} events, {} texts", found.ledger.len(), found.evidence.len()));
        }
    }
    Ok(())
}

/// Reads an export from a file, or from standard input.
pub fn read_export(path: &Path) -> anyhow::Result<Export> {
    let reading = || format!("reading {}", shown(path));
    let found = if path == Path::new("-") {
        ghost_session::export::read(io::stdin().lock())
    } else {
        let file = File::open(path).with_context(reading)?;
        if !file.metadata().with_context(reading)?.is_file() {
            return Err(anyhow::Error::msg("it is no file")).with_context(reading);
        }
        ghost_session::export::read(BufReader::new(file))
    };
    found.with_context(reading)
}

/// Puts a session in.
pub(super) async fn import(setup: &Setup, file: &Path, json: bool) -> anyhow::Result<()> {
    let export = read_export(file)?;
    // What is no session makes no store.
    export.session().with_context(|| format!("checking {}", shown(file)))?;
    let data = setup.data()?;
    private_dir(data).with_context(|| format!("making {}", shown(data)))?;
    let store = setup.store().await?;
    let imported = match ghost_session::export::import(store.as_ref(), &export, data).await {
        Ok(imported) => imported,
        Err(error @ ImportError::Exists { .. }) => {
            return Err(Hinted::new(error, "delete it first, or leave it as it is").into());
        }
        Err(error) => return Err(error.into()),
    };
    let (word, audit_text) = match &imported.audit {
        AuditFate::None => ("none", "it had no audit".to_owned()),
        AuditFate::Written => ("written", "its audit is whole".to_owned()),
        AuditFate::Kept => ("kept", "an audit of that name was there and stays".to_owned()),
        AuditFate::Refused(why) => ("refused", format!("its audit was left out: {why}")),
    };
    if json {
        let document = json!({
            "id": export.session.as_str(), "events": imported.events, "evidence": imported.evidence, "audit": word,
        });
        return line(&document.to_string());
    }
    let (events, evidence) = (imported.events, imported.evidence);
    line(&ghost_investigate::report::plain(&format!(
        "{}: {events} events, {evidence} texts; {audit_text}",
        export.session
    )))
}

/// Deletes a session.
pub(super) async fn delete(
    setup: &Setup,
    session: &SessionId,
    force: bool,
    json: bool,
) -> anyhow::Result<()> {
    let store = store_of(setup, session).await?;
    let erased = match ghost_session::delete(store.as_ref(), session, setup.data()?, force).await {
        Ok(erased) => erased,
        Err(EraseError::Missing { session }) => return Err(missing(&session)),
        Err(error @ EraseError::Driven { .. }) => {
            return Err(Hinted::new(error, "wait for it to end, or use --force").into());
        }
        Err(error) => return Err(error.into()),
    };
    if json {
        let document = json!({
            "id": session.as_str(), "events": erased.events, "evidence": erased.evidence,
            "audit": erased.audit.as_deref().map(|path| path.to_string_lossy()),
        });
        return line(&document.to_string());
    }
    let stays = erased.audit.map(|path| format!("; its audit stays: {}", shown(&path))).unwrap_or_default();
    line(&format!(
        "{session}: {} events are digests now, {} texts are gone{stays}",
        erased.events, erased.evidence
    ))
}

/// Removes what is due.
pub(super) async fn sweep(setup: &Setup, json: bool) -> anyhow::Result<()> {
    let mut swept = sweep_own(setup, None).await?;
    for client in sweep_clients(setup).await {
        match client.swept.with_context(|| format!("sweeping the client {}", client.name))? {
            Some(more) => swept.add(more),
            None => note(&format!("another process works for the client {} and sweeps there", client.name)),
        }
    }
    let names: Vec<String> = swept.sessions.iter().map(ToString::to_string).collect();
    if json {
        let document = json!({ "sessions": names, "evidence": swept.evidence, "captures": swept.captures });
        return line(&document.to_string());
    }
    line(&format!(
        "{} sessions are digests now, {} texts and {} files of captures are gone",
        names.len(),
        swept.evidence,
        swept.captures
    ))
}
