//! Orders about cases to a lab that runs.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::history::write_history;
use super::model::Case;
use super::run::{CaptureAccount, InjectError, LabAccess, SnapshotAction, active_case, check, inject, reset};
use crate::azure::{Answer, BlobRole, Description, EstateError, LoggedFlow, Request};
use crate::control::{Lab, OrderError, OrderHandler};
use crate::host::{Host, HostError};
use crate::kubernetes::Cluster;
use ghost_base::{Clock as _, Timestamp};

#[async_trait]
impl LabAccess for Arc<Lab> {
    async fn manage(&self, request: &Request) -> Answer {
        self.ask(request.clone()).await
    }

    fn documents(&self) -> Vec<Value> {
        self.cloud().documents()
    }

    async fn replace(&self, about: Description) -> Result<(), EstateError> {
        let now = self.clock().now();
        let cloud = self.cloud().with_estate(about, now)?;
        *self.cloud() = cloud;
        self.settle().await;
        Ok(())
    }

    fn close(&self, subscriptions: &[String]) {
        self.cloud().close(subscriptions);
    }

    fn blob_role(&self, role: BlobRole) {
        self.cloud().blob_role(role);
    }

    fn log_flows(&self, flows: &[LoggedFlow]) {
        let now = self.clock().now();
        self.cloud().log_flows(flows, now);
    }

    fn set_clusters(&self, clusters: Vec<Cluster>) {
        *Lab::clusters(self) = clusters;
    }

    fn clusters(&self) -> Vec<Cluster> {
        Lab::clusters(self).clone()
    }

    async fn snapshot(&self, snapshot: SnapshotAction) -> Result<(), HostError> {
        match snapshot {
            SnapshotAction::Save => self.keep().await,
            SnapshotAction::Restore => self.restore().await,
        }
    }

    fn host(&self) -> &dyn Host {
        Lab::host(self).as_ref()
    }

    fn now(&self) -> Timestamp {
        self.clock().now()
    }
}

/// Takes the orders `inject`, `check`, `case` and `reset`. One of them at a time; one that began is done to its end, even where
/// whoever ordered it goes away.
#[derive(Debug)]
pub struct Cases {
    data: PathBuf,
    account: CaptureAccount,
    turn: Arc<Mutex<()>>,
    tasks: std::sync::Mutex<JoinSet<()>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    case: String,
    /// Its estate, where it names one.
    #[serde(default)]
    estate: Option<Value>,
    #[serde(default = "first")]
    phase: usize,
}

fn first() -> usize {
    1
}

impl Cases {
    /// Takes orders, with journal and baselines in a data folder. What a dead lab has left there is for `clean`, by whoever has made
    /// sure that it is dead.
    #[must_use]
    pub fn new(data: PathBuf, account: CaptureAccount) -> Self {
        Self { data, account, turn: Arc::default(), tasks: std::sync::Mutex::default() }
    }

    /// Does something to its end, whether somebody waits for it or not.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, InjectError>> + Send + 'static,
    ) -> Result<T, OrderError> {
        let turn = Arc::clone(&self.turn);
        let (sender, receiver) = tokio::sync::oneshot::channel();
        {
            let mut tasks = self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let turn = turn.lock().await;
                drop(sender.send(work.await));
                drop(turn);
            });
        }
        match receiver.await {
            Ok(done) => done.map_err(refused),
            Err(_) => {
                Err(OrderError::new("the order broke off")
                    .hint("`ghost lab reset` makes everything as it was"))
            }
        }
    }
}

#[async_trait]
impl OrderHandler for Cases {
    async fn call(&self, lab: &Arc<Lab>, name: &str, body: &Value) -> Option<Result<Value, OrderError>> {
        let (lab, data, account) = (Arc::clone(lab), self.data.clone(), self.account);
        match name {
            "inject" => {
                let order: Order = match serde_json::from_value(body.clone()) {
                    Ok(order) => order,
                    Err(error) => return Some(Err(OrderError::new(format!("the order cannot be read: {error}")))),
                };
                let work = async move {
                    let injected = inject(&lab, &data, &order.case, order.estate.as_ref(), order.phase).await?;
                    write_history(&lab, &injected.case, injected.phase);
                    Ok(injected)
                };
                Some(self.to_the_end(work).await.map(|injected| injected.to_json()))
            }
            "reset" => {
                let work = async move {
                    let before = reset(&lab, &data).await?;
                    // Without a case it still makes everything as it was remembered, or in the beginning.
                    if before.is_none() {
                        lab.snapshot(SnapshotAction::Restore).await.map_err(|error| InjectError::Reset(error.to_string()))?;
                    }
                    Ok(json!({"ok": true, "case": before}))
                };
                Some(self.to_the_end(work).await)
            }
            "case" => Some(active_case(&self.data).map_err(refused).map(|found| match found {
                None => json!({"case": null}),
                Some(found) => json!({"case": found.case.as_ref().map(|case| case.id.clone()),
                    "title": found.case.as_ref().map(|case| case.title.clone()), "phase": found.phase, "done": found.done, "at": found.at}),
            })),
            "check" => {
                let work = async move {
                    let found = active_case(&data)?;
                    let case = found.as_ref().and_then(|found| found.case.clone());
                    let (Some(found), Some(case)) = (found, case) else { return Ok(Value::Null) };
                    let checked = check(&lab, &case, found.phase, account).await;
                    Ok(json!({"case": case.id, "title": case.title, "phase": found.phase, "seen": checked}))
                };
                Some(match self.to_the_end(work).await {
                    Ok(Value::Null) => Err(nothing()),
                    other => other,
                })
            }
            _ => None,
        }
    }
}

fn nothing() -> OrderError {
    OrderError::new("no case is injected")
        .hint("`ghost lab inject j` injects one; `ghost lab cases` lists them")
}

fn refused(failed: InjectError) -> OrderError {
    let hint = failed.hint();
    let refused = OrderError::new(failed.to_string());
    if hint.is_empty() { refused } else { refused.hint(hint) }
}

/// Reads a case that is injected, for whoever asks in this process.
impl Cases {
    /// Returns the case that is injected, and its phase.
    #[must_use]
    pub fn injected(&self) -> Option<(Case, usize)> {
        active_case(&self.data).ok().flatten().and_then(|found| Some((found.case?, found.phase)))
    }
}
