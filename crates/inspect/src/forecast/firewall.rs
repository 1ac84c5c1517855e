//! Edits of the rules of a firewall of the platform: those that stand in it, and those of a policy.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::documents::{Rows, body, body_mut, is_named, items, list_mut, set, texts};
use super::draft::{Done, Draft, unread};
use super::edit::{SecurityRule, Target};
use super::name::part_after;
use crate::net::Fields as _;

/// A kind of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FirewallRules {
    /// They lead what comes for the firewall on to somebody else.
    Nat,
    /// They decide by addresses and ports.
    Network,
    /// They decide by names.
    Application,
}

impl FirewallRules {
    /// Returns the list of a firewall in which such collections stand.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Nat => "natRuleCollections",
            Self::Network => "networkRuleCollections",
            Self::Application => "applicationRuleCollections",
        }
    }

    /// Returns what a rule of a policy is called.
    pub(super) const fn rule_type(self) -> &'static str {
        match self {
            Self::Nat => "NatRule",
            Self::Network => "NetworkRule",
            Self::Application => "ApplicationRule",
        }
    }
}

/// Where collections of rules stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FirewallPlace {
    /// In the firewall itself.
    Firewall {
        /// The firewall.
        firewall: String,
        /// The kind of its rules.
        rules: FirewallRules,
    },
    /// In a group of a policy.
    Policy {
        /// The policy.
        policy: String,
        /// The group.
        group: String,
    },
}

impl fmt::Display for FirewallPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Firewall { firewall, .. } => write!(out, "the firewall {firewall}"),
            Self::Policy { policy, group } => write!(out, "the group {group} of the policy {policy}"),
        }
    }
}

/// One thing that a change does to the rules of a firewall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FirewallEdit {
    /// Creates a group of a policy, or gives it other collections; without a list those stay.
    PutGroup {
        /// The policy.
        policy: String,
        /// The group.
        group: String,
        /// The lowest number is asked first.
        priority: u64,
        /// Its collections, in the platform's form.
        collections: Option<Vec<Value>>,
    },
    /// Deletes a group of a policy.
    DeleteGroup {
        /// The policy.
        policy: String,
        /// The group.
        group: String,
    },
    /// Creates a collection, or takes the place of one.
    PutCollection {
        /// Where.
        place: FirewallPlace,
        /// The collection, in the platform's form.
        collection: Value,
    },
    /// Deletes a collection.
    DeleteCollection {
        /// Where.
        place: FirewallPlace,
        /// The collection.
        collection: String,
    },
    /// Adds a rule to a collection, or takes the place of one.
    PutRule {
        /// Where.
        place: FirewallPlace,
        /// The collection.
        collection: String,
        /// Its action and its number, where it is created with the rule.
        created: Option<(String, u64)>,
        /// The rule, in the platform's form.
        rule: Value,
    },
    /// Deletes a rule of a collection.
    DeleteRule {
        /// Where.
        place: FirewallPlace,
        /// The collection.
        collection: String,
        /// The rule.
        rule: String,
    },
}

impl FirewallEdit {
    /// Tells whether it takes something away.
    pub(super) const fn is_deletion(&self) -> bool {
        match self {
            Self::DeleteGroup { .. } | Self::DeleteCollection { .. } | Self::DeleteRule { .. } => true,
            Self::PutGroup { .. } | Self::PutCollection { .. } | Self::PutRule { .. } => false,
        }
    }

    /// Returns the rules that it makes.
    fn made(&self) -> Vec<&Value> {
        match self {
            Self::PutGroup { collections, .. } => {
                collections.iter().flatten().flat_map(|own| items(own, "rules")).collect()
            }
            Self::PutCollection { collection, .. } => items(collection, "rules").collect(),
            Self::PutRule { rule, .. } => vec![rule],
            Self::DeleteGroup { .. } | Self::DeleteCollection { .. } | Self::DeleteRule { .. } => Vec::new(),
        }
    }

