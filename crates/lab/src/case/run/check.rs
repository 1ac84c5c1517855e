//! Whether what a case brings can be seen.

use std::error::Error;
use std::net::SocketAddr;

use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use super::access::LabAccess;
use super::inject::clusters;
use super::perform::{ask, run};
use crate::azure::Verb;
use crate::case::model::{Case, ObservationKind};
use crate::case::plan::View;
use crate::host::{CaptureOrder, Protocol};
use crate::kubernetes::Fate;

/// Says what a capture shows, as a document. The lab reads no packets itself: who checks a case brings what does.
pub type CaptureAccount = fn(&[u8]) -> Result<Value, Box<dyn Error + Send + Sync>>;

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    /// What a person would type.
    pub command: String,
    /// What is to be seen.
    pub shows: String,
    /// Whether it is to be seen in this phase.
    pub expected: bool,
    /// Whether it is seen.
    pub seen: bool,
    /// What was seen.
    pub found: String,
}

/// Examines everything that a case says how to see, in a phase from 1. Phase 0 is the lab without the case.
pub async fn check(
    lab: &dyn LabAccess,
    case: &Case,
    phase: usize,
    account: CaptureAccount,
) -> Vec<CheckResult> {
    let view = View::new(lab.documents());
    let mut checked = Vec::new();
    for seen in &case.seen {
        let found = look(lab, &view, &seen.sight, account).await.unwrap_or_else(|error| error);
        let shown = Regex::new(&seen.shows).is_ok_and(|shows| shows.is_match(&found));
        checked.push(CheckResult {
            command: seen.sight.command(),
            shows: seen.shows.clone(),
            expected: phase > 0 && seen.until.is_none_or(|until| phase <= until),
            seen: shown,
            found: found.chars().take(20_000).collect(),
        });
    }
    checked.extend(inside(lab, case, phase));
    checked
}

/// Follows the flows that a case names in its clusters.
fn inside(lab: &dyn LabAccess, case: &Case, phase: usize) -> Vec<CheckResult> {
    let there = lab.clusters();
    let mut checked = Vec::new();
    // A flow of a later phase may be mended already.
    let planned = clusters(case, phase);
    for (own, planned) in case.clusters.iter().zip(&planned) {
        let cluster = there.iter().find(|cluster| cluster.name() == own.name);
        for check in own.checks() {
            let truth = cluster.and_then(|cluster| check.follow(cluster));
            let fate = truth.as_ref().map(|truth| truth.fate);
            let wanted = if check.passes() { Fate::Passes } else { Fate::Fails };
            checked.push(CheckResult {
                command: check.command(&own.name),
                shows: if check.passes() { "it passes" } else { "it fails" }.to_owned(),
                expected: phase > 0 && check.follow(planned).is_some_and(|own| own.fate == wanted),
                seen: fate == Some(wanted),
                found: truth.map_or_else(|| "there is no such flow".to_owned(), |truth| format!("{truth:?}")),
            });
        }
    }
    checked
}

async fn look(
    lab: &dyn LabAccess,
    view: &View,
    sight: &ObservationKind,
    account: CaptureAccount,
) -> Result<String, String> {
    match sight {
        ObservationKind::Run { vm, command } => {
            let ran = run(lab, vm, command).await?;
            Ok(format!("{}{}", ran.out, ran.err))
        }
        ObservationKind::Flow { vm, inbound, protocol, local, remote } => {
            let end = |text: &str| {
                text.parse::<SocketAddr>().map_err(|_| format!("`{text}` is no address and port"))
            };
            let (local, remote) = (end(local)?, end(remote)?);
            let body = json!({
                "targetResourceId": view.path(&format!("Microsoft.Compute/virtualMachines/{vm}")),
                "direction": if *inbound { "Inbound" } else { "Outbound" }, "protocol": upper(*protocol),
                "localIPAddress": local.ip(), "localPort": local.port().to_string(),
                "remoteIPAddress": remote.ip(), "remotePort": remote.port().to_string()});
            watched(lab, "ipFlowVerify", &body).await
        }
        ObservationKind::Hop { vm, from, to } => {
            let body = json!({
                "targetResourceId": view.path(&format!("Microsoft.Compute/virtualMachines/{vm}")),
                "sourceIPAddress": from, "destinationIPAddress": to});
            watched(lab, "nextHop", &body).await
        }
        ObservationKind::Routes { vm } => effective(lab, view, vm, "effectiveRouteTable").await,
        ObservationKind::Rules { vm } => effective(lab, view, vm, "effectiveNetworkSecurityGroups").await,
        ObservationKind::Document { path } => {
            ask(lab, Verb::Get, &view.path(path), None).await.map(|found| found.to_string())
        }
        ObservationKind::Capture { vm } => captured(lab, vm, account).await,
    }
}

