//! Which file a program's name stands for.
//!
//! Goes in: a bare name, and the paths that the configuration pins. Comes out: an absolute path, or the problem by name.
//! Never: `$PATH`, the working folder, a file that somebody else could have replaced.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

/// The folders where a bare name is looked up, in this order.
pub(crate) const FOLDERS: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Why a program cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// No pinned folder has it.
    #[error("`{program}` is not installed")]
    Missing {
        /// The name as the command gave it.
        program: String,
        /// Where the user has one, which is never run from there.
        seen: Option<PathBuf>,
    },
    /// A name with a slash, where only a human's consent allows one.
    #[error("`{program}` is a path, and only a bare name runs without approval")]
    PathGiven {
        /// The word as the command gave it.
        program: String,
    },
    /// A configured path that depends on the working folder.
    #[error("`{path}` is not an absolute path")]
    NotAbsolute {
        /// The path as configured.
        path: PathBuf,
    },
    /// The file cannot be looked at.
    #[error("cannot look at `{path}`")]
    Unreadable {
        /// The file or its folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder, a device, a socket.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// The file that was found, or named by the configuration.
        path: PathBuf,
    },
    /// A file without the right to execute it.
    #[error("`{path}` is not executable for this user")]
    NotExecutable {
        /// The file that was found, or named by the configuration.
        path: PathBuf,
    },
    /// A file or folder that neither root nor we own.
    #[error("`{path}` belongs to user {owner}, neither to root nor to this user")]
    ForeignOwner {
        /// The file or its folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// A file or folder that others could replace.
    #[error("`{path}` may be written by its group or by others")]
    OthersMayWrite {
        /// The file or its folder.
        path: PathBuf,
    },
}

impl ProgramError {
    /// Returns the exit code with which a shell reports the same problem.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Missing { .. } => 127,
            Self::PathGiven { .. }
            | Self::NotAbsolute { .. }
            | Self::Unreadable { .. }
            | Self::NotAFile { .. }
            | Self::NotExecutable { .. }
            | Self::ForeignOwner { .. }
            | Self::OthersMayWrite { .. } => 126,
        }
    }

    /// Returns what a human could do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { program, seen: Some(path) } => format!(
                "your PATH has one at {}; if you trust it, pin it: `[programs] {program} = \"{}\"`",
                path.display(),
                path.display()
            ),
            Self::Missing { program, seen: None } => format!(
                "install it, or name it as `[programs] {program} = \"/absolute/path\"`; looked in {}",
                FOLDERS.join(", ")
            ),
            Self::PathGiven { .. } => "use the bare name of the program".to_owned(),
            Self::NotAbsolute { .. } => "write the whole path, from `/`".to_owned(),
            Self::Unreadable { .. } | Self::NotAFile { .. } => "check the path".to_owned(),
            Self::NotExecutable { .. } => "check the file's mode".to_owned(),
            Self::ForeignOwner { .. } | Self::OthersMayWrite { .. } => {
                "let root own the file and its folder, and let nobody else write there".to_owned()
            }
        }
    }
}

/// The programs that the configuration pins to a path; every other name is looked up in the system's folders.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    pinned: BTreeMap<String, PathBuf>,
    seen: BTreeMap<String, PathBuf>,
}

impl Programs {
    /// Takes the configured paths, each of which must be safe from being replaced.
    ///
    /// # Errors
    /// Fails with the first path that is not; [`Programs::check`] finds the others.
    pub fn new(pinned: BTreeMap<String, PathBuf>) -> Result<Self, ProgramError> {
        pinned.values().try_for_each(|path| Self::check(path))?;
        Ok(Self { pinned, seen: BTreeMap::new() })
    }

    /// Notes where the user has programs outside of the folders: hints name them, and nothing runs from there.
    #[must_use]
    pub fn noting(self, seen: BTreeMap<String, PathBuf>) -> Self {
        Self { seen, ..self }
    }

