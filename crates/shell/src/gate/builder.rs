//! Putting a shell together.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::judge::Judge;
use crate::audit::{self, Anchor, Log, NoAnchor};
use crate::{
    Approver, ClipLimits, DenyAll, FilledScript, Identities, Known, Limits, Mask, Policy, PolicyError,
    ProcessBound, Processes, Programs, Ruling, Runner, Sandbox, Scope, Setting, Shell, Support, sweep,
};
use ghost_base::{Clock, SessionId, SystemClock, private_dir};

/// Why a shell could not be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The policy is broken.
    #[error("the policy cannot be used")]
    Policy(#[from] PolicyError),
    /// A folder could not be made.
    #[error("making the folder {folder}")]
    Folder {
        /// Which folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The audit file could not be opened, or was tampered with.
    #[error("opening the audit")]
    Audit(#[from] audit::Error),
}

/// Collects what a shell needs. Only the session and the data folder have no default.
pub struct Builder {
    pub(super) session: SessionId,
    pub(super) data: PathBuf,
    audit: Option<PathBuf>,
    audit_end: bool,
    policy: Option<Arc<Policy>>,
    scope: Option<Scope>,
    known: Known,
    approver: Arc<dyn Approver>,
    clock: Arc<dyn Clock>,
    anchor: Arc<dyn Anchor>,
    runner: Arc<dyn Runner>,
    mask: Option<Mask>,
    identities: Option<Arc<Identities>>,
    expiry: Duration,
    limits: Limits,
    clip: ClipLimits,
    environment: BTreeMap<String, OsString>,
    programs: Programs,
    captures: PathBuf,
    cwd: PathBuf,
    bound: ProcessBound,
    sandbox: Sandbox,
    support: Option<Support>,
}

impl Builder {
    /// Starts with the defaults: the embedded policy, an approver that denies everything, the machine's clock.
    pub(super) fn new(session: SessionId, data: &Path) -> Self {
        Self {
            session,
            data: data.to_owned(),
            audit: None,
            audit_end: false,
            policy: None,
            scope: None,
            known: Known::default(),
            approver: Arc::new(DenyAll),
            clock: Arc::new(SystemClock),
            anchor: Arc::new(NoAnchor),
            runner: Arc::new(Processes),
            mask: None,
            identities: None,
            expiry: Duration::from_secs(15 * 60),
            limits: Limits::default(),
            clip: ClipLimits::MODEL,
            environment: BTreeMap::new(),
            programs: Programs::default(),
            captures: PathBuf::from("/tmp/captures"),
            cwd: PathBuf::from("."),
            bound: ProcessBound::default(),
            sandbox: Sandbox::default(),
            support: None,
        }
    }

    /// Sets who is asked.
    #[must_use]
    pub fn approver(self, approver: Arc<dyn Approver>) -> Self {
        Self { approver, ..self }
    }

    /// Sets the policy, for a site that has its own file.
    #[must_use]
    pub fn policy(self, policy: Arc<Policy>) -> Self {
        Self { policy: Some(policy), ..self }
    }

    /// Sets which part of the cloud may be looked at; everything unless said.
    #[must_use]
    pub fn scope(self, scope: Option<Scope>) -> Self {
        Self { scope, ..self }
    }

    /// Sets to which places commands may send something unasked; this machine and private networks unless said.
    #[must_use]
    pub fn known(self, known: Known) -> Self {
        Self { known, ..self }
    }

    /// Sets the folder of the audit files; `DATA/audit` unless said.
    #[must_use]
    pub fn audit_dir(self, folder: PathBuf) -> Self {
        Self { audit: Some(folder), ..self }
    }

    /// Checks only the last records of a long audit file when it is opened: for a process that judges one command and ends.
    #[must_use]
    pub fn audit_end(self) -> Self {
        Self { audit_end: true, ..self }
    }

    /// Sets the clock.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Sets where the head of the audit chain is noted beside the chain itself.
    #[must_use]
    pub fn anchor(self, anchor: Arc<dyn Anchor>) -> Self {
        Self { anchor, ..self }
    }

    /// Sets who carries out what is permitted; this machine unless said.
    #[must_use]
    pub fn runner(self, runner: Arc<dyn Runner>) -> Self {
        Self { runner, ..self }
    }

    /// Hides addresses from whoever proposes commands; what they propose is unmasked before it is judged.
    #[must_use]
    pub fn mask(self, mask: Mask) -> Self {
        Self { mask: Some(mask), ..self }
    }

    /// Sets as whom commands run; as whoever the environment is signed in as unless said.
    #[must_use]
    pub fn identities(self, identities: Arc<Identities>) -> Self {
        Self { identities: Some(identities), ..self }
    }

    /// Sets how long an approver may take; 15 minutes unless said.
    #[must_use]
    pub fn expiry(self, expiry: Duration) -> Self {
        Self { expiry, ..self }
    }

    /// Sets the bounds of a run.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets how much of an output is shown; 200 lines and 4,000 tokens unless said.
    #[must_use]
    pub fn clip(self, clip: ClipLimits) -> Self {
        Self { clip, ..self }
    }

    /// Sets the variables from which the ones that a command may see are picked.
    #[must_use]
    pub fn environment(self, environment: BTreeMap<String, OsString>) -> Self {
        Self { environment, ..self }
    }

    /// Sets programs that lie outside the folders for programs.
    #[must_use]
    pub fn programs(self, programs: Programs) -> Self {
        Self { programs, ..self }
    }

    /// Sets the captures folder; `/tmp/captures` unless said.
    #[must_use]
    pub fn captures(self, folder: PathBuf) -> Self {
        Self { captures: folder, ..self }
    }

    /// Sets the working folder of commands.
    #[must_use]
    pub fn cwd(self, folder: PathBuf) -> Self {
        Self { cwd: folder, ..self }
    }

    /// Sets what becomes of SAFE commands where nothing can confine them; they ask unless said.
    #[must_use]
    pub fn sandbox(self, sandbox: Sandbox) -> Self {
        Self { sandbox, ..self }
    }

    /// Sets what the machine offers to confine a command with; it is tried out unless said.
    #[must_use]
    pub fn support(self, support: Support) -> Self {
        Self { support: Some(support), ..self }
    }

    /// Judges a command as the shell would that this makes: without a folder, a record or anything that runs.
    ///
    /// # Errors
    /// Fails where the policy is broken.
    pub fn judge(&self, command: &str) -> Result<Ruling, PolicyError> {
        self.judging(|judge| judge.command(command))
    }

    /// Judges a declared script behind the words that carry it to a guest.
    ///
    /// # Errors
    /// Fails where the policy is broken.
    pub fn judge_script(&self, carrier: &[String], script: &FilledScript) -> Result<Ruling, PolicyError> {
        self.judging(|judge| judge.script(carrier, script))
    }

    /// Reads the runs with a named consent that the session's audit file holds. It makes no file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn runs(&self) -> io::Result<Vec<audit::Run>> {
        let folder = self.audit.clone().unwrap_or_else(|| self.data.join("audit"));
        audit::runs(&folder.join(format!("{}.jsonl", self.session)))
    }

    fn judging(&self, ask: impl FnOnce(&Judge<'_>) -> Ruling) -> Result<Ruling, PolicyError> {
        let policy = match &self.policy {
            Some(policy) => policy.as_ref(),
            None => Policy::builtin()?,
        };
        let (scope, known) = (self.scope.as_ref(), &self.known);
        let is_here = self.runner.starts_processes();
        Ok(ask(&Judge {
            policy,
            scope,
            known,
            setting: &self.setting(),
            unconfined: self.is_unconfined(),
            is_here,
        }))
    }

    fn is_unconfined(&self) -> bool {
        self.sandbox.is_missing(Some(self.runner.as_ref()), self.support.as_ref())
    }

    fn setting(&self) -> Setting {
        Setting {
            limits: self.limits.clone(),
            scratch: self.data.join("scratch"),
            captures: self.captures.clone(),
            cwd: self.cwd.clone(),
            environment: self.environment.clone(),
            programs: self.programs.clone(),
            bound: self.bound,
        }
    }

    /// Makes the folders, opens the audit, clears away what dead processes left behind.
    ///
    /// # Errors
    /// Fails where a folder cannot be made, the policy is broken, or the audit file was tampered with.
    pub fn build(self) -> Result<Shell, BuildError> {
        let (unconfined, setting) = (self.is_unconfined(), self.setting());
        let policy = match self.policy {
            Some(policy) => policy,
            None => Arc::new(Policy::builtin()?.clone()),
        };
        let audit = self.audit.unwrap_or_else(|| self.data.join("audit"));
        let (scratch, evidence) = (self.data.join("scratch"), self.data.join("evidence"));
        for folder in [&self.data, &audit, &scratch, &evidence] {
            private_dir(folder).map_err(|source| BuildError::Folder { folder: folder.clone(), source })?;
        }
        // What cannot be cleared away now is cleared away another time.
        drop(sweep(&scratch));
        let open = if self.audit_end { Log::open_end } else { Log::open };
        let log = open(&audit, self.session.clone())?;
        Ok(Shell {
            session: self.session,
            policy,
            scope: self.scope,
            known: self.known,
            approver: self.approver,
            clock: self.clock,
            anchor: self.anchor,
            runner: self.runner,
            mask: self.mask,
            identities: self.identities,
            expiry: self.expiry,
            evidence,
            clip: self.clip,
            log: Arc::new(Mutex::new(log)),
            setting,
            unconfined,
        })
    }
}
