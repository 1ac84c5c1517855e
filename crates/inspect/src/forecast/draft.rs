//! An estate's documents while a change is applied to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::documents::{Rows, body, body_mut, id_name, is_named, items, list_mut, set};
use super::edit::{Edit, Interface, Peering, Target, Unread};
use super::{guest, name, rules};
use crate::net::Fields as _;
use crate::path::{Bundle, Nic, Reading};

/// The documents, parsed once.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) bundle: Bundle,
    pub(super) interfaces: Rows,
    pub(super) networks: Rows,
    pub(super) groups: Rows,
    pub(super) tables: Rows,
    machines: Rows,
    pub(super) balancers: Rows,
    pub(super) firewalls: Rows,
    pub(super) firewall_policies: Rows,
    pub(super) firewall_rules: Rows,
    /// Effective routes and rules by network interface.
    pub(super) nics: BTreeMap<String, (Rows, Rows)>,
}

impl Draft {
    pub(super) fn of(bundle: &Bundle) -> Self {
        let cloud = &bundle.cloud;
        let nic = |(name, nic): (&String, &Nic)| {
            (name.clone(), (Rows::of(nic.routes.as_ref()), Rows::of(nic.rules.as_ref())))
        };
        Self {
            interfaces: Rows::of(cloud.interfaces.as_ref()),
            networks: Rows::of(cloud.networks.as_ref()),
            groups: Rows::of(cloud.groups.as_ref()),
            tables: Rows::of(cloud.route_tables.as_ref()),
            machines: Rows::of(cloud.machines.as_ref()),
            balancers: Rows::of(cloud.load_balancers.as_ref()),
            firewalls: Rows::of(cloud.firewalls.as_ref()),
            firewall_policies: Rows::of(cloud.firewall_policies.as_ref()),
            firewall_rules: Rows::of(cloud.firewall_rules.as_ref()),
            nics: bundle.nics.iter().map(nic).collect(),
            bundle: bundle.clone(),
        }
    }

    /// Returns the documents as they would be read after the change.
    pub(super) fn into_bundle(self) -> Bundle {
        let mut bundle = self.bundle;
        bundle.cloud.interfaces = self.interfaces.into_reading();
        bundle.cloud.networks = self.networks.into_reading();
        bundle.cloud.groups = self.groups.into_reading();
        bundle.cloud.route_tables = self.tables.into_reading();
        bundle.cloud.machines = self.machines.into_reading();
        bundle.cloud.load_balancers = self.balancers.into_reading();
        bundle.cloud.firewalls = self.firewalls.into_reading();
        bundle.cloud.firewall_policies = self.firewall_policies.into_reading();
        bundle.cloud.firewall_rules = self.firewall_rules.into_reading();
        bundle.nics = self
            .nics
            .into_iter()
            .map(|(name, (routes, rules))| {
                (name, Nic { routes: routes.into_reading(), rules: rules.into_reading() })
            })
            .collect();
        bundle
    }

