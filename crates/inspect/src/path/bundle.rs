//! The raw documents of an estate in one place, so that an answer can be had offline and again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::document::Reading;

/// The version of the form.
pub(super) const FORMAT: u32 = 1;

/// The file of a folder that says how long each of the others is.
pub const LENGTHS: &str = "lengths.json";

/// What was read of an estate, as it was printed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bundle {
    /// The version of the form.
    #[serde(default = "format")]
    pub format: u32,
    /// What the cloud lists.
    #[serde(default)]
    pub cloud: Cloud,
    /// By name of the network interface.
    #[serde(default)]
    pub nics: BTreeMap<String, Nic>,
    /// By name of the machine.
    #[serde(default)]
    pub guests: BTreeMap<String, Guest>,
}

const fn format() -> u32 {
    FORMAT
}

/// What the cloud lists about an estate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cloud {
    /// `az network nic list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<Reading>,
    /// `az network vnet list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networks: Option<Reading>,
    /// `az network route-table list`, for interfaces whose effective routes cannot be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_tables: Option<Reading>,
    /// `az network nsg list`, for interfaces whose effective rules cannot be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Reading>,
    /// `az vm list -d`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<Reading>,
    /// `az network list-service-tags`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Reading>,
    /// `az network lb list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancers: Option<Reading>,
    /// `az network application-gateway list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_gateways: Option<Reading>,
    /// `az network application-gateway show-backend-health` of gateways, in one list, each with `gateway` and with `readAt`, when it was
    /// read; `error` where it could not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_health: Option<Reading>,
    /// `az network bastion list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bastions: Option<Reading>,
    /// `az aks list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Reading>,
    /// `az network public-ip list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_addresses: Option<Reading>,
    /// `az vm get-instance-view` of machines that could not be looked into, in one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_views: Option<Reading>,
    /// `az network nat gateway list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nat_gateways: Option<Reading>,
    /// `az monitor metrics list` about failed connections, of every NAT gateway and load balancer, in one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_connections: Option<Reading>,
    /// `az network private-endpoint list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_endpoints: Option<Reading>,
    /// `az network private-dns zone list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Reading>,
    /// `az network private-dns link vnet list` of every zone, in one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_links: Option<Reading>,
    /// `az network private-dns record-set a list` of every zone, in one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_records: Option<Reading>,
    /// `az network firewall list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firewalls: Option<Reading>,
    /// `az network firewall policy list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firewall_policies: Option<Reading>,
    /// `az network firewall policy rule-collection-group list` of every policy, in one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firewall_rules: Option<Reading>,
    /// `az network ip-group list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_groups: Option<Reading>,
    /// `az network vnet-gateway list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_gateways: Option<Reading>,
    /// `az network vpn-connection show` of every connection, in one list: the list alone does not say how they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Reading>,
    /// `az network local-gateway list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_gateways: Option<Reading>,
    /// `az network express-route list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circuits: Option<Reading>,
    /// `az network vnet-gateway list-bgp-peer-status` of every gateway, in one list, each with `gateway`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bgp_peers: Option<Reading>,
    /// `az network vnet-gateway list-learned-routes` of every gateway, in one list, each with `gateway`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned_routes: Option<Reading>,
    /// `az network watcher troubleshooting show` of connections, in one list, each with `connection`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub troubles: Option<Reading>,
    /// The events of the platform that the subscription sees, with `readAt`, when they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_events: Option<Reading>,
    /// How the platform sees machines, in one list, each with `machine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability: Option<Reading>,
    /// What flow logs of networks show of flows that were asked for, with `readAt`, when they were read, and what was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_logs: Option<Reading>,
    /// `az storage account list`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Reading>,
    /// The other resource groups whose lists were read and joined with these, in one list: each with `subscription` and `group`, with
    /// `error` where nothing of it could be read, else with the names of documents in `unread`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Reading>,
}

/// What was read of one network interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Nic {
    /// `az network nic show-effective-route-table`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<Reading>,
    /// `az network nic list-effective-nsg`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Reading>,
}

