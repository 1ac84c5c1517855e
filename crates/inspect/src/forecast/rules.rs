//! Edits of security groups, as they are configured and as they are in effect at an interface.

use serde_json::{Map, Value, json};

use super::documents::{Rows, body, body_mut, id_name, is_named, items, list_mut, set, texts};
use super::draft::{Done, Draft, unread};
use super::edit::{SecurityRule, Target};
use crate::net::Fields as _;

/// The rules in effect of a group.
const EFFECTIVE: &str = "effectiveSecurityRules";

/// Both ends of a rule: what `az` calls it, and where its prefixes stand.
const SIDES: [(&str, &str); 2] = [
    ("sourceAddressPrefix", "expandedSourceAddressPrefix"),
    ("destinationAddressPrefix", "expandedDestinationAddressPrefix"),
];

/// Tells whether an entry of effective rules is about a group.
pub(super) fn is_of(entry: &Value, group: &str) -> bool {
    id_name(entry.field("networkSecurityGroup")).is_some_and(|own| own.eq_ignore_ascii_case(group))
}

/// Edits a list of rules; where they are in effect at an interface, all rules of the same document are beside them.
type RuleEdit<'a> = dyn Fn(&mut Vec<Value>, Option<&[Value]>) + 'a;

impl Draft {
    /// Edits the rules of a group wherever they stand; tells whether they stand anywhere.
    fn edit_group(&mut self, group: &str, change: &RuleEdit<'_>) -> bool {
        let mut touched = false;
        if let Some(list) = self.groups.named_mut(group).and_then(|row| list_mut(row, "securityRules")) {
            change(list, None);
            touched = true;
        }
        for (_, rules) in self.nics.values_mut() {
            let Some(entries) = rules.read_mut() else { continue };
            // What names stand for is written beside the rules that use them.
            let known: Vec<Value> =
                entries.iter().filter_map(|entry| entry.field(EFFECTIVE)).cloned().collect();
            let known: Vec<Value> =
                known.into_iter().filter_map(|rules| rules.as_array().cloned()).flatten().collect();
            for entry in entries.iter_mut().filter(|entry| is_of(entry, group)) {
                let Some(list) = list_mut(entry, EFFECTIVE) else { continue };
                change(list, Some(&known));
                touched = true;
            }
        }
        touched
    }

    /// Returns the rules of a group as the documents show them: one of them, or all that are not the platform's.
    pub(super) fn rules_of(&self, group: &str, name: Option<&str>) -> Vec<SecurityRule> {
        let is = |row: &&Value| !is_default(row) && name.is_none_or(|name| is_named(row, name));
        if let Some(row) = self.groups.named(group) {
            return items(row, "securityRules").filter(is).filter_map(rule_of).collect();
        }
        let entries = self.nics.values().filter_map(|(_, rules)| rules.read()).flatten();
        let mut own = entries.filter(|entry| is_of(entry, group));
        own.next()
            .map(|entry| items(entry, EFFECTIVE).filter(is).filter_map(rule_of).collect())
            .unwrap_or_default()
    }

    pub(super) fn put_rule(&mut self, group: &str, rule: &SecurityRule) -> Done {
        let touched = self.edit_group(group, &|rules, known| {
            rules.retain(|row| !is_named(row, &rule.name) || is_default(row));
            rules.push(row(rule, known));
        });
        if touched { Ok(()) } else { unread(Target::Group(group.to_owned())) }
    }

    pub(super) fn delete_rule(&mut self, group: &str, rule: &str) -> Done {
        let touched = self.edit_group(group, &|rules, _| {
            rules.retain(|row| !is_named(row, rule) || is_default(row));
        });
        if touched { Ok(()) } else { unread(Target::Group(group.to_owned())) }
    }

    pub(super) fn put_group(&mut self, group: &str, rules: &[SecurityRule]) -> Done {
        let touched = self.edit_group(group, &|list, known| {
            list.retain(is_default);
            list.extend(rules.iter().map(|rule| row(rule, known)));
        });
        if touched {
            return Ok(());
        }
        let Some(rows) = self.groups.begun() else { return unread(Target::Group(group.to_owned())) };
        let rules: Vec<Value> = rules.iter().map(|rule| row(rule, None)).collect();
        rows.push(json!({"name": group, "securityRules": rules}));
        Ok(())
    }

    pub(super) fn delete_group(&mut self, group: &str) -> Done {
        let Some(rows) = self.groups.read_mut() else { return unread(Target::Group(group.to_owned())) };
        rows.retain(|row| !is_named(row, group));
        Ok(())
    }

