//! A storm of alerts: what both kinds of bot can do, which is to say in the channel that there is one, once for each group.
//!
//! Three replicas of the bot share a Redis. Three processes on Slack's SDK share nothing, as that has no store: each says once what reaches
//! it, so that a group is said as often as there are processes that hear of it. Each alert goes to the next one, as a load balancer does it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::slack::{Process, Slack};
use crate::start::{Replica, SECRET, bolt_process, bot, free_port, redis};
use crate::{PATIENCE, Plan, parts};

const REPLICAS: usize = 3;

/// What Alertmanager sends.
fn body(group: usize, alert: usize) -> Value {
    json!({
        "version": "4", "groupKey": format!("{{}}:{{alertname=\"storm-{group}\"}}"), "status": "firing",
        "alerts": [{
            "status": "firing", "startsAt": "2026-11-24T09:00:00Z", "fingerprint": format!("{group:04x}{alert:04x}"),
            "labels": {"alertname": format!("storm-{group}"), "instance": format!("web-{alert}")},
            "annotations": {"summary": format!("storm-{group}. the link is down")}
        }]
    })
}

/// What came of it.
struct Figures {
    answered: Vec<f64>,
    said: Vec<f64>,
    messages: usize,
    groups: usize,
    cores: f64,
    memory: f64,
}

pub(crate) async fn measure(plan: &Plan) {
    println!(
        "{} alerts of {} groups within {} s, to {REPLICAS} processes:",
        plan.alerts, plan.groups, plan.seconds
    );
    for name in ["ghost", "bolt"] {
        if plan.only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let figures = one(plan, name == "ghost").await;
        let Figures { answered, said, messages, groups, cores, memory } = figures;
        let (answered, said) = (parts(answered), parts(said));
        println!(
            "  {name}: answered after p50 {:.1} ms, p99 {:.1} ms; said in the channel after p50 {:.0} ms, p99 {:.0} ms",
            answered[0], answered[1], said[0], said[1]
        );
        println!(
            "    {messages} messages for {groups} groups; {cores:.1} s of a core, {:.0} MB in all",
            memory / 1024.0
        );
    }
}

async fn one(plan: &Plan, is_ghost: bool) -> Figures {
    let folder = tempfile::tempdir().unwrap();
    let (_redis, url) = redis(folder.path());
    let slack = Arc::new(Slack::start(1).await);
    let channel = slack.channels[0].clone();
    let ports: Vec<u16> = (0..REPLICAS).map(|_| free_port()).collect();
    let start = |(number, port): (usize, &u16)| match is_ghost {
        true => {
            let alerts = Some((*port, channel.clone()));
            bot(folder.path(), &slack, &Replica { number, alerts, ..Replica::new(1000, &url) })
        }
        false => bolt_process(&slack, &["--alerts".to_owned(), port.to_string(), channel.clone()]),
    };
    let bots: Vec<Process> = ports.iter().enumerate().map(start).collect();
    for port in &ports {
        let deadline = Instant::now() + PATIENCE;
        while send(&slack, *port, &json!({})).await.is_err() {
            assert!(Instant::now() < deadline, "a bot does not take alerts");
            sleep(Duration::from_millis(50)).await;
        }
    }
    let worked: f64 = bots.iter().map(Process::worked).sum();
    let (begun, start) = (now(), Instant::now());
    let mut sending = JoinSet::new();
    for number in 0..plan.alerts {
        let (slack, port) = (Arc::clone(&slack), ports[number % REPLICAS]);
        let due = Duration::from_secs_f64(plan.seconds as f64 * number as f64 / plan.alerts as f64);
        let body = body(number % plan.groups, number);
        sending.spawn(async move {
            sleep_until(start + due).await;
            let since = Instant::now();
            let status = send(&slack, port, &body).await.unwrap();
            assert!(status < 300, "{status}");
            since.elapsed().as_secs_f64() * 1000.0
        });
    }
    let answered = sending.join_all().await;
    let groups = plan.groups.min(plan.alerts);
    let deadline = Instant::now() + PATIENCE;
    let (mut messages, mut first) = (0, HashMap::new());
    while first.len() < groups {
        assert!(Instant::now() < deadline, "{} of {groups} groups are said", first.len());
        sleep(Duration::from_millis(100)).await;
        (messages, first) = said(&slack, &channel).await;
    }
    // The first alert of a group is as many steps after the beginning as its number says.
    let due = |group: usize| begun + plan.seconds as f64 * 1000.0 * group as f64 / plan.alerts as f64;
    let said = first.into_iter().map(|(group, at)| at - due(group)).collect();
    let cores = bots.iter().map(Process::worked).sum::<f64>() - worked;
    Figures { answered, said, messages, groups, cores, memory: bots.iter().map(Process::memory).sum() }
}

async fn send(slack: &Slack, port: u16, body: &Value) -> reqwest::Result<u16> {
    let url = format!("http://127.0.0.1:{port}/alerts/alertmanager");
    let sent = slack.client.post(url).bearer_auth(SECRET).json(body).send().await?;
    Ok(sent.status().as_u16())
}

fn now() -> f64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64() * 1000.0
}

/// Counts the messages about alerts in the channel; returns when each group was first said.
async fn said(slack: &Slack, channel: &str) -> (usize, HashMap<usize, f64>) {
    let (mut count, mut first, mut cursor) = (0, HashMap::new(), String::new());
    loop {
        let page = json!({"channel": channel, "limit": 200, "cursor": cursor});
        let page = slack.api("conversations.history", page).await;
        for message in page["messages"].as_array().unwrap() {
            let text = message["text"].as_str().unwrap_or_default();
            let Some((_, rest)) = text.split_once("storm-") else { continue };
            let group: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let at = message["ts"].as_str().unwrap().parse::<f64>().unwrap() * 1000.0;
            count += 1;
            let earliest = first.entry(group.parse().unwrap()).or_insert(at);
            *earliest = at.min(*earliest);
        }
        page["response_metadata"]["next_cursor"].as_str().unwrap_or_default().clone_into(&mut cursor);
        if cursor.is_empty() {
            return (count, first);
        }
    }
}