    fn place(&self) -> FirewallPlace {
        match self {
            Self::PutGroup { policy, group, .. } | Self::DeleteGroup { policy, group } => {
                FirewallPlace::Policy { policy: policy.clone(), group: group.clone() }
            }
            Self::PutCollection { place, .. }
            | Self::DeleteCollection { place, .. }
            | Self::PutRule { place, .. }
            | Self::DeleteRule { place, .. } => place.clone(),
        }
    }
}

impl fmt::Display for FirewallEdit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |value: &Value| value.text("name").unwrap_or("unnamed").to_owned();
        let place = self.place();
        match self {
            Self::PutGroup { priority, .. } => write!(out, "{place} has the number {priority}"),
            Self::DeleteGroup { .. } => write!(out, "{place} is deleted"),
            Self::PutCollection { collection, .. } => {
                write!(out, "the collection {} of {place} has {} rules", name(collection), self.made().len())
            }
            Self::DeleteCollection { collection, .. } => {
                write!(out, "the collection {collection} of {place} is deleted")
            }
            Self::PutRule { collection, rule, .. } => {
                write!(out, "the rule {} in the collection {collection} of {place}", name(rule))
            }
            Self::DeleteRule { collection, rule, .. } => {
                write!(out, "the rule {rule} in the collection {collection} of {place} is deleted")
            }
        }
    }
}

fn target(place: &FirewallPlace) -> Target {
    match place {
        FirewallPlace::Firewall { firewall, .. } => Target::Firewall(firewall.clone()),
        FirewallPlace::Policy { policy, .. } => Target::Firewall(policy.clone()),
    }
}

/// Tells whether a row is a group of a policy.
fn is_group(row: &Value, policy: &str, group: &str) -> bool {
    let own = row.text("id").and_then(|id| part_after(id, "firewallPolicies"));
    is_named(row, group) && own.is_some_and(|own| own.eq_ignore_ascii_case(policy))
}

impl Draft {
    pub(super) fn edit_firewall(&mut self, edit: &FirewallEdit) -> Done {
        match edit {
            FirewallEdit::PutGroup { policy, group, priority, collections } => {
                self.put_firewall_group(policy, group, (*priority, collections.as_deref()))
            }
            FirewallEdit::DeleteGroup { policy, group } => {
                let Some(rows) = self.firewall_rules.read_mut() else { return unread(target(&edit.place())) };
                rows.retain(|row| !is_group(row, policy, group));
                self.listed_groups(policy, |list| list.retain(|row| !is_named(row, group)));
                Ok(())
            }
            FirewallEdit::PutCollection { place, collection } => {
                let Some(list) = self.collections(place) else { return unread(target(place)) };
                let name = collection.text("name").unwrap_or_default();
                list.retain(|row| !is_named(row, name));
                list.push(collection.clone());
                Ok(())
            }
            FirewallEdit::DeleteCollection { place, collection } => {
                let Some(list) = self.collections(place) else { return unread(target(place)) };
                list.retain(|row| !is_named(row, collection));
                Ok(())
            }
            FirewallEdit::PutRule { place, collection, created, rule } => {
                let Some(list) = self.collections(place) else { return unread(target(place)) };
                if let Some((action, priority)) = created
                    && !list.iter().any(|row| is_named(row, collection))
                {
                    list.push(json!({"name": collection, "priority": priority, "action": {"type": action}, "rules": []}));
                }
                let own = list.iter_mut().find(|row| is_named(row, collection));
                let Some(rules) = own.and_then(|own| list_mut(own, "rules")) else {
                    return Err((target(place), format!("the collection {collection} was not read")));
                };
                let name = rule.text("name").unwrap_or_default();
                match rules.iter_mut().find(|row| is_named(row, name)) {
                    Some(old) => old.clone_from(rule),
                    None => rules.push(rule.clone()),
                }
                Ok(())
            }
            FirewallEdit::DeleteRule { place, collection, rule } => {
                let Some(list) = self.collections(place) else { return unread(target(place)) };
                if let Some(rules) = list
                    .iter_mut()
                    .find(|row| is_named(row, collection))
                    .and_then(|own| list_mut(own, "rules"))
                {
                    rules.retain(|row| !is_named(row, rule));
                }
                Ok(())
            }
        }
    }

