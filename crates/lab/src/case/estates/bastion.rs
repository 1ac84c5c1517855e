//! Complaints about a bastion host: why it does not bring people to a machine. Of one that does nobody can see more than that its rules are
//! in order, as no machine here makes its calls.

use std::collections::BTreeSet;

use super::address::Prefix;
use super::draw::{Tried, judged};
use super::estate::{Estate, GroupRule, Machine, Place, Role, Service, Subnet};
use super::tiers::{deny, machine};
use super::walk::{Flow, walk};
use super::write::PROVIDERS;
use crate::case::model::Pair;
use crate::case::random::Rng;
use crate::host::Protocol;

/// The place of its subnet in its network, and that of an instance in it.
const PLACE: u32 = 252 * 256;
const INSTANCE: u32 = 4;
const SUBNET: &str = "AzureBastionSubnet";
const GROUP: &str = "bastion-nsg";
const PORT: u16 = 22;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    Nothing,
    Manager,
    Cloud,
    /// Its own group lets no session out.
    Sessions,
    /// The group of the machine refuses its subnet.
    Target,
    /// Clients of people's own are to pass.
    Client,
}

impl Wrong {
    const BAD: [Self; 5] = [Self::Manager, Self::Cloud, Self::Sessions, Self::Target, Self::Client];

    fn words(self, rng: &mut Rng) -> &'static str {
        match self {
            Self::Nothing => rng.one(&[
                "can one get into {d} by Bastion? a colleague is not sure",
                "somebody says that {d} was unreachable through Bastion this morning, is anything wrong there?",
                "{d} by {b}: please check whether something is in between, it hung once",
                "not sure anything is wrong: {d} may be unreachable through Bastion since security closed everything but the office",
            ]),
            Self::Client => rng.one(&[
                "az network bastion ssh to {d} fails, the page in the portal works",
                "native client through bastion to {d} does not connect",
            ]),
            Self::Manager | Self::Cloud | Self::Sessions | Self::Target => rng.one(&[
                "I can't connect to {d} through Bastion",
                "{d}: bastion says the connection was lost",
                "ssh to {d} via {b} times out since this morning",
                "bastion to {d} just spins and then fails",
                "we do not get into {d} by the bastion any more, unable to connect",
            ]),
        }
    }

    /// The rules of its group: name, number, direction, access, who is named, port.
    fn rules(self) -> Vec<Rule> {
        // A rule for the whole internet lets in whoever manages hosts, too.
        // Rules for one office are meant.
        let users = if matches!(self, Self::Manager | Self::Nothing) { "203.0.113.0/24" } else { "Internet" };
        let mut rules = vec![
            ("allow-manager", 100, "Inbound", "Allow", "GatewayManager", "443"),
            ("allow-users", 110, "Inbound", "Allow", users, "443"),
            ("deny-in", 4000, "Inbound", "Deny", "*", "*"),
            ("allow-ssh", 100, "Outbound", "Allow", "VirtualNetwork", "22"),
            ("allow-cloud", 110, "Outbound", "Allow", "AzureCloud", "443"),
            ("deny-out", 4000, "Outbound", "Deny", "*", "*"),
        ];
        let missing = match self {
            Self::Manager => "allow-manager",
            Self::Cloud => "allow-cloud",
            Self::Sessions => "allow-ssh",
            Self::Nothing | Self::Target | Self::Client => "",
        };
        rules.retain(|(name, ..)| *name != missing);
        rules
    }

    fn expected(self, host: &str) -> Option<Pair> {
        match self {
            Self::Nothing | Self::Target => None,
            Self::Manager => Some(Pair::new("nsg_deny", format!("nsg/{GROUP}/deny-in"))),
            Self::Cloud | Self::Sessions => Some(Pair::new("nsg_deny", format!("nsg/{GROUP}/deny-out"))),
            Self::Client => Some(Pair::new("bastion_unconfigured", format!("bastion/{host}"))),
        }
    }
}

