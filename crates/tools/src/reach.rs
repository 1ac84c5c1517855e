//! How a machine on which agents ask reaches the bot that asks in Slack.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use super::name::random;
use super::print::Hinted;
use super::setup::Setup;
use crate::config::read_small;
use ghost_base::{Secret, SystemClock};
use ghost_session::outside::{Client, HttpLink, HttpPlace, Kept, Link, StoreLink};
use ghost_store::{RedisConfig, RedisStore, Store};

/// Where the machine's own name stands.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// How this machine reaches the bot. Nothing is opened before somebody has to be asked.
#[derive(Clone)]
pub struct Reach {
    place: Place,
    data: PathBuf,
}

#[derive(Clone)]
enum Place {
    Http {
        url: String,
        token_file: PathBuf,
    },
    Store {
        redis: Box<RedisConfig>,
        name: String,
        owner: Option<String>,
    },
    /// The bot is this process.
    Own {
        store: Arc<dyn Store>,
        name: String,
    },
}

impl Reach {
    /// Finds out how the bot is reached.
    ///
    /// # Errors
    /// Fails where the configuration names neither an address nor a shared store.
    pub fn new(setup: &Setup) -> anyhow::Result<Self> {
        let outside = &setup.config.outside;
        let data = setup.data()?.to_owned();
        let place = match (&outside.url, &outside.token_file) {
            (Some(url), Some(token_file)) => Place::Http { url: url.clone(), token_file: token_file.clone() },
            _ => {
                let redis = setup.redis()?.ok_or_else(|| {
                    let error = anyhow::anyhow!("nothing says how the bot is reached that asks in Slack");
                    Hinted::new(error, "set [outside] url and token_file, or share a Redis with [store] url")
                })?;
                let name = outside.name.clone().unwrap_or_else(machine);
                Place::Store { redis: Box::new(redis), name, owner: outside.owner.clone() }
            }
        };
        Ok(Self { place, data })
    }

    /// Reaches the bot of this process through its own store.
    ///
    /// # Errors
    /// Fails where there is no data folder.
    pub fn own(setup: &Setup, store: Arc<dyn Store>) -> anyhow::Result<Self> {
        let name = setup.config.outside.name.clone().unwrap_or_else(machine);
        Ok(Self { place: Place::Own { store, name }, data: setup.data()?.to_owned() })
    }

    /// Keeps what is open below another folder.
    pub fn keeping_below(self, data: &Path) -> Self {
        Self { data: data.to_owned(), ..self }
    }

    /// Returns the client of this machine.
    ///
    /// # Errors
    /// Fails where the token cannot be read, or the store cannot be reached.
    pub async fn client(&self) -> anyhow::Result<Client> {
        let link: Arc<dyn Link> = match &self.place {
            Place::Http { url, token_file } => {
                drop(rustls::crypto::ring::default_provider().install_default());
                let token = read_small(token_file).map_err(anyhow::Error::msg);
                let token = token
                    .with_context(|| format!("reading [outside] token_file {}", token_file.display()))?;
                Arc::new(HttpLink::new(HttpPlace { url: url.clone(), token: Secret::new(&token) })?)
            }
            Place::Store { redis, name, owner } => {
                drop(rustls::crypto::ring::default_provider().install_default());
                let store = RedisStore::connect(redis, ghost_store::Settings::default()).await?;
                Arc::new(StoreLink::new(Arc::new(store), Arc::new(SystemClock), name, owner.clone()))
            }
            Place::Own { store, name } => {
                Arc::new(StoreLink::new(Arc::clone(store), Arc::new(SystemClock), name, None))
            }
        };
        let nonce = || random::<24>().unwrap_or_default();
        Ok(Client::new(link, Kept::below(&self.data), Arc::new(nonce)))
    }
}

/// Returns the name of this machine.
pub fn machine() -> String {
    let name = std::fs::read_to_string(HOST_NAME).unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "a machine without a name".to_owned() } else { name.to_owned() }
}
