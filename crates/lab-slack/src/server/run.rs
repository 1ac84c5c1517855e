//! Opening, serving and ending a workspace.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{sleep, timeout};

use crate::deliver::{HttpSender, Timing};
use crate::demo::DemoControl;
use crate::server::inner::Inner;
use crate::server::keep;
use crate::server::route::router;
use crate::state::{User, fresh};
use ghost_base::{Clock, private_dir};

/// How long open requests may take when the server ends.
const FAREWELL: Duration = Duration::from_millis(400);

/// How a workspace is opened.
pub struct Settings {
    /// The port on the loopback address; 0 is a free one.
    pub port: u16,
    /// The folder in which it is kept; in memory alone, where there is none.
    pub folder: Option<PathBuf>,
    /// The times that it keeps.
    pub timing: Timing,
    /// Where it reads the time.
    pub clock: Arc<dyn Clock>,
}

/// Why a workspace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The port is taken, or may not be used.
    #[error("cannot listen on port {port}")]
    Port {
        port: u16,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// What was kept cannot be used.
    #[error("{what}")]
    Kept {
        /// What is wrong, with the file's name.
        what: String,
    },
    /// The machine gives no random bytes, or no client can be made.
    #[error("cannot start: {what}")]
    Start {
        /// What is missing.
        what: String,
    },
}

/// A workspace that listens.
pub struct Workspace {
    inner: Arc<Inner>,
    listener: TcpListener,
    address: SocketAddr,
    folder: Option<PathBuf>,
}

/// A channel, for whoever configures an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelInfo {
    pub id: String,
    pub name: String,
    /// The ids of the full members who are in it.
    pub members: Vec<String>,
    /// By which name the app in it is mentioned.
    pub app: String,
}

impl Workspace {
    /// Opens a workspace: the one that was kept, else a fresh one.
    ///
    /// # Errors
    /// Fails where the port is taken or what was kept cannot be read.
    pub async fn open(settings: Settings) -> Result<Self, WorkspaceError> {
        let Settings { port, folder, timing, clock } = settings;
        let bind = |source| WorkspaceError::Port { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let kept = match &folder {
            None => None,
            Some(folder) => {
                let what = |what: String| WorkspaceError::Kept { what };
                private_dir(folder)
                    .map_err(|error| what(format!("cannot make {}: {error}", folder.display())))?;
                keep::read(folder).map_err(|error| what(error.to_string()))?
            }
        };
        let (mut workspace, bytes) = match kept {
            Some(kept) => kept,
            None => (fresh(&salt()?, clock.now()), HashMap::new()),
        };
        workspace.base = format!("http://{address}");
        let carrier = HttpSender::new().map_err(|error| WorkspaceError::Start { what: error.to_string() })?;
        let inner = Arc::new(Inner::new(workspace, bytes, clock, timing, carrier));
        Ok(Self { inner, listener, address, folder })
    }

    /// Plays something beside the conversation. What was there first stays.
    pub fn set_demo(&self, demo: Arc<dyn DemoControl>) {
        drop(self.inner.demo.set(demo));
    }

    /// Returns where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what an app needs to find it: names and values of the environment.
    #[must_use]
    pub fn exports(&self) -> Vec<(&'static str, String)> {
        let workspace = self.inner.workspace();
        let app = workspace.apps.first();
        let secret = |pick: fn(&crate::state::App) -> &String| app.map(pick).cloned().unwrap_or_default();
        vec![
            ("SLACK_API_URL", format!("{}/api/", workspace.base)),
            ("SLACK_APP_TOKEN", secret(|app| &app.app_token)),
            ("SLACK_BOT_TOKEN", secret(|app| &app.bot_token)),
            ("SLACK_SIGNING_SECRET", secret(|app| &app.signing_secret)),
            ("SLACK_WORKSPACE_URL", format!("{}/", workspace.base)),
        ]
    }

    /// Returns the first channel that the first app is in.
    #[must_use]
    pub fn first_channel(&self) -> Option<ChannelInfo> {
        let workspace = self.inner.workspace();
        let app = workspace.apps.first()?;
        let channel = workspace.channels.values().find(|channel| channel.members.contains(&app.bot_user))?;
        let full = |id: &&String| workspace.users.get(*id).is_some_and(User::is_full);
        Some(ChannelInfo {
            id: channel.id.clone(),
            name: channel.name.clone(),
            members: channel.members.iter().filter(full).cloned().collect(),
            app: workspace.users.get(&app.bot_user).map(|user| user.name.clone())?,
        })
    }

    /// Waits until the first app has a connection over which things can be delivered to it.
    pub fn connected(&self) -> impl Future<Output = ()> + use<> {
        let inner = Arc::clone(&self.inner);
        async move {
            let mut notices = inner.notices();
            let app = inner.workspace().apps.first().map(|app| app.id.clone()).unwrap_or_default();
            while inner.sockets().of(&app) == 0 {
                // One that was missed is no reason to look less often.
                if notices.recv().await == Err(RecvError::Closed) {
                    return;
                }
            }
        }
    }

    /// Serves until `stop` is ready; what was kept is complete when it returns.
    ///
    /// # Errors
    /// Fails where the listener does, or where the last state cannot be written.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), WorkspaceError> {
        let Self { inner, listener, address, folder } = self;
        if let Some(folder) = folder.clone() {
            inner.spawn(keep::keep(folder, Arc::clone(&inner)));
        }
        inner.spawn(tick(Arc::clone(&inner)));
        let router = router(Arc::clone(&inner), address.port());
        let mut stopped = inner.stop.subscribe();
        let ended = async move { drop(stopped.wait_for(|stop| *stop).await) };
        let served = axum::serve(listener, router).with_graceful_shutdown(ended);
        let mut served = std::pin::pin!(served.into_future());
        let early = tokio::select! {
            done = &mut served => Some(done),
            () = stop => None,
        };
        inner.end();
        let done = match early {
            Some(done) => done,
            // A request that takes longer is cut off.
            None => timeout(FAREWELL, served).await.unwrap_or(Ok(())),
        };
        if let Some(folder) = folder {
            keep::write(&folder, &inner).map_err(|error| WorkspaceError::Kept { what: error.to_string() })?;
        }
        done.map_err(|source| WorkspaceError::Port { port: address.port(), source })
    }
}

/// Draws what everything secret in a fresh workspace follows from.
fn salt() -> Result<String, WorkspaceError> {
    let mut bytes = [0_u8; 32];
    let drawn = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    match drawn {
        Ok(32) => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        Ok(_) => Err(WorkspaceError::Start { what: "too few random bytes".to_owned() }),
        Err(error) => Err(WorkspaceError::Start { what: error.to_string() }),
    }
}

/// How often is looked whether something is due.
const TICK: Duration = Duration::from_millis(250);

/// Does what is due, as long as the server runs.
pub(crate) async fn tick(inner: Arc<Inner>) {
    loop {
        sleep(TICK).await;
        let due = inner.workspace().is_due(inner.clock.now());
        if due {
            // Every act begins or ends with what is due.
            inner.act(|_, _| ());
        }
    }
}
