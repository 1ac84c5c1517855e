//! What `terraform show -json PLAN` prints: resources of the provider for Azure, as they were and as they will be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::account::{Action, irrelevant, is_judged, is_said_without_a_field, left_over};
use super::admission::{admission, is_account, is_admission};
use super::azapi;
use super::balancer::BalancerList;
use super::documents::{MAX_RESOURCES, PlanError, parse, texts};
use super::draft::Draft;
use super::edit::{Edit, Interface, Peering, RouteRow, SecurityRule, Target};
use super::firewall;
use super::name::{last, subnet};
use super::plan::Plan;
use super::terraform_balancer as balancer;
use crate::net::Fields as _;
use crate::path::Bundle;

/// How types begin whose changes concern flows and which nobody judges here, and what they are.
const UNJUDGED: [(&str, &str); 40] = [
    ("azurerm_application_gateway", "an application gateway"),
    ("azurerm_application_security_group", "an application security group"),
    ("azurerm_bastion_host", "a bastion"),
    ("azurerm_express_route", "an ExpressRoute circuit"),
    ("azurerm_firewall", "a firewall of the platform"),
    ("azurerm_frontdoor", "a content network"),
    ("azurerm_ip_group", "a group of addresses"),
    ("azurerm_kubernetes_cluster", "a cluster"),
    ("azurerm_lb_backend_address_pool_address", "a member of a pool by its address"),
    ("azurerm_lb_nat", "a translation of a load balancer"),
    ("azurerm_lb_outbound_rule", "an outbound rule of a load balancer"),
    ("azurerm_linux_virtual_machine_scale_set", "a scale set"),
    ("azurerm_local_network_gateway", "a gateway of another site"),
    ("azurerm_nat_gateway", "a NAT gateway"),
    ("azurerm_network_interface_application", "a membership of a network interface"),
    ("azurerm_network_interface_nat_rule_association", "a translation of a load balancer"),
    ("azurerm_network_manager", "a network manager"),
    ("azurerm_network_security_perimeter", "a security perimeter"),
    ("azurerm_dns_", "a public zone"),
    ("azurerm_private_dns", "a private zone"),
    ("azurerm_private_endpoint", "a private endpoint"),
    ("azurerm_private_link", "a private link service"),
    ("azurerm_public_ip", "a public address"),
    ("azurerm_resource_group", "the deletion of a resource group, with all that is in it,"),
    ("azurerm_resource_group_template_deployment", "a deployment of a template"),
    ("azurerm_route_server", "a route server"),
    ("azurerm_storage_account_network_rules", "the firewall of a storage account"),
    ("azurerm_subnet_nat_gateway_association", "a NAT gateway"),
    ("azurerm_virtual_hub", "a virtual hub"),
    ("azurerm_virtual_machine_extension", "a program that the platform runs in a machine"),
    ("azurerm_virtual_machine_run_command", "a command that the platform runs in a machine"),
    ("azurerm_virtual_machine_scale_set", "a scale set"),
    ("azurerm_virtual_network_dns_servers", "the name servers of a network"),
    ("azurerm_virtual_network_gateway", "a gateway"),
    ("azurerm_virtual_wan", "a virtual WAN"),
    ("azurerm_vpn", "a VPN gateway"),
    ("azurerm_orchestrated_virtual_machine_scale_set", "a scale set"),
    ("azapi_", "a call of the platform's interface"),
    ("azurerm_web_application_firewall", "a web application firewall"),
    ("azurerm_windows_virtual_machine_scale_set", "a scale set"),
];

