//! Where a file of a tool call lies: inside the project, or not.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The folder that an agent works in.
#[derive(Debug, Clone)]
pub struct Project {
    /// Where relative names begin.
    folder: PathBuf,
    /// The project's own folder by its real name; nothing where it is so wide that nothing would be outside.
    root: Option<PathBuf>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its real path, as far as it is there.
    pub path: PathBuf,
    /// Its path within the project, where it lies inside.
    pub inside: Option<PathBuf>,
}

impl Project {
    /// Takes the folder of a call, and that of the project where the client names one.
    ///
    /// The root of the file system, a home, or a folder above one is no project.
    pub fn new(folder: &Path, root: Option<&Path>, home: Option<&Path>) -> Self {
        let root = root.filter(|root| root.is_absolute()).unwrap_or(folder);
        let real = fs::canonicalize(root).ok().filter(|root| root.parent().is_some());
        let home = home.and_then(|home| fs::canonicalize(home).ok());
        let narrow = |root: &PathBuf| home.as_ref().is_none_or(|home| !home.starts_with(root));
        Self { folder: folder.to_owned(), root: real.filter(narrow) }
    }

    /// Returns the project's folder.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Finds out where a name leads, links included.
    pub fn locate(&self, name: &str) -> Place {
        // A client may read these otherwise than as names.
        let odd = name.is_empty() || name.starts_with('~') || name.contains('\0') || name.contains("://");
        let path = self.folder.join(name);
        let real = if odd { None } else { real(&path) };
        let inside = real.as_ref().and_then(|real| {
            let root = self.root.as_ref()?;
            real.strip_prefix(root).ok().map(Path::to_owned)
        });
        Place { path: real.unwrap_or(path), inside }
    }
}

/// Returns the real path of what is there or is yet to be made; nothing where that cannot be said.
fn real(path: &Path) -> Option<PathBuf> {
    let mut rest = Vec::new();
    let mut there = path;
    loop {
        match fs::canonicalize(there) {
            Ok(mut real) => {
                real.extend(rest.iter().rev());
                return Some(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link that leads nowhere yet leads somewhere once it is written to.
                if there.symlink_metadata().is_ok() {
                    return None;
                }
                let Component::Normal(name) = there.components().next_back()? else { return None };
                rest.push(name.to_owned());
                there = there.parent()?;
            }
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_inside_is_found_by_its_real_name() {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().join("project");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(top.path().join("secret"), "").unwrap();
        symlink(top.path(), root.join("out")).unwrap();
        symlink(top.path().join("not-yet"), root.join("dangling")).unwrap();
        let project = Project::new(&root, None, None);
        let inside = |name: &str| project.locate(name).inside.is_some();
        for name in ["src", "src/new/file.rs", ".", "a", "./src/../a", root.to_str().unwrap()] {
            assert!(inside(name), "{name}");
        }
        for name in [
            "..",
            "../x",
            "out/secret",
            "out/new",
            "dangling",
            "/etc/passwd",
            "~/x",
            "",
            "src/missing/../../../x",
            "file:///etc/passwd",
            "a\0b",
        ] {
            assert!(!inside(name), "{name}");
        }
    }

    #[test]
    fn a_home_and_the_root_are_no_projects() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("work")).unwrap();
        let root = |folder: &Path| Project::new(folder, None, Some(home.path())).root().is_some();
        assert!(!root(home.path()) && !root(home.path().parent().unwrap()) && !root(Path::new("/")));
        assert!(root(&home.path().join("work")));
        assert!(!root(Path::new("/nonexistent/folder")));
    }

    #[test]
    fn a_folder_below_the_project_does_not_make_the_project_smaller() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        let project = Project::new(&root.path().join("src"), Some(root.path()), None);
        assert_eq!(project.locate("../a").inside, Some("a".into()));
    }
}
