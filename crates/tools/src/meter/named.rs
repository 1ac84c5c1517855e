//! What is to be measured, from three places: the command line, a file of `KEY=VALUE` lines, `[meter]` of the configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::start::Arguments;
use crate::config::Meter;
use crate::name::random;
use crate::print::Hinted;
use crate::setup::Setup;
use ghost_base::{Clock as _, SessionId, SystemClock};
use ghost_cloud::guest::{Hop, Identity, Ssh};
use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{
    AccessMethod, Compare, MeasurementRequest, MeasurementRequestError, Store, TestSeconds,
};
use ghost_cloud::{Account, Container, Name, ResourceGroup};

/// As whom ssh signs in where nobody says.
const USER: &str = "azureuser";
const ITERATIONS: u16 = 8;

/// Everything that somebody may have said, the strongest first.
pub(super) struct MeterInput<'a> {
    pub arguments: &'a Arguments,
    pub pipe: BTreeMap<String, String>,
    pub setup: &'a Setup,
}

impl MeterInput<'_> {
    fn pick(
        &self,
        flag: Option<&String>,
        keys: &[&str],
        file: fn(&Meter) -> Option<&String>,
    ) -> Option<String> {
        let pipe = || keys.iter().find_map(|key| self.pipe.get(*key));
        flag.or_else(pipe).or_else(|| file(&self.setup.config.meter)).cloned()
    }

    fn truth(&self, key: &str) -> bool {
        self.pipe.get(key).is_some_and(|word| matches!(word.to_lowercase().as_str(), "true" | "1" | "yes"))
    }

    /// Puts it together and checks it.
    pub(super) fn ask(&self, store: &Store) -> anyhow::Result<MeasurementRequest> {
        let flags = self.arguments;
        let group = self
            .pick(flags.resource_group.as_ref(), &["RESOURCE_GROUP"], |file| file.resource_group.as_ref());
        let subscription =
            self.pick(flags.subscription.as_ref(), &["SUBSCRIPTION_ID"], |file| file.subscription.as_ref());
        let place = match group {
            Some(group) => Some(ResourceGroup {
                subscription: subscription
                    .map(|text| Name::parse(&text))
                    .transpose()
                    .context("checking the subscription")?,
                group: Name::parse(&group).context("checking the resource group")?,
            }),
            None => None,
        };
        let ends = |flag: &Option<String>, keys: &[&str], file: fn(&Meter) -> Option<&String>, what: &str| {
            let missing = || {
                let hint = "name two machines with --source and --dest, by their names or addresses";
                Hinted::new(anyhow::anyhow!("no {what} is named"), hint)
            };
            self.pick(flag.as_ref(), keys, file).ok_or_else(missing)
        };
        let source = ends(
            &flags.source,
            &["SOURCE_IP", "SOURCE_VM_PRIVATE_IP", "SOURCE_VM_NAME"],
            |file| file.source.as_ref(),
            "source",
        )?;
        let destination = ends(
            &flags.dest,
            &["DEST_IP", "DEST_VM_PRIVATE_IP", "DEST_VM_NAME"],
            |file| file.destination.as_ref(),
            "destination",
        )?;
        let storage = self.storage()?;
        let session = match flags.session_id.clone().or_else(|| self.pipe.get("SESSION_ID").cloned()) {
            Some(name) => name.parse::<SessionId>().context("checking the session's name")?,
            None => new_session()?,
        };
        let iterations = match (flags.iterations, self.pipe.get("ITERATIONS")) {
            (Some(number), _) => number,
            (None, Some(text)) => text.parse().with_context(|| format!("reading ITERATIONS={text}"))?,
            (None, None) => self.setup.config.meter.iterations.unwrap_or(ITERATIONS),
        };
        let ask = MeasurementRequest {
            access: self.access_method(&source, &destination)?,
            compare: self.compare(store, storage.is_some())?,
            session,
            source,
            destination,
            place,
            test_type: self.test_type()?,
            iterations,
            both_directions: flags.both_directions,
            seconds: TestSeconds { latency: flags.latency_seconds, throughput: flags.throughput_seconds },
            storage,
            folder: store.folder().display().to_string(),
            is_baseline: flags.is_baseline || self.truth("IS_BASELINE"),
            tolerance: flags.tolerance,
            force: flags.force,
        };
        ask.check().map_err(|error| match error {
            MeasurementRequestError::Group => {
                Hinted::new(error, "name it with -g, or measure with --provider ssh").into()
            }
            MeasurementRequestError::Same(_)
            | MeasurementRequestError::Limit { .. }
            | MeasurementRequestError::Family(_)
            | MeasurementRequestError::Address(_) => error.into(),
        })
    }

    fn test_type(&self) -> anyhow::Result<TestType> {
        let word = self.pick(flags_type(self.arguments), &["TEST_TYPE"], |file| file.test_type.as_ref());
        match word.as_deref() {
            None | Some("both") => Ok(TestType::Both),
            Some("latency") => Ok(TestType::Latency),
            Some("throughput") => Ok(TestType::Throughput),
            Some(other) => {
                let error = anyhow::anyhow!("`{other}` is no test");
                Err(Hinted::new(error, "latency, throughput and both are").into())
            }
        }
    }

    fn storage(&self) -> anyhow::Result<Option<(Account, Container)>> {
        let flags = self.arguments;
        let account = self.pick(flags.storage_account.as_ref(), &["STORAGE_ACCOUNT_NAME"], |file| {
            file.storage_account.as_ref()
        });
        let container = self.pick(flags.storage_container.as_ref(), &["STORAGE_CONTAINER_NAME"], |file| {
            file.storage_container.as_ref()
        });
        let Some(account) = account.filter(|_| !flags.no_upload) else { return Ok(None) };
        let Some(container) = container else {
            let error = anyhow::anyhow!("no container of {account} is named");
            return Err(Hinted::new(
                error,
                "name one with --storage-container, or leave it with --no-upload",
            )
            .into());
        };
        Ok(Some((
            Account::parse(&account).context("checking the storage account")?,
            Container::parse(&container).context("checking the container")?,
        )))
    }

    fn compare(&self, store: &Store, storage: bool) -> anyhow::Result<Compare> {
        let key = self.pipe.get("COMPARE_BASELINE").map(String::as_str);
        let named = match (&self.arguments.compare_baseline, key) {
            (Some(Some(session)), _) => Some(session.clone()),
            (Some(None), _) | (None, Some("true" | "1" | "yes")) => None,
            (None, Some("false" | "0" | "no") | None) => return Ok(Compare::Nothing),
            (None, Some(session)) => Some(session.to_owned()),
        };
        let Some(session) = named else { return Ok(Compare::Pair(store.baselines())) };
        let session: SessionId = session.parse().context("checking the session of --compare-baseline")?;
        let name = format!("{session}_result.json");
        match store.baseline(&name)? {
            Some(baseline) => Ok(Compare::With(Box::new(baseline))),
            None if storage => Ok(Compare::Blob(name)),
            None => {
                let error = anyhow::anyhow!("there is no run {session} to compare with");
                Err(Hinted::new(error, "`ghost meter history` lists the runs that are kept").into())
            }
        }
    }

    fn access_method(&self, source: &str, destination: &str) -> anyhow::Result<AccessMethod> {
        let flags = self.arguments;
        let provider = self.pick(flags.provider.as_ref(), &["PROVIDER"], |file| file.provider.as_ref());
        match provider.as_deref() {
            None | Some("azure") => return Ok(AccessMethod::Platform),
            Some("ssh") => {}
            Some(other) => {
                let error = anyhow::anyhow!("`{other}` is no provider");
                return Err(Hinted::new(error, "azure (by run-command) and ssh are").into());
            }
        }
        let user = self.pick(flags.ssh_user.as_ref(), &["SSH_USER"], |file| file.ssh_user.as_ref());
        let user = user.unwrap_or_else(|| USER.to_owned());
        let host =
            self.pick(flags.source_host.as_ref(), &["SOURCE_PUBLIC_IP", "SOURCE_VM_PUBLIC_IP"], |file| {
                file.source_host.as_ref()
            });
        let source_key =
            self.pick(flags.source_key.as_ref(), &["SSH_SOURCE_VM_KEY_PATH", "SSH_KEY_PATH"], |file| {
                file.source_key.as_ref()
            });
        let dest_key =
            self.pick(flags.dest_key.as_ref(), &["SSH_DEST_VM_KEY_PATH", "SSH_KEY_PATH"], |file| {
                file.destination_key.as_ref()
            });
        let dest_key = dest_key.or_else(|| source_key.clone());
        let known = self.pick(flags.known_hosts.as_ref(), &[], |file| file.known_hosts.as_ref());
        let known = known.map_or_else(|| self.home(".ssh/known_hosts"), |path| Ok(PathBuf::from(path)))?;
        let near = Hop::new(&user, host.as_deref().unwrap_or(source), 22, self.identity(source_key)?)?;
        let far = Hop::new(&user, destination, 22, self.identity(dest_key)?)?;
        // Who comes in by another address than the measured one is outside: the destination lies behind the source.
        let before = host.is_some().then(|| near.clone());
        Ok(AccessMethod::Ssh(
            Box::new(Ssh::new(near, None, &known)?),
            Box::new(Ssh::new(far, before, &known)?),
        ))
    }

    fn home(&self, below: &str) -> anyhow::Result<PathBuf> {
        let home =
            self.setup.environment.path("HOME").context("finding the home folder: $HOME is not set")?;
        Ok(home.join(below))
    }

    fn identity(&self, key: Option<String>) -> anyhow::Result<Identity> {
        if let Some(key) = key {
            let path = match key.strip_prefix("~/") {
                Some(rest) => self.home(rest)?,
                None => PathBuf::from(key),
            };
            return Ok(Identity::Key(std::path::absolute(Path::new(&path)).context("finding the key")?));
        }
        match self.setup.environment.path("SSH_AUTH_SOCK") {
            Some(socket) => Ok(Identity::Agent(socket)),
            None => {
                let error = anyhow::anyhow!("there is neither a key for ssh nor an agent");
                Err(Hinted::new(error, "name a key with --source-key, or start an agent").into())
            }
        }
    }
}

fn flags_type(arguments: &Arguments) -> Option<&String> {
    arguments.test_type.as_ref()
}

/// Makes up a name that says when it was.
fn new_session() -> anyhow::Result<SessionId> {
    let now = SystemClock.now().to_string();
    let moment: String = now.chars().take(19).filter(|char| !matches!(char, '-' | ':')).collect();
    Ok(format!("pmeter_{moment}_{}", random::<2>()?).parse()?)
}