/// What was read inside one machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Guest {
    /// The packet filter, by source: those of [`crate::netfilter::SOURCES`], and `iptables-save` and `ip6tables-save` where nobody
    /// knows which of the two backends printed them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub filters: BTreeMap<String, Reading>,
    /// `tc -s qdisc show`, with classes and filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaping: Option<Reading>,
    /// `ip route` or `ip -j route`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<Reading>,
    /// `ip -6 route`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes6: Option<Reading>,
    /// `ip rule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Reading>,
    /// `ip addr` or `ip -j addr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Reading>,
    /// `sysctl net.ipv4.ip_forward …`, a setting a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Reading>,
    /// `ss -tlnp`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Reading>,
    /// `ss -ulnp`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp: Option<Reading>,
    /// What `ss -tan` prints without listeners: states and peers, counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Reading>,
    /// What `dig @SERVER NAME A` prints, for each name server and name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Reading>,
    /// What `curl` reports of the pages that probes of load balancers ask for, asked on the machine itself: address, status, and exit
    /// code, a page a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Reading>,
    /// What came of trying to reach destinations from the machine: for each a line `to HOST PORT`, then lines `address ADDRESS`,
    /// `ping …` with the counts of `ping`, and `tcp …` with what `nc -zv` printed. The part `probes` of `ghost host --save` has this form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Reading>,
}

/// Why a document is no bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// It is not JSON of that form.
    #[error("the bundle cannot be read")]
    Json(#[source] serde_json::Error),
    /// It was written by a later version.
    #[error("the bundle has format {0}, and this program knows {FORMAT}")]
    Format(u32),
    /// It holds nothing.
    #[error("the bundle holds no document")]
    Empty,
    /// A file of the folder has a name that means nothing.
    #[error("`{0}` is no file of a bundle")]
    Foreign(String),
}

