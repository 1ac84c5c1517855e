//! The lab on a port, for an `az` that knows nothing of labs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use ghost_base::private_dir;
use ghost_lab::control::{Lab, LabError, Running, Settings};
use ghost_tools::config::Environment;

/// A lab that listens, and what leads an `az` there. Whoever drops it takes it down.
pub(super) struct Served {
    /// The program.
    az: PathBuf,
    exports: Vec<(String, OsString)>,
    stop: oneshot::Sender<()>,
    tasks: JoinSet<Result<(), LabError>>,
}

impl Served {
    /// Brings it up; what is written lies below the folder.
    pub(super) async fn up(lab: &Arc<Lab>, az: &Path, folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join("lab");
        private_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
        let program = std::env::current_exe().context("finding this program")?;
        let settings = Settings { port: 0, record: folder.join("lab.json"), program };
        let running = Running::open(settings, Arc::clone(lab)).await.context("bringing the lab up")?;
        let exports = running.exports().into_iter().map(|(name, value)| (name.to_owned(), value.into()));
        // Whatever `az` keeps at home belongs to this lab.
        let home = std::iter::once(("HOME".to_owned(), folder.into_os_string()));
        let exports = exports.chain(home).collect();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut tasks = JoinSet::new();
        tasks.spawn(running.serve(async move { drop(stopped.await) }));
        Ok(Self { az: az.to_owned(), exports, stop, tasks })
    }

    /// Returns the program that asks it.
    pub(super) fn az(&self) -> &Path {
        &self.az
    }

    /// Returns the variables by which `az` finds it, and nothing else.
    pub(super) fn environment(&self) -> Environment {
        self.exports.iter().cloned().collect()
    }

    /// Takes it down.
    pub(super) async fn down(self) -> anyhow::Result<()> {
        let Self { stop, mut tasks, .. } = self;
        drop(stop);
        while let Some(done) = tasks.join_next().await {
            done.context("taking the lab down")?.context("taking the lab down")?;
        }
        Ok(())
    }
}
