//! Chooses the layers for one command and starts it inside them.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::{fs, io};

use ghost_base::private_dir;
use rustix::process::{Pid, geteuid};

use crate::resolve::FOLDERS;
use crate::sandbox::confinement::Confinement;
use crate::sandbox::files::FileRules;
use crate::sandbox::limits::PidsGroup;
use crate::sandbox::syscalls::CallRules;
use crate::sandbox::writes::Writable;
use crate::sandbox::{files, limits, loader, privileges, scratch, syscalls};
use crate::{ExecError, Limits, ProcessBound, Profile, Setting, Socket};

/// The layers for one command.
#[derive(Debug)]
pub(crate) struct SandboxLayers {
    layers: Layers,
    profile: Profile,
    limits: Limits,
    bound: ProcessBound,
}

#[derive(Debug)]
enum Layers {
    /// None at all: a human approved.
    Approved,
    /// Limits alone, for a `ping` whose file carries the one privilege that it needs.
    Ping,
    /// Everything; without files for a command that Landlock would keep from its work.
    Full { files: Option<FileRules>, calls: CallRules },
}

/// A child inside its layers.
#[derive(Debug)]
pub(crate) struct SandboxedChild {
    pub(crate) child: Child,
    pub(crate) confinement: Confinement,
    pub(crate) remains: RemainingProcesses,
}

/// Whatever the command may have left running: killed when this is dropped.
#[derive(Debug)]
pub(crate) struct RemainingProcesses {
    _group: Option<PidsGroup>,
}

impl SandboxLayers {
    /// Returns what a command gets that a human approved: nothing but a clean environment and an end.
    pub(crate) fn approved(setting: &Setting) -> Self {
        Self {
            layers: Layers::Approved,
            profile: Profile::default(),
            limits: setting.limits.clone(),
            bound: ProcessBound::Off,
        }
    }

    /// Chooses the layers for a SAFE command.
    ///
    /// # Errors
    /// Fails where a folder that it may write to cannot be made.
    pub(crate) fn safe(
        profile: &Profile,
        setting: &Setting,
        program: &Path,
        scratch: &Path,
    ) -> io::Result<Self> {
        let names = || profile.programs.iter().chain(profile.helpers.iter());
        let pings = program.file_name().is_some_and(|name| name == "ping")
            || names().any(|name| Path::new(name).file_name().is_some_and(|name| name == "ping"));
        let layers = if pings && !profile.script && privileges::ping_needs_privileges() {
            Layers::Ping
        } else {
            let found = names().flat_map(|name| setting.programs.find_helper(name));
            let programs: BTreeSet<PathBuf> = std::iter::once(program.to_owned()).chain(found).collect();
            // Nobody but root sees into the processes of others anyway.
            let unwatched = profile.namespace || (profile.processes && geteuid().is_root());
            Layers::Full {
                files: (!unwatched).then(|| file_rules(profile, setting, &programs, scratch)).transpose()?,
                calls: CallRules {
                    sockets: profile.sockets.to_vec(),
                    namespace: profile.namespace,
                    metadata: profile.cloud,
                    log: profile.log,
                    no_write: unwatched.then_some(Writable::Nothing),
                },
            }
        };
        Ok(Self { layers, profile: profile.clone(), limits: setting.limits.clone(), bound: setting.bound })
    }

