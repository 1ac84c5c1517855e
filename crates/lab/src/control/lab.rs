//! The cloud, its guests and its clock, kept in step.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::warn;

use crate::azure::{Answer, Cloud, Request, Verb};
use crate::clock::LabClock;
use crate::host::{Fabric, Host, HostError};
use crate::kubernetes::Cluster;
use ghost_base::{Clock as _, Secret, Timestamp};

use super::handler::OrderHandler;
use super::setting::CurrentSettings;
use super::token;

/// How many strangers are remembered.
const MAX_UNKNOWN_ADDRESSES: usize = 1_000;
/// How often captures are looked at whose time may be over.
const CAPTURE_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A lab: a cloud, its guests, a clock.
pub struct Lab {
    cloud: Mutex<Cloud>,
    /// As it was in the beginning, or when it was last remembered.
    kept: Mutex<(Cloud, Vec<Cluster>)>,
    /// What runs containers beside the cloud.
    clusters: Mutex<Vec<Cluster>>,
    host: Arc<dyn Host>,
    clock: LabClock,
    /// The fabric that guests were last given. Its holder is the one who updates them.
    reported: tokio::sync::Mutex<Fabric>,
    /// The captures that machines know of.
    pub(super) begun: tokio::sync::Mutex<BTreeSet<String>>,
    trouble: Mutex<Option<String>>,
    answered: AtomicU64,
    strangers: Mutex<VecDeque<(Timestamp, String)>>,
    pub(super) current: Mutex<CurrentSettings>,
    /// What whoever orders something has to show.
    pub(super) token: Secret,
    /// What a machine shows that asks who it is.
    pub(super) identity: Secret,
    pub(super) handlers: Vec<Arc<dyn OrderHandler>>,
    pub(super) down: watch::Sender<bool>,
    pub(super) gone: watch::Sender<bool>,
    tasks: Mutex<JoinSet<()>>,
}

/// A poisoned lock holds what was there before a panic, and that is consistent enough for a lab.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is asked by a POST and changes nothing around any guest.
const QUESTIONS: [&str; 6] = [
    "effectivenetworksecuritygroups",
    "effectiveroutetable",
    "ipflowverify",
    "nexthop",
    "querystatus",
    "topology",
];

/// Tells whether the guests may have to learn of something after a request.
fn may_change(request: &Request) -> bool {
    let last = request.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    match request.verb {
        Verb::Get | Verb::Head => false,
        Verb::Post => !QUESTIONS.contains(&last.as_str()),
        Verb::Put | Verb::Patch | Verb::Delete => true,
    }
}

impl Lab {
    /// Puts a lab together; the guests are those of this cloud's fabric.
    ///
    /// # Errors
    /// Fails where this machine gives no random bytes.
    pub fn new(
        mut cloud: Cloud,
        host: Arc<dyn Host>,
        clock: LabClock,
        handlers: Vec<Arc<dyn OrderHandler>>,
    ) -> std::io::Result<Arc<Self>> {
        cloud.guests(true);
        cloud.demand_tokens(true);
        let secret = || super::token::draw().map(|word| Secret::new(&word));
        Ok(Arc::new(Self {
            reported: tokio::sync::Mutex::new(cloud.fabric()),
            kept: Mutex::new((cloud.clone(), Vec::new())),
            clusters: Mutex::default(),
            cloud: Mutex::new(cloud),
            host,
            clock,
            begun: tokio::sync::Mutex::default(),
            trouble: Mutex::default(),
            answered: AtomicU64::new(0),
            strangers: Mutex::default(),
            current: Mutex::default(),
            token: secret()?,
            identity: secret()?,
            handlers,
            down: watch::Sender::new(false),
            gone: watch::Sender::new(false),
            tasks: Mutex::default(),
        }))
    }

