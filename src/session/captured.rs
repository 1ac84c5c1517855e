//! The files of captures, as far as their lifetimes go.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::erase::{EraseError, trouble};
use super::retention::StoredItem;
use ghost_base::{SessionId, Timestamp};

/// How the files begin that Ghost makes of a capture: `ghost-SESSION-NUMBER`.
const BEGIN: &str = "ghost-";
/// How they end: packets, and what was read out of them.
const ENDS: [&str; 4] = [".cap", ".png", "_semantic.json", "_forensic_report.md"];

/// Returns the files of captures in a folder with their age. Files of another name are not ours; what a session made that still runs
/// is needed.
pub(super) fn captured(
    folder: &Path,
    running: &BTreeSet<SessionId>,
) -> Result<Vec<StoredItem<String>>, EraseError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(trouble("reading", folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(BEGIN) || !ENDS.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let file = entry.metadata().ok().filter(fs::Metadata::is_file);
        let modified = file.and_then(|file| file.modified().ok());
        let age = modified.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
        let Some(age) = age.and_then(|age| i64::try_from(age.as_millis()).ok()) else { continue };
        let needed = running.iter().any(|session| name.starts_with(&format!("{BEGIN}{session}-")));
        found.push(StoredItem { what: name, since: Timestamp::from_millis(age), needed });
    }
    found.sort_by(|one, other| one.what.cmp(&other.what));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_another_name_are_not_ours_and_those_of_running_sessions_are_needed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ghost-s1-1.cap", "ghost-s2-1.cap", "ghost-s2-1_flow.png", "ghost-s2-1.txt", "mine.cap"]
        {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let found = captured(folder.path(), &BTreeSet::from(["s1".parse().unwrap()])).unwrap();
        let found_names: Vec<(&str, bool)> =
            found.iter().map(|kept| (kept.what.as_str(), kept.needed)).collect();
        assert_eq!(
            found_names,
            [("ghost-s1-1.cap", true), ("ghost-s2-1.cap", false), ("ghost-s2-1_flow.png", false)]
        );
        assert!(captured(&folder.path().join("none"), &BTreeSet::new()).unwrap().is_empty());
    }
}
