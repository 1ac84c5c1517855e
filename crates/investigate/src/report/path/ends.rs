//! Who is meant: the machines at both ends, as the topology told of them.

use serde_json::Value;

use crate::brief;
use crate::coverage;
use crate::state::State;

/// A machine and where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) nic: String,
    pub(super) nsg: String,
    pub(super) vnet: String,
    pub(super) subnet: String,
    pub(super) subnet_nsg: String,
    pub(super) route_table: String,
    addresses: Vec<String>,
}

/// Both ends, and the name of the peering between their networks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) from: Option<Machine>,
    pub(super) to: Option<Machine>,
    /// Who calls that is no machine here.
    pub(super) stranger: Option<String>,
    /// What is called that is no machine here.
    pub(super) outside: Option<String>,
    pub(super) peering: Option<String>,
}

/// Finds both ends: by the flows that were asked about, else in the order in which people name them, else by what is at fault.
pub(super) fn ends(state: &State) -> Ends {
    let facts = facts(state);
    let known: Vec<Machine> = list(&facts, "machines").map(machine).collect();
    let named = |name: &str| known.iter().find(|one| one.name.eq_ignore_ascii_case(name)).cloned();
    let owner = |ip: &str| known.iter().find(|one| one.addresses.iter().any(|own| own == ip)).cloned();
    let mut ends = Ends::default();
    let flow = state.calls().rev().find_map(|call| {
        let of = |key: &str| call.call.arguments.get(key).and_then(Value::as_str);
        Some((of("src_ip")?, of("dst_ip")?))
    });
    if let Some((from, to)) = flow {
        (ends.from, ends.to) = (owner(from), owner(to));
        ends.outside = ends.to.is_none().then(|| to.to_owned());
        ends.stranger = ends.from.is_none().then(|| from.to_owned());
    }
    let brief = brief::read(&coverage::asked(state));
    let at_fault = state.accepted.iter().filter_map(|found| {
        let mut parts = found.finding.object.split('/');
        matches!(parts.next(), Some("netfilter" | "qdisc" | "effective"))
            .then(|| parts.next().unwrap_or_default())
    });
    let mut others = coverage::machines(&brief, &facts).into_iter().chain(at_fault.map(str::to_owned));
    if ends.from.is_none() && ends.to.is_none() {
        ends.from = others.find_map(|name| named(&name));
    }
    if ends.to.is_none() && ends.outside.is_none() {
        let first = ends.from.as_ref().map(|from| from.name.clone()).unwrap_or_default();
        ends.to = others.filter(|name| !name.eq_ignore_ascii_case(&first)).find_map(|name| named(&name));
    }
    let account = state.calls().find(|call| call.call.tool == "inspect_storage");
    let account = account.and_then(|call| call.call.arguments.get("account")?.as_str());
    if let (Some(account), None) = (account, &ends.to) {
        ends.outside = Some(format!("storage account {account}"));
    }
    if let (Some(from), Some(to)) = (&ends.from, &ends.to)
        && from.vnet != to.vnet
    {
        ends.peering = Some(peering(&facts, from, to).unwrap_or_else(|| "no peering is known".to_owned()));
    }
    ends
}

fn peering(facts: &Value, from: &Machine, to: &Machine) -> Option<String> {
    let network = list(facts, "networks").find(|one| text(one, "name") == from.vnet)?;
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let found = list(network, "peerings").find(|one| last(&text(one, "remote")) == to.vnet)?;
    Some(format!("peering {}, {}", text(found, "name"), text(found, "state")))
}

/// What the topology told last.
fn facts(state: &State) -> Value {
    let told = state.calls().rev().filter(|call| call.call.tool == "topology").find_map(|call| {
        let returned = call.returned.as_ref().filter(|returned| !returned.is_error)?;
        serde_json::from_str::<Value>(&returned.content).ok()?.get("facts").cloned()
    });
    told.unwrap_or_default()
}

fn machine(value: &Value) -> Machine {
    let addresses: Vec<String> = list(value, "addresses")
        .chain(list(value, "public"))
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let last = |key: &str| text(value, key).rsplit('/').next().unwrap_or_default().to_owned();
    Machine {
        name: text(value, "name"),
        address: addresses.first().cloned().unwrap_or_default(),
        nic: last("nic"),
        nsg: last("nsg"),
        vnet: last("vnet"),
        subnet: last("subnet"),
        subnet_nsg: last("subnet_nsg"),
        route_table: last("route_table"),
        addresses,
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}
