//! Where snapshots and certificates are kept.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::given::{reading, refused};
use crate::config::{Environment, PlaceError, data_dir};
use crate::global::Global;
use crate::input;
use crate::print::Hinted;
use ghost_base::{SessionId, private_dir, write_private_new};
use ghost_inspect::effective::Snapshot;

/// The program and its version.
pub(super) const TOOL: &str = concat!("ghost ", env!("CARGO_PKG_VERSION"));

/// Where snapshots and certificates are kept, and who works there.
pub(super) struct SnapshotFolder {
    folder: Option<PathBuf>,
    /// Who the machine says that it is.
    pub who: Option<String>,
    setup: anyhow::Result<crate::setup::Setup>,
}

impl SnapshotFolder {
    /// Finds the place; it is made when something is written.
    pub(super) fn find(global: &Global) -> Self {
        let environment = Environment::read();
        let folder = data_dir(global.data_dir.as_deref(), &environment).ok();
        let who =
            ["USER", "LOGNAME"].iter().find_map(|name| environment.text(name).filter(|who| !who.is_empty()));
        Self {
            folder: folder.map(|data| data.join("effective")),
            who: who.map(str::to_owned),
            setup: crate::setup::Setup::new(global),
        }
    }

    /// Returns what asking the cloud takes.
    pub(super) fn setup(&self) -> anyhow::Result<&crate::setup::Setup> {
        self.setup.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))
    }

    /// Returns the file of a snapshot.
    pub(super) fn file(&self, session: &SessionId) -> anyhow::Result<PathBuf> {
        Ok(self.folder()?.join(format!("{session}.json")))
    }

    /// Returns the file of a certificate.
    pub(super) fn certificate(&self, baseline: &SessionId, current: &SessionId) -> anyhow::Result<PathBuf> {
        Ok(self.folder()?.join(format!("{baseline}_vs_{current}.certificate.json")))
    }

    fn folder(&self) -> anyhow::Result<&Path> {
        Ok(self.folder.as_deref().ok_or_else(|| Hinted::new(PlaceError, "name a folder with --data-dir"))?)
    }

    /// Keeps a snapshot; what is there already stays.
    pub(super) fn keep(&self, session: &SessionId, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.file(session)?;
        let folder = self.folder()?;
        private_dir(folder).with_context(|| format!("making {}", folder.display()))?;
        written(&path, text).map(|()| path)
    }

    /// Reads a snapshot that was kept, and checks it.
    pub(super) fn load(&self, session: &SessionId) -> anyhow::Result<Snapshot> {
        let path = self.file(session)?;
        if !path.exists() {
            let error = anyhow::anyhow!("there is no snapshot {session} in {}", self.folder()?.display());
            let hint = "`ghost effective snapshot --is-baseline --session-id S …` takes one; --data-dir names another folder";
            return Err(Hinted::new(error, hint).into());
        }
        let text = input::text(&path, super::given::MAX_INPUT_BYTES)?;
        let snapshot = Snapshot::parse(&text).map_err(|error| refused(error, &path))?;
        if snapshot.taken.session != *session {
            let error = anyhow::anyhow!("it is the snapshot {}", snapshot.taken.session);
            return Err(Hinted::new(
                error.context(reading(&path)),
                "somebody renamed the file; name it back",
            )
            .into());
        }
        Ok(snapshot)
    }
}

/// Writes a file of mode 0600, whole or not at all, and never over one that is there.
pub(super) fn written(path: &Path, text: &str) -> anyhow::Result<()> {
    write_private_new(path, text.as_bytes()).map_err(|error| {
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        let error = anyhow::Error::from(error).context(format!("writing {}", path.display()));
        if exists { Hinted::new(error, "choose another name: nothing is overwritten").into() } else { error }
    })
}
