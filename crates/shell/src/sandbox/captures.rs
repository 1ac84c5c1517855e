//! The captures folder, which may lie where everybody can make folders.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ghost_base::private_dir;

/// Makes the folder, or makes sure that the one that is there is ours.
///
/// # Errors
/// Fails where it cannot be made, is a link, or belongs to somebody else: whoever made it first could read what is put
/// there, or lead it elsewhere.
pub(super) fn own_folder(path: &Path) -> Result<()> {
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