async fn watched(lab: &dyn LabAccess, action: &str, body: &Value) -> Result<String, String> {
    let documents = lab.documents();
    let is = |document: &&Value| {
        document.get("type").and_then(Value::as_str) == Some("Microsoft.Network/networkWatchers")
    };
    let watcher = documents.iter().find(is).and_then(|watcher| watcher.get("id")).and_then(Value::as_str);
    let watcher = watcher.ok_or("there is no network watcher")?;
    ask(lab, Verb::Post, &format!("{watcher}/{action}"), Some(body)).await.map(|found| found.to_string())
}

async fn effective(lab: &dyn LabAccess, view: &View, vm: &str, action: &str) -> Result<String, String> {
    let nics = view.nics(vm);
    let nic = nics.first().ok_or_else(|| format!("`{vm}` has no interface"))?;
    let path = view.path(&format!("Microsoft.Network/networkInterfaces/{nic}/{action}"));
    ask(lab, Verb::Post, &path, None).await.map(|found| found.to_string())
}

/// Captures what passes a machine for half a minute, and says what stands out.
async fn captured(lab: &dyn LabAccess, vm: &str, account: CaptureAccount) -> Result<String, String> {
    let name = format!("lab-check-{vm}");
    let order = CaptureOrder { machine: vm.to_owned(), snaplen: 256, most: 0, filters: Vec::new() };
    lab.host().capture(&name, order).await.map_err(|error| error.to_string())?;
    // The lab's clock replaces waiting where the guests are a model.
    run(lab, vm, "sleep 30").await?;
    let file = lab.host().captured(&name).await.map_err(|error| error.to_string())?;
    account(&file).map(|found| found.to_string()).map_err(|error| error.to_string())
}

fn upper(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "TCP",
        Protocol::Udp => "UDP",
        Protocol::Icmp => "ICMP",
    }
}

impl ObservationKind {
    /// Returns what a person would type to see it.
    #[must_use]
    pub fn command(&self) -> String {
        let nic = |vm: &str| format!("-g nw-forensics-rg -n {vm}-nic");
        match self {
            Self::Run { vm, command } => format!("{vm}$ {command}"),
            Self::Flow { vm, inbound, protocol, local, remote } => format!(
                "az network watcher test-ip-flow -g nw-forensics-rg --vm {vm} --direction {} --protocol {} --local {local} --remote {remote}",
                if *inbound { "Inbound" } else { "Outbound" },
                upper(*protocol)
            ),
            Self::Hop { vm, from, to } => {
                format!(
                    "az network watcher show-next-hop -g nw-forensics-rg --vm {vm} --source-ip {from} --dest-ip {to}"
                )
            }
            Self::Routes { vm } => format!("az network nic show-effective-route-table {}", nic(vm)),
            Self::Rules { vm } => format!("az network nic list-effective-nsg {}", nic(vm)),
            Self::Document { path } => {
                let parts: Vec<&str> = path.split('/').collect();
                match parts.as_slice() {
                    [_, "virtualNetworks", vnet, "subnets", subnet] => {
                        format!(
                            "az network vnet subnet show -g nw-forensics-rg --vnet-name {vnet} -n {subnet}"
                        )
                    }
                    [_, "storageAccounts", account] => format!("az storage account show -n {account}"),
                    _ => format!("az resource show --ids …/{path}"),
                }
            }
            Self::Capture { vm } => {
                format!(
                    "az network watcher packet-capture create -g nw-forensics-rg --vm {vm} …; ghost pcap analyze FILE"
                )
            }
        }
    }
}
