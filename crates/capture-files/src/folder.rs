//! The captures folder, for what must not wait for files.

use std::path::{Path, PathBuf};

use ghost_cloud::capture::{Analysis, AnalysisJob, FileProblem, Issue};

use crate::{CaptureFileError, analyze, verify};

/// The folder that captures are fetched into.
#[derive(Debug, Clone)]
pub struct CaptureFolder(PathBuf);

impl CaptureFolder {
    /// Takes the folder.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Reads a fetched file, as [`verify()`] does.
    ///
    /// # Errors
    /// Says why it is no capture.
    pub async fn verify(&self, file: &str, bytes: u64) -> Result<(u64, bool), FileProblem> {
        let path = self.0.join(file);
        let read = tokio::task::spawn_blocking(move || verify(&path, bytes)).await;
        Ok(read.unwrap_or(Err(CaptureFileError::Aborted))?)
    }

    /// Analyzes fetched files, as [`analyze()`] does.
    pub async fn analyze(&self, work: &[AnalysisJob]) -> Analysis {
        let (folder, work) = (self.0.clone(), work.to_vec());
        tokio::task::spawn_blocking(move || analyze(&folder, &work)).await.unwrap_or_else(|_| Analysis {
            files: Vec::new(),
            findings: Vec::new(),
            critical: 0,
            trouble: Some(Issue::new("the analysis failed")),
        })
    }
}
