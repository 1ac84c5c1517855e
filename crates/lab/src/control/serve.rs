//! Bringing a lab up on a port, and taking it down.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;

use super::folder::exported;
use super::folder::{LabPaths, files, script};
use super::lab::Lab;
use super::record::{Claim, Record, RecordError};
use super::request::LabHandler;
use crate::azure::serve::{Authority, CertificateError, serve};
use ghost_base::{Clock as _, SystemClock};

/// How a lab is brought up.
pub struct Settings {
    /// The port on the loopback address; 0 is a free one.
    pub port: u16,
    /// The file by which other commands find it.
    pub record: PathBuf,
    /// This program, for the `az` that calls it.
    pub program: PathBuf,
}

/// Why a lab does not come up.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The port is taken, or may not be used.
    #[error("cannot listen on port {port}")]
    Port {
        port: u16,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Its place is taken.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// There is no certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The path cannot be written in a shell script.
    #[error("a path with a quote or a line break cannot be exported: {}", .0.escape_debug())]
    Path(String),
    /// The folder cannot be written.
    #[error("cannot write below {folder}")]
    Folder {
        folder: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// A lab that listens.
pub struct Running {
    lab: Arc<Lab>,
    listener: TcpListener,
    address: SocketAddr,
    authority: Authority,
    claim: Claim,
    places: LabPaths,
}

impl Running {
    /// Brings a lab up: it can be found, and what leads to it is written.
    ///
    /// # Errors
    /// Fails where the port or the place is taken, or the disk does not take what is written; nothing is left behind then.
    pub async fn open(settings: Settings, lab: Arc<Lab>) -> Result<Self, LabError> {
        let record = std::path::absolute(&settings.record)
            .map_err(|source| LabError::Folder { folder: settings.record.clone(), source })?;
        let claim = Claim::take(&record)?;
        Self::claimed(settings, claim, lab).await
    }

    /// Brings a lab up at a place that was taken for it already.
    ///
    /// # Errors
    /// Fails as [`Running::open`] does.
    pub async fn claimed(settings: Settings, mut claim: Claim, lab: Arc<Lab>) -> Result<Self, LabError> {
        let Settings { port, program, .. } = settings;
        let word = |path: &std::path::Path| {
            let text = path.to_str().and_then(exported);
            text.ok_or_else(|| LabError::Path(path.display().to_string()))
        };
        let script = script(&word(&program)?, &word(claim.path())?);
        let taken = |source| LabError::Port { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        // Certificates are looked at by programs that know no other clock.
        let authority = Authority::draw(SystemClock.now())?;
        let folder = claim.folder();
        claim.write(&Record {
            url: format!("http://{address}"),
            token: lab.token.expose().to_owned(),
            identity: lab.identity.expose().to_owned(),
            pid: std::process::id(),
            folder: folder.clone(),
        })?;
        let places = LabPaths::below(&folder);
        let files = files(lab.cloud().description(), address.port());
        let written = places.write(&files, &authority.pem, &script);
        written.map_err(|source| LabError::Folder { folder, source })?;
        Ok(Self { lab, listener, address, authority, claim, places })
    }

    /// Returns where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    #[must_use]
    pub fn lab(&self) -> &Arc<Lab> {
        &self.lab
    }

    /// Returns the folder that holds an `az` for machines without one.
    #[must_use]
    pub fn programs(&self) -> PathBuf {
        self.places.programs.clone()
    }

    /// Returns what leads `az` here, and nowhere else: names and values of the environment.
    #[must_use]
    pub fn exports(&self) -> Vec<(&'static str, String)> {
        let proxy = format!("http://{}", self.address);
        let here = "localhost,127.0.0.1".to_owned();
        let fixed = |text: &str| text.to_owned();
        vec![
            ("AZURE_CONFIG_DIR", self.places.config.display().to_string()),
            ("REQUESTS_CA_BUNDLE", self.places.authority.display().to_string()),
            ("HTTPS_PROXY", proxy.clone()),
            ("HTTP_PROXY", proxy.clone()),
            ("NO_PROXY", here.clone()),
            // Where both are set, programs prefer these.
            ("https_proxy", proxy.clone()),
            ("http_proxy", proxy.clone()),
            ("no_proxy", here),
            ("IDENTITY_ENDPOINT", format!("{proxy}/msi/token")),
            ("IDENTITY_HEADER", self.lab.identity.expose().to_owned()),
            ("AZURE_CORE_COLLECT_TELEMETRY", fixed("false")),
            ("AZURE_CORE_NO_COLOR", fixed("true")),
            ("AZURE_CORE_ONLY_SHOW_ERRORS", fixed("true")),
            ("AZURE_CORE_OUTPUT", fixed("json")),
            ("AZURE_EXTENSION_USE_DYNAMIC_INSTALL", fixed("no")),
        ]
    }

    /// Serves until `stop` is ready or somebody orders it down; nothing is left when it returns.
    ///
    /// # Errors
    /// Fails where what was written cannot be removed.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) -> Result<(), LabError> {
        let Self { lab, listener, address, authority, claim, .. } = self;
        let (end, ended) = watch::channel(false);
        let front = Arc::new(LabHandler(Arc::clone(&lab)));
        lab.spawn(Arc::clone(&lab).tick());
        let served = serve(listener, address.port(), authority, front, ended);
        let mut down = lab.down.subscribe();
        let ending = async {
            tokio::select! {
                () = stop => {}
                _ = down.wait_for(|down| *down) => {}
            }
            lab.close().await;
            let cleaned = claim.clean();
            lab.gone.send_replace(true);
            end.send_replace(true);
            cleaned
        };
        // The server goes on while the lab closes: whoever ordered it waits for the answer.
        let ((), cleaned) = tokio::join!(served, ending);
        Ok(cleaned?)
    }
}
