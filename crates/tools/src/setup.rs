//! What a subcommand needs before it begins: configuration, data folder, environment.

use std::path::{Path, PathBuf};

use super::global::Global;
use super::print::Hinted;
use crate::config::{Config, Environment, PlaceError, data_dir};

/// The configuration, and where things lie.
pub struct Setup {
    /// The configuration, or its defaults.
    pub config: Config,
    /// The file that it was read from.
    pub file: Option<PathBuf>,
    /// Where a run keeps what it writes; what only answers needs no such place.
    data: Option<PathBuf>,
    /// Whether that place was named on the command line.
    named: bool,
    pub environment: Environment,
    /// Who carries out what is permitted; this machine, unless somebody else does.
    pub runner: Option<std::sync::Arc<dyn ghost_shell::Runner>>,
    /// By what the shell tells the time; by the machine's clock, unless somebody says otherwise.
    pub clock: Option<std::sync::Arc<dyn ghost_base::Clock>>,
    /// How a session waits; as long as its clock says, unless somebody says otherwise.
    pub sleep: Option<std::sync::Arc<dyn ghost_session::Sleep>>,
    /// The store, where it is open already.
    pub opened: Option<std::sync::Arc<dyn ghost_store::Store>>,
    /// Where commands may send something unasked, as the command line has it.
    destinations: Vec<String>,
    /// What names the resolvers of this machine; a lab has none.
    resolvers: Option<&'static str>,
    /// The policy, once it was read.
    policy: std::sync::OnceLock<std::sync::Arc<ghost_shell::Policy>>,
    /// The store, while somebody uses it: who opens the file once more gets the same one.
    in_use: std::sync::Mutex<Option<std::sync::Weak<dyn ghost_store::Store>>>,
    /// Where commands run; the working folder unless said.
    folder: Option<PathBuf>,
    /// As whom commands run, once that was read.
    pub known_identities: std::sync::OnceLock<std::sync::Arc<ghost_shell::Identities>>,
    /// What reads the cloud within this process, once it was made.
    pub known_reader: std::sync::OnceLock<ghost_cloud::reader::NativeReader>,
    /// Those of the clients that are served apart, by their names.
    clients: std::sync::Mutex<std::collections::HashMap<String, std::sync::Arc<Setup>>>,
}

/// The folder below the data folder in which each client that is served apart has its own.
pub const CLIENTS: &str = "clients";

impl Setup {
    /// Reads the configuration that was named, or takes the defaults.
    pub fn new(global: &Global) -> anyhow::Result<Self> {
        let environment = Environment::read();
        let file = global.config.clone().or_else(|| environment.path("GHOST_CONFIG"));
        Self::with(global, file, environment)
    }

    /// Reads the configuration that the command line names, and takes the defaults where it names none: who sets the environment has no
    /// say in it.
    pub fn of_line(global: &Global) -> anyhow::Result<Self> {
        Self::with(global, global.config.clone(), Environment::read())
    }

    fn with(global: &Global, file: Option<PathBuf>, environment: Environment) -> anyhow::Result<Self> {
        let config = match &file {
            Some(path) => Config::load(path)
                .map_err(|error| Hinted::new(error, "mend the file, or name none for the defaults"))?,
            None => Config::default(),
        };
        let data = data_dir(global.data_dir.as_deref(), &environment).ok();
        Ok(Self {
            config,
            file,
            data,
            named: global.data_dir.is_some(),
            environment,
            runner: None,
            clock: None,
            sleep: None,
            opened: None,
            destinations: global.destinations.clone(),
            resolvers: Some("/etc/resolv.conf"),
            policy: std::sync::OnceLock::new(),
            in_use: std::sync::Mutex::default(),
            folder: None,
            known_identities: std::sync::OnceLock::new(),
            known_reader: std::sync::OnceLock::new(),
            clients: std::sync::Mutex::default(),
        })
    }

    /// Makes one of parts, for what brings its own configuration.
    pub fn of(
        config: Config,
        data: PathBuf,
        environment: Environment,
        runner: std::sync::Arc<dyn ghost_shell::Runner>,
    ) -> Self {
        Self {
            config,
            file: None,
            data: Some(data),
            named: true,
            environment,
            runner: Some(runner),
            clock: None,
            sleep: None,
            opened: None,
            destinations: Vec::new(),
            resolvers: None,
            policy: std::sync::OnceLock::new(),
            in_use: std::sync::Mutex::default(),
            folder: None,
            known_identities: std::sync::OnceLock::new(),
            known_reader: std::sync::OnceLock::new(),
            clients: std::sync::Mutex::default(),
        }
    }