    /// Applies one edit.
    ///
    /// # Errors
    /// Says what is not known: what it touches was not read, or nobody can say what becomes of it. What it touches is not known
    /// then.
    pub(super) fn apply(&mut self, edit: &Edit) -> Result<(), Unread> {
        let done = match edit {
            Edit::PutGroup { group, rules } => self.put_group(group, rules),
            Edit::DeleteGroup { group } => self.delete_group(group),
            Edit::PutRule { group, rule } => self.put_rule(group, rule),
            Edit::DeleteRule { group, rule } => self.delete_rule(group, rule),
            Edit::PutTable { table, routes } => self.put_table(table, routes),
            Edit::DeleteTable { table } => self.delete_table(table),
            Edit::PutRoute { table, route } => self.put_route(table, route),
            Edit::DeleteRoute { table, route } => self.delete_route(table, route),
            Edit::PutNetwork { network, prefixes } => self.put_network(network, prefixes),
            Edit::PutSubnet { network, subnet, prefixes } => self.put_subnet(network, subnet, prefixes),
            Edit::SetSubnetGroup { network, subnet, group } => {
                self.set_subnet_group(network, subnet, group.as_deref())
            }
            Edit::SetSubnetTable { network, subnet, table } => {
                self.set_subnet_table(network, subnet, table.as_deref())
            }
            Edit::PutPeering { network, peering } => self.put_peering(network, peering),
            Edit::DeletePeering { network, peering } => self.delete_peering(network, peering),
            Edit::PutInterface(interface) => self.put_interface(interface),
            Edit::DeleteInterface { nic } => self.delete_interface(nic),
            Edit::SetInterfaceGroup { nic, group } => self.set_interface_group(nic, group.as_deref()),
            Edit::SetForwarding { nic, forwards } => self.set_forwarding(nic, *forwards),
            Edit::Attach { nic, machine } => self.attach(nic, machine),
            Edit::SetPower { machine, runs } => self.set_power(machine, *runs),
            Edit::PutBalancer { balancer, lists } => self.put_balancer(balancer, lists),
            Edit::DeleteBalancer { balancer } => self.delete_balancer(balancer),
            Edit::PutBalancerPart { balancer, list, part } => self.put_part(balancer, *list, part),
            Edit::DeleteBalancerPart { balancer, list, part } => self.delete_part(balancer, *list, part),
            Edit::SetPoolMember { balancer, pool, nic, is_in } => {
                self.set_member(balancer, pool, nic, *is_in)
            }
            Edit::Firewall(edit) => self.edit_firewall(edit),
            Edit::Filter { machine, words } => guest::filter(&mut self.bundle, machine, words)
                .map_err(|why| (Target::Machine(machine.clone()), why)),
            Edit::Shape { machine, words } => guest::shape(&mut self.bundle, machine, words)
                .map_err(|why| (Target::Machine(machine.clone()), why)),
            Edit::Admit(admission) => match admission.unknown() {
                Some(Unread { what, why }) => Err((Target::Other(what), why)),
                None => Ok(()),
            },
            Edit::Obscure { target, why } => Err((target.clone(), why.clone())),
        };
        done.map_err(|(target, why)| {
            self.obscure(&target, &why);
            let is_obscure = matches!(edit, Edit::Obscure { .. } | Edit::Admit(_));
            Unread { what: if is_obscure { target.to_string() } else { edit.to_string() }, why }
        })
    }

    /// Makes unknown what a change touches in a manner that nobody can say.
    fn obscure(&mut self, target: &Target, why: &str) {
        let lost = || Rows::Unread(Some(Reading::Failed { error: format!("the change touches it: {why}") }));
        match target {
            Target::Group(group) => {
                let all: Vec<String> =
                    self.nics.keys().filter(|nic| self.has_group(nic, group)).cloned().collect();
                for nic in all {
                    self.nics.entry(nic).or_insert_with(none).1 = lost();
                }
                self.groups.read_mut().into_iter().for_each(|rows| rows.retain(|row| !is_named(row, group)));
            }
            Target::Table(table) => {
                for nic in self.nics_with_table(table) {
                    self.nics.entry(nic).or_insert_with(none).0 = lost();
                }
                self.tables.read_mut().into_iter().for_each(|rows| rows.retain(|row| !is_named(row, table)));
            }
            Target::Network(network) => {
                for nic in self.nics_in(network, None) {
                    self.nics.insert(nic, (lost(), lost()));
                }
                self.networks
                    .read_mut()
                    .into_iter()
                    .for_each(|rows| rows.retain(|row| !is_named(row, network)));
            }
            Target::Interface(nic) => {
                self.nics.insert(nic.clone(), (lost(), lost()));
            }
            // Without it nobody can say which flows it takes.
            Target::Balancer(_) => self.balancers = lost(),
            Target::Firewall(_) => {
                (self.firewalls, self.firewall_rules) = (lost(), lost());
            }
            Target::Other(_) => {}
            Target::Machine(machine) => {
                if let Some(guest) = guest::of(&mut self.bundle, machine) {
                    let failed = Reading::Failed { error: format!("the change touches it: {why}") };
                    guest.filters.values_mut().for_each(|reading| *reading = failed.clone());
                    guest.shaping = guest.shaping.take().map(|_| failed.clone());
                    guest.routes = guest.routes.take().map(|_| failed);
                }
            }
        }
    }

    /// Returns network and subnet of an interface.
    fn place(row: &Value) -> Option<(String, String)> {
        items(row, "ipConfigurations").find_map(|one| name::subnet(body(one).field("subnet")?.text("id")?))
    }

    /// Returns the names of the interfaces in a network, or in one of its subnets.
    pub(super) fn nics_in(&self, network: &str, subnet: Option<&str>) -> Vec<String> {
        let rows = self.interfaces.read().unwrap_or_default().iter();
        let own = rows.filter(|row| {
            Self::place(row).is_some_and(|(own, part)| {
                own.eq_ignore_ascii_case(network) && subnet.is_none_or(|name| part.eq_ignore_ascii_case(name))
            })
        });
        own.filter_map(|row| row.text("name").map(str::to_owned)).collect()
    }

