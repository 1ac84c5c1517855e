//! A lab with a case in it, and an engine that works there.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::pace::TimedRunner;
use super::served::Served;
use crate::cli::investigate::Reports;
use crate::cli::lab::session::{GROUPS, reach};
use ghost_base::{Clock, Timestamp};
use ghost_investigate::model::Model;
use ghost_lab::LabClock;
use ghost_lab::control::Lab;
use ghost_lab::runner::InProcess;
use ghost_session::{Engine, Sleep};
use ghost_shell::{Processes, Runner, Scope};
use ghost_store::{EmbeddedStore, Settings};
use ghost_tools::config::{AzureIdentity, Config, Environment, SignIn};
use ghost_tools::setup::Setup;

/// A session belongs to its owner however far the lab's clock jumps.
const TTL: Duration = Duration::from_secs(7 * 24 * 3600);

/// Reads as the machine on which it runs.
const MACHINE: AzureIdentity = AzureIdentity {
    sign_in: SignIn::Managed,
    client_id: None,
    tenant: None,
    certificate: None,
    federated_token_file: None,
    secret_file: None,
    folder: None,
    subscription: None,
    subscriptions: Vec::new(),
};

/// Returns which part of the cloud an investigation may look at.
pub(super) fn scope() -> Scope {
    Scope { resource_groups: GROUPS.map(str::to_owned).to_vec(), ..Scope::default() }
}

/// Returns the setup of an investigation: everything is the lab's, and what is written lies in `data`.
pub(super) fn setup(
    lab: &Arc<Lab>,
    data: &Path,
    own: &Setup,
    (served, native): (Option<&Served>, bool),
) -> anyhow::Result<(Setup, Arc<TimedRunner>)> {
    let mut config = Config::default();
    // Whoever thinks is as the user has it; where it works is not.
    config.model = own.config.model.clone();
    config.limits = own.config.limits.clone();
    reach(&mut config, lab, data);
    let lab_answers = InProcess::new(Arc::clone(lab));
    let (runner, environment) = match served {
        None => (lab_answers, Environment::from([])),
        Some(served) => {
            config.programs.insert("az".to_owned(), served.az().to_owned());
            (lab_answers.with_cloud(Arc::new(Processes)), served.environment())
        }
    };
    if native {
        config.azure.reader = Some(MACHINE);
    }
    let runner: Arc<dyn Runner> = Arc::new(runner);
    let mut setup = Setup::of(config, data.to_owned(), environment, Arc::clone(&runner));
    let runner = if native { setup.native_before(runner)? } else { runner };
    let paced = Arc::new(TimedRunner::new(runner));
    setup.runner = Some(Arc::clone(&paced) as Arc<dyn Runner>);
    setup.clock = Some(Arc::new(lab.clock().clone()));
    Ok((setup, paced))
}

/// Makes an engine that goes by the lab's clock.
pub(super) fn engine(
    lab: &Arc<Lab>,
    data: &Path,
    setup: &Arc<Setup>,
    model: Arc<dyn Model>,
) -> anyhow::Result<Engine> {
    let clock: Arc<dyn Clock> = Arc::new(lab.clock().clone());
    let store = EmbeddedStore::with_clock(&data.join("store.redb"), Settings::default(), Arc::clone(&clock))?;
    Ok(crate::cli::engine::engine(setup, Arc::new(store), model)?
        .clock(clock)
        .sleep(Arc::new(SkippingSleep(lab.clock().clone())))
        .lease_ttl(TTL)
        .delivery(Arc::new(Reports::new(data)))
        .build("eval"))
}

/// Returns how much of the lab's time lies between two moments, in seconds.
pub(super) fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.since(from).as_secs_f64()
}

/// Lets the time pass that somebody would wait.
#[derive(Debug, Clone)]
struct SkippingSleep(LabClock);

#[async_trait]
impl Sleep for SkippingSleep {
    async fn until(&self, at: Timestamp) {
        self.0.pass(at.since(self.0.now()));
    }
}
