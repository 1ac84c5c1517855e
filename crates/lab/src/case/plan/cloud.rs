//! Faults of what the platform is configured to do.

use serde_json::{Map, Value, json};

use super::make::Maker;
use super::step::PlanAction;
use super::view::text;
use crate::case::fault::{
    Direction, MachineStopped, NsgRule, Peering, Route, ServiceEndpoint, StorageFirewall,
};

const GROUP: &str = "Microsoft.Network/networkSecurityGroups";
const TABLE: &str = "Microsoft.Network/routeTables";
const NETWORK: &str = "Microsoft.Network/virtualNetworks";
const ACCOUNT: &str = "Microsoft.Storage/storageAccounts";

impl Maker {
    pub(super) fn nsg_rule(&mut self, rule: &NsgRule) {
        let path = self.view.known(GROUP, &rule.nsg);
        match self.view.named(GROUP, &rule.nsg).cloned() {
            Some(group) => self.clashes(rule, &group),
            None => self.group(rule, &path),
        }
        let key = format!("rule {} {:?} {}", rule.nsg.to_lowercase(), rule.direction, rule.priority);
        let name = format!("rule {} {}", rule.nsg.to_lowercase(), rule.name.to_lowercase());
        if self.shared.contains_key(&key) || self.shared.contains_key(&name) {
            let what =
                format!("`{}` has another rule of this name, or of priority {}", rule.nsg, rule.priority);
            self.wrong(what, "each rule of a direction has its own name and priority");
        }
        self.shared.insert(key, usize::MAX);
        self.shared.insert(name, usize::MAX);
        let rule_path = format!("{path}/securityRules/{}", rule.name);
        let mut properties = Map::new();
        let mut set = |field: &str, value: Value| properties.insert(field.to_owned(), value);
        set("protocol", json!(rule.protocol));
        set("access", json!(rule.access));
        set("direction", json!(rule.direction));
        set("priority", json!(rule.priority));
        set("sourceAddressPrefix", json!(rule.source));
        set("destinationAddressPrefix", json!(rule.destination));
        for (one, many, ports) in [
            ("sourcePortRange", "sourcePortRanges", &rule.source_ports),
            ("destinationPortRange", "destinationPortRanges", &rule.ports),
        ] {
            match ports.as_slice() {
                [port] => set(one, json!(port)),
                several => set(many, json!(several)),
            };
        }
        let (acts, undo) = (
            vec![PlanAction::Put { path: rule_path.clone(), body: json!({"properties": properties}) }],
            vec![PlanAction::Delete { path: rule_path }],
        );
        let direction = if rule.direction == Direction::Inbound { "inbound" } else { "outbound" };
        let what = format!(
            "the rule {} of {}: {:?} {direction} {} {} at {}",
            rule.name,
            rule.nsg,
            rule.access,
            rule.protocol,
            rule.ports.join(","),
            rule.priority
        );
        self.step(what, acts, undo);
    }

    fn clashes(&mut self, rule: &NsgRule, group: &Value) {
        if rule.subnet.is_some() || rule.nic.is_some() {
            self.wrong(
                format!("`{}` is there already", rule.nsg),
                "`subnet` and `nic` are for a group that is not there yet",
            );
        }
        let rules = group.pointer("/properties/securityRules").and_then(Value::as_array);
        for known in rules.into_iter().flatten() {
            let name = text(known, "/name").unwrap_or_default().to_owned();
            let same = known.pointer("/properties/priority").and_then(Value::as_u64)
                == Some(u64::from(rule.priority))
                && known.pointer("/properties/direction") == Some(&json!(rule.direction));
            if name.eq_ignore_ascii_case(&rule.name) {
                self.wrong(format!("`{}` has a rule `{name}` already", rule.nsg), "choose another name");
            } else if same {
                self.wrong(
                    format!("the rule `{name}` of `{}` has priority {} already", rule.nsg, rule.priority),
                    "choose another priority",
                );
            }
        }
    }

    fn group(&mut self, rule: &NsgRule, path: &str) {
        let key = format!("group {}", rule.nsg.to_lowercase());
        if self.shares(&key) {
            return;
        }
        let place = match (&rule.subnet, &rule.nic) {
            (Some(subnet), _) => match self.view.subnet(subnet) {
                Some((path, document)) => {
                    Some((path, document.pointer("/properties/networkSecurityGroup").cloned()))
                }
                None => {
                    self.absent("subnet", subnet, NETWORK);
                    None
                }
            },
            (None, Some(nic)) => match self.view.nic(nic) {
                Some(document) => text(document, "/id")
                    .map(|id| (id.to_owned(), document.pointer("/properties/networkSecurityGroup").cloned())),
                None => {
                    self.absent("network interface", nic, "Microsoft.Network/networkInterfaces");
                    None
                }
            },
            (None, None) => {
                let names = self.view.names(GROUP).join(", ");
                self.wrong(
                    format!("there is no security group `{}`", rule.nsg),
                    format!("there is {names}; or say with `subnet` or `nic` where a new one stands"),
                );
                None
            }
        };
        let Some((place, before)) = place else { return };
        let set = |value: Value| PlanAction::Set {
            path: place.clone(),
            field: "/properties/networkSecurityGroup".to_owned(),
            value,
        };
        let body = json!({"location": self.view.location(), "properties": {"securityRules": []}});
        let acts = vec![PlanAction::Put { path: path.to_owned(), body }, set(json!({"id": path}))];
        let undo = vec![set(before.unwrap_or_default()), PlanAction::Delete { path: path.to_owned() }];
        let at = rule.subnet.as_ref().or(rule.nic.as_ref()).cloned().unwrap_or_default();
        self.share(key, format!("the security group {} before {at}", rule.nsg), acts, undo);
    }