    /// Checks one configured path: absolute, a regular executable file; it, what it links to, and the folders of both
    /// belong to root or to this user and may be written by nobody else.
    ///
    /// # Errors
    /// Fails with the problem.
    pub fn check(path: &Path) -> Result<(), ProgramError> {
        if !path.is_absolute() {
            return Err(ProgramError::NotAbsolute { path: path.to_owned() });
        }
        executable(path)?;
        let target = fs::canonicalize(path).map_err(|source| unreadable(path, source))?;
        for place in [path.parent(), Some(target.as_path()), target.parent()].into_iter().flatten() {
            let metadata = fs::metadata(place).map_err(|source| unreadable(place, source))?;
            guarded(place, &metadata)?;
        }
        Ok(())
    }

    /// Finds the file behind a bare name.
    ///
    /// # Errors
    /// Fails where no folder has it, or where a configured path is no longer safe.
    pub fn find(&self, program: &str) -> Result<PathBuf, ProgramError> {
        if program.contains('/') {
            return Err(ProgramError::PathGiven { program: program.to_owned() });
        }
        if let Some(path) = self.pinned.get(program) {
            // The file may have changed since the configuration was read.
            Self::check(path)?;
            return Ok(path.clone());
        }
        FOLDERS
            .iter()
            .map(|folder| Path::new(folder).join(program))
            .find(|path| executable(path).is_ok())
            .ok_or_else(|| ProgramError::Missing {
                program: program.to_owned(),
                seen: self.seen.get(program).cloned(),
            })
    }

    /// Finds the files of a helper: the one behind a bare name, or those of an absolute path in which `*` stands for the folder of a
    /// version. A path counts only if nobody but root and this user can replace it.
    #[must_use]
    pub fn find_helper(&self, helper: &str) -> Vec<PathBuf> {
        let Some((folder, file)) = helper.split_once("/*/") else {
            return self.find(helper).into_iter().collect();
        };
        let versions = fs::read_dir(folder).into_iter().flatten().flatten();
        let files = versions.map(|version| version.path().join(file));
        files.filter(|path| Self::check(path).is_ok()).collect()
    }

    /// Finds the file behind the first word of an approved command, where a path is taken as it stands.
    ///
    /// # Errors
    /// Fails where there is no such file or it cannot be executed.
    pub fn find_approved(&self, word: &str, cwd: &Path) -> Result<PathBuf, ProgramError> {
        if !word.contains('/') {
            return self.find(word);
        }
        let path = cwd.join(word);
        match executable(&path) {
            Err(ProgramError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(ProgramError::Missing { program: word.to_owned(), seen: None })
            }
            other => other.map(|()| path),
        }
    }
}

fn unreadable(path: &Path, source: io::Error) -> ProgramError {
    ProgramError::Unreadable { path: path.to_owned(), source }
}

fn executable(path: &Path) -> Result<(), ProgramError> {
    let metadata = fs::metadata(path).map_err(|source| unreadable(path, source))?;
    if !metadata.is_file() {
        return Err(ProgramError::NotAFile { path: path.to_owned() });
    }
    accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS)
        .map_err(|_| ProgramError::NotExecutable { path: path.to_owned() })
}

