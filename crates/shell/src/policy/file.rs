//! The files that may be read as they are.

use serde::Deserialize;

use crate::text::OUTPUT_FILE;

/// Which paths `cat`, `head`, `tail` and `wc` may read without asking.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// Folders below which every file is meant to be read.
    roots: Vec<String>,
    /// Folders right inside which every file is, and how the names of single files begin.
    shallow: Vec<String>,
    /// Single files; a part `N` is any number.
    files: Vec<String>,
    /// Folders below which logs are packed.
    packed: Vec<String>,
    /// Last parts of settings of the kernel that are secrets.
    secrets: Vec<String>,
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
        if odd || self.is_secret(path) {
            return false;
        }
        let inside = |front: &String| {
            path.strip_prefix(front.as_str()).is_some_and(|rest| !rest.is_empty() && !rest.contains('/'))
        };
        path == OUTPUT_FILE
            || self.files.iter().any(|file| below(file, path).is_some_and(str::is_empty))
            || self.roots.iter().any(|root| below(root, path).is_some_and(|rest| !rest.is_empty()))
            || self.shallow.iter().any(inside)
            || self.is_report(path)
    }

    /// True for a folder whose files are meant to be read, and for one below it.
    pub(crate) fn allows_folder(&self, path: &str) -> bool {
        let folder = path.strip_suffix('/').unwrap_or(path);
        let inside = format!("{folder}/");
        let is_whole = |front: &String| front.ends_with('/') && *front == inside;
        let plain = !folder.ends_with('/') && !folder.contains('\0');
        plain
            && (self.roots.iter().any(|root| below(root, &inside).is_some_and(str::is_empty))
                || self.shallow.iter().any(is_whole)
                || (self.allows(folder) && self.roots.iter().any(|root| below(root, folder).is_some())))
    }

    /// True for a folder that holds logs and nothing else.
    pub(crate) fn allows_logs(&self, path: &str) -> bool {
        let inside = format!("{}/", path.trim_end_matches('/'));
        self.packed.iter().any(|root| inside.starts_with(root.as_str())) && self.allows_folder(path)
    }

    /// True for a packed log that is meant to be read.
    pub(crate) fn allows_packed(&self, path: &str) -> bool {
        path.ends_with(".gz")
            && self.packed.iter().any(|root| path.starts_with(root.as_str()))
            && self.allows(path)
    }

    /// Returns true if a file or a setting of the kernel holds a secret.
    pub(crate) fn is_secret(&self, name: &str) -> bool {
        name.rsplit(['/', '.']).next().is_some_and(|last| self.secrets.iter().any(|secret| secret == last))
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

/// Returns the rest of a path below a root. A part `N` of the root is any number.
fn below<'p>(root: &str, path: &'p str) -> Option<&'p str> {
    let Some((front, behind)) = root.split_once("/N/") else { return path.strip_prefix(root) };
    let (number, rest) = path.strip_prefix(front)?.strip_prefix('/')?.split_once('/')?;
    let counts = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    rest.strip_prefix(behind).filter(|_| counts)
}

#[cfg(test)]
mod tests {
    use crate::Policy;

    #[test]
    fn what_is_meant_to_be_read_is_known_by_its_path() {
        let files = &Policy::embedded().unwrap().files;
        for path in
            ["/proc/1/net/dev", "/proc/4711/net/stat/nf_conntrack", "/run/systemd/resolve/resolv.conf"]
        {
            assert!(files.allows(path), "{path}");
        }
        for path in
            ["/proc/x/net/dev", "/proc//net/dev", "/proc/1/net", "/proc/1/environ", "/proc/1/net/../environ"]
        {
            assert!(!files.allows(path), "{path}");
        }
        for path in [
            "/var/log",
            "/var/log/",
            "/var/log/nginx",
            "/etc/netplan",
            "/proc/net",
            "/proc/7/net",
            "/proc/7/net/stat",
        ] {
            assert!(files.allows_folder(path), "{path}");
        }
        for path in [
            "/var",
            "/",
            "/etc",
            "/var/log/..",
            "/var/log//",
            "/etc/netplan/x",
            "/proc/7",
            "/tmp/captures",
            "/proc/x/net",
        ] {
            assert!(!files.allows_folder(path), "{path}");
        }
        assert!(files.allows_packed("/var/log/syslog.2.gz") && !files.allows_packed("/var/log/syslog"));
        assert!(!files.allows_packed("/etc/netplan/a.gz") && !files.allows_packed("/var/log/../x.gz"));
    }
}
