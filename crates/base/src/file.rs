//! Files and folders that only their owner may read, and that appear whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Makes a folder, and the folders above it, that only their owner may enter; one that is there stays as it is.
///
/// # Errors
/// Fails where the folder cannot be made.
pub fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file of mode 0600: to a temporary name first, synced, then renamed over `path`. What is no file, such as `/dev/null` or a
/// pipe, is written to and stays what it is.
///
/// # Errors
/// Fails where the folder is missing or full; nothing is left behind then.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(content);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = temporary(path, folder);
    let written = write_new(&temporary, content).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
        return written;
    }
    // The rename itself is durable only once the folder is.
    File::open(folder).and_then(|folder| folder.sync_all())
}

/// Writes a file of mode 0600 as [`write_private`] does, and never over one that is there.
///
/// # Errors
/// Fails where `path` is there already, and where the folder is missing or full; nothing is left behind then.
pub fn write_private_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = temporary(path, folder);
    // A link appears with its whole content, and not where there is something.
    let written = write_new(&temporary, content).and_then(|()| fs::hard_link(&temporary, path));
    drop(fs::remove_file(&temporary));
    written.and_then(|()| File::open(folder)).and_then(|folder| folder.sync_all())
}

/// Makes up a name beside `path`: many may write the same file at once, threads, processes, and machines on which processes
/// have the same number.
fn temporary(path: &Path, folder: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder.join(format!(".{name}.{:016x}.part", RandomState::new().hash_one(std::process::id())))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_written_file_is_private_and_leaves_no_other_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_device_is_written_to_and_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (full, null) = (folder.path().join("full"), folder.path().join("null"));
        for (link, device) in [(&full, "/dev/full"), (&null, "/dev/null")] {
            std::os::unix::fs::symlink(device, link).unwrap();
        }
        assert_eq!(write_private(&full, b"one").unwrap_err().kind(), io::ErrorKind::StorageFull);
        write_private(&null, b"one").unwrap();
        for link in [&full, &null] {
            assert!(fs::symlink_metadata(link).unwrap().is_symlink());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn whoever_writes_the_same_file_at_the_same_time_disturbs_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..20).try_for_each(|_| write_private(&path, &[7; 10_000]))))
                .collect();
            for writer in writers {
                writer.join().unwrap().unwrap();
            }
        });
        assert_eq!(fs::read(&path).unwrap(), [7; 10_000]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_is_private_and_never_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        write_private_new(&path, b"one").unwrap();
        assert_eq!(write_private_new(&path, b"two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        assert!(write_private(Path::new("/nonexistent-folder/x"), b"").is_err());
    }
}