    /// Returns the cloud, to look at and to change; whoever changes what guests see calls [`Lab::settle`] afterwards.
    pub fn cloud(&self) -> MutexGuard<'_, Cloud> {
        lock(&self.cloud)
    }

    /// Returns the Kubernetes clusters, to read and to change.
    pub fn clusters(&self) -> MutexGuard<'_, Vec<Cluster>> {
        lock(&self.clusters)
    }

    /// Returns the guests.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    #[must_use]
    pub fn clock(&self) -> &LabClock {
        &self.clock
    }

    /// Answers a request to the resource manager: guests have seen what it changes, and what has to be done for it has begun.
    pub async fn manage(self: &Arc<Self>, request: &Request) -> Answer {
        self.captures().await;
        let (answer, job) = self.cloud().answer(request, self.clock.now());
        if may_change(request) {
            self.settle().await;
        }
        if let Some(job) = job {
            self.work(job);
        }
        answer
    }

    /// Answers a request of this process: whoever is signed in asks, where the request does not say who.
    pub async fn ask(self: &Arc<Self>, mut request: Request) -> Answer {
        let signed = self.signed();
        request.headers.entry("authorization".to_owned()).or_insert(signed);
        self.manage(&request).await
    }

    /// Returns the header of whoever is signed in.
    pub(super) fn signed(&self) -> String {
        token::header(self.cloud().description(), self.clock.now().plus(Duration::from_secs(600)))
    }

    /// Answers a request to the blob service.
    pub async fn blob(&self, account: Option<&str>, request: &Request) -> Answer {
        self.captures().await;
        self.cloud().blob(account, request, self.clock.now())
    }

    /// Tells the guests what has changed around them, and begins and ends captures.
    pub async fn settle(&self) {
        let mut reported = self.reported.lock().await;
        let fabric = self.cloud().fabric();
        if *reported != fabric {
            let done = self.host.fabric(fabric.clone()).await;
            if let Err(error) = &done {
                warn!("the guests are out of step with the estate: {error}");
            } else {
                *reported = fabric;
            }
            *lock(&self.trouble) = done.err().map(|error| error.to_string());
        }
        drop(reported);
        self.captures().await;
    }

    /// Remembers how everything is now.
    ///
    /// # Errors
    /// Fails where the guests cannot be remembered; then nothing is.
    pub async fn keep(&self) -> Result<(), HostError> {
        self.host.keep().await?;
        let now = (self.cloud().clone(), self.clusters().clone());
        *lock(&self.kept) = now;
        Ok(())
    }

    /// Makes everything as it was when it was last remembered; without that, as it was in the beginning. Tasks in progress end.
    ///
    /// # Errors
    /// Fails where the guests cannot be made as they were; the estate is, all the same.
    pub async fn restore(&self) -> Result<(), HostError> {
        lock(&self.tasks).abort_all();
        let begun = std::mem::take(&mut *self.begun.lock().await);
        for capture in begun {
            // Its file is nobody's any more.
            drop(self.host.captured(&capture).await);
        }
        let (cloud, clusters) = lock(&self.kept).clone();
        *self.cloud() = cloud;
        *self.clusters() = clusters;
        *lock(&self.current) = CurrentSettings::default();
        let restored = self.host.restore().await;
        self.settle().await;
        restored
    }

    /// Returns what keeps the guests from being in step with the estate, if anything does.
    pub(super) fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// Numbers an answer.
    pub(super) fn number(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.answered.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Notes that somebody wanted to reach a host that is none of the cloud's.
    pub(super) fn note(&self, host: &str) {
        let mut strangers = lock(&self.strangers);
        if strangers.len() == MAX_UNKNOWN_ADDRESSES {
            strangers.pop_front();
        }
        strangers.push_back((self.clock.now(), host.chars().take(255).collect()));
    }

    /// Returns the hosts that somebody wanted to reach and that are none of the cloud's, with the moment.
    #[must_use]
    pub fn strangers(&self) -> Vec<(Timestamp, String)> {
        lock(&self.strangers).iter().cloned().collect()
    }

    /// Runs work that ends with the lab.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// Waits until nothing is in progress.
    pub(crate) async fn rest(&self) {
        loop {
            let mut tasks = std::mem::take(&mut *lock(&self.tasks));
            if tasks.is_empty() {
                return;
            }
            while tasks.join_next().await.is_some() {}
        }
    }

    /// Ends captures whose time is over, until it is dropped.
    pub(super) async fn tick(self: Arc<Self>) {
        loop {
            tokio::time::sleep(CAPTURE_POLL_INTERVAL).await;
            self.captures().await;
        }
    }

    /// Ends what is in progress, and leaves nothing of the guests behind.
    pub(super) async fn close(&self) {
        lock(&self.tasks).abort_all();
        self.host.close().await;
    }
}