    pub(super) fn set_subnet_group(&mut self, network: &str, subnet: &str, group: Option<&str>) -> Done {
        let Some(map) = self.subnet_mut(network, subnet).and_then(body_mut) else {
            return unread(Target::Network(network.to_owned()));
        };
        set(map, "networkSecurityGroup", at(group));
        for nic in self.nics_in(network, Some(subnet)) {
            self.forget_rules(&nic);
        }
        Ok(())
    }

    pub(super) fn set_interface_group(&mut self, nic: &str, group: Option<&str>) -> Done {
        let Some(map) = self.interfaces.named_mut(nic).and_then(body_mut) else {
            return unread(Target::Interface(nic.to_owned()));
        };
        set(map, "networkSecurityGroup", at(group));
        self.forget_rules(nic);
        Ok(())
    }

    /// The rules of an interface are taken from what is configured from now on.
    fn forget_rules(&mut self, nic: &str) {
        if let Some((_, rules)) = self.nics.get_mut(nic) {
            *rules = Rows::Unread(None);
        }
    }
}

fn at(group: Option<&str>) -> Value {
    group.map_or(Value::Null, |group| json!({"id": format!("/networkSecurityGroups/{group}")}))
}

/// Tells whether a row is one of the platform's.
fn is_default(row: &Value) -> bool {
    row.text("name").is_some_and(|name| name.to_ascii_lowercase().starts_with("defaultsecurityrules/"))
}

/// Writes a rule as `az` prints it, for a list of rules in effect with what its names stand for there.
fn row(rule: &SecurityRule, known: Option<&[Value]>) -> Value {
    let mut map = Map::new();
    let name = if known.is_some() { format!("securityRules/{}", rule.name) } else { rule.name.clone() };
    let mut put = |name: &str, value: Value| {
        map.insert(name.to_owned(), value);
    };
    put("name", json!(name));
    put("priority", json!(rule.priority));
    put("direction", json!(rule.direction));
    put("access", json!(rule.access));
    put("protocol", json!(rule.protocol));
    put("sourcePortRanges", json!(rule.source_ports));
    put("destinationPortRanges", json!(rule.destination_ports));
    for ((prefix, expanded), places) in SIDES.into_iter().zip([&rule.sources, &rule.destinations]) {
        match places.as_slice() {
            [one] => put(prefix, json!(one)),
            some => put(&format!("{prefix}es"), json!(some)),
        }
        if let Some(list) = known.and_then(|known| expansion(places, known)) {
            put(expanded, json!(list));
        }
    }
    Value::Object(map)
}

/// Returns the prefixes that some names stand for, as other rules of the same document show them; nothing where they show not all.
fn expansion(places: &[String], known: &[Value]) -> Option<Vec<String>> {
    if !places.iter().any(|place| crate::net::is_tag(place)) {
        return None;
    }
    let mut all = Vec::new();
    for place in places {
        if !crate::net::is_tag(place) {
            all.push(place.clone());
            continue;
        }
        let found = known.iter().find_map(|row| {
            SIDES.iter().find_map(|(prefix, expanded)| {
                let is = row.text(prefix).is_some_and(|own| own.eq_ignore_ascii_case(place));
                let list = row.field(expanded)?.as_array().filter(|list| is && !list.is_empty())?;
                Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
            })
        });
        all.extend(found?);
    }
    Some(all)
}

/// Reads a rule as `az` prints it, as it is configured or in effect; in the form of REST as well.
pub(super) fn rule_of(row: &Value) -> Option<SecurityRule> {
    let inner = body(row);
    let text = |name: &str| inner.text(name).map(str::to_owned);
    let places = |side: &str| {
        let mut found = texts(inner, &[&format!("{side}AddressPrefix"), &format!("{side}AddressPrefixes")]);
        let groups = inner.field(&format!("{side}ApplicationSecurityGroups")).and_then(Value::as_array);
        // What such a group holds stands nowhere: an unknown name, not nobody.
        found.extend(
            groups
                .into_iter()
                .flatten()
                .filter_map(|one| id_name(Some(one)))
                .map(|name| format!("asg-{name}")),
        );
        found
    };
    let ports = |side: &str| texts(inner, &[&format!("{side}PortRange"), &format!("{side}PortRanges")]);
    let priority = inner.field("priority")?;
    Some(SecurityRule {
        name: row.text("name")?.rsplit('/').next()?.to_owned(),
        priority: priority.as_u64().and_then(|number| u32::try_from(number).ok())?,
        direction: text("direction")?,
        access: text("access")?,
        protocol: text("protocol")?,
        sources: places("source"),
        source_ports: ports("source"),
        destinations: places("destination"),
        destination_ports: ports("destination"),
    })
}