    /// Returns the names of the interfaces to whose subnet a route table belongs.
    pub(super) fn nics_with_table(&self, table: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        for network in self.networks.read().unwrap_or_default() {
            let Some(own) = network.text("name") else { continue };
            let is = |subnet: &&Value| {
                id_name(body(subnet).field("routeTable")).is_some_and(|name| name.eq_ignore_ascii_case(table))
            };
            for subnet in items(network, "subnets").filter(is) {
                found.extend(self.nics_in(own, subnet.text("name")));
            }
        }
        found.into_iter().collect()
    }

    /// Tells whether the effective rules of an interface name a group.
    pub(super) fn has_group(&self, nic: &str, group: &str) -> bool {
        let entries = self.nics.get(nic).and_then(|(_, rules)| rules.read()).unwrap_or_default();
        entries.iter().any(|entry| rules::is_of(entry, group))
    }

    fn put_network(&mut self, network: &str, prefixes: &[String]) -> Done {
        let touched = self.networks.named(network).is_some();
        let Some(rows) = self.networks.begun() else { return unread(Target::Network(network.to_owned())) };
        if !rows.iter().any(|row| is_named(row, network)) {
            rows.push(json!({"name": network, "addressSpace": {"addressPrefixes": []}, "subnets": [], "virtualNetworkPeerings": []}));
        }
        if let Some(map) = self.networks.named_mut(network).and_then(body_mut) {
            set(map, "addressSpace", json!({"addressPrefixes": prefixes}));
        }
        if touched {
            self.forget_network(network);
        }
        Ok(())
    }

    fn put_subnet(&mut self, network: &str, subnet: &str, prefixes: &[String]) -> Done {
        let Some(row) = self.networks.named_mut(network) else {
            return unread(Target::Network(network.to_owned()));
        };
        let Some(list) = list_mut(row, "subnets") else { return unread(Target::Network(network.to_owned())) };
        match list.iter_mut().find(|row| is_named(row, subnet)) {
            Some(row) => {
                if let Some(map) = body_mut(row) {
                    set(map, "addressPrefix", Value::Null);
                    set(map, "addressPrefixes", json!(prefixes));
                }
            }
            None => list.push(json!({"name": subnet, "addressPrefixes": prefixes})),
        }
        Ok(())
    }

    /// Returns one subnet, where it was read.
    pub(super) fn subnet(&self, network: &str, subnet: &str) -> Option<&Value> {
        items(self.networks.named(network)?, "subnets").find(|row| is_named(row, subnet))
    }

    /// Edits one subnet; fails where it was not read.
    pub(super) fn subnet_mut(&mut self, network: &str, subnet: &str) -> Option<&mut Value> {
        let row = self.networks.named_mut(network)?;
        list_mut(row, "subnets")?.iter_mut().find(|row| is_named(row, subnet))
    }

    /// What is in effect at the interfaces of a network is taken from what is configured from now on.
    fn forget_network(&mut self, network: &str) {
        for nic in self.nics_in(network, None) {
            self.nics.remove(&nic);
        }
    }

    fn put_peering(&mut self, network: &str, peering: &Peering) -> Done {
        let Peering { name, remote, access, forwarded, transit, remote_gateway } = peering;
        let target = || Target::Network(network.to_owned());
        if self.networks.named(remote).is_none() {
            return Err((target(), format!("the network {remote} was not read")));
        }
        let answered = self
            .networks
            .named(remote)
            .is_some_and(|row| items(row, "virtualNetworkPeerings").any(|one| leads_to(one, network)));
        let state = if answered { "Connected" } else { "Initiated" };
        let Some(list) =
            self.networks.named_mut(network).and_then(|row| list_mut(row, "virtualNetworkPeerings"))
        else {
            return unread(target());
        };
        list.retain(|row| !is_named(row, name));
        list.push(json!({
            "name": name, "peeringState": state, "allowVirtualNetworkAccess": access, "allowForwardedTraffic": forwarded,
            "allowGatewayTransit": transit, "useRemoteGateways": remote_gateway,
            "remoteVirtualNetwork": {"id": format!("/virtualNetworks/{remote}")},
        }));
        self.set_peering_state(remote, network, if answered { "Connected" } else { "Initiated" });
        self.forget_network(network);
        self.forget_network(remote);
        Ok(())
    }