    fn put_firewall_group(
        &mut self,
        policy: &str,
        group: &str,
        (priority, collections): (u64, Option<&[Value]>),
    ) -> Done {
        let place = FirewallPlace::Policy { policy: policy.to_owned(), group: group.to_owned() };
        let Some(rows) = self.firewall_rules.read_mut() else { return unread(target(&place)) };
        if !rows.iter().any(|row| is_group(row, policy, group)) {
            let id = format!("/firewallPolicies/{policy}/ruleCollectionGroups/{group}");
            rows.push(json!({"id": id, "name": group, "priority": priority, "ruleCollections": []}));
        }
        for row in rows.iter_mut().filter(|row| is_group(row, policy, group)) {
            let Some(map) = body_mut(row) else { continue };
            set(map, "priority", json!(priority));
            if let Some(collections) = collections {
                set(map, "ruleCollections", json!(collections));
            }
        }
        let id = json!({"id": format!("/firewallPolicies/{policy}/ruleCollectionGroups/{group}")});
        self.listed_groups(policy, |list| {
            if !list.iter().any(|row| is_named(row, group)) {
                list.push(id.clone());
            }
        });
        Ok(())
    }

    /// Edits the groups that a policy says it has.
    fn listed_groups(&mut self, policy: &str, edit: impl Fn(&mut Vec<Value>)) {
        let own = self.firewall_policies.named_mut(policy);
        own.and_then(|row| list_mut(row, "ruleCollectionGroups")).into_iter().for_each(edit);
    }

    fn collections(&mut self, place: &FirewallPlace) -> Option<&mut Vec<Value>> {
        match place {
            FirewallPlace::Firewall { firewall, rules } => {
                list_mut(self.firewalls.named_mut(firewall)?, rules.field())
            }
            FirewallPlace::Policy { policy, group } => {
                let row =
                    self.firewall_rules.read_mut()?.iter_mut().find(|row| is_group(row, policy, group))?;
                list_mut(row, "ruleCollections")
            }
        }
    }

    /// Returns a collection as it was read.
    pub(super) fn firewall_collection(&self, place: &FirewallPlace, collection: &str) -> Option<&Value> {
        self.known_collections(place).into_iter().find(|row| is_named(row, collection))
    }

    fn known_collections(&self, place: &FirewallPlace) -> Vec<&Value> {
        match place {
            FirewallPlace::Firewall { firewall, rules } => {
                self.firewalls.named(firewall).into_iter().flat_map(|row| items(row, rules.field())).collect()
            }
            FirewallPlace::Policy { policy, group } => {
                let rows = self.firewall_rules.read().unwrap_or_default().iter();
                rows.filter(|row| is_group(row, policy, group))
                    .flat_map(|row| items(row, "ruleCollections"))
                    .collect()
            }
        }
    }

    /// Tells whether the place of an edit was read.
    pub(super) fn is_firewall_read(&self, place: &FirewallPlace) -> bool {
        let rows: &Rows = match place {
            FirewallPlace::Firewall { .. } => &self.firewalls,
            FirewallPlace::Policy { .. } => &self.firewall_rules,
        };
        rows.read().is_some()
    }

