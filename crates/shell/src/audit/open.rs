//! How an audit file is opened and locked: never through a link, never waiting for ever.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::audit::Error;
use ghost_base::private_dir;

/// How long we wait for the lock. Whoever holds it writes one record, so that this is never reached in health.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Opens an audit file for reading, behind a lock that keeps writers out as long as the reader lives: without it a
/// record that is being written seems torn.
///
/// # Errors
/// Fails where the file is missing, is no regular file, or stays locked.
pub fn for_reading(path: &Path) -> Result<BufReader<File>, Error> {
    // A pipe without a writer would hold up a plain open.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags(OFlags::NONBLOCK))
        .open(path)
        .map_err(Error::io("opening", path))?;
    regular(&file, path)?;
    lock(path, || file.try_lock_shared())?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Opens a private file for appending, making it and the folders above it where they are missing.
pub(super) fn for_appending(path: &Path) -> Result<File, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let known = folder.ancestors().find(|above| above.exists()).map(Path::to_path_buf);
    private_dir(folder).map_err(Error::io("making", folder))?;
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
        .open(path)
        .map_err(|source| refused(path, source))?;
    let metadata = regular(&file, path)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(Error::io("making private", path))?;
    }
    if metadata.len() == 0 {
        // The name of a new file is durable only once its folder is, and that one's once its own is.
        for above in folder.ancestors() {
            let here = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            File::open(here).and_then(|open| open.sync_all()).map_err(Error::io("syncing", here))?;
            if known.as_deref() == Some(above) {
                break;
            }
        }
    }
    Ok(file)
}

/// Waits for the lock of a file that is written to. It ends with `File::unlock`, or with the file.
pub(super) fn lock_for_writing(file: &File, path: &Path) -> Result<(), Error> {
    lock(path, || file.try_lock())
}

/// Tells whether `path` still names the file that is open as `file`.
pub(super) fn same_file(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

// Polling, since the blocking call has no deadline: whoever can open the file could hold us up for ever.
fn lock(path: &Path, attempt: impl Fn() -> Result<(), TryLockError>) -> Result<(), Error> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_TIMEOUT => {
                thread::sleep(LOCK_POLL_INTERVAL)
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Busy { path: path.to_path_buf(), waited: LOCK_TIMEOUT });
            }
            Err(TryLockError::Error(source)) => return Err(Error::io("locking", path)(source)),
        }
    }
}

fn regular(file: &File, path: &Path) -> Result<fs::Metadata, Error> {
    let metadata = file.metadata().map_err(Error::io("looking at", path))?;
    if metadata.is_file() { Ok(metadata) } else { Err(Error::NotAFile { path: path.to_path_buf() }) }
}

fn refused(path: &Path, source: io::Error) -> Error {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Error::Link { path: path.to_path_buf() },
        Ok(found) if !found.is_file() => Error::NotAFile { path: path.to_path_buf() },
        Ok(_) | Err(_) => Error::io("opening", path)(source),
    }
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}
