//! What flow logs of networks show of flows, as far as they were read.
//!
//! Only what a line shows is used. That no line is there says nothing: the log may be off, filtered, younger than the flow, or late.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bundle::Cloud;
use super::document::Known;
use super::estate::{Estate, Nic};
use super::flow::{Flow, Protocol};
use crate::flowlog::{Seen, Side, moment_text};
use crate::net::document;

/// So many interfaces are looked up in logs.
const MAX_NICS: usize = 4;

/// An interface whose flows a log may have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoggedNic {
    /// The interface.
    pub nic: String,
    /// Its hardware address, as in `00-22-48-71-C2-05`.
    pub mac: String,
    /// Its network.
    pub network: String,
    /// Its subnet.
    pub subnet: String,
    /// Its region.
    pub region: String,
}

/// What was read of one log at one interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadLog {
    /// The name of the log.
    pub log: String,
    /// What it logs: a network, a subnet or an interface.
    pub of: String,
    /// What interfaces saw of the flows that were asked for.
    #[serde(default)]
    pub seen: Vec<Seen>,
}

/// A log of which something was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadLog {
    /// The log, or the region whose logs were not listed.
    pub log: String,
    /// Why.
    pub why: String,
    /// Nothing of it may be read, or could be.
    #[serde(default)]
    pub is_closed: bool,
}

/// Everything that was read of flow logs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowLogs {
    /// When it was read.
    #[serde(default)]
    pub read_at: String,
    /// What was read.
    #[serde(default)]
    pub read: Vec<ReadLog>,
    /// What was not.
    #[serde(default)]
    pub unread: Vec<UnreadLog>,
}

/// What a log shows of one flow at one interface under one rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) log: &'a ReadLog,
    pub(super) nic: &'a Nic,
    pub(super) seen: &'a Seen,
}

impl Shown<'_> {
    /// Names the log.
    pub(super) fn log(&self) -> String {
        format!("the flow log {} of {}", self.log.log, self.log.of)
    }

    /// Says from when until when.
    pub(super) fn span(&self) -> String {
        span(self.seen)
    }

    /// Tells whether the log names this rule: user rules and default ones may have a prefix there.
    pub(super) fn is_by(&self, rule: &str) -> bool {
        self.seen.rule.as_deref().is_some_and(|own| plain_rule(own).eq_ignore_ascii_case(plain_rule(rule)))
    }

    /// Returns the rule without the prefix.
    pub(super) fn rule(&self) -> Option<&str> {
        self.seen.rule.as_deref().map(plain_rule)
    }
}

/// Says from when until when something was seen.
fn span(seen: &Seen) -> String {
    format!("from {} to {}", moment_text(seen.first), moment_text(seen.last))
}

fn plain_rule(rule: &str) -> &str {
    let last = rule.rsplit('/').next().unwrap_or(rule);
    last.strip_prefix("UserRule_").or_else(|| last.strip_prefix("DefaultRule_")).unwrap_or(last)
}

/// Returns the number of a protocol.
#[must_use]
pub const fn protocol_number(protocol: Protocol) -> u8 {
    match protocol {
        Protocol::Tcp => 6,
        Protocol::Udp => 17,
        Protocol::Icmp => 1,
    }
}

/// Reads what was kept of flow logs.
pub(super) fn flow_logs(cloud: &Cloud) -> Known<FlowLogs> {
    Known::of(cloud.flow_logs.as_ref(), |text| {
        let whole: Value = document(text).map_err(|error| error.to_string())?;
        serde_json::from_value(whole).map_err(|error| error.to_string())
    })
}

impl Estate {
    /// Returns the interfaces at the ends of flows that a log may help with: a rule stops them, or nothing that was read does.
    #[must_use]
    pub fn logged_ends(&self, flows: &[Flow]) -> Vec<LoggedNic> {
        let mut found: Vec<LoggedNic> = Vec::new();
        for flow in flows.iter().filter(|flow| self.judge(flow).is_open_to_logs()) {
            for address in [flow.dst, flow.src] {
                found.extend(self.owners(address).iter().filter_map(|at| logged(self.nic(*at)?)));
            }
        }
        found.sort();
        found.dedup();
        found.truncate(MAX_NICS);
        found
    }

    /// Returns what the logs show of a flow: at the interfaces of its ends, by rule.
    pub(super) fn shown_by_logs(&self, flow: &Flow) -> Vec<Shown<'_>> {
        let fits = |seen: &Seen| {
            (seen.source, seen.destination) == (flow.src, flow.dst)
                && seen.protocol == protocol_number(flow.protocol)
                && flow.dst_port.is_none_or(|port| port == seen.port)
        };
        let logs = self.flow_logs.read().into_iter().flat_map(|logs| &logs.read);
        let rows = logs.flat_map(|log| log.seen.iter().map(move |seen| (log, seen)));
        rows.filter(|(_, seen)| fits(seen))
            .filter_map(|(log, seen)| Some(Shown { log, seen, nic: self.saw(flow, seen)? }))
            .collect()
    }

    /// Returns the end of a flow at which a row was seen.
    fn saw(&self, flow: &Flow, seen: &Seen) -> Option<&Nic> {
        let end: IpAddr = match seen.side {
            Side::Inbound => flow.dst,
            Side::Outbound => flow.src,
        };
        let is_own = |nic: &&Nic| nic.mac.as_deref().is_some_and(|mac| mac.eq_ignore_ascii_case(&seen.mac));
        self.owners(end).iter().filter_map(|at| self.nic(*at)).find(is_own)
    }

    /// Returns what of flow logs was not read.
    pub fn unread_logs(&self) -> impl Iterator<Item = &UnreadLog> {
        self.flow_logs.read().into_iter().flat_map(|logs| &logs.unread)
    }
}

fn logged(nic: &Nic) -> Option<LoggedNic> {
    Some(LoggedNic {
        nic: nic.name.clone(),
        mac: nic.mac.clone()?,
        network: nic.network.clone()?,
        subnet: nic.subnet.clone()?,
        region: nic.region.clone()?,
    })
}
