//! A lab on a port, for tests.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::SystemClock;
use ghost_lab::LabClock;
use ghost_lab::azure::{Cloud, Description};
use ghost_lab::control::{Lab, Remote, Running, Settings};
use ghost_lab::host::{
    CaptureOrder, ConnectOutcome, Fabric, Host, HostError, Protocol, Script, ScriptOutput, ServerHealth,
    Stage as Scene,
};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::recording::recordings;

/// Guests that say the same to everybody.
#[derive(Debug, Clone)]
pub(super) struct Parrot(pub(super) Result<(String, String), HostError>);

#[async_trait]
impl Host for Parrot {
    async fn fabric(&self, _: Fabric) -> Result<(), HostError> {
        Ok(())
    }

    async fn stage(&self, _: Scene) -> Result<(), HostError> {
        Ok(())
    }

    async fn run(&self, _: &str, _: &Script) -> Result<ScriptOutput, HostError> {
        let (out, err) = self.0.clone()?;
        Ok(ScriptOutput { out, err, code: 0, took: Duration::ZERO })
    }

    async fn dial(&self, _: &str, _: IpAddr, _: Protocol, port: u16) -> Result<ConnectOutcome, HostError> {
        Ok(if port == 5001 { ConnectOutcome::Open(Duration::from_millis(1)) } else { ConnectOutcome::Silent })
    }

    async fn health(&self, _: &str) -> Result<Vec<ServerHealth>, HostError> {
        let (pool, settings, server) = ("pool".to_owned(), "web".to_owned(), "10.0.1.5".to_owned());
        Ok(vec![ServerHealth { pool, settings, server, state: "Unhealthy", log: "Received 404".to_owned() }])
    }

    async fn capture(&self, _: &str, _: CaptureOrder) -> Result<(), HostError> {
        Ok(())
    }

    async fn captured(&self, _: &str) -> Result<Vec<u8>, HostError> {
        Ok(b"captured".to_vec())
    }

    async fn keep(&self) -> Result<(), HostError> {
        Ok(())
    }

    async fn restore(&self) -> Result<(), HostError> {
        Ok(())
    }

    async fn close(&self) {}
}

/// The estate of the recordings; that of the use cases where they are not there.
pub(super) fn description() -> Description {
    let read =
        |place: PathBuf| Description::parse(&std::fs::read(place.join("_estate.json")).unwrap()).unwrap();
    recordings().map_or_else(|| Description::usual().unwrap(), read)
}

/// A lab that listens.
pub(super) struct Stage {
    pub(super) lab: Arc<Lab>,
    pub(super) folder: TempDir,
    pub(super) port: u16,
    pub(super) exports: Vec<(&'static str, String)>,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl Stage {
    /// Brings one up.
    pub(super) async fn up(host: Parrot) -> Self {
        Self::of(host, description()).await
    }

    /// Brings one up with an estate.
    pub(super) async fn of(host: Parrot, about: Description) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cloud = Cloud::new(about).unwrap();
        let lab = Lab::new(cloud, Arc::new(host), LabClock::new(Arc::new(SystemClock)), Vec::new()).unwrap();
        let settings = Settings {
            port: 0,
            record: folder.path().join("lab.json"),
            program: PathBuf::from("/usr/bin/ghost"),
        };
        let running = Running::open(settings, Arc::clone(&lab)).await.unwrap();
        let (port, exports) = (running.address().port(), running.exports());
        let (stop, stopped) = oneshot::channel::<()>();
        let served = async move {
            let stopped = async { drop(stopped.await) };
            running.serve(stopped).await.unwrap();
        };
        #[expect(clippy::disallowed_methods, reason = "the stage joins what it starts")]
        let served = tokio::spawn(served);
        Self { lab, folder, port, exports, stop: Some(stop), served }
    }

    /// Brings one up whose guests print nothing.
    pub(super) async fn quiet() -> Self {
        Self::up(Parrot(Ok((String::new(), String::new())))).await
    }

    /// Returns the lab as another process finds it.
    pub(super) fn remote(&self) -> Remote {
        Remote::find(&self.folder.path().join("lab.json")).unwrap()
    }

    /// Takes it down; nothing of it may be left.
    pub(super) async fn down(mut self) {
        drop(self.stop.take());
        (&mut self.served).await.unwrap();
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 0, "something is left of the lab");
    }

    /// Returns an export.
    pub(super) fn export(&self, name: &str) -> &str {
        self.exports.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str()).unwrap()
    }
}
