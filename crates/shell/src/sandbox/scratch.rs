//! A folder that belongs to one command and goes when it does.

use std::fs::DirBuilder;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, io};

use ghost_base::{Digest, private_dir};

use crate::sandbox::limits;

/// Settings of Wireshark's, below `$HOME`.
const WIRESHARK: (&str, &str) = (".config/wireshark", "preferences");

/// A folder of mode 0700 with nothing but settings that keep programs from searching for others, removed with everything in it when the value is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes a folder below `root`.
    pub(crate) fn create(root: &Path) -> io::Result<Self> {
        private_dir(root)?;
        // Landlock and HOME need the one true path, whatever the caller's was relative to.
        let path = fs::canonicalize(root)?.join(unique_name());
        DirBuilder::new().mode(0o700).create(&path)?;
        let scratch = Self(path);
        // The settings that curl finds here first: otherwise it goes on to the home of the passwd entry, whatever `$HOME` says.
        fs::write(scratch.path().join(".curlrc"), "")?;
        // One of tshark's dissectors reads a file of references from where the command runs, unless its name is another.
        let (folder, name) = WIRESHARK;
        DirBuilder::new().recursive(true).mode(0o700).create(scratch.path().join(folder))?;
        fs::write(scratch.path().join(folder).join(name), "giop.ior_txt: /dev/null\n")?;
        Ok(scratch)
    }

    /// Tells curl the addresses of names that were looked up already.
    pub(crate) fn pin(&self, pins: &[String]) -> io::Result<()> {
        let lines: String = pins.iter().map(|pin| format!("resolve = \"{pin}\"\n")).collect();
        if lines.is_empty() { Ok(()) } else { fs::write(self.0.join(".curlrc"), lines) }
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is swept after this process has ended.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Removes what commands of ended processes left behind: control groups, and folders below `root`. Returns how many
/// folders there were.
///
/// # Errors
/// Fails where `root` cannot be read; one that is missing holds nothing.
pub fn sweep(root: &Path) -> io::Result<usize> {
    limits::sweep();
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let stale = entries.flatten().filter(|entry| match entry.file_name().to_str().and_then(maker) {
        Some(ScratchOwner::Gone) => true,
        Some(ScratchOwner::Elsewhere) => is_forgotten(entry),
        Some(ScratchOwner::Lives) | None => false,
    });
    Ok(stale.filter(|entry| fs::remove_dir_all(entry.path()).is_ok()).count())
}

const PREFIX: &str = "ghost-run";

/// No command runs longer than a day. Whoever made a folder before that and cannot be seen from here is gone.
const STALE_AGE: Duration = Duration::from_secs(2 * 24 * 3600);

fn is_forgotten(entry: &fs::DirEntry) -> bool {
    let made = entry.metadata().and_then(|about| about.modified()).ok();
    made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > STALE_AGE)
}

/// Makes a name that no other command of any living process has: our number, our start, where that number counts, a counter.
pub(super) fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let own = std::process::id();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}-{own}-{}-{}-{number}", started(own).unwrap_or_default(), house())
}

/// What became of the process that made a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScratchOwner {
    /// It is still there.
    Lives,
    /// It is gone, even where another has its number now.
    Gone,
    /// Its number counts on another machine, in another container or before the last boot: nobody here can tell.
    Elsewhere,
}

/// Says what became of the process that made a name, where it is one of ours.
pub(super) fn maker(name: &str) -> Option<ScratchOwner> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-').skip(1);
    let process = parts.next()?.parse().ok()?;
    let start: u64 = parts.next()?.parse().ok()?;
    Some(match parts.next()? {
        place if place != house() => ScratchOwner::Elsewhere,
        _ if started(process).unwrap_or_default() == start => ScratchOwner::Lives,
        _ => ScratchOwner::Gone,
    })
}

/// Names where the numbers of processes count: this boot of this machine, and its name space.
fn house() -> &'static str {
    static MACHINE_KEY: OnceLock<String> = OnceLock::new();
    MACHINE_KEY.get_or_init(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Digest::of(format!("{boot}{}", space.display())).to_string().chars().take(8).collect()
    })
}

/// Returns when a process started, in ticks since the boot.
fn started(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is a name in parentheses that may itself hold any character.
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Makes the folder, or makes sure that the one that is there is ours.
///
/// # Errors
/// Fails where it cannot be made, is a link, or belongs to somebody else: whoever made it first could read what is put
/// there, or lead it elsewhere.
pub(super) fn own_folder(path: &Path) -> io::Result<()> {
    private_dir(path)?;
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::PermissionDenied,
        format!("{} is a link or belongs to somebody else", path.display()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_scratch_folder_is_private_and_goes_with_its_value() {
        let root = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(root.path()).unwrap();
        fs::write(scratch.path().join("x"), "x").unwrap();
        assert_eq!(fs::metadata(scratch.path()).unwrap().permissions().mode() & 0o777, 0o700);
        drop(scratch);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_sweep_takes_the_folders_of_dead_processes_alone() {
        let root = tempfile::tempdir().unwrap();
        let ours = Scratch::create(root.path()).unwrap();
        let here = house();
        let dead = [format!("ghost-run-1-999999999-{here}-0"), format!("ghost-run-4194303-7-{here}-0")];
        for name in ["notes", "ghost-run", "ghost-run-x-y"].into_iter().chain(dead.iter().map(String::as_str))
        {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        assert_eq!(sweep(root.path()).unwrap(), 2);
        assert!(ours.path().exists() && root.path().join("notes").exists());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_folder_of_another_container_is_left_alone_until_nobody_can_use_it() {
        let root = tempfile::tempdir().unwrap();
        let name = "ghost-run-4194303-7-elsewhere-0";
        let folder = root.path().join(name);
        fs::create_dir(&folder).unwrap();
        assert_eq!(maker(name), Some(ScratchOwner::Elsewhere));
        assert_eq!(sweep(root.path()).unwrap(), 0);
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        fs::File::open(&folder).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(sweep(root.path()).unwrap(), 1);
    }

    #[test]
    fn a_missing_root_holds_nothing() {
        assert_eq!(sweep(Path::new("/nonexistent-folder")).unwrap(), 0);
    }

    #[test]
    fn a_fresh_folder_is_private() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("captures");
        own_folder(&path).unwrap();
        own_folder(&path).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        symlink(place.path(), place.path().join("captures")).unwrap();
        assert!(own_folder(&place.path().join("captures")).is_err());
    }

    #[test]
    fn a_file_is_refused() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("captures"), "").unwrap();
        assert!(own_folder(&place.path().join("captures")).is_err());
    }
}
