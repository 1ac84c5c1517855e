//! `[site]`: what a site has written about itself.

use std::path::PathBuf;

use serde::Deserialize;

/// `[site]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Site {
    /// The absolute path of a folder of Markdown files: sections that name what was found are shown below the report.
    pub runbooks: Option<PathBuf>,
}

impl Site {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let relative = self.runbooks.iter().filter(|path| !path.is_absolute());
        relative.map(|path| format!("[site] runbooks = {path:?}: the path has to be absolute")).collect()
    }
}