    /// Returns the setup of a client that is served apart, the same one for everybody in this process: its store has one owner.
    pub fn client(&self, name: &str) -> anyhow::Result<std::sync::Arc<Self>> {
        let mut clients = self.clients.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(client) = clients.get(name) {
            return Ok(std::sync::Arc::clone(client));
        }
        let client = std::sync::Arc::new(self.apart(name)?);
        clients.insert(name.to_owned(), std::sync::Arc::clone(&client));
        Ok(client)
    }

    /// Makes the setup of a client that is served apart from all others: what it leaves lies in a folder of its own, its sessions in a
    /// store of its own, its captures where no other client finds them. It acts as the same identities.
    fn apart(&self, client: &str) -> anyhow::Result<Self> {
        let data = self.data()?.join(CLIENTS).join(client);
        let captures = data.join("captures");
        for folder in [&data, &captures] {
            ghost_base::private_dir(folder)?;
        }
        let mut config = self.config.clone();
        config.capture.folder.clone_from(&captures);
        config.store.prefix = format!("{}:client:{client}", config.store.prefix);
        // What reads the cloud is the same for all of them.
        drop(self.permitted_runner()?);
        Ok(Self {
            config,
            file: self.file.clone(),
            data: Some(data),
            named: true,
            environment: self.environment.clone(),
            runner: self.runner.clone(),
            clock: self.clock.clone(),
            sleep: self.sleep.clone(),
            opened: None,
            destinations: self.destinations.clone(),
            resolvers: self.resolvers,
            policy: std::sync::OnceLock::new(),
            in_use: std::sync::Mutex::default(),
            folder: Some(captures),
            known_identities: std::sync::OnceLock::from(self.identities()?),
            known_reader: self.known_reader.clone(),
            clients: std::sync::Mutex::default(),
        })
    }

    /// Returns by what sessions tell the time.
    pub fn clock(&self) -> std::sync::Arc<dyn ghost_base::Clock> {
        self.clock.clone().unwrap_or_else(|| std::sync::Arc::new(ghost_base::SystemClock))
    }

    /// Returns how sessions wait.
    pub fn sleep(&self) -> std::sync::Arc<dyn ghost_session::Sleep> {
        let usual = || std::sync::Arc::new(ghost_session::ClockSleep::new(self.clock()));
        self.sleep.clone().unwrap_or_else(|| usual())
    }

    /// Returns the data folder where the command line named it.
    pub fn named_data(&self) -> Option<&Path> {
        self.data.as_deref().filter(|_| self.named)
    }

    /// Returns the data folder.
    pub fn data(&self) -> anyhow::Result<&Path> {
        Ok(self.data.as_deref().ok_or_else(|| Hinted::new(PlaceError, "name a folder with --data-dir"))?)
    }
}

mod shell {
    use std::sync::Arc;
    use std::time::Duration;

    use anyhow::Context as _;

    use super::Setup;
    use crate::config::{Anchoring, read_small};
    use crate::print::Hinted;
    use ghost_base::{SessionId, SystemClock};
    use ghost_shell::audit::{Anchor, FileAnchor, NoAnchor, SyslogAnchor};
    use ghost_shell::{Builder, Known, Limits, Policy, Programs, Sandbox, Shell, Surroundings};

    /// Programs that read files by names that are given to them, or that show names of files and arguments of others.
    const READS_BY_NAME: [&str; 10] =
        ["capinfos", "file", "journalctl", "ls", "lsof", "pgrep", "ps", "stat", "tcpdump", "tshark"];

    /// Tightens a site's policy for clients that are served apart: what others leave behind lies on the same machine.
    fn apart(site: &str) -> anyhow::Result<String> {
        let mut site: toml::Table = toml::from_str(site)?;
        let tighten = site.entry("tighten").or_insert_with(|| toml::Value::Array(Vec::new()));
        let tighten = tighten.as_array_mut().context("`tighten` is no list")?;
        for program in READS_BY_NAME {
            let mut rule = toml::Table::new();
            rule.insert("words".to_owned(), vec![program].into());
            rule.insert("verdict".to_owned(), "RISKY".into());
            rule.insert("reason".to_owned(), "it could show what other clients left on this machine".into());
            tighten.push(rule.into());
        }
        Ok(toml::to_string(&site)?)
    }

