//! A storm of alerts: one thread for each group, whichever replica gets it first.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use ghost_base::SessionId;
use ghost_investigate::event::read;
use ghost_investigate::state::State;
use ghost_store::Ledger as _;
use serde_json::{Value, json};

use super::people::PATIENCE;
use super::stage::{REPLICAS, Stage};
use crate::lab::stage::NETWORK;
use crate::random::is_long;

/// How many senders speak at the same time.
const SENDERS: usize = 32;

/// What Alertmanager sends of a group; each time one more alert of it.
fn body(group: usize, alert: usize) -> Value {
    json!({
        "version": "4", "groupKey": format!("{{}}:{{alertname=\"g{group}\"}}"), "status": "firing",
        "alerts": [{
            "status": "firing", "startsAt": "2026-11-24T09:00:00Z", "fingerprint": format!("{group:04x}{alert:04x}"),
            "labels": {"alertname": format!("crowd-busy-{group}"), "instance": format!("web-{alert}")},
            "annotations": {"summary": format!("crowd-busy-{group}: the link is down")}
        }]
    })
}

impl Stage {
    async fn session(&self, session: &SessionId) -> Option<State> {
        let lines = self.store.read(session, 0).await.ok()?;
        let recorded = read(session, lines.iter().map(String::as_str)).ok()?;
        (!recorded.is_empty()).then(|| State::fold(session, &recorded).unwrap())
    }

    /// Sends an alert as senders do: again, where the store or the connection was gone; returns the answer, and how often that was.
    async fn send(&self, at: usize, body: &Value) -> (Value, usize) {
        let mut again = 0;
        let answer = self
            .until(PATIENCE, async || match self.alert(at, body).await {
                Ok((202, answer)) => Ok(answer),
                Ok((status @ (408 | 503), answer)) => {
                    again += 1;
                    Err(format!("{status} {answer}"))
                }
                Ok(other) => panic!("{other:?}"),
                Err(error) => {
                    again += 1;
                    Err(error)
                }
            })
            .await;
        (answer, again)
    }

    /// Returns the messages of the network channel that threads of alerts hang on, by session.
    async fn roots(&self) -> BTreeMap<String, usize> {
        let mut roots = BTreeMap::new();
        let mut cursor = String::new();
        loop {
            let asked =
                json!({"channel": NETWORK, "limit": 200, "cursor": cursor, "include_all_metadata": true});
            let page = self.api("conversations.history", asked).await;
            for message in page["messages"].as_array().unwrap_or_else(|| panic!("{page}")) {
                let about = &message["metadata"]["event_payload"];
                if about["what"] == "alert" {
                    *roots.entry(about["session"].as_str().unwrap().to_owned()).or_default() += 1;
                }
            }
            cursor = page["response_metadata"]["next_cursor"].as_str().unwrap_or_default().to_owned();
            if cursor.is_empty() {
                return roots;
            }
        }
    }
}

#[tokio::test]
async fn a_storm_of_alerts_makes_one_thread_a_group_on_three_replicas() {
    let (groups, alerts) = if is_long() { (100, 10) } else { (10, 20) };
    let Some(stage) = Stage::start(0, 1, Duration::ZERO).await else { return };
    for at in 0..REPLICAS {
        stage
            .until(PATIENCE, async || match stage.alert(at, &json!({})).await? {
                (400, _) => Ok(()),
                other => Err(format!("the port of replica {at}: {other:?}")),
            })
            .await;
    }
    // Every alert comes twice, as from two senders that know nothing of each other, to two replicas.
    let all = (0..alerts).flat_map(|alert| (0..groups).map(move |group| (group, alert)));
    let sent = all.flat_map(|(group, alert)| [(group, alert, alert), (group, alert, alert + 1)]);
    let begun = Instant::now();
    let answers: Vec<(usize, Value, usize)> = stream::iter(sent)
        .map(async |(group, alert, at)| {
            let (answer, again) = stage.send((group + at) % REPLICAS, &body(group, alert)).await;
            (group, answer, again)
        })
        .buffer_unordered(SENDERS)
        .collect()
        .await;
    let took = begun.elapsed();
    let mut sessions: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut opened: BTreeMap<usize, usize> = BTreeMap::new();
    for (group, answer, _) in &answers {
        sessions.entry(*group).or_default().insert(answer["session"].as_str().unwrap().to_owned());
        *opened.entry(*group).or_default() += usize::from(answer["duplicate"] == false);
    }
    assert!(sessions.values().all(|of_group| of_group.len() == 1), "{sessions:?}");
    // Where an answer got lost, the one that was sent again says that the group has its thread.
    let again: usize = answers.iter().map(|(_, _, again)| again).sum();
    assert!(opened.values().all(|times| *times == 1 || (*times == 0 && again > 0)), "{opened:?}");
    let wanted: BTreeSet<String> = sessions.into_values().flatten().collect();
    assert_eq!(wanted.len(), groups);
    let reported = begun;
    for session in &wanted {
        let id: SessionId = session.parse().unwrap();
        stage
            .until(2 * PATIENCE, async || match stage.session(&id).await {
                Some(state) if state.is_reported() => Ok(()),
                state => Err(format!(
                    "the report of {session}, which stands at {:?}",
                    state.map(|state| state.seq)
                )),
            })
            .await;
    }
    let listed: BTreeSet<String> =
        stage.store.list(None, 10_000).await.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(listed, wanted);
    let roots = stage.roots().await;
    assert_eq!(roots, wanted.into_iter().map(|session| (session, 1)).collect());
    print_figures(answers.len(), again, groups, took, reported.elapsed());
}

#[expect(clippy::print_stdout, reason = "the figures of a long run are what it is for")]
fn print_figures(requests: usize, again: usize, groups: usize, took: Duration, reported: Duration) {
    println!(
        "alerts: {requests} requests in {groups} groups answered in {:.1} s, {again} sent again, all reports after {:.1} s",
        took.as_secs_f64(),
        reported.as_secs_f64()
    );
}