impl Bundle {
    /// Reads a bundle that is one JSON document.
    ///
    /// # Errors
    /// Fails where it is no such document, is of a later version, or holds nothing.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let bundle: Self = serde_json::from_str(text).map_err(BundleError::Json)?;
        if bundle.format > FORMAT {
            return Err(BundleError::Format(bundle.format));
        }
        if bundle.cloud == Cloud::default() && bundle.nics.is_empty() && bundle.guests.is_empty() {
            return Err(BundleError::Empty);
        }
        Ok(bundle.distinct().into_owned())
    }

    /// Reads a bundle that is a folder: `cloud/DOCUMENT`, `nics/NAME/DOCUMENT`, `guests/NAME/DOCUMENT` and
    /// `guests/NAME/filters/SOURCE`, each name with or without an ending. With [`LENGTHS`] a file that is shorter than it was, or gone, is
    /// one that was not read.
    ///
    /// # Errors
    /// Fails at the first file that has no place in a bundle.
    pub fn from_files<'a>(files: impl IntoIterator<Item = (&'a str, Reading)>) -> Result<Self, BundleError> {
        let mut bundle = Self { format: FORMAT, ..Self::default() };
        let mut lengths = BTreeMap::new();
        let mut kept = Vec::new();
        for (path, reading) in files {
            match reading {
                Reading::Text(text) if path.trim_start_matches("./") == LENGTHS => {
                    lengths =
                        serde_json::from_str::<BTreeMap<String, usize>>(&text).map_err(BundleError::Json)?;
                }
                reading @ (Reading::Text(_) | Reading::Failed { .. }) => kept.push((path, reading)),
            }
        }
        for (path, reading) in kept {
            let reading = match (lengths.remove(path.trim_start_matches("./")), reading) {
                (Some(length), Reading::Text(text)) if text.len() < length => {
                    Reading::Failed { error: format!("cut off: {} of {length} bytes", text.len()) }
                }
                (_, reading) => reading,
            };
            bundle.put(path, reading).ok_or_else(|| BundleError::Foreign(path.to_owned()))?;
        }
        for path in lengths.keys() {
            let error = "the file is missing".to_owned();
            bundle.put(path, Reading::Failed { error }).ok_or_else(|| BundleError::Foreign(path.clone()))?;
        }
        Ok(bundle.distinct().into_owned())
    }

    fn put(&mut self, path: &str, reading: Reading) -> Option<()> {
        let parts: Vec<&str> = path.trim_start_matches("./").split('/').collect();
        let (folder, file) = parts.split_last().map(|(file, folder)| (folder, stem(file)))?;
        match folder {
            ["cloud"] => *self.cloud.place(file)? = Some(reading),
            ["nics", name] => {
                let mut nic = self.nics.get(*name).cloned().unwrap_or_default();
                *nic.place(file)? = Some(reading);
                self.nics.insert((*name).to_owned(), nic);
            }
            ["guests", name] => {
                let mut guest = self.guests.get(*name).cloned().unwrap_or_default();
                *guest.place(file)? = Some(reading);
                self.guests.insert((*name).to_owned(), guest);
            }
            ["guests", name, "filters"] => {
                let guest = self.guests.entry((*name).to_owned()).or_default();
                guest.filters.insert(file.to_owned(), reading);
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the files that [`Self::from_files`] reads, each with its path. What could not be read has no file.
    #[must_use]
    pub fn to_files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut add = |folder: &str, name: &str, reading: Option<&Reading>| {
            if let Some(Reading::Text(text)) = reading {
                let ending = if text.trim_start().starts_with(['[', '{']) { "json" } else { "txt" };
                files.push((format!("{folder}/{name}.{ending}"), text.clone()));
            }
        };
        self.cloud.all().iter().for_each(|(name, reading)| add("cloud", name, *reading));
        for (nic, documents) in &self.nics {
            let folder = format!("nics/{nic}");
            documents.all().iter().for_each(|(name, reading)| add(&folder, name, *reading));
        }
        for (machine, documents) in &self.guests {
            let folder = format!("guests/{machine}");
            documents.all().iter().for_each(|(name, reading)| add(&folder, name, *reading));
            let folder = format!("{folder}/filters");
            documents.filters.iter().for_each(|(name, reading)| add(&folder, name, Some(reading)));
        }
        let lengths: BTreeMap<&str, usize> =
            files.iter().map(|(path, text)| (path.as_str(), text.len())).collect();
        if !lengths.is_empty()
            && let Ok(text) = serde_json::to_string(&lengths)
        {
            files.push((LENGTHS.to_owned(), text));
        }
        files
    }
}

fn stem(file: &str) -> &str {
    ["json", "txt"].iter().find_map(|ending| file.strip_suffix(ending)?.strip_suffix('.')).unwrap_or(file)
}

/// Finds the fields of a struct of readings by their names.
macro_rules! fields {
    ($of:ident: $($field:ident),*) => {
        impl $of {
            pub(super) fn place(&mut self, name: &str) -> Option<&mut Option<Reading>> {
                match name {
                    $(stringify!($field) => Some(&mut self.$field),)*
                    _ => None,
                }
            }

            pub(super) fn all(&self) -> Vec<(&'static str, Option<&Reading>)> {
                vec![$((stringify!($field), self.$field.as_ref())),*]
            }
        }
    };
}

fields!(
    Cloud: interfaces, networks, route_tables, groups, machines, tags, load_balancers, application_gateways, backend_health,
        bastions, clusters, public_addresses, private_endpoints, zones, places,
        zone_links, zone_records, accounts, nat_gateways, failed_connections, instance_views, firewalls, firewall_policies, virtual_gateways, connections, local_gateways, circuits, bgp_peers, learned_routes, troubles, platform_events, availability, flow_logs,
        firewall_rules, ip_groups
);
fields!(Nic: routes, rules);
fields!(Guest: shaping, routes, routes6, rules, addresses, settings, tcp, udp, connections, answers, pages, probes);
