//! Where the recordings of a real `az` lie, and what they are called.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Where the recordings lie, where they are there.
pub(super) fn recordings() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/az");
    place.is_dir().then_some(place)
}

pub(super) fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Returns the names of all recordings, in their order.
pub(super) fn names(place: &Path) -> Vec<String> {
    let files =
        std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        files.filter(|name| name.ends_with(".json") && !name.starts_with('_')).collect();
    names.sort();
    names
}

/// Plays every recording, and fails with what differs.
pub(super) fn every(play: impl Fn(&Path, &str) -> Vec<String>) {
    let Some(place) = recordings() else { return };
    let names = names(&place);
    assert!(names.len() > 190, "{} recordings", names.len());
    let wrong = names.iter().map(|name| (name, play(&place, name))).filter(|(_, wrong)| !wrong.is_empty());
    let wrong: Vec<String> = wrong
        .map(|(name, wrong)| format!("== {name}\n  {}", wrong.join("\n  ")).chars().take(1_500).collect())
        .collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), names.len(), wrong.join("\n"));
}
