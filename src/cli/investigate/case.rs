//! `--case`: what is investigated is a case that comes with the program, in a cloud of this process.
//!
//! Goes in: the name of a case. Comes out: a setup in which every command is answered by that cloud, and what the person in the case says.
//! Never: a command that runs on this machine; a session that goes on in another cloud than its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use crate::cli::demo::ShortSleep;
use crate::cli::lab::{GROUPS, clusters, reach};
use ghost_base::private_dir;
use ghost_investigate::event::SessionCluster;
use ghost_investigate::state::State;
use ghost_lab::case::{Case, embedded, inject};
use ghost_lab::runner::{InProcess, memory_lab_now};
use ghost_shell::Scope;
use ghost_tools::config::{Config, Environment};
use ghost_tools::name::random;
use ghost_tools::print::{Hinted, note};
use ghost_tools::setup::Setup;

/// From which all that machines draw follows.
const SEED: u64 = 1;

/// A session belongs to its owner however far the lab's clock jumps.
pub(super) const LEASE: Duration = Duration::from_secs(7 * 24 * 3600);

/// What the place of such a session begins with.
const PLACE: &str = "lab case ";

/// A case that is up.
pub(super) struct CaseStage {
    /// Everything is the lab's; the store and the data folder are the user's.
    pub(super) setup: Arc<Setup>,
    /// What the person in the case says.
    pub(super) prompt: String,
    /// Where it is, as the record has it.
    pub(super) place: String,
    /// The clusters whose inside it may read.
    pub(super) clusters: Vec<SessionCluster>,
    _folder: Folder,
}

/// What the lab itself writes, gone with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!("removal of {} failed: {error}", self.0.display());
        }
    }
}

impl CaseStage {
    /// Puts the case up.
    pub(super) async fn up(name: &str, own: &Setup) -> anyhow::Result<Self> {
        let text = embedded(name).context("there is no such case")?;
        let case = Case::read(text)?;
        let prompt =
            case.phases.first().map(|phase| phase.prompt.clone()).context("the case says nothing")?;
        let lab = memory_lab_now(SEED).context("putting up a cloud")?;
        let folder = Folder(own.data()?.join("lab-cases").join(random::<5>()?));
        private_dir(&folder.0).with_context(|| format!("making {}", folder.0.display()))?;
        inject(&lab, &folder.0, text, None, 1).await.with_context(|| format!("making the case {name}"))?;
        let mut config = Config::default();
        // Whoever thinks and where it is kept is as the user has it; where it works is not.
        (config.model, config.limits) = (own.config.model.clone(), own.config.limits.clone());
        reach(&mut config, &lab, &folder.0);
        let clock = lab.clock().clone();
        let runner = Arc::new(InProcess::new(lab));
        let mut setup = Setup::of(config, own.data()?.to_owned(), Environment::from([]), runner);
        setup.clock = Some(Arc::new(clock.clone()));
        setup.sleep = Some(Arc::new(ShortSleep::by(clock)));
        note(&format!("Case {name}: a cloud in this process answers; nothing runs on this machine."));
        let (place, clusters) = (format!("{PLACE}{name}"), clusters(&case));
        Ok(Self { setup: Arc::new(setup), prompt, place, clusters, _folder: folder })
    }
}

/// Returns which part of the cloud such a session may look at.
pub(super) fn scope() -> Scope {
    Scope { resource_groups: GROUPS.map(str::to_owned).to_vec(), ..Scope::default() }
}

/// Refuses to go on in another cloud than that of the session; its report can still be had.
pub(super) fn refuse_elsewhere(state: &State) -> anyhow::Result<()> {
    if state.opened.origin.place.starts_with(PLACE) && state.concluded.is_none() {
        let error =
            anyhow::anyhow!("the session {} worked in the cloud of a case, which is gone", state.session);
        return Err(Hinted::new(error, "begin again with `ghost investigate --case`").into());
    }
    Ok(())
}
