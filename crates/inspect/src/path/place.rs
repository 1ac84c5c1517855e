//! Resource groups beside the one that was asked about: a network is peered with one of another group or subscription, and what lies
//! there was read, is closed to whoever reads, or was not asked for yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;

use serde_json::Value;

use super::bundle::Cloud;
use super::document::{Document, Known, Missing, Reading};
use super::estate::Estate;
use super::object::Object;
use super::topology::{Network, Peering, has, part_after, rows};
use crate::net::Fields;

/// A resource group of a subscription, in small letters: the platform does not tell them apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The id of the subscription.
    pub subscription: String,
    /// The resource group.
    pub group: String,
}

impl Place {
    /// Returns the place that an identifier of a resource names.
    #[must_use]
    pub fn of(id: &str) -> Option<Self> {
        let subscription = part_after(id, "subscriptions")?.to_ascii_lowercase();
        let group = part_after(id, "resourceGroups")?.to_ascii_lowercase();
        Some(Self { subscription, group })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the resource group {} of the subscription {}", self.group, self.subscription)
    }
}

/// What became of reading a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadPlace {
    /// Why nothing of it could be read.
    pub(super) error: Option<String>,
    /// The documents of it that could not be.
    unread: BTreeSet<String>,
}

/// The places that somebody tried to read beside the first one.
pub(super) type Places = BTreeMap<Place, ReadPlace>;

/// Reads which places were read.
pub(super) fn places(cloud: &Cloud) -> Places {
    let known = Known::of(cloud.places.as_ref(), |text| {
        let read = rows(
            text,
            "resource groups",
            |map| has(map, "group"),
            |row, _| {
                let word = |name: &str| row.text(name).map(str::to_ascii_lowercase);
                let place = Place { subscription: word("subscription")?, group: word("group")? };
                let unread = row.field("unread").and_then(Value::as_array).into_iter().flatten();
                let unread = unread.filter_map(Value::as_str).map(str::to_owned).collect();
                Some((place, ReadPlace { error: row.text("error").map(str::to_owned), unread }))
            },
        );
        read.map(|(found, _)| found.into_iter().collect()).map_err(|error| error.to_string())
    });
    known.read().cloned().unwrap_or_default()
}

/// Parts the other sides of peerings from networks of the same name elsewhere.
pub(super) fn part_names(networks: &mut [Network]) {
    let known: Vec<(String, Option<Place>)> =
        networks.iter().map(|own| (own.name.to_ascii_lowercase(), own.place.clone())).collect();
    for peering in networks.iter_mut().flat_map(|own| &mut own.peerings) {
        let Some(there) = &peering.place else { continue };
        let named = peering.remote.to_ascii_lowercase();
        let mut same = known.iter().filter(|(name, _)| *name == named).peekable();
        let is_other = same.peek().is_some()
            && same.all(|(_, place)| place.as_ref().is_some_and(|place| place != there));
        if is_other {
            peering.remote = format!("{}@{}", peering.remote, there.group);
        }
    }
}

impl Estate {
    /// Returns the place that has to be read for an address: that of a network which a known one is peered with and nobody read.
    pub(super) fn beyond(&self, address: IpAddr) -> Option<(&Peering, &Place)> {
        let networks = self.networks.read()?;
        if networks.iter().any(|network| network.contains(address)) {
            return None;
        }
        let all = networks.iter().flat_map(|network| &network.peerings);
        let unread = all.filter(|peering| self.network(&peering.remote).is_none());
        let mut holding =
            unread.filter(|peering| peering.synced.iter().any(|prefix| prefix.contains(&address)));
        holding.find_map(|peering| Some((peering, peering.place.as_ref()?)))
    }

    /// Says what is missing for an address that lies in a network of another place.
    pub(super) fn missing_beyond(&self, address: IpAddr) -> Option<Missing> {
        let (peering, place) = self.beyond(address)?;
        let network = &peering.remote;
        let why = match self.places.get(place) {
            None => format!("{address} lies in the network {network}, which was not read"),
            Some(ReadPlace { error: Some(error), .. }) => {
                format!("{address} lies in the network {network}, which is closed to us: {error}")
            }
            Some(ReadPlace { error: None, .. }) => {
                format!("{address} lies in the network {network}, which is not listed there")
            }
        };
        Some(Missing { what: Document::Place(place.clone()), why })
    }

