//! What a fault lies in, as a log names it.

use super::attribute::NoEntry;
use super::change::{Action, Change};
use super::resource::Resource;

/// How a change and a subject lie to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// The change touched it.
    Itself,
    /// The change wrote all of what it is part of.
    Whole,
    /// The change touched a part of it.
    Part,
    /// The change touched another part of the same resource.
    Beside,
    /// The change ran something on the machine inside which it lies.
    Machine,
}

/// What is at fault, or what somebody asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// How it is called.
    pub object: String,
    place: Place,
    wants: Wants,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Kinds and names in small letters; several where one of them is meant.
    Chains(Vec<Vec<(String, String)>>),
    /// An id in small letters.
    Id(String),
    /// A name in small letters, of whatever kind.
    Name(String),
    /// No log of the cloud holds it; it lies inside a machine, or in nothing.
    Absent(NoEntry, Option<String>),
}

/// What a change has to do in order to cause it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// It stands there now: it was written.
    Written,
    /// It is missing: it was deleted, or never made.
    Gone,
    /// It does not run.
    Stopped,
    /// Whatever touched it: that is the question.
    Touched,
}

/// Rules that every group has: nobody makes them, and they decide where other rules are gone.
const DEFAULT_RULES: [&str; 6] = [
    "allowvnetinbound",
    "allowazureloadbalancerinbound",
    "denyallinbound",
    "allowvnetoutbound",
    "allowinternetoutbound",
    "denyalloutbound",
];

impl Subject {
    /// Returns the subject of a fault: its code and the object that a finding names.
    #[must_use]
    pub fn of_fault(code: &str, object: &str) -> Self {
        let wants = match code {
            "peering_missing" | "gateway_missing" | "no_path" => Wants::Gone,
            "machine_stopped" | "vm_stopped" | "appgw_stopped" => Wants::Stopped,
            _ => Wants::Written,
        };
        let inside = matches!(code, "static_blackhole" | "no_default_route" | "rp_filter_drop");
        let place = match object.split_once('/') {
            Some((_, rest)) if inside => Place::Absent(NoEntry::InsideMachine, first(rest)),
            // It names two networks, and no peering: there is none.
            Some(("peering", rest)) if code == "peering_missing" => place(&format!("network/{rest}")),
            _ => place(object),
        };
        Self { object: object.to_owned(), place, wants }
    }

    /// Returns what somebody asks about: the object of a finding, an id, or a name.
    #[must_use]
    pub fn named(text: &str) -> Self {
        let text = text.trim();
        Self { object: text.to_owned(), place: place(text), wants: Wants::Touched }
    }

    /// Tells whether somebody who asks about it wants to see this resource: itself, a part of it, or what it is part of.
    #[must_use]
    pub fn concerns(&self, resource: &Resource) -> bool {
        self.relation(resource).is_some_and(|relation| relation != Relation::Beside)
    }

    /// Tells whether the log records such a thing at all.
    #[must_use]
    pub fn is_logged(&self) -> bool {
        self.absent().is_none()
    }

    /// Returns why no log holds it, where that is so.
    pub(super) fn absent(&self) -> Option<NoEntry> {
        match &self.place {
            Place::Absent(why, _) => Some(*why),
            Place::Chains(_) | Place::Id(_) | Place::Name(_) => None,
        }
    }

    /// Tells how a change and this lie to one another; `None` where they have nothing to do with each other.
    pub(super) fn relation(&self, resource: &Resource) -> Option<Relation> {
        let small = |text: &str| text.to_ascii_lowercase();
        let chain: Vec<(String, String)> =
            resource.chain.iter().map(|(kind, name)| (small(kind), small(name))).collect();
        match &self.place {
            Place::Chains(wanted) => wanted.iter().filter_map(|wanted| between(wanted, &chain)).min(),
            Place::Id(id) => {
                let own = small(&resource.id);
                let below = |upper: &str, lower: &str| {
                    lower.strip_prefix(upper).is_some_and(|rest| rest.starts_with('/'))
                };
                match own.trim_end_matches('/') {
                    own if own == id => Some(Relation::Itself),
                    own if below(id, own) => Some(Relation::Part),
                    // A group holds everything, and touching it touches nothing in it.
                    own if below(own, id) && !chain.is_empty() => Some(Relation::Whole),
                    _ => None,
                }
            }
            Place::Name(name) => match chain.iter().position(|(_, own)| own == name) {
                _ if name.is_empty() => None,
                Some(at) if at + 1 == chain.len() => Some(Relation::Itself),
                Some(_) => Some(Relation::Part),
                None => None,
            },
            Place::Absent(_, machine) => {
                let machine = machine.as_ref()?;
                let on =
                    chain.first().is_some_and(|(kind, name)| kind == "virtualmachines" && name == machine);
                on.then_some(Relation::Machine)
            }
        }
    }