type Rule = (&'static str, u16, &'static str, &'static str, &'static str, &'static str);

/// Somebody wants to administer a machine. All else on the path is in order, so that the host decides.
pub(super) fn bastion(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let estate = &tried.drawn.estate;
    let Some(target) = estate.machines.get(rng.below(estate.machines.len())).cloned() else { return };
    let Some(network) = target.subnet.split('/').next().and_then(|name| estate.network(name)).cloned() else {
        return;
    };
    let subnet = Prefix::new(network.prefix.at(PLACE), 26);
    let is_taken =
        estate.subnets.iter().any(|own| own.prefix.holds(subnet.at(0)) || subnet.holds(own.prefix.at(0)));
    let is_called = estate.machines.iter().any(|own| own.name.contains("bastion"));
    if is_taken || is_called || network.prefix.length() > 16 || target.role == Role::Appliance {
        return;
    }
    let place = format!("{}/{SUBNET}", network.name);
    let flow = Flow {
        source: subnet.at(INSTANCE),
        destination: target.address,
        protocol: Protocol::Tcp,
        port: PORT,
    };
    if !walk(&with_host(estate, &place, subnet, &target), &flow).is_fine() {
        return;
    }
    let wrong = if healthy { Wrong::Nothing } else { rng.one(&Wrong::BAD) };
    let host = format!("{}-bas", tried.drawn.app);
    let mut expected: BTreeSet<Pair> = wrong.expected(&host).into_iter().collect();
    if wrong == Wrong::Target {
        let Some(group) = estate.groups_of(&target).into_iter().flatten().next() else { return };
        let rule = GroupRule {
            name: format!("no-jump-{}", 100 + rng.below(900)),
            ports: vec![(PORT, PORT)],
            source: Place::Of(subnet),
            ..deny("", 230, true)
        };
        tried.drawn.estate.add_rule(&group, rule);
        let estate = &tried.drawn.estate;
        expected.extend(walk(&with_host(estate, &place, subnet, &target), &flow).findings());
    }
    let words = wrong.words(rng).replace("{d}", &target.name).replace("{b}", &format!("bastion {host}"));
    let notes = format!("{host} -> {} tcp/{PORT}: {wrong:?}", target.name);
    let mut own = judged(words, &[], &[], notes);
    own.expected = expected;
    tried.more.push_str(&table(&host, (&network.name, subnet), wrong));
    tried.complaints.push(own);
}

/// Returns the estate with somebody at the address of an instance, so that its paths can be walked.
fn with_host(estate: &Estate, place: &str, prefix: Prefix, target: &Machine) -> Estate {
    let mut with = estate.clone();
    with.subnets.push(Subnet { name: place.to_owned(), prefix, group: None, table: None });
    with.machines.push(machine("jump-instance".to_owned(), Role::Web, prefix.at(INSTANCE), place));
    with.services.push(Service::new(target.name.clone(), PORT, "sshd"));
    with
}

/// Writes what the platform has of it: its group, its subnet, its public address and the host.
fn table(host: &str, (network, subnet): (&str, Prefix), wrong: Wrong) -> String {
    let kind = "Microsoft.Network";
    let place = format!("{kind}/virtualNetworks/{network}/subnets/{SUBNET}");
    let rule = |(name, number, direction, access, named, port): Rule| {
        let (source, target) = if direction == "Inbound" { (named, "*") } else { ("*", named) };
        format!(
            "[[change.body.properties.securityRules]]\nname = \"{name}\"\nproperties = {{ priority = {number}, direction = \"{direction}\", \
             access = \"{access}\", protocol = \"*\", sourceAddressPrefix = \"{source}\", sourcePortRange = \"*\", \
             destinationAddressPrefix = \"{target}\", destinationPortRange = \"{port}\" }}\n\n"
        )
    };
    let rules: String = wrong.rules().into_iter().map(rule).collect();
    let sku = if wrong == Wrong::Client { "Basic" } else { "Standard" };
    format!(
        "[[change]]\nput = \"{kind}/networkSecurityGroups/{GROUP}\"\n\n[change.body]\nlocation = \"eastus\"\n\n{rules}\
         [[change]]\nput = \"{place}\"\nbody = {{ properties = {{ addressPrefix = \"{subnet}\", \
         networkSecurityGroup = {{ id = \"{PROVIDERS}/{kind}/networkSecurityGroups/{GROUP}\" }} }} }}\n\n\
         [[change]]\nput = \"{kind}/publicIPAddresses/{host}-ip\"\n\n[change.body]\nlocation = \"eastus\"\nsku = {{ name = \"Standard\" }}\n\
         properties = {{ ipAddress = \"203.0.113.90\", publicIPAllocationMethod = \"Static\" }}\n\n\
         [[change]]\nput = \"{kind}/bastionHosts/{host}\"\n\n[change.body]\nlocation = \"eastus\"\nsku = {{ name = \"{sku}\" }}\n\n\
         [change.body.properties]\nipConfigurations = [{{ name = \"IpConf\", properties = {{ subnet = {{ id = \"{PROVIDERS}/{place}\" }}, \
         publicIPAddress = {{ id = \"{PROVIDERS}/{kind}/publicIPAddresses/{host}-ip\" }} }} }}]\n\n"
    )
}