    /// Starts a child inside the layers: they are put around a thread of its own, which does nothing else and ends.
    ///
    /// # Errors
    /// Fails where the start fails, or where a layer does that the kernel offers; then nothing was started.
    pub(crate) fn start(
        &self,
        program: &Path,
        start: impl FnOnce() -> io::Result<Child> + Send,
    ) -> Result<SandboxedChild, ExecError> {
        let failed = |source| ExecError::Start { program: program.display().to_string(), source };
        if matches!(self.layers, Layers::Approved) {
            let child = start().map_err(failed)?;
            let confinement = Confinement::none("approved");
            return Ok(SandboxedChild { child, confinement, remains: RemainingProcesses { _group: None } });
        }
        let group = match self.bound {
            ProcessBound::Cgroup => PidsGroup::create(self.limits.processes),
            ProcessBound::Off => None,
        };
        let started = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .name("ghost-sandbox".to_owned())
                .spawn_scoped(scope, || {
                    let confinement =
                        self.confine(group.as_ref()).map_err(|source| ExecError::Confine { source })?;
                    let child = start().map_err(failed)?;
                    Ok(SandboxedChild { child, confinement, remains: RemainingProcesses { _group: None } })
                })
                .map_err(|source| ExecError::Resources { source })?;
            thread.join().unwrap_or(Err(ExecError::Lost))
        });
        // From this thread: the other one may no longer limit any process but itself.
        started.map(|mut caged| {
            caged.confinement.limits =
                limits::limit(Pid::from_child(&caged.child), &self.limits, &self.profile);
            SandboxedChild { remains: RemainingProcesses { _group: group }, ..caged }
        })
    }

    /// Restricts the calling thread.
    fn confine(&self, group: Option<&PidsGroup>) -> Result<Confinement, Box<dyn Error + Send + Sync>> {
        // Before the files layer, which forbids writing to the group's list.
        let counted = group.is_some_and(|group| group.enter().is_ok());
        let mut confinement = match &self.layers {
            Layers::Approved => Confinement::none("approved"),
            Layers::Ping => Confinement::none("ping needs the privilege of its file"),
            Layers::Full { files, calls } => self.confine_fully(files.as_ref(), calls)?,
        };
        if counted {
            confinement.processes = format!("{} (cgroup)", self.limits.processes);
        }
        Ok(confinement)
    }

    fn confine_fully(
        &self,
        files: Option<&FileRules>,
        calls: &CallRules,
    ) -> Result<Confinement, Box<dyn Error + Send + Sync>> {
        let mut capabilities = privileges::drop_needless(&self.profile)?;
        let mut calls = calls.clone();
        if files.is_none()
            && let Some(left) = privileges::become_nobody(&self.profile)
        {
            capabilities = left;
            // Whoever mounts could make writable what is not.
            if !self.profile.namespace {
                calls.no_write = Some(Writable::Opened);
            }
        }
        let filters = syscalls::filters(&calls)?;
        let landlock = match files {
            Some(rules) if self.profile.processes => {
                format!("{}, hides other processes", files::restrict(rules)?)
            }
            Some(rules) => files::restrict(rules)?,
            None if self.profile.namespace => "not used: namespace".to_owned(),
            None => "not used: processes".to_owned(),
        };
        let seccomp = match (syscalls::restrict(&filters)?, calls.no_write) {
            ("on", Some(_)) => "on, no writes",
            (answer, _) => answer,
        };
        Ok(Confinement {
            landlock,
            capabilities,
            seccomp: seccomp.to_owned(),
            new_privileges: false,
            ..Confinement::none("")
        })
    }
}

fn file_rules(
    profile: &Profile,
    setting: &Setting,
    programs: &BTreeSet<PathBuf>,
    scratch: &Path,
) -> io::Result<FileRules> {
    let mut writable = vec![scratch.to_owned()];
    if profile.captures {
        scratch::own_folder(&setting.captures)?;
        writable.push(setting.captures.clone());
    }
    if profile.cloud {
        writable.extend(cloud_folder(setting));
    }
    for folder in &writable {
        private_dir(folder)?;
    }
    let closed = || programs.iter().flat_map(|path| loader::closure(path, &setting.programs));
    let present = || closed().filter(|path| path.exists()).collect::<BTreeSet<_>>();
    Ok(FileRules {
        writable,
        executable: (!profile.cloud).then(|| present().into_iter().collect()),
        readable: beside_programs(),
        tcp: profile.sockets.contains(&Socket::Stream),
    })
}

/// Finds where `az` keeps its configuration and sign-in.
fn cloud_folder(setting: &Setting) -> Option<PathBuf> {
    let known = |name| setting.environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    known("AZURE_CONFIG_DIR")
        .or_else(|| Some(known("HOME")?.join(".azure")))
        .filter(|path| path.is_absolute())
}

/// Folders that hold folders for programs beside others.
const DIVIDED: [&str; 3] = ["/", "/usr", "/usr/local"];

/// Lists what lies beside the folders for programs: what a command may read.
///
/// A loader has to be executable, because the kernel executes it on behalf of a program; but it can be started by itself, with any
/// program as its argument, and then it merely reads that one. So what may not be executed may not be read either.
fn beside_programs() -> Vec<PathBuf> {
    let entries = DIVIDED.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    // What a link leads to lies in another one of these folders.
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let hidden = |path: &Path| DIVIDED.iter().chain(FOLDERS.iter()).any(|folder| Path::new(folder) == path);
    real.map(|entry| entry.path()).filter(|path| !hidden(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_listed_but_the_folders_for_programs() {
        let found = beside_programs();
        let has = |path: &str| found.iter().any(|found| found == Path::new(path));
        for path in ["/etc", "/proc", "/usr/lib", "/usr/share"] {
            assert!(has(path), "{path}: {found:?}");
        }
        for path in ["/", "/usr", "/usr/local", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"] {
            assert!(!has(path), "{path}: {found:?}");
        }
    }
}