    /// Tells whether a change that lies so to it can have made it what it is; the second is whether that is certain.
    pub(super) fn is_made_by(&self, change: &Change, relation: Relation) -> Option<bool> {
        let written = matches!(change.action, Action::Created | Action::Updated | Action::Written);
        let deleted = change.action == Action::Deleted;
        match (self.wants, relation) {
            (_, Relation::Machine) => None,
            (Wants::Touched, Relation::Itself | Relation::Part) => change.action.is_change().then_some(true),
            (Wants::Touched, Relation::Whole) => (written || deleted).then_some(false),
            (Wants::Touched, Relation::Beside) => None,
            (Wants::Written, Relation::Itself) => written.then_some(true),
            // What is part of something new is as new.
            (Wants::Written, Relation::Whole) => written.then_some(change.action == Action::Created),
            // What is left decides where something before it was taken away or narrowed.
            (Wants::Written, Relation::Beside) if self.is_default_rule() => {
                (deleted || change.action == Action::Updated).then_some(false)
            }
            (Wants::Written, Relation::Beside) if self.object.starts_with("nsg/") => deleted.then_some(false),
            (Wants::Written, Relation::Part | Relation::Beside) => None,
            (Wants::Gone, Relation::Itself | Relation::Part) => deleted.then_some(true),
            (Wants::Gone, Relation::Whole) => (written || deleted).then_some(false),
            (Wants::Gone, Relation::Beside) => None,
            (Wants::Stopped, Relation::Itself) => {
                let stops = matches!(&change.action, Action::Invoked(verb) if ["deallocate", "poweroff", "stop", "hibernate"].contains(&verb.as_str()));
                (stops || deleted).then_some(true)
            }
            (Wants::Stopped, Relation::Whole | Relation::Part | Relation::Beside) => None,
        }
    }

    fn is_default_rule(&self) -> bool {
        let rule = self.object.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        self.object.starts_with("nsg/") && DEFAULT_RULES.contains(&rule.as_str())
    }
}

/// Compares what is wanted with what was touched.
fn between(wanted: &[(String, String)], touched: &[(String, String)]) -> Option<Relation> {
    if wanted == touched {
        return Some(Relation::Itself);
    }
    if touched.starts_with(wanted) {
        return Some(Relation::Part);
    }
    if wanted.starts_with(touched) && !touched.is_empty() {
        return Some(Relation::Whole);
    }
    let ((kind, _), parent) = wanted.split_last()?;
    let ((other, _), same) = touched.split_last()?;
    (kind == other && parent == same && !parent.is_empty()).then_some(Relation::Beside)
}

fn first(rest: &str) -> Option<String> {
    rest.split('/').next().filter(|part| !part.is_empty()).map(str::to_ascii_lowercase)
}

/// Returns where something lies, by the name of an object, an id, or any name.
fn place(object: &str) -> Place {
    let small = object.to_ascii_lowercase();
    if small.starts_with("/subscriptions/") {
        return Place::Id(small.trim_end_matches('/').to_owned());
    }
    let Some((word, rest)) = small.split_once('/') else { return Place::Name(small) };
    let parts: Vec<&str> = rest.split('/').collect();
    let chain = |kinds: &[&str]| -> Vec<(String, String)> {
        // Only the last name may hold a slash of its own, and no name of the cloud does.
        kinds.iter().zip(&parts).map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned())).collect()
    };
    let one = |kinds: &[&str]| Place::Chains(vec![chain(kinds)]);
    match word {
        "nsg" => one(&["networksecuritygroups", "securityrules"]),
        "route" => one(&["routetables", "routes"]),
        "routetable" => one(&["routetables"]),
        "subnet" => one(&["virtualnetworks", "subnets"]),
        "vnet" => one(&["virtualnetworks"]),
        "peering" => one(&["virtualnetworks", "virtualnetworkpeerings"]),
        "network" => {
            let all = parts.iter().map(|name| vec![("virtualnetworks".to_owned(), (*name).to_owned())]);
            Place::Chains(all.collect())
        }
        "storage" => one(&["storageaccounts"]),
        "machine" | "vm" => one(&["virtualmachines"]),
        "nic" => one(&["networkinterfaces"]),
        "lb" => Place::Chains(
            ["probes", "backendaddresspools", "loadbalancingrules", "frontendipconfigurations"]
                .iter()
                .map(|part| chain(&["loadbalancers", part]))
                .collect(),
        ),
        "natgateway" => one(&["natgateways"]),
        "firewall" => one(&["azurefirewalls"]),
        "appgw" => one(&["applicationgateways"]),
        "localgateway" => one(&["localnetworkgateways"]),
        "vpn" => one(&["connections"]),
        "er" => one(&["expressroutecircuits"]),
        "pe" => one(&["privateendpoints"]),
        "zone" => one(&["privatednszones"]),
        "vhub" => one(&["virtualhubs"]),
        "aks" => one(&["managedclusters"]),
        "netfilter" | "qdisc" | "sysctl" | "listener" | "forwarding" | "host-route" | "guest" => {
            Place::Absent(NoEntry::InsideMachine, first(rest))
        }
        "bgp" => Place::Absent(NoEntry::Learned, None),
        "flow" | "dns" | "host" | "effective" | "snat" | "health" | "netpol" => {
            Place::Absent(NoEntry::NoResource, None)
        }
        "service" if parts.len() == 2 => Place::Name(parts.get(1).copied().unwrap_or_default().to_owned()),
        _ => Place::Name(parts.last().copied().unwrap_or_default().to_owned()),
    }
}