    /// Returns the rules that an edit makes and those that it takes away, in the form in which rules are compared.
    pub(super) fn firewall_rules_of(&self, edit: &FirewallEdit) -> Vec<SecurityRule> {
        let known = self.known_collections(&edit.place());
        let named = |name: &str| known.iter().copied().filter(|row| is_named(row, name)).collect::<Vec<_>>();
        let old: Vec<&Value> = match edit {
            FirewallEdit::PutGroup { .. } | FirewallEdit::DeleteGroup { .. } => known.clone(),
            FirewallEdit::PutCollection { collection, .. } => {
                named(collection.text("name").unwrap_or_default())
            }
            FirewallEdit::DeleteCollection { collection, .. }
            | FirewallEdit::PutRule { collection, .. }
            | FirewallEdit::DeleteRule { collection, .. } => named(collection),
        };
        let one = match edit {
            FirewallEdit::DeleteRule { rule, .. } => Some(rule.as_str()),
            FirewallEdit::PutRule { rule, .. } => rule.text("name"),
            FirewallEdit::PutGroup { .. }
            | FirewallEdit::DeleteGroup { .. }
            | FirewallEdit::PutCollection { .. }
            | FirewallEdit::DeleteCollection { .. } => None,
        };
        let old = old.into_iter().flat_map(|own| items(own, "rules"));
        let old = old.filter(|rule| one.is_none_or(|name| is_named(rule, name)));
        edit.made().into_iter().chain(old).map(compared).collect()
    }
}

/// Returns a rule as one of a security group: from whom, to whom, on which ports.
fn compared(rule: &Value) -> SecurityRule {
    let or_any = |list: Vec<String>| if list.is_empty() { vec!["*".to_owned()] } else { list };
    let protocols = texts(rule, &["ipProtocols", "protocols"]);
    let asked = items(rule, "protocols").filter_map(|one| one.field("port")?.as_u64());
    let mut ports = texts(rule, &["destinationPorts"]);
    ports.extend(asked.map(|port| port.to_string()));
    SecurityRule {
        name: rule.text("name").unwrap_or_default().to_owned(),
        priority: 0,
        direction: "Inbound".to_owned(),
        access: "Allow".to_owned(),
        protocol: match protocols.as_slice() {
            [one] => one.clone(),
            _ => "*".to_owned(),
        },
        sources: or_any(texts(rule, &["sourceAddresses"])),
        source_ports: vec!["*".to_owned()],
        destinations: or_any(texts(rule, &["destinationAddresses"])),
        destination_ports: or_any(ports),
    }
}

/// Returns the collections of a resource of Terraform's provider: one of a firewall, or those of a group of a policy.
pub(super) fn of_terraform(kind: &str, values: &Value) -> Option<Vec<FirewallEdit>> {
    let name = values.text("name")?.to_owned();
    if kind == "azurerm_firewall_policy_rule_collection_group" {
        let policy = part_after(values.text("firewall_policy_id")?, "firewallPolicies")?;
        let lists = [
            ("nat_rule_collection", FirewallRules::Nat),
            ("network_rule_collection", FirewallRules::Network),
            ("application_rule_collection", FirewallRules::Application),
        ];
        let mut collections = Vec::new();
        for (list, rules) in lists {
            for one in items(values, list) {
                collections.push(terraform_collection(one, rules)?);
            }
        }
        let priority = values.field("priority").and_then(Value::as_u64)?;
        return Some(vec![FirewallEdit::PutGroup {
            policy,
            group: name,
            priority,
            collections: Some(collections),
        }]);
    }
    let rules = terraform_rules(kind)?;
    let place = FirewallPlace::Firewall { firewall: values.text("azure_firewall_name")?.to_owned(), rules };
    let collection = terraform_collection(values, rules)?;
    Some(vec![FirewallEdit::PutCollection { place, collection }])
}

/// Returns what the deletion of such a resource takes away.
pub(super) fn gone_from_terraform(kind: &str, values: &Value) -> Option<FirewallEdit> {
    let name = values.text("name")?.to_owned();
    if kind == "azurerm_firewall_policy_rule_collection_group" {
        let policy = part_after(values.text("firewall_policy_id")?, "firewallPolicies")?;
        return Some(FirewallEdit::DeleteGroup { policy, group: name });
    }
    let rules = terraform_rules(kind)?;
    let place = FirewallPlace::Firewall { firewall: values.text("azure_firewall_name")?.to_owned(), rules };
    Some(FirewallEdit::DeleteCollection { place, collection: name })
}

