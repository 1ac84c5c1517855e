//! Reports become files.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::agent::report;
use crate::agent::state::State;
use crate::base::{SessionId, private_dir, write_private};
use crate::session::Courier;

/// Puts the reports of a session below `DATA/reports/SESSION`.
pub(in crate::cli) struct Reports(PathBuf);

impl Reports {
    /// Names the data folder.
    pub(in crate::cli) fn new(data: &Path) -> Self {
        Self(data.join("reports"))
    }

    /// Returns where the report of a session lies.
    pub(super) fn file(&self, session: &SessionId) -> PathBuf {
        self.0.join(session.as_str()).join("rca.md")
    }
}

#[async_trait]
impl Courier for Reports {
    async fn deliver(&self, state: &State, text: &str) -> Result<String, String> {
        let file = self.file(&state.session);
        let folder = file.parent().unwrap_or(&self.0);
        let put = || {
            private_dir(folder)?;
            write_private(&folder.join("audit.md"), report::audit(state).as_bytes())?;
            if let Some(picture) = report::path::picture(state) {
                write_private(&folder.join("path.png"), &picture)?;
            }
            for picture in report::measured(state) {
                write_private(&folder.join(&picture.file), &picture.bytes)?;
            }
            write_private(&file, text.as_bytes())
        };
        put().map_err(|error| format!("writing {}: {error}", file.display()))?;
        Ok(file.display().to_string())
    }
}
