//! The environment, read once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the environment held when the program started.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// Reads the environment of this process. Variables whose names are no text are left out.
    #[must_use]
    pub fn read() -> Self {
        Self(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect(),
        )
    }

    /// Returns a variable as a path, `None` where it is missing or empty.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Returns a variable as text, `None` where it is missing or no text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str()
    }

    /// Returns every variable.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, OsString> {
        &self.0
    }
}

impl FromIterator<(String, OsString)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, OsString)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect())
    }
}

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
