//! Where a lab's file is, and how to speak with the lab.

use std::path::{Path, PathBuf};

use ghost_lab::case;
use ghost_lab::control::{RecordError, Remote, RemoteError};
use ghost_lab::host::sweep;
use ghost_tools::config::{Config, Environment, data_dir};
use ghost_tools::global::Global;
use ghost_tools::print::{Hinted, note};

/// The name of the file in the data folder.
const NAME: &str = "lab.json";

/// Returns where the lab's file is: where somebody says, else in the data folder.
pub(in crate::cli) fn record(named: Option<&Path>, global: &Global) -> anyhow::Result<PathBuf> {
    if let Some(path) = &global.config {
        // A file that is named and cannot be read is a mistake, though nothing of it is needed here.
        Config::load(path).map_err(|error| Hinted::new(error, "a lab needs no configuration"))?;
    }
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let folder = data_dir(global.data_dir.as_deref(), &Environment::read())
        .map_err(|error| Hinted::new(error, "name a folder with --data-dir, or the lab's file with --lab"))?;
    Ok(folder.join(NAME))
}

/// Finds the lab; what a dead one has left behind is cleaned up, its networks among it.
pub(in crate::cli) fn find(path: &Path) -> anyhow::Result<Remote> {
    Remote::find(path).map_err(|error| gone(error, path))
}

/// Cleans up after a lab that is gone, and says so.
pub(in crate::cli) fn gone(error: RemoteError, path: &Path) -> anyhow::Error {
    // It may have left baselines behind.
    if let (RemoteError::Record(RecordError::Dead(_)), Some(data)) = (&error, path.parent()) {
        drop(case::clean(data));
    }
    match &error {
        RemoteError::Record(RecordError::Dead(_) | RecordError::Absent(_)) => {
            clean(path).err().unwrap_or_else(|| hinted(error))
        }
        RemoteError::Record(_) | RemoteError::Silent { .. } | RemoteError::Refused(_) => hinted(error),
    }
}

/// Where guests that are namespaces note what they make.
pub(in crate::cli) fn namespaces(record: &Path) -> PathBuf {
    record.with_extension("netns")
}

/// Removes the namespaces of labs that are dead.
pub(in crate::cli) fn clean(record: &Path) -> anyhow::Result<()> {
    let folder = namespaces(record);
    if !folder.is_dir() {
        return Ok(());
    }
    let hint = "whoever started that lab may remove them: run the command as root";
    let swept = sweep(&folder).map_err(|error| Hinted::new(error, hint))?;
    if !swept.is_empty() {
        note(&format!("removed what a dead lab had left: {}", swept.join(", ")));
    }
    // Where another lab lives there it is not empty.
    drop(std::fs::remove_dir(&folder));
    Ok(())
}

/// Adds what to do about it.
pub(in crate::cli) fn hinted(error: RemoteError) -> anyhow::Error {
    let hint = match &error {
        RemoteError::Record(_) => {
            "`ghost lab up` starts one; --data-dir or --lab names the place of another".to_owned()
        }
        RemoteError::Silent { .. } => "it may be coming up or going down; `ghost lab state` tells".to_owned(),
        RemoteError::Refused(refused) => match &refused.hint {
            Some(hint) => hint.clone(),
            None => return error.into(),
        },
    };
    Hinted::new(error, hint).into()
}
