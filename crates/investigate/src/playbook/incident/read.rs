//! What it is about, as a whole.

use std::net::IpAddr;

use super::named::{guessed, machines, named, partner};
use super::resources::{accounts, group};
use super::roles::{Roles, assign_roles};
use crate::complaint::Kind;
use crate::judged::{JudgedFlow, JudgedFlows};
use crate::listed::{ListedResources, last_part};
use crate::playbook::conversation::Conversation;
use crate::playbook::flows;
use crate::symptom_text::{Symptom, SymptomText};

/// More machines than these are not looked at because nobody named any.
pub(super) const MAX_UNNAMED_MACHINES: usize = 2;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::playbook) struct Machine {
    pub(in crate::playbook) name: String,
    /// Its addresses, private ones first.
    pub(in crate::playbook) addresses: Vec<String>,
    /// Its interface, where known.
    pub(in crate::playbook) nic: String,
}

/// What it is about.
#[derive(Debug, Default)]
pub(in crate::playbook) struct IncidentContext {
    /// The resource group, where one is known.
    pub(in crate::playbook) group: Option<String>,
    /// The machine that calls.
    pub(in crate::playbook) source: Option<Machine>,
    /// The machine that is called.
    pub(in crate::playbook) destination: Option<Machine>,
    /// Further machines that are named.
    pub(in crate::playbook) others: Vec<Machine>,
    /// An address of nobody here that speaks with a machine here.
    pub(in crate::playbook) partner: Option<IpAddr>,
    /// Storage accounts.
    pub(in crate::playbook) accounts: Vec<String>,
    /// What the topology listed.
    pub(in crate::playbook) listed: ListedResources,
}

impl IncidentContext {
    /// Reads what people mean, as far as the conversation goes.
    pub(in crate::playbook) fn read(symptom_text: &SymptomText, conversation: &Conversation) -> Self {
        let mut listings = conversation.calls("topology").rev();
        let listed =
            listings.find_map(|finished| ListedResources::of_result(&finished.result)).unwrap_or_default();
        let known = machines(&listed);
        let text = conversation.user_text.to_lowercase();
        let mut incident =
            Self { group: group(symptom_text, conversation, &listed, &text), ..Self::default() };
        incident.accounts = accounts(symptom_text, &text, &known);
        let mut named = named(symptom_text, &text, &listed, &known);
        if named.is_empty() && known.is_empty() {
            named = guessed(symptom_text, incident.group.as_deref(), &incident.accounts);
        }
        incident.partner = partner(symptom_text, &named, &known);
        let few = !known.is_empty() && known.len() <= MAX_UNNAMED_MACHINES;
        if named.is_empty() && few && incident.accounts.is_empty() {
            named.clone_from(&known);
        }
        let pair = named.len() == 1
            && known.len() == MAX_UNNAMED_MACHINES
            && incident.partner.is_none()
            && !alone(symptom_text);
        let peer = known.iter().find(|machine| pair && !named.contains(machine)).cloned();
        let Roles { source, destination, others } = assign_roles(named, &text, symptom_text);
        (incident.source, incident.destination, incident.others) = (source, destination, others);
        // Where there are only two, callers may well come from the other one.
        match (&incident.source, &incident.destination) {
            (None, Some(_)) => incident.source = peer,
            (Some(_), None) => incident.destination = peer,
            (Some(_), Some(_)) | (None, None) => {}
        }
        incident.listed = listed;
        incident.of_flows(&flows::judgement(conversation).unwrap_or_default(), &known);
        incident
    }

    /// Takes the machines at the ends of the flows that were judged, and those of complaints that no flow shows: they are the ones that are
    /// meant.
    fn of_flows(&mut self, judged: &JudgedFlows, known: &[Machine]) {
        let flows = &judged.flows;
        let machine = |name: &Option<String>| {
            let name = name.as_ref()?;
            known.iter().find(|machine| machine.name == *name).cloned()
        };
        let sources: Vec<Machine> = flows.iter().filter_map(|flow| machine(&flow.source_machine)).collect();
        let destinations: Vec<Machine> =
            flows.iter().filter_map(|flow| machine(&flow.destination_machine)).collect();
        if sources.is_empty() && destinations.is_empty() {
            return;
        }
        self.source = sources.first().cloned();
        self.destination = destinations.first().cloned();
        let beside = judged.complaints.iter().filter(|one| one.kind == Kind::Trouble && one.flows.is_empty());
        let beside = beside.flat_map(|one| &one.machines).filter_map(|name| machine(&Some(name.clone())));
        self.others = sources.into_iter().chain(destinations).chain(beside).collect();
        let outside = |flow: &JudgedFlow| match (&flow.source_machine, &flow.destination_machine) {
            (None, _) if flow.source_service.is_some() => None,
            (None, _) => Some(flow.source),
            (_, None) => Some(flow.destination),
            (Some(_), Some(_)) => None,
        };
        self.partner = flows.iter().find_map(outside);
    }

    /// Returns the machines in question: the caller, the called one, others.
    pub(in crate::playbook) fn machines(&self) -> Vec<&Machine> {
        let mut all: Vec<&Machine> = Vec::new();
        for machine in self.source.iter().chain(&self.destination).chain(&self.others) {
            if !all.iter().any(|known| known.name == machine.name) {
                all.push(machine);
            }
        }
        all
    }

    /// Returns their names.
    pub(in crate::playbook) fn names(&self) -> Vec<String> {
        self.machines().into_iter().map(|machine| machine.name.clone()).collect()
    }

    /// Returns the address at the other end of a machine's calls.
    pub(in crate::playbook) fn peer(&self, machine: &Machine) -> Option<String> {
        let other = match (&self.source, &self.destination) {
            (Some(source), Some(destination)) if source.name == machine.name => Some(destination),
            (Some(source), _) if source.name != machine.name => Some(source),
            (_, _) => None,
        };
        let address = other.and_then(|other| other.addresses.first().cloned());
        address.or_else(|| self.partner.map(|address| address.to_string()))
    }

    /// Returns the network and the subnet of the machine that calls.
    pub(in crate::playbook) fn home(&self) -> Option<(String, String)> {
        let own = self.source.as_ref().or(self.destination.as_ref())?;
        let machine = self.listed.machines.iter().find(|machine| machine.name == own.name)?;
        let last = |name: &Option<String>| {
            let last = last_part(name.as_deref()?);
            is_plain(last).then(|| last.to_owned())
        };
        Some((last(&machine.vnet)?, last(&machine.subnet)?))
    }

    /// Returns the network, the subnet and its service endpoints, as they are now.
    pub(in crate::playbook) fn endpoints(&self, network: &str, subnet: &str) -> Option<Vec<String>> {
        let network = self.listed.networks.iter().find(|one| one.name == network)?;
        let subnet = network.subnets.iter().find(|one| one.name == subnet)?;
        Some(subnet.endpoints.iter().filter(|name| is_plain(name)).cloned().collect())
    }
}

/// Tells whether it is about one machine alone.
fn alone(symptom_text: &SymptomText) -> bool {
    [
        Symptom::Exposure,
        Symptom::Containers,
        Symptom::InternetLost,
        Symptom::StorageUnreachable,
        Symptom::Names,
    ]
    .iter()
    .any(|symptom| symptom_text.symptoms.contains(symptom))
}

/// Tells whether a text is such as names and addresses are.
pub(in crate::playbook) fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-():".contains(char))
}
