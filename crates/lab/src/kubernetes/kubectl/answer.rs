//! A line, answered.

use super::line::{Command, Get, Order};
use super::{print, table};
use crate::kubernetes::model::{ApiServer, Cluster};
use ghost_base::Timestamp;

/// What is printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answered {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: i32,
}

impl Answered {
    pub(super) fn printed(out: String) -> Self {
        Self { out, ..Self::default() }
    }

    pub(super) fn failed(err: impl Into<String>) -> Self {
        Self { err: format!("{}\n", err.into()), exit: 1, ..Self::default() }
    }
}

/// Answers a line of `kubectl`, its first word left out.
pub(crate) fn kubectl(clusters: &[Cluster], words: &[String], now: Timestamp) -> Answered {
    let command = match Command::of(words) {
        Ok(command) => command,
        Err(failed) => return failed,
    };
    match command.order {
        Order::Version => {
            Answered::printed("Client Version: v1.32.5\nKustomize Version: v5.5.0\n".to_owned())
        }
        Order::ContextNames => {
            let mut names: Vec<&str> = clusters.iter().map(Cluster::name).collect();
            names.sort_unstable();
            Answered::printed(names.iter().map(|name| format!("{name}\n")).collect())
        }
        Order::Contexts => Answered::printed(table::contexts(clusters)),
        Order::CurrentContext => match clusters.first() {
            Some(cluster) => Answered::printed(format!("{}\n", cluster.name())),
            None => Answered::failed("error: current-context is not set"),
        },
        Order::Get(get) => reach(clusters, command.context.as_deref(), &get, now),
    }
}

fn reach(clusters: &[Cluster], context: Option<&str>, get: &Get, now: Timestamp) -> Answered {
    let named = |name: &str| clusters.iter().find(|cluster| cluster.name() == name);
    let cluster = match context {
        None => clusters.first(),
        Some(name) => match named(name) {
            Some(cluster) => Some(cluster),
            None => {
                let why = format!("context was not found for specified context: {name}");
                return Answered::failed(format!("Error in configuration: {why}"));
            }
        },
    };
    let Some(cluster) = cluster else {
        let dial = "dial tcp 127.0.0.1:8080: connect: connection refused";
        let why = format!("Get \"http://localhost:8080/api?timeout=32s\": {dial}");
        let last = "The connection to the server localhost:8080 was refused - did you specify the right host or port?";
        return unreached(&why, last, now);
    };
    let server = cluster.server;
    let asked = format!("Get \"https://{server}:443/api?timeout=32s\": dial tcp {server}:443:");
    match cluster.api {
        ApiServer::Answers => print::get(cluster, get, now),
        ApiServer::Silent => unreached(
            &format!("{asked} i/o timeout"),
            &format!("Unable to connect to the server: dial tcp {server}:443: i/o timeout"),
            now,
        ),
        ApiServer::Refuses => unreached(
            &format!("{asked} connect: connection refused"),
            &format!(
                "The connection to the server {server}:443 was refused - did you specify the right host or port?"
            ),
            now,
        ),
        ApiServer::Unauthorized => {
            let why = "the server has asked for the client to provide credentials";
            unreached(why, &format!("error: You must be logged in to the server ({why})"), now)
        }
    }
}

/// What it prints where it does not learn what kinds there are: it asks five times.
fn unreached(why: &str, last: &str, now: Timestamp) -> Answered {
    // 2025-06-02T09:31:00.000Z
    let text = now.to_string();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let (month, day, clock) = (part(5, 7), part(8, 10), part(11, 23));
    let why = why.replace('"', "\\\"");
    let line = format!(
        "E{month}{day} {clock}214   27814 memcache.go:265] \"Unhandled Error\" err=\"couldn't get current server API group list: {why}\"\n"
    );
    Answered { out: String::new(), err: format!("{}{last}\n", line.repeat(5)), exit: 1 }
}
