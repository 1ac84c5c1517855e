//! Both ends of consent from outside, made of the configuration: the bot's, and that of a machine on which agents ask.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;

use crate::cli::bot::Token;
use ghost_agent::bot::{SLACK, Settings};
use ghost_base::{Secret, SystemClock};
use ghost_investigate::event::Origin;
use ghost_session::outside::{
    Caller, Callers, Client, HttpLink, HttpPlace, Kept, Link, MIN_TOKEN_CHARS, OutsideRoom, OutsideServer,
    Rates, StoreLink, routes,
};
use ghost_store::{RedisConfig, RedisStore, Store};
use ghost_tools::config::read_small;
use ghost_tools::name::random;
use ghost_tools::print::Hinted;
use ghost_tools::setup::Setup;

/// So many calls belong to one request: it is asked about, used up, and given up.
const CALLS_PER_REQUEST: usize = 40;

/// Where the machine's own name stands.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// How this machine reaches the bot. Nothing is opened before somebody has to be asked.
#[derive(Clone)]
pub(in crate::cli) struct Reach {
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
    pub(in crate::cli) fn new(setup: &Setup) -> anyhow::Result<Self> {
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
    pub(in crate::cli) fn own(setup: &Setup, store: Arc<dyn Store>) -> anyhow::Result<Self> {
        let name = setup.config.outside.name.clone().unwrap_or_else(machine);
        Ok(Self { place: Place::Own { store, name }, data: setup.data()?.to_owned() })
    }

    /// Keeps what is open below another folder.
    pub(in crate::cli) fn keeping_below(self, data: &Path) -> Self {
        Self { data: data.to_owned(), ..self }
    }

    /// Returns the client of this machine.
    ///
    /// # Errors
    /// Fails where the token cannot be read, or the store cannot be reached.
    pub(in crate::cli) async fn client(&self) -> anyhow::Result<Client> {
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

pub(in crate::cli) fn machine() -> String {
    let name = std::fs::read_to_string(HOST_NAME).unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "a machine without a name".to_owned() } else { name.to_owned() }
}

/// Says where requests are shown, and what holds there.
pub(in crate::cli) fn room(setup: &Setup, settings: &Settings, team: Option<&str>) -> OutsideRoom {
    let channel = setup.config.outside.channel.as_deref();
    let rules = channel.and_then(|channel| Some((channel, settings.rules(channel)?)));
    OutsideRoom {
        origin: rules.map(|(channel, _)| Origin {
            place: SLACK.to_owned(),
            team: team.map(str::to_owned),
            channel: Some(channel.to_owned()),
            thread: None,
        }),
        scope: rules.and_then(|(_, rules)| rules.scope.clone()),
        limits: settings.limits,
        surroundings: settings.surroundings.clone(),
    }
}

/// Returns the routes for callers; none where nobody may ask.
///
/// # Errors
/// Fails where a token cannot be read, or is so short that it could be guessed.
pub(in crate::cli) fn server(setup: &Setup, store: &Arc<dyn Store>) -> anyhow::Result<Router> {
    let outside = &setup.config.outside;
    let mut all = Vec::new();
    for (name, about) in &outside.callers {
        let what = || format!("[outside.callers.{name}] token_file {}", about.token_file.display());
        let token = Token::of_file(&about.token_file).with_context(what)?;
        if token.now().expose().chars().count() < MIN_TOKEN_CHARS {
            let error = anyhow::anyhow!("{}: the token has less than {MIN_TOKEN_CHARS} characters", what());
            return Err(Hinted::new(error, "draw one: openssl rand -hex 24").into());
        }
        let caller = Caller { name: name.clone(), owner: about.owner.clone() };
        let now: Arc<dyn Fn() -> Secret + Send + Sync> = Arc::new(move || token.now());
        all.push((caller, now));
    }
    if all.is_empty() {
        return Ok(Router::new());
    }
    let requests_per_minute = outside.requests_per_minute;
    let rates = Rates { requests_per_minute, calls_per_minute: requests_per_minute * CALLS_PER_REQUEST };
    let callers = Arc::new(Callers::new(all, rates, Arc::new(SystemClock)));
    Ok(routes(OutsideServer { store: Arc::clone(store), clock: Arc::new(SystemClock), callers }))
}
