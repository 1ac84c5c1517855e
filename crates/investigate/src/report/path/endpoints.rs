//! The machines at both ends of the path, as the topology lists them.

use serde_json::Value;

use crate::coverage;
use crate::listed::{ListedMachine, ListedResources, last_part};
use crate::state::State;
use crate::symptom_text;

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

/// Both endpoints, and the name of the peering between their networks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Endpoints {
    pub(super) from: Option<Machine>,
    pub(super) to: Option<Machine>,
    /// Who calls that is no machine here.
    pub(super) stranger: Option<String>,
    /// What is called that is no machine here.
    pub(super) outside: Option<String>,
    pub(super) peering: Option<String>,
}

/// Finds both endpoints: by the flows that were asked about, else in the order in which people name them, else by what is at fault.
pub(super) fn endpoints(state: &State) -> Endpoints {
    let listed = ListedResources::last(state).unwrap_or_default();
    let known: Vec<Machine> = listed.machines.iter().map(machine).collect();
    let named = |name: &str| known.iter().find(|one| one.name.eq_ignore_ascii_case(name)).cloned();
    let owner = |ip: &str| known.iter().find(|one| one.addresses.iter().any(|own| own == ip)).cloned();
    let mut endpoints = Endpoints::default();
    let flow = state.calls().rev().find_map(|call| {
        let of = |key: &str| call.call.arguments.get(key).and_then(Value::as_str);
        Some((of("src_ip")?, of("dst_ip")?))
    });
    if let Some((from, to)) = flow {
        (endpoints.from, endpoints.to) = (owner(from), owner(to));
        endpoints.outside = endpoints.to.is_none().then(|| to.to_owned());
        endpoints.stranger = endpoints.from.is_none().then(|| from.to_owned());
    }
    let symptoms = symptom_text::read(&coverage::asked(state));
    let at_fault = state.accepted.iter().filter_map(|found| {
        let mut parts = found.finding.object.split('/');
        matches!(parts.next(), Some("netfilter" | "qdisc" | "effective"))
            .then(|| parts.next().unwrap_or_default())
    });
    let mut others =
        coverage::machines(&symptoms, &listed.machines).into_iter().chain(at_fault.map(str::to_owned));
    if endpoints.from.is_none() && endpoints.to.is_none() {
        endpoints.from = others.find_map(|name| named(&name));
    }
    if endpoints.to.is_none() && endpoints.outside.is_none() {
        let first = endpoints.from.as_ref().map(|from| from.name.clone()).unwrap_or_default();
        endpoints.to = others.filter(|name| !name.eq_ignore_ascii_case(&first)).find_map(|name| named(&name));
    }
    let account = state.calls().find(|call| call.call.tool == "inspect_storage");
    let account = account.and_then(|call| call.call.arguments.get("account")?.as_str());
    if let (Some(account), None) = (account, &endpoints.to) {
        endpoints.outside = Some(format!("storage account {account}"));
    }
    if let (Some(from), Some(to)) = (&endpoints.from, &endpoints.to)
        && from.vnet != to.vnet
    {
        endpoints.peering =
            Some(peering(&listed, from, to).unwrap_or_else(|| "no peering is known".to_owned()));
    }
    endpoints
}

fn peering(listed: &ListedResources, from: &Machine, to: &Machine) -> Option<String> {
    let network = listed.networks.iter().find(|one| one.name == from.vnet)?;
    let found = network.peerings.iter().find(|one| last_part(&one.remote) == to.vnet)?;
    Some(format!("peering {}, {}", found.name, found.state))
}

fn machine(listed: &ListedMachine) -> Machine {
    let addresses: Vec<String> = listed.all_addresses().map(str::to_owned).collect();
    let last = |name: &Option<String>| name.as_deref().map(last_part).unwrap_or_default().to_owned();
    Machine {
        name: listed.name.clone(),
        address: addresses.first().cloned().unwrap_or_default(),
        nic: last(&listed.nic),
        nsg: last(&listed.nsg),
        vnet: last(&listed.vnet),
        subnet: last(&listed.subnet),
        subnet_nsg: last(&listed.subnet_nsg),
        route_table: last(&listed.route_table),
        addresses,
    }
}
