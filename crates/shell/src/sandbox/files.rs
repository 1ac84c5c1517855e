//! The Landlock layer: where a command may write, what it may execute, whether it may use TCP.
//!
//! Reading is restricted where execution is, and only in the folders for programs: see `readable`. Landlock hides other processes too: a command cannot look into `/proc/PID/fd` or
//! `/proc/PID/environ` of a process outside its own sandbox, this one included.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

/// The newest interface whose rights were vetted; an older kernel grants less, and the account says so.
const VETTED: ABI = ABI::V6;

/// What a command may do to files, and whether it may use TCP.
#[derive(Debug, Clone, Default)]
pub(super) struct FileRules {
    /// Folders beneath which it may change anything.
    pub(super) writable: Vec<PathBuf>,
    /// Files that it may execute; `None` for anything.
    pub(super) executable: Option<Vec<PathBuf>>,
    /// What it may read beside what it may execute, where that is limited.
    pub(super) readable: Vec<PathBuf>,
    /// Whether it may listen and connect.
    pub(super) tcp: bool,
}

/// Why the rules could not be put in force on a kernel that knows them.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    #[error("cannot open a path for a rule")]
    Path(#[from] landlock::PathFdError),
    #[error("the kernel refused the rules")]
    Rules(#[from] landlock::RulesetError),
}

/// Restricts the calling thread and what it starts from now on; returns what is in force.
pub(super) fn restrict(rules: &FileRules) -> Result<String, FilesError> {
    let mut handled = AccessFs::from_write(VETTED);
    if rules.executable.is_some() {
        handled |= AccessFs::Execute | AccessFs::ReadFile;
    }
    let mut ruleset = Ruleset::default().handle_access(handled)?.scope(Scope::from_all(VETTED))?;
    if !rules.tcp {
        ruleset = ruleset.handle_access(AccessNet::from_all(VETTED))?;
    }
    let mut created = ruleset.create()?;
    // Neither device files nor `ioctl`s on devices: root could reach a disk through them.
    let beneath = make_bitflags!(AccessFs::{
        WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer | Truncate
    });
    for folder in &rules.writable {
        created = permit(created, PathFd::new(folder)?, beneath)?;
    }
    created = permit(created, PathFd::new("/dev/null")?, AccessFs::WriteFile.into())?;
    for file in rules.executable.iter().flatten() {
        created = permit(created, PathFd::new(file)?, AccessFs::Execute | AccessFs::ReadFile)?;
    }
    if rules.executable.is_some() {
        // What has gone meanwhile needs no rule.
        for place in rules.readable.iter().filter_map(|path| PathFd::new(path).ok()) {
            created = permit(created, place, AccessFs::ReadFile.into())?;
        }
    }
    Ok(account(&created.restrict_self()?))
}

fn permit(
    created: RulesetCreated,
    place: PathFd,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, FilesError> {
    Ok(created.add_rule(PathBeneath::new(place, access))?)
}

/// Returns the kernel's interface, tried out on a thread that does nothing else.
pub(super) fn abi() -> Option<i32> {
    let tried = std::thread::spawn(|| {
        let ruleset = Ruleset::default().scope(Scope::AbstractUnixSocket).ok()?;
        let created = ruleset.handle_access(AccessFs::from_write(VETTED)).ok()?.create().ok()?;
        number(&created.restrict_self().ok()?)
    });
    tried.join().ok().flatten()
}

fn account(status: &RestrictionStatus) -> String {
    let number = number(status).unwrap_or_default();
    match status.ruleset {
        RulesetStatus::FullyEnforced => format!("full ABI {number}"),
        RulesetStatus::PartiallyEnforced => format!("partial ABI {number}"),
        RulesetStatus::NotEnforced => "absent".to_owned(),
    }
}

fn number(status: &RestrictionStatus) -> Option<i32> {
    match status.landlock {
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            Some(kernel_abi.unwrap_or(effective_abi as i32))
        }
    }
}
