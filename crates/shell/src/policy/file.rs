//! The files that may be read as they are.

use serde::Deserialize;

/// Which paths `cat`, `head`, `tail` and `wc` may read without asking.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// Folders below which every file is meant to be read.
    roots: Vec<String>,
    /// Folders right inside which every file is, and how the names of single files begin.
    shallow: Vec<String>,
    /// Single files.
    files: Vec<String>,
    /// Where our own reports lie and how they end.
    reports: Reports,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reports {
    folder: String,
    suffixes: Vec<String>,
}

impl Files {
    /// Says where captures and our own reports lie; nothing else is changed.
    pub(crate) fn captures_in(&mut self, folder: &str) {
        self.reports.folder = format!("{}/", folder.trim_end_matches('/'));
    }

    /// Tells whether a path, taken as it is written, is meant to be read.
    pub(crate) fn allows(&self, path: &str) -> bool {
        let odd = path.contains(['*', '?', '[', '{'])
            || path.contains("//")
            || path.split('/').any(|part| matches!(part, "." | ".."));
        if odd {
            return false;
        }
        let below = |root: &String| path.strip_prefix(root.as_str()).is_some_and(|rest| !rest.is_empty());
        let inside = |front: &String| {
            path.strip_prefix(front.as_str()).is_some_and(|rest| !rest.is_empty() && !rest.contains('/'))
        };
        self.files.iter().any(|file| file == path)
            || self.roots.iter().any(below)
            || self.shallow.iter().any(inside)
            || self.is_report(path)
    }

    /// Tells whether a path lies in the folder of our own reports.
    pub(crate) fn is_ours(&self, path: &str) -> bool {
        path.starts_with(self.reports.folder.as_str())
    }

    fn is_report(&self, path: &str) -> bool {
        let name = path.strip_prefix(self.reports.folder.as_str()).filter(|name| !name.contains('/'));
        name.is_some_and(|name| {
            self.reports.suffixes.iter().any(|suffix| name.len() > suffix.len() && name.ends_with(suffix))
        })
    }

    /// Tells whether a path is a capture file right inside the captures folder.
    pub(crate) fn is_capture(&self, path: &str) -> bool {
        let name = path.strip_prefix(self.reports.folder.as_str()).unwrap_or_default();
        let stem = [".cap", ".pcap", ".pcapng"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or_default();
        !stem.is_empty()
            && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            && !stem.starts_with('.')
    }
}
