//! The limits of a command: of each of its processes, and of their number.
//!
//! Their number is bounded through a control group of the command's own. The thread that starts the child enters the group first, so that the child is born in it. A group is removed with
//! everything in it, which also finds a process that left the process group.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open, pidfd_send_signal, prlimit};
use rustix::thread::gettid;

use crate::sandbox::scratch::{ScratchOwner, maker, unique_name};
use crate::{Limits, Profile};

/// How often a group is emptied before it is left to a later sweep.
const MAX_KILL_ROUNDS: u32 = 50;
/// How long killed processes get between two rounds.
const KILL_PAUSE: Duration = Duration::from_millis(2);

/// The two kinds of hierarchies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// Returns the file that lists the members and takes new ones.
    fn members(self) -> &'static str {
        match self {
            Self::One => "tasks",
            Self::Two => "cgroup.threads",
        }
    }
}

/// A control group for one command.
#[derive(Debug)]
pub(super) struct PidsGroup {
    folder: PathBuf,
    version: Version,
}

impl PidsGroup {
    /// Makes a group for at most `limit` processes beside the starting thread; `None` where the machine does not let us.
    pub(super) fn create(limit: u32) -> Option<Self> {
        let (parent, version) = own()?;
        if version == Version::Two && !is_ours_alone(&parent) {
            return None;
        }
        let folder = parent.join(unique_name());
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, version };
        group.prepare(&parent, limit).ok()?;
        Some(group)
    }

    fn prepare(&self, parent: &Path, limit: u32) -> io::Result<()> {
        if self.version == Version::Two {
            // Only a threaded group takes a single thread of a process.
            fs::write(self.folder.join("cgroup.type"), "threaded")?;
            fs::write(parent.join("cgroup.subtree_control"), "+pids")?;
        }
        fs::write(self.folder.join("pids.max"), limit.saturating_add(1).to_string())
    }

    /// Moves the calling thread into the group.
    pub(super) fn enter(&self) -> io::Result<()> {
        fs::write(self.folder.join(self.version.members()), gettid().to_string())
    }

    fn members(&self) -> Vec<Pid> {
        let text = fs::read_to_string(self.folder.join(self.version.members())).unwrap_or_default();
        text.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect()
    }

    fn kill(&self) {
        for member in self.members() {
            let own_thread = Path::new("/proc/self/task").join(member.to_string()).exists();
            let Some(process) = pidfd_open(member, PidfdFlags::empty()).ok().filter(|_| !own_thread) else {
                continue;
            };
            // The number may have passed to another process before it was opened; the list tells.
            if self.members().contains(&member) {
                let _ = pidfd_send_signal(&process, Signal::KILL);
            }
        }
    }
}

impl Drop for PidsGroup {
    fn drop(&mut self) {
        for _ in 0..MAX_KILL_ROUNDS {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            self.kill();
            std::thread::sleep(KILL_PAUSE);
        }
    }
}

/// Removes the groups of ended processes, with what still runs in them.
pub(super) fn sweep() {
    let Some((parent, version)) = own() else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(maker) == Some(ScratchOwner::Gone) {
            drop(PidsGroup { folder: entry.path(), version });
        }
    }
}

/// Finds the group that this process is in, where it can count processes.
fn own() -> Option<(PathBuf, Version)> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    find(&mounts, &groups, Version::One).map(|folder| (folder, Version::One)).or_else(|| {
        let folder = find(&mounts, &groups, Version::Two)?;
        let counts = fs::read_to_string(folder.join("cgroup.controllers")).ok()?;
        counts.split_ascii_whitespace().any(|name| name == "pids").then_some((folder, Version::Two))
    })
}

/// Reads the folder of this process's group from `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn find(mounts: &str, groups: &str, version: Version) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        let right = match version {
            Version::One => controllers.split(',').any(|name| name == "pids"),
            Version::Two => controllers.is_empty(),
        };
        fields.next().filter(|_| right)
    })?;
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, mount) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let (name, options) = (kind.next()?, kind.nth(1)?);
        let right = match version {
            Version::One => name == "cgroup" && options.split(',').any(|option| option == "pids"),
            Version::Two => name == "cgroup2",
        };
        let below = Path::new(group).strip_prefix(root).ok().filter(|_| right)?;
        Some(Path::new(mount).join(below))
    })
}

/// Tells whether a version 2 group may be made threaded: it is not the root of all, and nobody else divided it.
fn is_ours_alone(folder: &Path) -> bool {
    let foreign = |entry: fs::DirEntry| {
        entry.path().is_dir() && !entry.file_name().to_string_lossy().starts_with("ghost-run")
    };
    folder.join("cgroup.type").exists()
        && fs::read_dir(folder).is_ok_and(|entries| !entries.flatten().any(foreign))
}

/// Limits a process, and with it its children; returns in words what is in force, and what the system refused.
///
/// The limits are set from outside right after the start, since nothing of ours runs between fork and exec. Until then, some
/// tens of microseconds and longer on a busy machine, the program works with this process's own limits. It cannot raise
/// them afterwards: the hard limits are the same, and root has given up the capability to raise those.
pub(super) fn limit(child: Pid, limits: &Limits, profile: &Profile) -> Vec<String> {
    let memory = if profile.cloud { limits.cloud_memory } else { limits.memory };
    let file = if profile.captures { limits.capture_size } else { limits.file_size };
    // Whoever reaches the end of the time by computing is stopped even where the watch is late.
    let seconds = limits.timeout.as_secs().saturating_add(1);
    [
        (Resource::As, "memory", memory, " bytes"),
        (Resource::Fsize, "file size", file, " bytes"),
        (Resource::Cpu, "processor time", seconds, " s"),
        (Resource::Core, "core dump", 0, " bytes"),
        (Resource::Nofile, "open files", limits.open_files, ""),
    ]
    .into_iter()
    .map(|(resource, name, value, unit)| {
        let bound = Rlimit { current: Some(value), maximum: Some(value) };
        match prlimit(Some(child), resource, bound) {
            Ok(_) => format!("{name} {value}{unit}"),
            Err(error) => format!("{name} not limited: {error}"),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
25 1 0:22 / /sys rw shared:1 - sysfs sysfs rw
36 25 0:31 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids
37 25 0:32 /ctr /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn the_first_version_is_found_by_its_controller() {
        let groups = "9:name=systemd:/x\n8:pids:/jobs/ghost\n0::/\n";
        assert_eq!(find(MOUNTS, groups, Version::One), Some(PathBuf::from("/sys/fs/cgroup/pids/jobs/ghost")));
    }

    #[test]
    fn the_second_version_is_found_below_what_is_mounted() {
        assert_eq!(
            find(MOUNTS, "0::/ctr/ghost\n", Version::Two),
            Some(PathBuf::from("/sys/fs/cgroup/unified/ghost"))
        );
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_is_not_found() {
        assert_eq!(find(MOUNTS, "0::/elsewhere\n", Version::Two), None);
        assert_eq!(find(MOUNTS, "0::/ctr/ghost\n", Version::One), None);
    }
}
