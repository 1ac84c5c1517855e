//! The environment, read once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

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