/// Reads a plan.
///
/// # Errors
/// Fails where it is something else.
pub fn terraform(text: &str) -> Result<Plan, PlanError> {
    let document = parse(text)?;
    let foreign = || PlanError::Foreign("`terraform show -json PLAN`");
    let format = document.text("format_version").ok_or_else(foreign)?;
    if !(format.starts_with("0.") || format.starts_with("1.") || format == "1") {
        return Err(PlanError::Format(format.to_owned()));
    }
    let changes = document.field("resource_changes");
    if changes.is_none() && document.field("planned_values").is_none() {
        return Err(foreign());
    }
    let changes: &[Value] = changes.and_then(Value::as_array).map_or(&[], Vec::as_slice);
    let mut known = Known::default();
    let mut prior = Vec::new();
    let states = document.field("prior_state").and_then(|state| state.field("values"));
    collect(states.and_then(|values| values.field("root_module")), 0, &mut prior);
    let resources = prior.len() + changes.len();
    if resources > MAX_RESOURCES {
        return Err(PlanError::TooMany(resources));
    }
    prior.iter().for_each(|(kind, values)| known.learn(kind, values));
    let none = Value::Null;
    for change in changes {
        let after = change.field("change").and_then(|change| change.field("after")).unwrap_or(&none);
        known.learn(change.text("type").unwrap_or_default(), after);
    }
    let mut start: Vec<Edit> =
        prior.iter().flat_map(|(kind, values)| known.put(kind, values, &none, false)).collect();
    start.sort_by_key(Edit::rank);
    let mut draft = Draft::of(&Bundle::default());
    for edit in &start {
        // What a state does not hold together is not known before either.
        let _unread = draft.apply(edit);
    }
    let mut plan = Plan { before: draft.into_bundle(), resources: changes.len(), ..Plan::default() };
    let provisioned = Provisioned::of(&document);
    changes.iter().for_each(|change| known.review(change, &provisioned, &mut plan));
    let is_partial = document.field("complete") == Some(&Value::Bool(false))
        || document.field("errored") == Some(&Value::Bool(true));
    if is_partial {
        plan.leave_out(
            "the rest of the plan",
            "what it does not hold: it was cut short by an error or a target",
        );
    }
    for list in ["deferred_changes", "action_invocations", "deferred_action_invocations"] {
        if document.field(list).and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
            plan.leave_out(list, "what is left for later");
        }
    }
    Ok(plan)
}

/// Resources whose definition runs commands of its own, by type and name.
#[derive(Debug, Default)]
struct Provisioned(BTreeSet<(String, String)>);

impl Provisioned {
    fn of(document: &Value) -> Self {
        let mut found = Self::default();
        let root = document.field("configuration").and_then(|one| one.field("root_module"));
        found.learn(root, 0);
        found
    }

    fn learn(&mut self, module: Option<&Value>, depth: usize) {
        let Some(module) = module.filter(|_| depth < MAX_DEPTH) else { return };
        for one in module.field("resources").and_then(Value::as_array).into_iter().flatten() {
            if one.field("provisioners").and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
                let text = |field: &str| one.text(field).unwrap_or_default().to_owned();
                self.0.insert((text("type"), text("name")));
            }
        }
        for call in
            module.field("module_calls").and_then(Value::as_object).into_iter().flat_map(|map| map.values())
        {
            self.learn(call.field("module"), depth + 1);
        }
    }

    fn has(&self, change: &Value) -> bool {
        let text = |field: &str| change.text(field).unwrap_or_default().to_owned();
        !self.0.is_empty() && self.0.contains(&(text("type"), text("name")))
    }
}

/// Returns what a plan does with a resource: nothing, one of the known actions, or something that is not known.
fn action(body: &Value) -> Option<Option<Action>> {
    let words = body.field("actions").and_then(Value::as_array)?;
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        ["no-op" | "read" | "forget"] => Some(None),
        ["create"] => Some(Some(Action::Create)),
        ["update"] => Some(Some(Action::Update)),
        ["delete"] | ["delete", "create"] | ["create", "delete"] => Some(Some(Action::Delete)),
        _ => None,
    }
}

