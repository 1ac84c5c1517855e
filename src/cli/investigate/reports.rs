//! Reports become files.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use ghost_base::{SessionId, private_dir, write_private};
use ghost_investigate::report;
use ghost_investigate::state::State;
use ghost_session::{DeliveryError, ReportDelivery};

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
impl ReportDelivery for Reports {
    async fn deliver(&self, state: &State, text: &str) -> Result<String, DeliveryError> {
        let file = self.file(&state.session);
        let folder = file.parent().unwrap_or(&self.0);
        let put = || {
            private_dir(folder)?;
            write_private(&folder.join("audit.md"), report::audit(state).as_bytes())?;
            write_private(&file, text.as_bytes())
        };
        put().map_err(|cause| DeliveryError::File { path: file.clone(), cause })?;
        // A report without its pictures is a report all the same.
        let path_picture = report::path::picture(state).map(|bytes| ("path.png".to_owned(), bytes));
        let measured =
            report::measurement_charts(state).into_iter().map(|picture| (picture.file, picture.bytes));
        for (name, bytes) in path_picture.into_iter().chain(measured) {
            let picture = folder.join(name);
            if let Err(error) = write_private(&picture, &bytes) {
                tracing::warn!("picture {} not written: {error}", picture.display());
            }
        }
        Ok(file.display().to_string())
    }
}
