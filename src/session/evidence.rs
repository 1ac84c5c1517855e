//! The folder where the gate keeps whole outputs.

use std::path::PathBuf;

use crate::agent::tool::Evidence;
use crate::base::Digest;

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
}

#[cfg(test)]
mod tests {
    use super::*;

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
