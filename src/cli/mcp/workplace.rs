//! What all calls of one client share: configuration, session, and the folders whose files may be read.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::hook::Project;
use crate::cli::name::{new_session, random};
use crate::cli::print::Hinted;
use crate::cli::setup::Setup;
use ghost_base::SessionId;
use ghost_investigate::Fence;

/// Where identities keep their keys and tokens, below the data folder.
const SIGN_INS: &str = "identity";

/// What all calls share.
pub(super) struct Workplace {
    /// The configuration, and where things lie.
    pub(super) setup: Setup,
    /// Names the audit file of what runs.
    pub(super) session: SessionId,
    /// Goes around what nobody vouches for.
    pub(super) fence: Fence,
    /// The folder that the client started this program in.
    project: Project,
    /// Real paths of the other folders that may be read.
    shared: Vec<PathBuf>,
}

impl Workplace {
    /// Opens it. A folder that is named has to be there.
    pub(super) fn open(setup: Setup, folders: &[PathBuf]) -> anyhow::Result<Self> {
        let folder = std::env::current_dir().context("finding the working folder")?;
        let project = Project::new(&folder, None, setup.environment.path("HOME").as_deref());
        let mut shared = Vec::new();
        for folder in folders {
            let real = folder.canonicalize().with_context(|| format!("looking at {}", folder.display()))?;
            shared.push(real);
        }
        // These may come to be later, and are looked up by their real names then.
        let own = setup.data().ok().into_iter().chain([setup.config.capture.folder.as_path()]);
        shared.extend(own.map(Path::to_owned));
        Ok(Self { session: new_session("mcp")?, fence: Fence::new(&random::<6>()?), setup, project, shared })
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