    fn delete_peering(&mut self, network: &str, peering: &str) -> Done {
        let Some(list) =
            self.networks.named_mut(network).and_then(|row| list_mut(row, "virtualNetworkPeerings"))
        else {
            return unread(Target::Network(network.to_owned()));
        };
        let remote = list
            .iter()
            .find(|row| is_named(row, peering))
            .and_then(|row| id_name(body(row).field("remoteVirtualNetwork")));
        list.retain(|row| !is_named(row, peering));
        let Some(remote) = remote else { return Ok(()) };
        self.set_peering_state(&remote, network, "Disconnected");
        self.forget_network(network);
        self.forget_network(&remote);
        Ok(())
    }

    fn set_peering_state(&mut self, network: &str, with: &str, state: &str) {
        let list = self.networks.named_mut(network).and_then(|row| list_mut(row, "virtualNetworkPeerings"));
        for map in list.into_iter().flatten().filter(|row| leads_to(row, with)).filter_map(body_mut) {
            set(map, "peeringState", json!(state));
        }
    }

    fn put_interface(&mut self, interface: &Interface) -> Done {
        let Interface { name, addresses, subnet: (network, subnet), public, forwards, group } = interface;
        let known = self.interfaces.named(name).and_then(|row| id_name(body(row).field("virtualMachine")));
        let Some(rows) = self.interfaces.begun() else { return unread(Target::Interface(name.clone())) };
        rows.retain(|row| !is_named(row, name));
        let id = format!("/virtualNetworks/{network}/subnets/{subnet}");
        let own = |(at, address): (usize, &String)| {
            let public = public.as_ref().filter(|_| at == 0).map(|ip| json!({"ipAddress": ip}));
            json!({"name": format!("ip{at}"), "privateIpAddress": address, "subnet": {"id": id}, "publicIpAddress": public})
        };
        let configurations: Vec<Value> = addresses.iter().enumerate().map(own).collect();
        let at = |kind: &str, name: &Option<String>| {
            name.as_ref().map(|name| json!({"id": format!("/{kind}/{name}")}))
        };
        rows.push(json!({
            "name": name, "enableIpForwarding": forwards, "ipConfigurations": configurations,
            "virtualMachine": at("virtualMachines", &known), "networkSecurityGroup": at("networkSecurityGroups", group),
        }));
        self.nics.remove(name);
        Ok(())
    }

    fn delete_interface(&mut self, nic: &str) -> Done {
        let Some(rows) = self.interfaces.read_mut() else { return unread(Target::Interface(nic.to_owned())) };
        rows.retain(|row| !is_named(row, nic));
        self.nics.remove(nic);
        Ok(())
    }

    fn set_forwarding(&mut self, nic: &str, forwards: bool) -> Done {
        let Some(map) = self.interfaces.named_mut(nic).and_then(body_mut) else {
            return unread(Target::Interface(nic.to_owned()));
        };
        set(map, "enableIpForwarding", json!(forwards));
        Ok(())
    }

    fn attach(&mut self, nic: &str, machine: &str) -> Done {
        let Some(map) = self.interfaces.named_mut(nic).and_then(body_mut) else {
            return unread(Target::Interface(nic.to_owned()));
        };
        set(map, "virtualMachine", json!({"id": format!("/virtualMachines/{machine}")}));
        Ok(())
    }

    fn set_power(&mut self, machine: &str, runs: bool) -> Done {
        let Some(rows) = self.machines.begun() else { return unread(Target::Machine(machine.to_owned())) };
        if !rows.iter().any(|row| is_named(row, machine)) {
            rows.push(json!({"name": machine, "powerState": null}));
        }
        if let Some(map) = self.machines.named_mut(machine).and_then(Value::as_object_mut) {
            set(map, "powerState", json!(if runs { "VM running" } else { "VM deallocated" }));
        }
        Ok(())
    }
}

/// What an edit did: nothing more to say, or what is not known, and why.
pub(super) type Done = Result<(), (Target, String)>;

/// Says that what is touched was not read.
pub(super) fn unread(target: Target) -> Done {
    let why = format!("{target} was not read");
    Err((target, why))
}

/// Returns the documents of an interface of which nothing was read.
pub(super) const fn none() -> (Rows, Rows) {
    (Rows::Unread(None), Rows::Unread(None))
}

/// Tells whether a peering leads to a network.
fn leads_to(peering: &Value, network: &str) -> bool {
    id_name(body(peering).field("remoteVirtualNetwork")).is_some_and(|own| own.eq_ignore_ascii_case(network))
}
