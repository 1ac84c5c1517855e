//! Files that are meant to be read, by where their names really lead.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use crate::policy::Files;

/// Whoever makes more links than the kernel follows means no good.
const MAX_LINKS: usize = 40;

const OTHERS_MAY_WRITE: u32 = 0o022;

/// Says why a file that is meant to be read is another one. One that is missing is left to the program, which says so.
pub(super) fn check(path: &str, files: &Files) -> Result<(), String> {
    // The kernel makes what is there, and its links lead nowhere else.
    if ["/proc/", "/sys/"].iter().any(|tree| path.starts_with(tree)) {
        return Ok(());
    }
    if files.is_ours(path) {
        Path::new(path).parent().map_or(Ok(()), own_folder)?;
    }
    match resolve(Path::new(path)) {
        Ok(LinkTarget { path: _, by_others: false }) => Ok(()),
        Ok(LinkTarget { path: found, by_others: true }) => {
            match found.to_str().is_some_and(|found| files.allows(found)) {
                true => Ok(()),
                false => Err(format!("is a link to `{}`, which is not meant to be read", found.display())),
            }
        }
        // The program may do no more than we, and says so.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        Err(error) => Err(format!("cannot be looked at: {error}")),
    }
}

/// Makes sure that nobody else can put or lead something into the captures folder.
fn own_folder(folder: &Path) -> Result<(), String> {
    let found = match fs::symlink_metadata(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("lies in a folder that cannot be looked at: {error}")),
    };
    let owner = [0, rustix::process::geteuid().as_raw()].contains(&found.uid());
    match found.is_dir() && owner && found.mode() & OTHERS_MAY_WRITE == 0 {
        true => Ok(()),
        false => Err(format!(
            "lies in {}, which is a link, belongs to somebody else or may be written by others",
            folder.display()
        )),
    }
}

/// Where a path leads.
struct LinkTarget {
    path: PathBuf,
    /// Somebody other than root could have made a link in it.
    by_others: bool,
}

/// Follows every link as the kernel does.
fn resolve(path: &Path) -> io::Result<LinkTarget> {
    let mut left: VecDeque<OsString> = parts(path).collect();
    let mut place = LinkTarget { path: PathBuf::from("/"), by_others: false };
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            place.path.pop();
            continue;
        }
        let next = place.path.join(&part);
        let found = fs::symlink_metadata(&next)?;
        if !found.is_symlink() {
            place.path = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(io::Error::other("too many links"));
        }
        place.by_others |= found.uid() != 0 || !root_alone(&place.path)?;
        let target = fs::read_link(&next)?;
        if target.is_absolute() {
            place.path = PathBuf::from("/");
        }
        parts(&target).collect::<Vec<_>>().into_iter().rev().for_each(|part| left.push_front(part));
    }
    Ok(place)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// Tells whether nobody but root may write into a folder and those above it.
fn root_alone(folder: &Path) -> io::Result<bool> {
    let guarded = |found: &Metadata| found.uid() == 0 && found.mode() & OTHERS_MAY_WRITE == 0;
    for folder in folder.ancestors() {
        if !guarded(&fs::symlink_metadata(folder)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;
    use crate::Policy;

    fn files(folder: &Path) -> Files {
        let mut files = Policy::builtin().unwrap().files.clone();
        files.captures_in(folder.to_str().unwrap());
        files
    }

    fn report(folder: &Path) -> String {
        folder.join("x_comparison.md").display().to_string()
    }

    #[test]
    fn a_report_in_a_folder_of_ours_is_read_and_a_missing_one_left_to_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        assert_eq!(check(&report(folder.path()), &files), Ok(()));
        fs::write(report(folder.path()), "").unwrap();
        assert_eq!(check(&report(folder.path()), &files), Ok(()));
    }

    #[test]
    fn a_link_in_place_of_a_report_asks_unless_it_leads_to_what_is_meant_to_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        symlink("/etc/shadow", report(folder.path())).unwrap();
        assert!(check(&report(folder.path()), &files).unwrap_err().contains("link to `/etc/shadow`"));
        let first = folder.path().join("first_comparison.md");
        symlink(report(folder.path()), &first).unwrap();
        assert!(check(first.to_str().unwrap(), &files).is_err());
        let fine = folder.path().join("fine_comparison.md");
        symlink("/etc/hosts", &fine).unwrap();
        assert_eq!(check(fine.to_str().unwrap(), &files), Ok(()));
        let round = folder.path().join("round_comparison.md");
        symlink(&round, &round).unwrap();
        assert!(check(round.to_str().unwrap(), &files).unwrap_err().contains("too many links"));
    }

    #[test]
    fn a_captures_folder_that_is_a_link_or_that_others_may_write_asks() {
        let place = tempfile::tempdir().unwrap();
        let (folder, link) = (place.path().join("captures"), place.path().join("link"));
        fs::create_dir(&folder).unwrap();
        fs::write(report(&folder), "").unwrap();
        symlink(&folder, &link).unwrap();
        assert!(check(&report(&link), &files(&link)).unwrap_err().contains("is a link"));
        for (mode, fine) in [(0o700, true), (0o755, true), (0o775, false), (0o757, false)] {
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            assert_eq!(check(&report(&folder), &files(&folder)).is_ok(), fine, "{mode:o}");
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&folder, Some(12345), None).unwrap();
            assert!(check(&report(&folder), &files(&folder)).is_err());
        }
    }

    #[test]
    fn links_of_root_in_folders_of_root_are_followed() {
        let files = files(Path::new("/nowhere"));
        // On most systems the first is a link of the distribution's.
        for path in ["/etc/os-release", "/etc/resolv.conf", "/proc/net/dev", "/sys/class/net/lo/mtu"] {
            assert_eq!(check(path, &files), Ok(()), "{path}");
        }
    }
}