    impl Setup {
        /// Returns the policy: the embedded one, with the site's file on top where there is one. It is read once: every gate judges
        /// by the same one, however many sessions there are, and none holds a copy. The examples of the embedded part are not judged once
        /// more: a test did so, and many commands are a process that lives for one line. Those of a site are.
        pub fn policy(&self) -> anyhow::Result<Arc<Policy>> {
            if let Some(policy) = self.policy.get() {
                return Ok(Arc::clone(policy));
            }
            let site = match &self.config.shell.policy {
                None => None,
                Some(path) => {
                    let text = read_small(path).map_err(anyhow::Error::msg);
                    Some(text.with_context(|| format!("reading the site policy {}", path.display()))?)
                }
            };
            // Who has a folder of their own is served apart.
            let policy = match (site, self.folder.is_some()) {
                (None, false) => Policy::embedded_once()?,
                (Some(site), false) => Policy::with_site(&site)?,
                (site, true) => Policy::with_site(&apart(&site.unwrap_or_default())?)?,
            };
            let kept_to = self.config.azure.kept_to();
            let policy = Arc::new(policy.captures_in(&self.config.capture.folder).keeping_to(kept_to));
            Ok(Arc::clone(self.policy.get_or_init(|| policy)))
        }

        /// Returns the same policy, the examples of its embedded part judged, too: for who goes on to run, and for who asks whether all is well.
        pub fn judged_policy(&self) -> anyhow::Result<Arc<Policy>> {
            Policy::builtin()?;
            self.policy()
        }

        /// Returns what this machine, the configuration and the command line know of places.
        pub fn surroundings(&self) -> anyhow::Result<Surroundings> {
            let missing = self.sandbox().is_missing(self.runner.as_deref(), None);
            Ok(self.places()?.without_sandbox(missing))
        }

        /// Returns what the configuration and the command line know of places.
        pub fn places(&self) -> anyhow::Result<Surroundings> {
            let configured =
                self.config.shell.destinations.iter().chain(&self.config.capture.storage_account);
            let destinations: Vec<String> = configured.chain(&self.destinations).cloned().collect();
            // A machine without that file has no resolvers.
            let resolvers = self.resolvers.and_then(|path| std::fs::read_to_string(path).ok());
            Ok(Surroundings::read(&destinations, &resolvers.unwrap_or_default())
                .map_err(|error| Hinted::new(error, "see --destination and [shell] destinations"))?)
        }

        /// Returns what becomes of SAFE commands where nothing can confine them.
        pub fn sandbox(&self) -> Sandbox {
            match self.config.shell.sandbox {
                crate::config::Sandbox::Required => Sandbox::Required,
                crate::config::Sandbox::BestEffort => Sandbox::BestEffort,
            }
        }

        /// Returns which file a program's name stands for. `PATH` is looked at to name an `az` in a hint, and for nothing else.
        pub fn programs(&self) -> Result<Programs, ghost_shell::ProgramError> {
            let folders = self.environment.path("PATH").unwrap_or_default();
            let seen = std::env::split_paths(&folders).map(|folder| folder.join("az"));
            let seen = seen.filter(|path| path.is_absolute()).find(|path| path.is_file());
            let seen = seen.map(|path| ("az".to_owned(), path)).into_iter().collect();
            Ok(Programs::new(self.config.programs.clone())?.noting(seen))
        }

        /// Returns where the heads of audit chains are noted.
        pub fn anchor(&self) -> anyhow::Result<Arc<dyn Anchor>> {
            Ok(match self.config.anchoring(self.data()?) {
                Anchoring::Nowhere => Arc::new(NoAnchor),
                Anchoring::Syslog => Arc::new(SyslogAnchor::default()),
                Anchoring::File(path) => Arc::new(FileAnchor::new(path, Arc::new(SystemClock))),
            })
        }

        /// Says as whom what is approved runs; nothing where that cannot be said.
        pub fn acts_as(&self) -> Option<String> {
            self.identities().ok().map(|identities| identities.actor().name().to_owned())
        }