fn guarded(path: &Path, metadata: &Metadata) -> Result<(), ProgramError> {
    let owner = metadata.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(ProgramError::ForeignOwner { path: path.to_owned(), owner });
    }
    if metadata.permissions().mode() & 0o022 != 0 {
        return Err(ProgramError::OthersMayWrite { path: path.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use tempfile::TempDir;

    #[test]
    fn a_helper_with_a_version_is_every_safe_file_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = |version: &str, mode| {
            let bin = folder.path().join(version).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::set_permissions(&bin, Permissions::from_mode(0o755)).unwrap();
            let path = bin.join("pg_isready");
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let (safe, _loose, _plain) = (file("15", 0o755), file("16", 0o777), file("17", 0o644));
        let helper = format!("{}/*/bin/pg_isready", folder.path().display());
        assert_eq!(Programs::default().find_helper(&helper), [safe]);
        assert!(Programs::default().find_helper("/missing/*/bin/pg_isready").is_empty());
        assert!(Programs::default().find_helper("/bin/sh").is_empty());
    }

    fn script(mode: u32) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().join("az");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    fn pinned(path: &Path) -> Result<PathBuf, ProgramError> {
        Programs::new(BTreeMap::from([("az".to_owned(), path.to_owned())]))?.find("az")
    }

    #[test]
    fn a_program_that_only_the_path_has_is_named_and_not_run() {
        let seen =
            BTreeMap::from([("no-such-program".to_owned(), PathBuf::from("/home/ana/bin/no-such-program"))]);
        let error = Programs::default().noting(seen).find("no-such-program").unwrap_err();
        assert!(
            error.hint().contains("pin it: `[programs] no-such-program = \"/home/ana/bin/no-such-program\"`")
        );
    }

    #[test]
    fn a_bare_name_is_found_in_a_pinned_folder() {
        let path = Programs::default().find("sh").unwrap();
        assert!(path.is_absolute() && path.ends_with("sh"), "{path:?}");
    }

    #[test]
    fn a_missing_program_is_exit_127_and_says_where_it_was_sought() {
        let error = Programs::default().find("no-such-program").unwrap_err();
        assert_eq!(error.exit_code(), 127);
        assert!(error.hint().contains("/usr/local/sbin"), "{}", error.hint());
    }

    #[test]
    fn dots_and_the_empty_name_are_no_programs() {
        for name in ["", ".", ".."] {
            assert!(matches!(Programs::default().find(name), Err(ProgramError::Missing { .. })), "{name:?}");
        }
    }

    #[test]
    fn a_path_runs_only_when_it_was_approved() {
        let (_folder, path) = script(0o755);
        let word = path.to_str().unwrap();
        assert!(matches!(Programs::default().find(word), Err(ProgramError::PathGiven { .. })));
        assert_eq!(Programs::default().find_approved(word, Path::new("/")).unwrap(), path);
        assert_eq!(
            Programs::default().find_approved("./az", path.parent().unwrap()).unwrap(),
            path.parent().unwrap().join("./az")
        );
        assert!(matches!(
            Programs::default().find_approved("./no", path.parent().unwrap()),
            Err(ProgramError::Missing { .. })
        ));
    }

    #[test]
    fn a_pinned_path_wins_over_the_folders() {
        let (_folder, path) = script(0o755);
        assert_eq!(pinned(&path).unwrap(), path);
    }

    #[test]
    fn a_relative_path_is_refused() {
        assert!(matches!(pinned(Path::new("bin/az")), Err(ProgramError::NotAbsolute { .. })));
    }

    #[test]
    fn a_file_that_cannot_run_is_refused() {
        let (folder, path) = script(0o644);
        assert!(matches!(pinned(&path), Err(ProgramError::NotExecutable { .. })));
        assert!(matches!(pinned(folder.path()), Err(ProgramError::NotAFile { .. })));
    }

    #[test]
    fn a_file_or_folder_that_others_may_write_is_refused() {
        let (_folder, path) = script(0o775);
        assert!(matches!(pinned(&path), Err(ProgramError::OthersMayWrite { path: found }) if found == path));
        let (folder, path) = script(0o755);
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(
            matches!(pinned(&path), Err(ProgramError::OthersMayWrite { path: found }) if found == folder.path())
        );
    }

    #[test]
    fn a_link_is_as_safe_as_what_it_points_to() {
        let (_folder, target) = script(0o757);
        let (_other, path) = script(0o755);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(matches!(pinned(&path), Err(ProgramError::OthersMayWrite { .. })));
    }

    #[test]
    fn a_program_that_changed_after_the_start_is_refused() {
        let (_folder, path) = script(0o755);
        let programs = Programs::new(BTreeMap::from([("az".to_owned(), path.clone())])).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(programs.find("az"), Err(ProgramError::OthersMayWrite { .. })));
    }
}