/// Says what a type is whose resources are not judged.
fn named(kind: &str) -> String {
    if let Some((_, what)) = UNJUDGED.iter().find(|(begin, _)| kind.starts_with(begin)) {
        return (*what).to_owned();
    }
    let clouds = [
        ("aws_", "AWS"),
        ("google_", "Google Cloud"),
        ("kubernetes_", "Kubernetes"),
        ("helm_", "Helm"),
        ("oci_", "Oracle Cloud"),
        ("alicloud_", "Alibaba Cloud"),
        ("cloudflare_", "Cloudflare"),
    ];
    match clouds.iter().find(|(begin, _)| kind.starts_with(begin)) {
        Some((_, cloud)) => format!("a resource of {cloud} ({kind})"),
        None => format!("a resource of the type {kind}"),
    }
}

/// So deep modules are nested.
const MAX_DEPTH: usize = 32;

/// Collects the resources of a module and of those in it.
fn collect<'a>(module: Option<&'a Value>, depth: usize, found: &mut Vec<(&'a str, &'a Value)>) {
    let Some(module) = module.filter(|_| depth < MAX_DEPTH) else { return };
    for one in module.field("resources").and_then(Value::as_array).into_iter().flatten() {
        if one.text("mode").is_none_or(|mode| mode == "managed" || mode == "data")
            && let (Some(kind), Some(values)) = (one.text("type"), one.field("values"))
        {
            found.push((kind, values));
        }
    }
    for child in module.field("child_modules").and_then(Value::as_array).into_iter().flatten() {
        collect(Some(child), depth + 1, found);
    }
}

/// Why an update that changes no field that is read, and none that is not known, is passed over.
pub(super) const NO_FLOW: &str = "changes only fields that no flow depends on";

/// Types of machines.
const MACHINES: [&str; 3] =
    ["azurerm_linux_virtual_machine", "azurerm_windows_virtual_machine", "azurerm_virtual_machine"];

/// What other resources say by their ids.
#[derive(Debug, Default)]
struct Known {
    /// Public addresses by id.
    publics: BTreeMap<String, String>,
}

impl Known {
    /// Adds what a plan does with one resource.
    fn review(&self, change: &Value, provisioned: &Provisioned, plan: &mut Plan) {
        let none = Value::Null;
        let kind = change.text("type").unwrap_or_default();
        let address = change.text("address").unwrap_or(kind);
        let body = change.field("change");
        let Some((body, action)) = body.and_then(|body| Some((body, action(body)?))) else {
            return plan.leave_out(address, "an action that is not known");
        };
        let Some(action) = action else { return };
        let (before, after) = (body.field("before").unwrap_or(&none), body.field("after").unwrap_or(&none));
        let later = body.field("after_unknown").unwrap_or(&none);
        if provisioned.has(change) {
            return plan.leave_out(address, "what its provisioners run");
        }
        if let Some(why) = irrelevant(kind, action) {
            return plan.pass_over(address, why);
        }
        if kind == "azapi_resource" {
            return azapi::review(change, before, after, later, action, plan);
        }
        if !is_judged(kind) && !is_admission(kind) {
            let is_plain = action == Action::Update
                && !is_said_without_a_field(before, after, later)
                && left_over(kind, before, after, later).is_empty();
            return if is_plain {
                plan.pass_over(address, NO_FLOW);
            } else {
                plan.leave_out(address, &named(kind));
            };
        }
        let is_replaced = action == Action::Delete && !after.is_null();
        let fields = if after.is_null() { Vec::new() } else { left_over(kind, before, after, later) };
        let mut edits = Vec::new();
        if is_admission(kind) {
            let is_known = !any_later(later, ADMISSION_FIELDS);
            match admission(kind, None, before, after)
                .filter(|_| is_known && !(is_account(kind) && after.is_null()))
            {
                Some(one) if one.before == one.after => {}
                Some(one) => edits.push(Edit::Admit(one)),
                None => return plan.leave_out(address, &named(kind)),
            }
        } else {
            if action == Action::Delete {
                let gone = self.delete(kind, before);
                let is_same = is_replaced && gone == self.delete(kind, after);
                edits.extend(gone.into_iter().filter(|_| !is_same));
            }
            if is_replaced && MACHINES.contains(&kind) {
                let name = after.text("name").unwrap_or_default().to_owned();
                let why = "it is made again, and what is inside is not known".to_owned();
                edits.push(Edit::Obscure { target: Target::Machine(name), why });
            }
            if !after.is_null() {
                let put = self.put(kind, after, later, true);
                let is_update = action == Action::Update;
                edits.extend(
                    put.into_iter().filter(|edit| !(is_update && self.is_as_before(kind, edit, before))),
                );
            }
            if MACHINES.contains(&kind) && !after.is_null() {
                let (old, new) =
                    (texts(before, &["network_interface_ids"]), texts(after, &["network_interface_ids"]));
                let lost = old.iter().filter(|id| !new.contains(id)).filter_map(|id| last(id));
                let why = || format!("it is taken off {address}");
                edits.extend(lost.map(|nic| Edit::Obscure { target: Target::Interface(nic), why: why() }));
            }
        }
        if !fields.is_empty() {
            plan.leave_out(address, &format!("a change of {}", fields.join(", ")));
        } else if edits.is_empty()
            && (action != Action::Update || is_said_without_a_field(before, after, later))
        {
            plan.leave_out(address, "what the plan does not say");
        } else if edits.is_empty() {
            plan.pass_over(address, NO_FLOW);
        }
        plan.edits.extend(edits);
    }