    /// Says where else a private zone or an endpoint may be that a network sees: in a place of a network which it is peered with and of
    /// which these were not read. Where it has many peers nobody is asked.
    pub(super) fn missing_names(&self, network: &str) -> Option<Missing> {
        const MAX_PEERS: usize = 4;
        let own = self.network(network)?;
        let all: BTreeSet<&Place> =
            own.peerings.iter().filter_map(|peering| peering.place.as_ref()).collect();
        let others: Vec<&Place> =
            all.into_iter().filter(|place| Some(*place) != own.place.as_ref()).collect();
        if others.len() > MAX_PEERS {
            return None;
        }
        others.into_iter().find_map(|place| {
            let why = match self.places.get(place) {
                None => "whether a private zone or an endpoint there holds the name".to_owned(),
                Some(ReadPlace { error: Some(error), .. }) => {
                    format!("whether a private zone or an endpoint there holds the name; it is closed to us: {error}")
                }
                Some(read) if read.unread.iter().any(|name| NAMES.contains(&name.as_str())) => {
                    "whether a private zone or an endpoint there holds the name; they could not be read".to_owned()
                }
                Some(_) => return None,
            };
            Some(Missing { what: Document::Place(place.clone()), why })
        })
    }

    /// Returns the places of the networks that known networks are peered with, as far as nobody tried to read them, each once.
    #[must_use]
    pub fn places_beside(&self) -> Vec<Place> {
        let networks = self.networks.read().map(Vec::as_slice).unwrap_or_default();
        let known: BTreeSet<&Place> = networks.iter().filter_map(|own| own.place.as_ref()).collect();
        let peers =
            networks.iter().flat_map(|own| &own.peerings).filter_map(|peering| peering.place.as_ref());
        let others: BTreeSet<&Place> =
            peers.filter(|place| !known.contains(place) && !self.places.contains_key(place)).collect();
        others.into_iter().cloned().collect()
    }

    /// Returns the places of which nothing could be read, each with the reason.
    #[must_use]
    pub fn closed_places(&self) -> Vec<(&Place, &str)> {
        self.places.iter().filter_map(|(place, read)| Some((place, read.error.as_deref()?))).collect()
    }
}

/// The documents that say which names there are.
const NAMES: [&str; 4] = ["private_endpoints", "zones", "zone_links", "zone_records"];

impl Cloud {
    /// Returns the subscription of a resource group, in small letters, as the ids of its lists name it.
    #[must_use]
    pub fn subscription_of(&self, group: &str) -> Option<String> {
        let lists = [&self.networks, &self.interfaces, &self.machines, &self.groups];
        // Those of the group itself come first: whatever is joined stands behind them.
        let places = lists.into_iter().flat_map(|list| listed(list.as_ref()));
        places
            .map(|(_, place)| place)
            .find(|place| place.group.eq_ignore_ascii_case(group))
            .map(|place| place.subscription)
    }

    /// Returns the place of a resource of one of the lists.
    #[must_use]
    pub fn place_in(&self, list: &str, name: &str) -> Option<Place> {
        let list = self.all().into_iter().find(|(own, _)| *own == list).and_then(|(_, reading)| reading);
        listed(list).into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, place)| place)
    }

    /// Returns the place of an object, where it is one of the lists.
    #[must_use]
    pub fn place_of(&self, object: &Object) -> Option<Place> {
        let (list, name) = list_of(object)?;
        self.place_in(list, name)
    }

    /// Returns how a command names the resource group of a place, where another one than `group` was joined: with the subscription, where
    /// that is another one, too.
    #[must_use]
    pub fn group_words(&self, group: &str, place: Option<Place>) -> Option<String> {
        let place = place.filter(|_| self.places.is_some())?;
        let is_word =
            |text: &str| text.chars().all(|char| char.is_ascii_alphanumeric() || "-_.()".contains(char));
        let is_same = self.subscription_of(group).is_none_or(|own| own == place.subscription);
        let is_plain = is_word(&place.group) && is_word(&place.subscription);
        match (is_same, place.group.eq_ignore_ascii_case(group)) {
            (true, true) => None,
            (true, false) => is_plain.then_some(place.group),
            (false, _) => is_plain.then(|| format!("{} --subscription {}", place.group, place.subscription)),
        }
    }
}

