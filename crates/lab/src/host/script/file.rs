//! The files of a machine, in memory.

use std::collections::BTreeMap;

/// The most bytes of a file, and of all files of a machine.
const MAX_BYTES: usize = 16 << 20;
/// The most files of a machine.
const MAX_FILES: usize = 4_096;

/// Files, by their path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::host) struct Files {
    files: BTreeMap<String, File>,
    bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host) struct File {
    /// What it holds.
    pub(in crate::host) content: Vec<u8>,
    /// Whether it is a folder.
    pub(in crate::host) folder: bool,
}

impl Files {
    /// Returns a file.
    pub(in crate::host) fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Returns the paths of all files.
    pub(in crate::host) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Writes a file; false where there is no room for it.
    pub(in crate::host) fn write(&mut self, path: &str, content: Vec<u8>) -> bool {
        let before = self.files.get(path).map_or(0, |file| file.content.len());
        let bytes = self.bytes - before + content.len();
        if bytes > MAX_BYTES || (self.files.len() >= MAX_FILES && !self.files.contains_key(path)) {
            return false;
        }
        self.bytes = bytes;
        let file =
            self.files.entry(path.to_owned()).or_insert_with(|| File { content: Vec::new(), folder: false });
        file.content = content;
        true
    }

    /// Makes a folder; false where there is no room for it.
    pub(in crate::host) fn make_folder(&mut self, path: &str) -> bool {
        if !self.write(path, Vec::new()) {
            return false;
        }
        if let Some(file) = self.files.get_mut(path) {
            file.folder = true;
        }
        true
    }

    /// Removes a file; false where there is none.
    pub(in crate::host) fn remove(&mut self, path: &str) -> bool {
        let removed = self.files.remove(path);
        self.bytes -= removed.as_ref().map_or(0, |file| file.content.len());
        removed.is_some()
    }
}