    fn learn(&mut self, kind: &str, values: &Value) {
        if kind == "azurerm_public_ip"
            && let (Some(id), Some(address)) = (values.text("id"), values.text("ip_address"))
        {
            self.publics.insert(id.to_ascii_lowercase(), address.to_owned());
        }
    }

    /// Tells whether a part of an update is as it was before: a group whose rules stand in resources of their own, for example.
    fn is_as_before(&self, kind: &str, edit: &Edit, before: &Value) -> bool {
        self.put(kind, before, &Value::Null, true).contains(edit)
    }

    fn delete(&self, kind: &str, values: &Value) -> Vec<Edit> {
        let name = values.text("name").unwrap_or_default().to_owned();
        let text = |field: &str| values.text(field).unwrap_or_default().to_owned();
        let gone = |target: Target| vec![Edit::Obscure { target, why: "it is deleted".to_owned() }];
        match kind {
            "azurerm_network_security_group" => vec![Edit::DeleteGroup { group: name }],
            "azurerm_network_security_rule" => {
                vec![Edit::DeleteRule { group: text("network_security_group_name"), rule: name }]
            }
            "azurerm_route_table" => vec![Edit::DeleteTable { table: name }],
            "azurerm_route" => vec![Edit::DeleteRoute { table: text("route_table_name"), route: name }],
            "azurerm_virtual_network" => gone(Target::Network(name)),
            "azurerm_subnet" => gone(Target::Network(text("virtual_network_name"))),
            "azurerm_virtual_network_peering" => {
                vec![Edit::DeletePeering { network: text("virtual_network_name"), peering: name }]
            }
            _ if firewall::is_terraform(kind) => match firewall::gone_from_terraform(kind, values) {
                Some(edit) => vec![Edit::Firewall(edit)],
                None => gone(firewall::terraform_target(values)),
            },
            "azurerm_network_interface" => vec![Edit::DeleteInterface { nic: name }],
            "azurerm_linux_virtual_machine"
            | "azurerm_windows_virtual_machine"
            | "azurerm_virtual_machine" => {
                vec![Edit::SetPower { machine: name, runs: false }]
            }
            "azurerm_subnet_network_security_group_association" => match subnet(&text("subnet_id")) {
                Some((network, subnet)) => vec![Edit::SetSubnetGroup { network, subnet, group: None }],
                None => Vec::new(),
            },
            "azurerm_subnet_route_table_association" => match subnet(&text("subnet_id")) {
                Some((network, subnet)) => vec![Edit::SetSubnetTable { network, subnet, table: None }],
                None => Vec::new(),
            },
            "azurerm_lb" => vec![Edit::DeleteBalancer { balancer: name }],
            "azurerm_lb_rule" => balancer::deleted(values, BalancerList::Rules),
            "azurerm_lb_probe" => balancer::deleted(values, BalancerList::Probes),
            "azurerm_lb_backend_address_pool" => balancer::deleted(values, BalancerList::Pools),
            "azurerm_network_interface_backend_address_pool_association" => {
                balancer::member(values, false).unwrap_or_default()
            }
            "azurerm_network_interface_security_group_association" => {
                let nic = last(&text("network_interface_id"));
                nic.map(|nic| Edit::SetInterfaceGroup { nic, group: None }).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns what a resource puts there. What is known only after the plan was applied makes what it belongs to unknown.
    fn put(&self, kind: &str, values: &Value, later: &Value, is_change: bool) -> Vec<Edit> {
        let name = values.text("name").unwrap_or_default().to_owned();
        let text = |field: &str| values.text(field).unwrap_or_default().to_owned();
        let unknown = |fields: &[&str]| fields.iter().any(|field| is_later(later.field(field)));
        let obscure = |target: Target| {
            vec![Edit::Obscure { target, why: "the plan says so only after it was applied".to_owned() }]
        };
        let found: Result<Vec<Edit>, Target> = match kind {
            "azurerm_network_security_group" => {
                let rows = values.field("security_rule").and_then(Value::as_array).into_iter().flatten();
                let rules: Option<Vec<_>> = rows.map(security_rule).collect();
                match rules.filter(|_| !unknown(&["security_rule"])) {
                    Some(rules) => Ok(vec![Edit::PutGroup { group: name, rules }]),
                    // Rules that stand in resources of their own come from there.
                    None if is_change && values.field("security_rule").is_none_or(Value::is_null) => {
                        Ok(vec![Edit::PutGroup { group: name, rules: Vec::new() }])
                    }
                    None => Err(Target::Group(name)),
                }
            }
            "azurerm_network_security_rule" => {
                let group = text("network_security_group_name");
                match security_rule(values).filter(|_| !any_later(later, RULE_FIELDS)) {
                    Some(rule) => Ok(vec![Edit::PutRule { group, rule }]),
                    None => Err(Target::Group(group)),
                }
            }
            "azurerm_route_table" => {
                let rows = values.field("route").and_then(Value::as_array).into_iter().flatten();
                let routes: Option<Vec<_>> = rows.map(route).collect();
                match routes.filter(|_| !unknown(&["route"])) {
                    Some(routes) => Ok(vec![Edit::PutTable { table: name, routes }]),
                    None if is_change && values.field("route").is_none_or(Value::is_null) => {
                        Ok(vec![Edit::PutTable { table: name, routes: Vec::new() }])
                    }
                    None => Err(Target::Table(name)),
                }
            }
            "azurerm_route" => {
                let table = text("route_table_name");
                let known = !unknown(&["address_prefix", "next_hop_type", "next_hop_in_ip_address"]);
                match route(values).filter(|_| known) {
                    Some(route) => Ok(vec![Edit::PutRoute { table, route }]),
                    None => Err(Target::Table(table)),
                }
            }
            "azurerm_virtual_network" => {
                let prefixes = texts(values, &["address_space"]);
                let mut edits = vec![Edit::PutNetwork { network: name.clone(), prefixes }];
                let inline = values.field("subnet").and_then(Value::as_array).into_iter().flatten();
                for one in inline {
                    let subnet = one.text("name").unwrap_or_default().to_owned();
                    let prefixes = texts(one, &["address_prefix", "address_prefixes"]);
                    edits.push(Edit::PutSubnet { network: name.clone(), subnet: subnet.clone(), prefixes });
                    let own = |field: &str| one.text(field).and_then(last);
                    if let Some(group) = own("security_group") {
                        let (network, subnet) = (name.clone(), subnet.clone());
                        edits.push(Edit::SetSubnetGroup { network, subnet, group: Some(group) });
                    }
                    if let Some(table) = own("route_table_id") {
                        edits.push(Edit::SetSubnetTable {
                            network: name.clone(),
                            subnet,
                            table: Some(table),
                        });
                    }
                }
                if unknown(&["address_space"]) { Err(Target::Network(name)) } else { Ok(edits) }
            }
            "azurerm_subnet" => {
                let network = text("virtual_network_name");
                let prefixes = texts(values, &["address_prefixes", "address_prefix"]);
                if unknown(&["address_prefixes"]) {
                    Err(Target::Network(network))
                } else {
                    Ok(vec![Edit::PutSubnet { network, subnet: name, prefixes }])
                }
            }
            "azurerm_virtual_network_peering" => {
                let flag =
                    |field: &str, usual: bool| values.field(field).and_then(Value::as_bool).unwrap_or(usual);
                let network = text("virtual_network_name");
                match values.text("remote_virtual_network_id").and_then(last) {
                    Some(remote) => {
                        let peering = Peering {
                            name,
                            remote,
                            access: flag("allow_virtual_network_access", true),
                            forwarded: flag("allow_forwarded_traffic", false),
                            transit: flag("allow_gateway_transit", false),
                            remote_gateway: flag("use_remote_gateways", false),
                        };
                        Ok(vec![Edit::PutPeering { network, peering }])
                    }
                    None => Err(Target::Network(network)),
                }
            }
            "azurerm_lb"
            | "azurerm_lb_rule"
            | "azurerm_lb_probe"
            | "azurerm_lb_backend_address_pool"
            | "azurerm_network_interface_backend_address_pool_association" => {
                return balancer::put(kind, values, later, &self.publics);
            }
            _ if firewall::is_terraform(kind) => {
                let known =
                    firewall::of_terraform(kind, values).filter(|_| !any_later(later, FIREWALL_FIELDS));
                known
                    .map(|edits| edits.into_iter().map(Edit::Firewall).collect())
                    .ok_or_else(|| firewall::terraform_target(values))
            }
            "azurerm_network_interface" => self.interface(&name, values).ok_or(Target::Interface(name)),
            "azurerm_linux_virtual_machine"
            | "azurerm_windows_virtual_machine"
            | "azurerm_virtual_machine" => {
                let nics = texts(values, &["network_interface_ids"]);
                if unknown(&["network_interface_ids"]) {
                    return obscure(Target::Other(format!("the network interfaces of {name}")));
                }
                let attach = nics.iter().filter_map(|id| last(id));
                Ok(attach.map(|nic| Edit::Attach { nic, machine: name.clone() }).collect())
            }
            "azurerm_subnet_network_security_group_association" => {
                let group = values.text("network_security_group_id").and_then(last);
                match (subnet(&text("subnet_id")), group) {
                    (Some((network, subnet)), Some(group)) => {
                        Ok(vec![Edit::SetSubnetGroup { network, subnet, group: Some(group) }])
                    }
                    (Some((network, _)), None) => Err(Target::Network(network)),
                    (None, Some(group)) => Err(Target::Group(group)),
                    (None, None) => {
                        Err(Target::Other("an association of resources that the plan makes".to_owned()))
                    }
                }
            }
            "azurerm_subnet_route_table_association" => {
                let table = values.text("route_table_id").and_then(last);
                match (subnet(&text("subnet_id")), table) {
                    (Some((network, subnet)), Some(table)) => {
                        Ok(vec![Edit::SetSubnetTable { network, subnet, table: Some(table) }])
                    }
                    (Some((network, _)), None) => Err(Target::Network(network)),
                    (None, Some(table)) => Err(Target::Table(table)),
                    (None, None) => {
                        Err(Target::Other("an association of resources that the plan makes".to_owned()))
                    }
                }
            }
            "azurerm_network_interface_security_group_association" => {
                let (nic, group) =
                    (last(&text("network_interface_id")), last(&text("network_security_group_id")));
                match (nic, group) {
                    (Some(nic), Some(group)) => Ok(vec![Edit::SetInterfaceGroup { nic, group: Some(group) }]),
                    (Some(nic), None) => Err(Target::Interface(nic)),
                    (None, Some(group)) => Err(Target::Group(group)),
                    (None, None) => {
                        Err(Target::Other("an association of resources that the plan makes".to_owned()))
                    }
                }
            }
            _ => Ok(Vec::new()),
        };
        found.unwrap_or_else(obscure)
    }

    fn interface(&self, name: &str, values: &Value) -> Option<Vec<Edit>> {
        let mut addresses = Vec::new();
        let (mut place, mut public) = (None, None);
        for one in values.field("ip_configuration").and_then(Value::as_array).into_iter().flatten() {
            addresses.push(one.text("private_ip_address")?.to_owned());
            place = place.or_else(|| subnet(one.text("subnet_id")?));
            public = public.or_else(|| {
                self.publics.get(&one.text("public_ip_address_id")?.to_ascii_lowercase()).cloned()
            });
        }
        let flag =
            |names: [&str; 2]| names.iter().find_map(|name| values.field(name).and_then(Value::as_bool));
        Some(vec![Edit::PutInterface(Interface {
            name: name.to_owned(),
            addresses,
            subnet: place?,
            public,
            forwards: flag(["ip_forwarding_enabled", "enable_ip_forwarding"]).unwrap_or(false),
            group: None,
        })])
    }
}

const ADMISSION_FIELDS: &[&str] = &[
    "start_ip_address",
    "end_ip_address",
    "start_ip",
    "end_ip",
    "subnet_id",
    "network_rules",
    "network_acls",
    "network_rule_set",
    "default_action",
    "ip_rules",
    "ip_range_filter",
    "virtual_network_rule",
    "virtual_network_subnet_ids",
    "is_virtual_network_filter_enabled",
    "public_network_access_enabled",
];

const FIREWALL_FIELDS: &[&str] = &[
    "priority",
    "action",
    "rule",
    "nat_rule_collection",
    "network_rule_collection",
    "application_rule_collection",
    "firewall_policy_id",
    "azure_firewall_name",
];

const RULE_FIELDS: &[&str] = &[
    "priority",
    "direction",
    "access",
    "protocol",
    "source_address_prefix",
    "source_address_prefixes",
    "source_port_range",
    "source_port_ranges",
    "destination_address_prefix",
    "destination_address_prefixes",
    "destination_port_range",
    "destination_port_ranges",
];

/// Tells whether a value, or a part of it, is known only after the plan was applied.
pub(super) fn is_later(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(is)) => *is,
        Some(Value::Array(list)) => list.iter().any(|one| is_later(Some(one))),
        Some(Value::Object(map)) => map.values().any(|one| is_later(Some(one))),
        Some(Value::Null | Value::Number(_) | Value::String(_)) | None => false,
    }
}

fn any_later(later: &Value, fields: &[&str]) -> bool {
    fields.iter().any(|field| is_later(later.field(field)))
}

fn security_rule(values: &Value) -> Option<SecurityRule> {
    let text = |field: &str| values.text(field).map(str::to_owned);
    let places = |side: &str| {
        let mut found =
            texts(values, &[&format!("{side}_address_prefix"), &format!("{side}_address_prefixes")]);
        let groups = texts(values, &[&format!("{side}_application_security_group_ids")]);
        found.extend(groups.iter().filter_map(|id| last(id)).map(|name| format!("asg-{name}")));
        found
    };
    let ports = |side: &str| texts(values, &[&format!("{side}_port_range"), &format!("{side}_port_ranges")]);
    Some(SecurityRule {
        name: text("name")?,
        priority: values.field("priority")?.as_u64().and_then(|number| u32::try_from(number).ok())?,
        direction: text("direction")?,
        access: text("access")?,
        protocol: text("protocol")?,
        sources: places("source"),
        source_ports: ports("source"),
        destinations: places("destination"),
        destination_ports: ports("destination"),
    })
}

fn route(values: &Value) -> Option<RouteRow> {
    Some(RouteRow {
        name: values.text("name")?.to_owned(),
        prefix: values.text("address_prefix")?.to_owned(),
        hop_type: values.text("next_hop_type")?.to_owned(),
        hop: values.text("next_hop_in_ip_address").map(str::to_owned),
    })
}