/// Returns what a resource that holds rules of a firewall belongs to, as far as it says it.
pub(super) fn terraform_target(values: &Value) -> Target {
    let policy = values.text("firewall_policy_id").and_then(|id| part_after(id, "firewallPolicies"));
    let own = policy.or_else(|| values.text("azure_firewall_name").map(str::to_owned));
    Target::Firewall(own.unwrap_or_else(|| "that the plan makes".to_owned()))
}

/// Tells whether a resource holds rules of a firewall.
pub(super) fn is_terraform(kind: &str) -> bool {
    kind == "azurerm_firewall_policy_rule_collection_group" || terraform_rules(kind).is_some()
}

fn terraform_rules(kind: &str) -> Option<FirewallRules> {
    match kind {
        "azurerm_firewall_nat_rule_collection" => Some(FirewallRules::Nat),
        "azurerm_firewall_network_rule_collection" => Some(FirewallRules::Network),
        "azurerm_firewall_application_rule_collection" => Some(FirewallRules::Application),
        _ => None,
    }
}

fn terraform_collection(values: &Value, rules: FirewallRules) -> Option<Value> {
    let rows: Vec<Value> = items(values, "rule").map(|row| terraform_rule(row, rules)).collect();
    let action = match rules {
        FirewallRules::Nat => "DNAT",
        FirewallRules::Network | FirewallRules::Application => values.text("action")?,
    };
    Some(json!({
        "name": values.text("name")?, "priority": values.field("priority").and_then(Value::as_u64)?,
        "action": {"type": action}, "rules": rows,
    }))
}

fn terraform_rule(row: &Value, rules: FirewallRules) -> Value {
    let list = |names: &[&str]| json!(texts(row, names));
    let mut rule = Map::from_iter([
        ("name".to_owned(), json!(row.text("name"))),
        ("ruleType".to_owned(), json!(rules.rule_type())),
        ("sourceAddresses".to_owned(), list(&["source_addresses"])),
        ("sourceIpGroups".to_owned(), list(&["source_ip_groups"])),
        ("destinationAddresses".to_owned(), list(&["destination_addresses", "destination_address"])),
    ]);
    let more: Vec<(&str, Value)> = match rules {
        FirewallRules::Application => {
            let asked = items(row, "protocol").chain(items(row, "protocols"));
            let asked: Vec<Value> = asked
                .map(|one| json!({"protocolType": one.text("type"), "port": one.field("port")}))
                .collect();
            vec![
                ("protocols", json!(asked)),
                ("targetFqdns", list(&["target_fqdns", "destination_fqdns"])),
                ("fqdnTags", list(&["fqdn_tags", "destination_fqdn_tags"])),
                ("targetUrls", list(&["destination_urls"])),
                ("webCategories", list(&["web_categories"])),
            ]
        }
        FirewallRules::Network => vec![
            ("ipProtocols", list(&["protocols"])),
            ("destinationPorts", list(&["destination_ports"])),
            ("destinationIpGroups", list(&["destination_ip_groups"])),
            ("destinationFqdns", list(&["destination_fqdns"])),
        ],
        FirewallRules::Nat => vec![
            ("ipProtocols", list(&["protocols"])),
            ("destinationPorts", list(&["destination_ports"])),
            ("translatedAddress", json!(row.text("translated_address"))),
            ("translatedPort", row.field("translated_port").cloned().unwrap_or_default()),
        ],
    };
    rule.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Value::Object(rule)
}

/// Returns the group of collections that a document of the platform describes.
pub(super) fn group_of(id: &str, name: &str, row: &Value) -> Option<FirewallEdit> {
    Some(FirewallEdit::PutGroup {
        policy: part_after(id, "firewallPolicies")?,
        group: name.to_owned(),
        priority: body(row).field("priority").and_then(Value::as_u64)?,
        collections: Some(items(row, "ruleCollections").cloned().collect()),
    })
}