    pub(super) fn route(&mut self, route: &Route) {
        let path = self.view.known(TABLE, &route.table);
        let Some((subnet, document)) =
            self.view.subnet(&route.subnet).map(|(path, document)| (path, document.clone()))
        else {
            self.absent("subnet", &route.subnet, NETWORK);
            return;
        };
        let field = "/properties/routeTable".to_owned();
        let set = |value: Value| PlanAction::Set { path: subnet.clone(), field: field.clone(), value };
        let before = document.pointer(&field).cloned().unwrap_or_default();
        let key = format!("table {} {}", route.table.to_lowercase(), route.subnet.to_lowercase());
        let other = self.shared.keys().any(|known| {
            known.starts_with("table ")
                && known.ends_with(&format!(" {}", route.subnet.to_lowercase()))
                && *known != key
        });
        if other {
            self.wrong(
                format!("`{}` gets two tables", route.subnet),
                "a subnet has one route table: put all routes into it",
            );
        }
        if !self.shares(&key) {
            let there = self.view.named(TABLE, &route.table).is_some()
                || self
                    .shared
                    .keys()
                    .any(|known| known.starts_with(&format!("table {} ", route.table.to_lowercase())));
            let body = json!({"location": self.view.location(), "properties": {"routes": [], "disableBgpRoutePropagation": false}});
            let mut acts = vec![set(json!({"id": path}))];
            let mut undo = vec![set(before)];
            if !there {
                acts.insert(0, PlanAction::Put { path: path.clone(), body });
                undo.push(PlanAction::Delete { path: path.clone() });
            }
            self.share(key, format!("the route table {} on {}", route.table, route.subnet), acts, undo);
        }
        let known =
            self.view.named(TABLE, &route.table).and_then(|table| table.pointer("/properties/routes"));
        let known = known.and_then(Value::as_array).into_iter().flatten();
        let taken = known.clone().any(|known| {
            text(known, "/name").is_some_and(|name| name.eq_ignore_ascii_case(&route.name))
                || text(known, "/properties/addressPrefix") == Some(&route.prefix)
        });
        let name = format!("route {} {}", route.table.to_lowercase(), route.name.to_lowercase());
        let prefix = format!("prefix {} {}", route.table.to_lowercase(), route.prefix);
        if taken || self.shared.contains_key(&name) || self.shared.contains_key(&prefix) {
            self.wrong(
                format!("`{}` has a route of this name, or for {}, already", route.table, route.prefix),
                "each route of a table has its own name and prefix",
            );
        }
        self.shared.insert(name, usize::MAX);
        self.shared.insert(prefix, usize::MAX);
        let own = format!("{path}/routes/{}", route.name);
        let mut properties = json!({"addressPrefix": route.prefix, "nextHopType": route.hop});
        if let (Some(address), Some(map)) = (route.address, properties.as_object_mut()) {
            map.insert("nextHopIpAddress".to_owned(), json!(address));
        }
        let to = route
            .address
            .map_or_else(|| route.hop.name().to_owned(), |address| format!("{} {address}", route.hop.name()));
        self.step(
            format!("the route {} of {}: {} to {to}", route.name, route.table, route.prefix),
            vec![PlanAction::Put { path: own.clone(), body: json!({"properties": properties}) }],
            vec![PlanAction::Delete { path: own }],
        );
    }

    /// As maintenance does it: all endpoints are there, and then a list is written that forgets one.
    pub(super) fn service_endpoint(&mut self, lost: &ServiceEndpoint) {
        let Some((subnet, document)) =
            self.view.subnet(&lost.subnet).map(|(path, document)| (path, document.clone()))
        else {
            self.absent("subnet", &lost.subnet, NETWORK);
            return;
        };
        let key = format!("endpoints {}", lost.subnet.to_lowercase());
        if self.shared.contains_key(&key) {
            self.wrong(
                format!("`{}` loses endpoints twice", lost.subnet),
                "one fault says what a subnet has left",
            );
        }
        self.shared.insert(key, usize::MAX);
        let field = "/properties/serviceEndpoints".to_owned();
        let before = document.pointer(&field).cloned().unwrap_or_else(|| json!([]));
        let set = |value: Value| PlanAction::Set { path: subnet.clone(), field: field.clone(), value };
        let left: Vec<Value> = lost.left.iter().map(|service| json!({"service": service})).collect();
        let all: Vec<Value> = left.iter().cloned().chain([json!({"service": lost.service})]).collect();
        self.step(
            format!("the subnet {} without the endpoint of {}", lost.subnet, lost.service),
            vec![set(json!(all)), set(json!(left))],
            vec![set(before)],
        );
    }