/// Returns the names and the places of the resources of a list.
fn listed(list: Option<&Reading>) -> Vec<(String, Place)> {
    let Some(Reading::Text(text)) = list else { return Vec::new() };
    let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let named = |row: &Value| Some((row.text("name")?.to_owned(), Place::of(row.text("id")?)?));
    rows.iter().filter_map(named).collect()
}

/// Returns the list in which an object, or what it is a part of, stands, and its name there.
fn list_of(object: &Object) -> Option<(&'static str, &str)> {
    Some(match object {
        Object::NsgRule { group, .. } => ("groups", group),
        Object::Route { table, .. } | Object::RouteTable { table } => ("route_tables", table),
        Object::Peering { network, .. }
        | Object::Network { network }
        | Object::NetworkServers { network }
        | Object::SubnetOutbound { network, .. } => ("networks", network),
        Object::BalancerPort { balancer, .. }
        | Object::BalancerPart { balancer, .. }
        | Object::BalancerMember { balancer, .. } => ("load_balancers", balancer),
        Object::AppGateway { gateway }
        | Object::AppGatewayPart { gateway, .. }
        | Object::AppGatewayServer { gateway, .. } => ("application_gateways", gateway),
        Object::FirewallRule { firewall, .. }
        | Object::FirewallPort { firewall, .. }
        | Object::FirewallNames { firewall } => ("firewalls", firewall),
        Object::NatGateway { name } => ("nat_gateways", name),
        Object::Bastion { bastion } => ("bastions", bastion),
        Object::Cluster { cluster } => ("clusters", cluster),
        Object::Endpoint { endpoint } => ("private_endpoints", endpoint),
        Object::Zone { zone, .. } => ("zones", zone),
        Object::Connection { connection } => ("connections", connection),
        Object::LocalGateway { name } => ("local_gateways", name),
        Object::GatewayPeer { gateway, .. } | Object::GatewayPrefix { gateway, .. } => {
            ("virtual_gateways", gateway)
        }
        Object::Circuit { circuit } | Object::CircuitPeering { circuit, .. } => ("circuits", circuit),
        Object::GuestRule { .. }
        | Object::GuestChain { .. }
        | Object::Ban { .. }
        | Object::Qdisc { .. }
        | Object::GuestRoute { .. }
        | Object::Sysctl { .. }
        | Object::Listener { .. }
        | Object::Machine { .. } => ("machines", object.machine()?),
        Object::Networks { .. }
        | Object::Flow { .. }
        | Object::Forwarder { .. }
        | Object::SourceTranslation { .. }
        | Object::Health { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::path::{Bundle, Fate, Flow, Protocol, Reading};

    const SPOKE: &str = "/subscriptions/s1/resourceGroups/web/providers";
    const HUB: &str = "/subscriptions/s2/resourceGroups/hub/providers";

    fn text(value: &Value) -> Option<Reading> {
        Some(Reading::Text(value.to_string()))
    }

    /// A machine in a network that is peered with one of another subscription; what is known of that one.
    fn bundle(state: &str, places: Option<Value>, hub: &[Value]) -> Bundle {
        let network = format!("{SPOKE}/Microsoft.Network/virtualNetworks/app");
        let mut networks = vec![
            json!({"id": network, "name": "app", "addressSpace": {"addressPrefixes": ["10.40.0.0/16"]},
            "subnets": [{"name": "one", "addressPrefix": "10.40.1.0/24"}],
            "virtualNetworkPeerings": [{"name": "to-hub", "peeringState": state, "allowVirtualNetworkAccess": true,
                "remoteVirtualNetwork": {"id": format!("{HUB}/Microsoft.Network/virtualNetworks/hub-net")},
                "remoteAddressSpace": {"addressPrefixes": ["10.50.0.0/16"]}}]}),
        ];
        networks.extend(hub.iter().cloned());
        let nic = json!([{"id": format!("{SPOKE}/Microsoft.Network/networkInterfaces/a-nic"), "name": "a-nic",
            "virtualMachine": {"id": format!("{SPOKE}/Microsoft.Compute/virtualMachines/a")},
            "ipConfigurations": [{"privateIPAddress": "10.40.1.4", "subnet": {"id": format!("{network}/subnets/one")}}]}]);
        let cloud = Cloud {
            interfaces: text(&nic),
            networks: text(&json!(networks)),
            route_tables: text(&json!([])),
            groups: text(&json!([])),
            places: places.as_ref().and_then(text),
            ..Cloud::default()
        };
        Bundle { format: 1, cloud, ..Bundle::default() }
    }

    fn judged(bundle: &Bundle) -> crate::path::Judgement {
        let flow =
            Flow::new([10, 40, 1, 4].into(), [10, 50, 1, 4].into(), Protocol::Tcp, Some(5432)).unwrap();
        Estate::of(bundle).judge(&flow)
    }

    fn places_of(judged: &crate::path::Judgement) -> Vec<(String, String)> {
        let all = judged.missing().into_iter();
        all.filter_map(|one| {
            let Document::Place(place) = one.what else { return None };
            Some((place.subscription, one.why))
        })
        .collect()
    }

    #[test]
    fn what_lies_in_another_subscription_is_asked_for_before_anything_is_said() {
        let judged = judged(&bundle("Connected", None, &[]));
        assert_eq!(judged.fate, Fate::Unknown);
        assert_eq!(places_of(&judged)[0].0, "s2");
    }

    #[test]
    fn a_closed_subscription_stays_open_to_doubt_and_says_what_is_missing() {
        let closed = json!([{"subscription": "s2", "group": "hub", "error": "no role at /subscriptions/s2"}]);
        let judged = judged(&bundle("Connected", Some(closed.clone()), &[]));
        assert_eq!(judged.fate, Fate::Unknown);
        assert!(judged.stops().is_empty());
        assert!(places_of(&judged)[0].1.contains("closed to us: no role at /subscriptions/s2"));
        let bundle = bundle("Connected", Some(closed), &[]);
        let estate = Estate::of(&bundle);
        assert_eq!(estate.closed_places().len(), 1);
        assert!(estate.places_beside().is_empty(), "it was tried");
    }

    #[test]
    fn a_side_of_a_peering_that_is_cut_is_named_whoever_closed_the_other() {
        let judged = judged(&bundle("Disconnected", None, &[]));
        let causes: Vec<String> = judged.findings().iter().map(|cause| cause.object.to_string()).collect();
        assert_eq!(causes, ["peering/app/to-hub"]);
    }

    #[test]
    fn two_networks_of_one_name_are_two() {
        let own = json!({"id": format!("{SPOKE}/Microsoft.Network/virtualNetworks/hub-net"), "name": "hub-net",
            "addressSpace": {"addressPrefixes": ["10.60.0.0/16"]}, "subnets": [], "virtualNetworkPeerings": []});
        let judged = judged(&bundle("Connected", None, &[own]));
        assert_eq!(places_of(&judged)[0].0, "s2", "the one that is here is another one");
    }

    #[test]
    fn a_command_names_the_group_and_the_subscription_of_what_it_changes() {
        let hub = json!({"id": format!("{HUB}/Microsoft.Network/virtualNetworks/hub-net"), "name": "hub-net",
            "addressSpace": {"addressPrefixes": ["10.50.0.0/16"]}});
        let cloud = bundle("Connected", Some(json!([])), &[hub]).cloud;
        let words = |name: &str| cloud.group_words("web", cloud.place_in("networks", name));
        assert_eq!(words("hub-net").as_deref(), Some("hub --subscription s2"));
        assert_eq!(words("app"), None);
    }
}