        /// Starts a shell with everything that the configuration says.
        pub fn shell(&self, session: SessionId, timeout: Option<u64>) -> anyhow::Result<Builder> {
            let shell = &self.config.shell;
            let limits = Limits {
                timeout: Duration::from_secs(timeout.unwrap_or(shell.timeout_seconds)),
                ..Limits::default()
            };
            let programs = self.programs().context("checking [programs]")?;
            let builder = Shell::builder(session, self.data()?);
            let builder = match self.permitted_runner()? {
                Some(runner) => builder.runner(runner),
                None => builder,
            };
            let builder = match &self.clock {
                Some(clock) => builder.clock(Arc::clone(clock)),
                None => builder,
            };
            let builder = builder.identities(self.identities()?);
            Ok(builder
                .policy(self.policy()?)
                .known(Known::of(&self.surroundings()?))
                .anchor(self.anchor()?)
                .sandbox(self.sandbox())
                .expiry(Duration::from_secs(shell.approval_minutes * 60))
                .environment(self.environment.all().clone())
                .programs(programs)
                .captures(self.config.capture.folder.clone())
                .cwd(match &self.folder {
                    Some(folder) => folder.clone(),
                    None => std::env::current_dir().context("finding the working folder")?,
                })
                .limits(limits))
        }
    }
}

mod store {
    use std::sync::{Arc, PoisonError, Weak};

    use anyhow::Context as _;

    use super::Setup;
    use crate::config::read_small;
    use crate::print::Hinted;
    use ghost_base::private_dir;
    use ghost_store::{EmbeddedStore, RedisConfig, RedisStore, Settings, Store, StoreError};

    const FILE: &str = "store.redb";
    const PASSWORD: &str = "GHOST_REDIS_PASSWORD";

    impl Setup {
        /// Says in words where sessions are kept, without a password.
        pub fn store_name(&self) -> anyhow::Result<String> {
            Ok(match self.redis()? {
                Some(place) => format!("{}, prefix {}", place.address(), place.prefix),
                None => self.data()?.join(FILE).display().to_string(),
            })
        }

        /// Whether the store is a file that nobody made yet.
        pub fn store_is_to_be_made(&self) -> bool {
            self.config.store.url.is_none() && self.data().is_ok_and(|data| !data.join(FILE).exists())
        }

        /// Opens the store that the configuration names.
        pub async fn store(&self) -> anyhow::Result<Arc<dyn Store>> {
            if let Some(store) = &self.opened {
                return Ok(Arc::clone(store));
            }
            let settings = Settings::default();
            if let Some(store) =
                self.in_use.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade)
            {
                return Ok(store);
            }
            if let Some(place) = self.redis()? {
                let store = RedisStore::connect(&place, settings).await;
                return match store {
                    Ok(store) => Ok(Arc::new(store)),
                    Err(error) => Err(Hinted::new(error, "see [store] of the configuration").into()),
                };
            }
            let data = self.data()?;
            private_dir(data).with_context(|| format!("making {}", data.display())).map_err(|error| {
                Hinted::new(error, "name a folder that can be written to with --data-dir or GHOST_DATA_DIR")
            })?;
            // The file belongs to whoever opened it first, which may be another call of this process.
            let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(store) = in_use.as_ref().and_then(Weak::upgrade) {
                return Ok(store);
            }
            match EmbeddedStore::open(&data.join(FILE), settings) {
                Ok(store) => {
                    let store: Arc<dyn Store> = Arc::new(store);
                    *in_use = Some(Arc::downgrade(&store));
                    Ok(store)
                }
                Err(error @ StoreError::InUse { .. }) => Err(Hinted::new(
                    error,
                    "wait for the other ghost, name another folder with --data-dir, or share a Redis with [store] url",
                )
                .into()),
                Err(error) => Err(error.into()),
            }
        }

        /// Returns where Redis is, if the store is there.
        pub fn redis(&self) -> anyhow::Result<Option<RedisConfig>> {
            let store = &self.config.store;
            let Some(url) = &store.url else { return Ok(None) };
            let place = RedisConfig::new(url, &store.prefix);
            Ok(Some(RedisConfig { password: self.password()?, replicas: store.replicas, ..place }))
        }

        fn password(&self) -> anyhow::Result<Option<String>> {
            if let Some(password) = self.environment.text(PASSWORD).filter(|text| !text.is_empty()) {
                return Ok(Some(password.to_owned()));
            }
            let Some(path) = &self.config.store.password_file else { return Ok(None) };
            let reading = || format!("reading [store] password_file {}", path.display());
            let text = read_small(path).map_err(anyhow::Error::msg).with_context(reading)?;
            let password = text.trim_end_matches(['\r', '\n']);
            if password.is_empty() {
                return Err(anyhow::Error::msg("it is empty")).with_context(reading);
            }
            Ok(Some(password.to_owned()))
        }
    }
}
