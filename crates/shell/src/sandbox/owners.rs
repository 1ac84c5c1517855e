//! A list of who holds which socket, made by the gate for `ss -p`.
//!
//! The kernel asks for one and the same right for a process's descriptors, which tell whose socket it is, and for its
//! environment. So the gate reads the descriptors itself and writes down the sockets alone, in the form of `/proc`, which
//! `ss` takes from where `PROC_ROOT` says. The command then needs no right over other processes and stays under Landlock.

use std::fs;
use std::io;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

/// The variable by which `ss` finds the list.
pub(crate) const VARIABLE: &str = "PROC_ROOT";

/// The folder of the list inside the command's own.
const FOLDER: &str = "proc";

/// More sockets than this are not listed: a machine that serves a hundred thousand connections holds them in few processes.
const MOST_SOCKETS: usize = 50_000;

/// What `ss` reads beside processes, which is open to everybody.
const SHARED: [&str; 3] = ["net", "sys", "slabinfo"];

/// Who owns nothing; see `privileges::become_nobody`.
const NOBODY: u32 = 65_534;

/// Where the list stands, and how much of it there is.
#[derive(Debug)]
pub(crate) struct SocketOwners {
    /// The folder that stands in for `/proc`.
    pub(crate) root: PathBuf,
    /// Whether sockets were left out.
    pub(crate) is_cut: bool,
}

/// Writes the list below a command's own folder; `for_nobody` where the command runs as a user who owns nothing.
///
/// What ends meanwhile, or belongs to somebody into whose processes this user may not see, is left out, as `ss` would.
///
/// # Errors
/// Fails where the folder cannot be written to.
pub(crate) fn list(scratch: &Path, for_nobody: bool) -> io::Result<SocketOwners> {
    let root = scratch.join(FOLDER);
    fs::create_dir(&root)?;
    for name in SHARED {
        symlink(Path::new("/proc").join(name), root.join(name))?;
    }
    let mut left = MOST_SOCKETS;
    for entry in fs::read_dir("/proc")?.flatten() {
        let name = entry.file_name();
        let is_process = name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        if is_process {
            process(&entry.path(), &root.join(name), &mut left)?;
        }
    }
    if for_nobody {
        chown(scratch, Some(NOBODY), None)?;
    }
    Ok(SocketOwners { root, is_cut: left == 0 })
}

/// Writes down one process: its name, its sockets, and for each of its threads the same sockets.
fn process(real: &Path, copy: &Path, left: &mut usize) -> io::Result<()> {
    let Ok(descriptors) = fs::read_dir(real.join("fd")) else { return Ok(()) };
    let sockets = descriptors.flatten().filter_map(|descriptor| {
        let target = fs::read_link(descriptor.path()).ok()?;
        target.to_str()?.starts_with("socket:[").then_some((descriptor.file_name(), target))
    });
    let sockets: Vec<_> = sockets.take(*left).collect();
    if sockets.is_empty() {
        return Ok(());
    }
    *left -= sockets.len();
    let descriptors = copy.join("fd");
    fs::create_dir_all(&descriptors)?;
    for (number, target) in sockets {
        symlink(target, descriptors.join(number))?;
    }
    // Newer versions read the name from /proc itself, older ones from here.
    for file in ["stat", "comm"] {
        if let Ok(text) = fs::read(real.join(file)) {
            fs::write(copy.join(file), text)?;
        }
    }
    for thread in fs::read_dir(real.join("task")).into_iter().flatten().flatten() {
        let folder = copy.join("task").join(thread.file_name());
        fs::create_dir_all(&folder)?;
        symlink("../../fd", folder.join("fd"))?;
        if let Ok(text) = fs::read(thread.path().join("comm")) {
            fs::write(folder.join("comm"), text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn the_list_holds_sockets_and_names_and_nothing_else_of_a_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let owners = list(folder.path(), false).unwrap();
        let own = owners.root.join(std::process::id().to_string());
        let number = listener.as_raw_fd().to_string();
        let target = fs::read_link(own.join("fd").join(&number)).unwrap();
        assert_eq!(target, fs::read_link(format!("/proc/self/fd/{number}")).unwrap());
        let mut names: Vec<_> = fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["comm", "fd", "stat", "task"]);
        let others =
            fs::read_dir(own.join("fd")).unwrap().map(|entry| fs::read_link(entry.unwrap().path()).unwrap());
        assert!(others.into_iter().all(|target| target.to_str().unwrap().starts_with("socket:[")));
        assert!(!owners.is_cut);
    }
}
