//! What all calls of one client share: configuration, session, and the folders whose files may be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use super::approval::{Approvals, Asker, Pending};
use super::investigation;
use super::job::Jobs;
use crate::cli::investigate::InvestigatorKind;
use ghost_base::SessionId;
use ghost_investigate::Fence;
use ghost_shell::{Approver, CancelSignal};
use ghost_tools::hook::Project;
use ghost_tools::name::{new_session, random};
use ghost_tools::print::Hinted;
use ghost_tools::setup::Setup;

/// After so long a call answers with what it knows unless the client wants it otherwise: some clients give up after a minute.
pub(super) const WAIT: Duration = Duration::from_secs(50);

/// The name of a client on this machine.
const LOCAL: &str = "mcp";

/// Where identities keep their keys and tokens, below the data folder.
const SIGN_INS: &str = "identity";

/// What investigates.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Brain {
    pub(super) kind: Option<InvestigatorKind>,
    /// The turns of the scripted one.
    pub(super) script: Option<PathBuf>,
}

/// What all calls share.
pub(super) struct Workplace {
    /// The configuration, and where things lie.
    pub(super) setup: Arc<Setup>,
    /// Names the audit file of what runs.
    pub(super) session: SessionId,
    /// Goes around what nobody vouches for.
    pub(super) fence: Fence,
    /// Names the client in what it begins.
    pub(super) client: String,
    /// Whether the client runs on this machine.
    pub(super) is_local: bool,
    /// What investigates.
    pub(super) brain: Brain,
    /// Investigations that go on here.
    pub(super) investigations: Jobs<investigation::Ended>,
    /// Commands that wait for a human, or ran since.
    pub(super) commands: Jobs<Result<Arc<Value>, String>>,
    /// Which request each job waits for.
    pub(super) pending: Pending,
    /// Captures that go on here.
    pub(super) captures: Jobs<Result<(), String>>,
    /// Who is asked, and what waits for them.
    pub(super) approvals: Approvals,
    /// Where it works.
    folder: PathBuf,
    /// Where relative names begin, and what of it is shared.
    project: Project,
    /// Real paths of the other folders that may be read.
    shared: Vec<PathBuf>,
}

impl Workplace {
    /// Opens that of a client on this machine, which started this program in a folder. A folder that is named has to be there.
    pub(super) fn local(
        setup: Setup,
        folders: &[PathBuf],
        brain: Brain,
        approvals: Approvals,
    ) -> anyhow::Result<Self> {
        let folder = std::env::current_dir().context("finding the working folder")?;
        let project = Project::new(&folder, None, setup.environment.path("HOME").as_deref());
        Self::open(Arc::new(setup), LOCAL.to_owned(), (folder, project), folders, brain, approvals)
    }

    /// Opens that of a client that comes over HTTP: it works in its own captures folder.
    pub(super) fn remote(
        setup: Arc<Setup>,
        client: &str,
        folders: &[PathBuf],
        brain: Brain,
        approvals: Approvals,
    ) -> anyhow::Result<Self> {
        let folder = setup.config.capture.folder.clone();
        let project = Project::new(&folder, None, None);
        Self::open(setup, format!("mcp:{client}"), (folder, project), folders, brain, approvals)
    }

    fn open(
        setup: Arc<Setup>,
        client: String,
        (folder, project): (PathBuf, Project),
        folders: &[PathBuf],
        brain: Brain,
        approvals: Approvals,
    ) -> anyhow::Result<Self> {
        let mut shared = Vec::new();
        for folder in folders {
            let real = folder.canonicalize().with_context(|| format!("looking at {}", folder.display()))?;
            shared.push(real);
        }
        // These may come to be later, and are looked up by their real names then.
        let own = setup.data().ok().into_iter().chain([setup.config.capture.folder.as_path()]);
        shared.extend(own.map(Path::to_owned));
        Ok(Self {
            session: new_session("mcp")?,
            fence: Fence::new(&random::<6>()?),
            setup,
            is_local: client == LOCAL,
            client,
            brain,
            investigations: Jobs::default(),
            commands: Jobs::default(),
            pending: Pending::default(),
            captures: Jobs::default(),
            approvals,
            folder,
            project,
            shared,
        })
    }

    /// Lets everything that goes on here pause, and waits a while until it did.
    pub(super) async fn leave(&self) {
        tokio::join!(self.investigations.leave(), self.captures.leave(), self.commands.leave());
    }

    /// Returns who approves what one call needs. `tell` hears that a human is asked.
    pub(super) fn approver(
        &self,
        job: &str,
        leave: CancelSignal,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> anyhow::Result<Arc<dyn Approver>> {
        Ok(self.approvals.approver(Asker {
            agent: self.client.clone(),
            folder: self.folder.clone(),
            data: self.setup.data()?.to_owned(),
            conversation: self.session.to_string(),
            patience: Duration::from_secs(self.setup.config.shell.approval_minutes * 60),
            job: job.to_owned(),
            pending: self.pending.clone(),
            tell: Box::new(tell),
            leave,
        }))
    }

    /// Says that nobody waits any more for the answer that a job asked for, if it did.
    pub(super) async fn stop_waiting(&self, job: &str) {
        let Some(id) = self.pending.known(job) else { return };
        // Where it cannot be said, the question runs out by itself.
        if let Ok(client) = self.approvals.client().await {
            client.leave(&id).await;
        }
    }

    /// Returns the real path of something that may be read.
    ///
    /// # Errors
    /// Fails where it lies outside of the shared folders, links followed, or is not there.
    pub(super) fn readable(&self, name: &str) -> anyhow::Result<PathBuf> {
        // Standard input is the protocol's.
        let place = self.project.locate(if name == "-" { "" } else { name });
        let real = place.path.canonicalize();
        let real = real.with_context(|| format!("looking at {name:?}")).map_err(|error| {
            Hinted::new(error, "name a file by its path, as seen from the working folder of `ghost mcp`")
        })?;
        let shared = || {
            let folders = self.shared.iter().filter_map(|folder| folder.canonicalize().ok());
            folders.into_iter().any(|folder| real.starts_with(folder))
        };
        if self.is_sign_in(&real) {
            let error = anyhow::anyhow!("{name:?} belongs to a sign-in of Ghost's");
            return Err(Hinted::new(error, "no tool reads these").into());
        }
        if place.inside.is_some() || shared() {
            return Ok(real);
        }
        let error = anyhow::anyhow!("{name:?} lies outside of the folders that `ghost mcp` reads from");
        Err(Hinted::new(error, "whoever runs the client shares more with `ghost mcp --folder DIR`").into())
    }

    /// Tells whether a real path lies where Ghost's identities keep their keys and tokens.
    fn is_sign_in(&self, real: &Path) -> bool {
        let kept = self.setup.data().ok().and_then(|data| data.join(SIGN_INS).canonicalize().ok());
        kept.is_some_and(|kept| real.starts_with(&kept))
    }
}
