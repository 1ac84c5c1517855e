//! The folder where the gate keeps whole outputs.

use std::path::PathBuf;

use ghost_base::{Digest, private_dir, write_private};
use ghost_investigate::tool::{Evidence, EvidenceError};

/// The texts below `DATA/evidence`.
#[derive(Debug, Clone)]
pub struct EvidenceFolder(PathBuf);

impl EvidenceFolder {
    /// Names the folder.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }
}

impl Evidence for EvidenceFolder {
    /// A text that does not have its digest is none: somebody changed it.
    fn text(&self, digest: &str) -> Option<String> {
        let digest: Digest = digest.parse().ok()?;
        let text = std::fs::read_to_string(self.0.join(format!("{digest}.txt"))).ok()?;
        (Digest::of(&text) == digest).then_some(text)
    }

    fn keep(&self, text: &str) -> Result<Digest, EvidenceError> {
        let digest = Digest::of(text);
        if self.text(&digest.to_string()).is_none() {
            let path = self.0.join(format!("{digest}.txt"));
            let kept = private_dir(&self.0).and_then(|()| write_private(&path, text.as_bytes()));
            kept.map_err(|error| EvidenceError::NotWritten { path, error })?;
        }
        Ok(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_again_and_nobody_else_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let evidence = EvidenceFolder::new(folder.path().join("evidence"));
        let digest = evidence.keep("{}").unwrap();
        assert_eq!(evidence.keep("{}").unwrap(), digest);
        assert_eq!(evidence.text(&digest.to_string()).as_deref(), Some("{}"));
        let file = folder.path().join("evidence").join(format!("{digest}.txt"));
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_text_that_was_changed_is_no_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let evidence = EvidenceFolder::new(folder.path().to_owned());
        let digest = Digest::of("seen").to_string();
        let path = folder.path().join(format!("{digest}.txt"));
        std::fs::write(&path, "seen").unwrap();
        assert_eq!(evidence.text(&digest).as_deref(), Some("seen"));
        std::fs::write(&path, "forged").unwrap();
        assert_eq!(evidence.text(&digest), None);
        assert_eq!(evidence.text("../../etc/passwd"), None);
    }
}
