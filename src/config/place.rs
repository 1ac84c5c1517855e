//! Where a run keeps what it writes.

use std::path::{Path, PathBuf};

use super::Environment;

/// Why there is no data folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no home folder to keep data in")]
pub struct PlaceError;

/// Finds the data folder: what was named, else `$GHOST_DATA_DIR`, `$XDG_STATE_HOME/ghost`, `~/.local/state/ghost`.
///
/// # Errors
/// Fails where nothing was named and there is no home folder.
pub fn data_dir(named: Option<&Path>, environment: &Environment) -> Result<PathBuf, PlaceError> {
    named
        .map(Path::to_owned)
        .or_else(|| environment.path("GHOST_DATA_DIR"))
        .or_else(|| environment.path("XDG_STATE_HOME").map(|state| state.join("ghost")))
        .or_else(|| environment.path("HOME").map(|home| home.join(".local/state/ghost")))
        .ok_or(PlaceError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_wins_over_every_variable() {
        let environment =
            Environment::from([("GHOST_DATA_DIR", "/a"), ("XDG_STATE_HOME", "/b"), ("HOME", "/c")]);
        assert_eq!(data_dir(Some(Path::new("/d")), &environment), Ok("/d".into()));
        assert_eq!(data_dir(None, &environment), Ok("/a".into()));
    }

    #[test]
    fn an_empty_variable_counts_as_missing() {
        let environment = Environment::from([("GHOST_DATA_DIR", ""), ("XDG_STATE_HOME", ""), ("HOME", "/c")]);
        assert_eq!(data_dir(None, &environment), Ok("/c/.local/state/ghost".into()));
        assert_eq!(data_dir(None, &Environment::default()), Err(PlaceError));
    }
}