    pub(super) fn storage_firewall(&mut self, wall: &StorageFirewall) {
        let Some(document) = self.view.named(ACCOUNT, &wall.account).cloned() else {
            self.absent("storage account", &wall.account, ACCOUNT);
            return;
        };
        let key = format!("account {}", wall.account);
        if self.shared.contains_key(&key) {
            self.wrong(
                format!("`{}` gets network rules twice", wall.account),
                "one fault says all rules of an account",
            );
        }
        self.shared.insert(key, usize::MAX);
        let mut rules = Vec::new();
        for subnet in &wall.subnets {
            match self.view.subnet(subnet) {
                Some((id, _)) => rules.push(json!({"id": id, "action": "Allow", "state": "Succeeded"})),
                None => self.absent("subnet", subnet, NETWORK),
            }
        }
        let addresses: Vec<Value> =
            wall.addresses.iter().map(|address| json!({"value": address, "action": "Allow"})).collect();
        let path = text(&document, "/id").unwrap_or_default().to_owned();
        let before = document.pointer("/properties/networkAcls").cloned().unwrap_or_default();
        let acls = json!({"bypass": wall.bypass, "defaultAction": wall.default, "ipRules": addresses, "virtualNetworkRules": rules});
        let patch = |acls: Value| PlanAction::Patch {
            path: path.clone(),
            body: json!({"properties": {"networkAcls": acls}}),
        };
        let what =
            format!("the network rules of {}: {:?} to whoever they do not name", wall.account, wall.default);
        self.step(what, vec![patch(acls)], vec![patch(before)]);
    }

    pub(super) fn machine_stopped(&mut self, stopped: &MachineStopped) {
        let path = self.view.known("Microsoft.Compute/virtualMachines", &stopped.vm);
        let (verb, state) =
            if stopped.inside { ("powerOff", "stopped") } else { ("deallocate", "deallocated") };
        let acts = vec![PlanAction::Post { path: format!("{path}/{verb}") }];
        let undo = vec![PlanAction::Post { path: format!("{path}/start") }];
        self.step(format!("{} is {state}", stopped.vm), acts, undo);
    }

    pub(super) fn peering(&mut self, peering: &Peering) {
        let remote = self.view.named(NETWORK, &peering.remote).cloned();
        let (Some(own), Some(remote)) = (self.view.named(NETWORK, &peering.vnet).cloned(), remote) else {
            self.absent("pair of networks", &format!("{} and {}", peering.vnet, peering.remote), NETWORK);
            return;
        };
        let path =
            format!("{}/virtualNetworkPeerings/{}", text(&own, "/id").unwrap_or_default(), peering.name);
        let known = own.pointer("/properties/virtualNetworkPeerings").and_then(Value::as_array);
        let before = known
            .into_iter()
            .flatten()
            .find(|known| text(known, "/name").is_some_and(|name| name.eq_ignore_ascii_case(&peering.name)));
        let prefixes = remote.pointer("/properties/addressSpace").cloned().unwrap_or_default();
        let (known, level) = match peering.known.as_slice() {
            [] => (prefixes.clone(), "FullyInSync"),
            known => (json!({"addressPrefixes": known}), "LocalNotInSync"),
        };
        let body = json!({"properties": {
            "remoteVirtualNetwork": {"id": remote.get("id")}, "peeringState": peering.state(),
            "peeringSyncLevel": level, "allowVirtualNetworkAccess": peering.access,
            "allowForwardedTraffic": peering.forwarded, "allowGatewayTransit": false,
            "useRemoteGateways": false, "remoteAddressSpace": known,
            "remoteVirtualNetworkAddressSpace": prefixes}});
        let undo = match before {
            Some(before) => PlanAction::Put { path: path.clone(), body: before.clone() },
            None => PlanAction::Delete { path: path.clone() },
        };
        let what = format!("the peering {} of {} is {}", peering.name, peering.vnet, peering.state());
        let mut acts = vec![PlanAction::Put { path, body }];
        if peering.state() == "Disconnected" {
            // The other side was there once, and somebody took it away.
            let other = format!("{}/virtualNetworkPeerings/gone", text(&remote, "/id").unwrap_or_default());
            let body = json!({"properties": {"remoteVirtualNetwork": {"id": own.get("id")}}});
            acts.push(PlanAction::Put { path: other.clone(), body });
            acts.push(PlanAction::Delete { path: other });
        }
        self.step(what, acts, vec![undo]);
    }
}
