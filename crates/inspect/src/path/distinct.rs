//! Resources of one name in different resource groups, called apart before anything is read.
//!
//! Goes in: the documents of an estate. Comes out: the same documents, in which each name of a kind stands for one resource: of several
//! that are called alike each is `NAME@GROUP`. Never: a reference that leads to the resource of another group.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use serde_json::Value;

use super::bundle::{Bundle, Nic};
use super::document::Reading;
use super::resource_id::{ResourceId, each_id};
use crate::net::Fields;

/// Stands before the group of a resource whose name another one has, too. No name of the platform holds it.
pub(super) const OF_GROUP: char = '@';

/// Kinds whose names mean something by themselves: a zone of names is asked for by its name, whichever group holds it.
const SPOKEN: [&str; 2] = ["microsoft.network/privatednszones", "microsoft.network/dnszones"];

/// Documents in which ids are no references to resources of the estate.
const UNRELATED: [&str; 4] = ["tags", "platform_events", "flow_logs", "places"];

/// The fields by which Ghost's own lists name a resource.
const NAMED: [&str; 3] = ["gateway", "connection", "machine"];

/// Returns a name as the platform knows it.
#[must_use]
pub fn plain_name(name: &str) -> &str {
    match name.split_once(OF_GROUP) {
        Some((own, _)) if !own.is_empty() => own,
        Some(_) | None => name,
    }
}

/// What is added to the names of resources that share one.
type Endings = HashMap<ResourceId, String>;

impl Bundle {
    /// Returns the documents with one name for each resource: the same ones where no two of a kind are called alike.
    #[must_use]
    pub fn distinct(&self) -> Cow<'_, Self> {
        let names = self.shared_names();
        if names.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(self.renamed(&names)) }
    }

    /// The texts of the documents in which resources name each other.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let lists = self.cloud.all().into_iter().filter(|(name, _)| !UNRELATED.contains(name));
        let rules = self.nics.values().filter_map(|nic| nic.rules.as_ref());
        lists.filter_map(|(_, reading)| reading).chain(rules).filter_map(text)
    }

    fn shared_names(&self) -> Endings {
        let mut alike: BTreeMap<(String, String), BTreeSet<ResourceId>> = BTreeMap::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for text in self.texts() {
            each_id(text, &mut |id| {
                if seen.insert(id)
                    && let Some(own) = ResourceId::parse(id)
                    && !SPOKEN.contains(&own.kind.as_str())
                {
                    alike.entry((own.kind.clone(), own.name.clone())).or_default().insert(own);
                }
            });
        }
        alike.retain(|_, all| all.len() > 1);
        if alike.is_empty() {
            return Endings::new();
        }
        let listed = self.listed();
        let mut names = Endings::new();
        for all in alike.into_values() {
            let is_listed = |own: &&ResourceId| listed.contains(own);
            // The only one that was read keeps its name: the others are no more than mentioned.
            let keeps = Some(all.iter().filter(is_listed).count()).filter(|count| *count == 1);
            let keeps = keeps.and_then(|_| all.iter().find(is_listed));
            for own in all.iter().filter(|own| Some(*own) != keeps) {
                let is_same =
                    |other: &&ResourceId| other.group == own.group && other.subscription != own.subscription;
                let mut ending = format!("{OF_GROUP}{}", own.group);
                if all.iter().any(|other| is_same(&other)) {
                    ending.push(OF_GROUP);
                    ending.push_str(&own.subscription);
                }
                names.insert(own.clone(), ending);
            }
        }
        names
    }

    /// The resources that stand in a list of their own, and the machines that an interface of a list belongs to.
    fn listed(&self) -> BTreeSet<ResourceId> {
        let mut found = BTreeSet::new();
        for text in self.texts() {
            for row in &rows(text) {
                found.extend(row.text("id").and_then(whole));
                let machine =
                    row.field("virtualMachine").or_else(|| row.field("properties")?.field("virtualMachine"));
                found.extend(machine.and_then(|machine| machine.text("id")).and_then(whole));
            }
        }
        found
    }

    fn renamed(&self, names: &Endings) -> Self {
        let mut bundle = self.clone();
        let lists: Vec<&'static str> = bundle.cloud.all().into_iter().map(|(name, _)| name).collect();
        for list in lists.into_iter().filter(|name| !UNRELATED.contains(name)) {
            if let Some(Some(reading)) = bundle.cloud.place(list) {
                rename_in(reading, names);
            }
        }
        bundle.nics = self.nics.iter().map(|(name, nic)| named_nic(name, nic, names)).collect();
        let addresses = bundle.addresses();
        let guests = std::mem::take(&mut bundle.guests);
        bundle.guests = guests
            .into_iter()
            .map(|(name, guest)| {
                let machine =
                    guest.addresses.as_ref().and_then(text).and_then(|own| owner(&name, own, &addresses));
                (machine.unwrap_or(name), guest)
            })
            .collect();
        bundle
    }

    /// The addresses of each machine, by the name that it has now.
    fn addresses(&self) -> BTreeMap<String, Vec<IpAddr>> {
        let mut found: BTreeMap<String, Vec<IpAddr>> = BTreeMap::new();
        for row in self.cloud.interfaces.as_ref().and_then(text).map(rows).unwrap_or_default() {
            let body = row.field("properties").filter(|own| own.is_object()).unwrap_or(&row);
            let id = body.field("virtualMachine").and_then(|machine| machine.text("id"));
            let name = id.and_then(|id| {
                let (_, range) = ResourceId::split(id)?;
                id.get(range).map(str::to_owned)
            });
            let Some(name) = name else { continue };
            let own = found.entry(name).or_default();
            for one in body.field("ipConfigurations").and_then(Value::as_array).into_iter().flatten() {
                let one = one.field("properties").filter(|own| own.is_object()).unwrap_or(one);
                own.extend(one.text("privateIpAddress").and_then(|text| text.parse::<IpAddr>().ok()));
            }
        }
        found
    }
}

fn text(reading: &Reading) -> Option<&str> {
    match reading {
        Reading::Text(text) => Some(text),
        Reading::Failed { .. } => None,
    }
}

/// Returns the rows of a list, or of one page of it.
fn rows(text: &str) -> Vec<Value> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(rows)) => rows,
        Ok(Value::Object(mut map)) => match map.remove("value") {
            Some(Value::Array(rows)) => rows,
            Some(_) | None => vec![Value::Object(map)],
        },
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => Vec::new(),
    }
}

/// Returns the resource that an id means as a whole, not by a part of it.
fn whole(id: &str) -> Option<ResourceId> {
    ResourceId::split(id).filter(|(_, name)| name.end == id.len()).map(|(own, _)| own)
}

fn rename_in(reading: &mut Reading, names: &Endings) {
    let Reading::Text(text) = reading else { return };
    let mut is_about = false;
    each_id(text, &mut |id| is_about |= ResourceId::parse(id).is_some_and(|own| names.contains_key(&own)));
    let is_named = || NAMED.iter().any(|field| text.contains(&format!("\"{field}\"")));
    if !is_about && !is_named() {
        return;
    }
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        rename(&mut value, names);
        *text = value.to_string();
    }
}

/// Calls resources by their new names, wherever a document names them.
fn rename(value: &mut Value, names: &Endings) {
    match value {
        Value::String(text) => {
            if let Some((own, range)) = ResourceId::split(text)
                && let Some(ending) = names.get(&own)
            {
                text.insert_str(range.end, ending);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| rename(one, names)),
        Value::Object(map) => {
            let id = map.get("id").and_then(Value::as_str).map(str::to_owned);
            if let Some((own, range)) = id.as_deref().and_then(ResourceId::split)
                && let (Some(ending), Some(id)) =
                    (names.get(&own), id.as_deref().filter(|id| id.len() == range.end))
            {
                let name = id.get(range).unwrap_or_default();
                map.insert("name".to_owned(), format!("{name}{ending}").into());
            }
            for field in NAMED {
                let Some(said) = map.get(field).and_then(Value::as_str).map(str::to_owned) else { continue };
                let within = Value::Object(map.clone()).to_string();
                let mut endings = BTreeSet::new();
                each_id(&within, &mut |id| {
                    let own = ResourceId::parse(id).filter(|own| own.name.eq_ignore_ascii_case(&said));
                    endings.extend(own.and_then(|own| names.get(&own)));
                });
                // Where the row itself does not say which of several it is about, it is about none of them.
                if let (1, Some(ending)) = (endings.len(), endings.first()) {
                    map.insert(field.to_owned(), format!("{said}{ending}").into());
                }
            }
            map.iter_mut().for_each(|(_, one)| rename(one, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns what was read of an interface under the name of the one that its own document names.
fn named_nic(name: &str, nic: &Nic, names: &Endings) -> (String, Nic) {
    let mut nic = nic.clone();
    let mut own = BTreeSet::new();
    if let Some(text) = nic.rules.as_ref().and_then(text) {
        each_id(text, &mut |id| {
            let is_own = |own: &ResourceId| {
                own.kind == "microsoft.network/networkinterfaces" && own.name.eq_ignore_ascii_case(name)
            };
            own.extend(ResourceId::parse(id).filter(is_own).and_then(|own| names.get(&own).cloned()));
        });
    }
    if let Some(reading) = &mut nic.rules {
        rename_in(reading, names);
    }
    let ending = own.pop_first().filter(|_| own.is_empty()).unwrap_or_default();
    (format!("{name}{ending}"), nic)
}

/// Returns the only machine of a name whose addresses a guest says it has.
fn owner(name: &str, said: &str, addresses: &BTreeMap<String, Vec<IpAddr>>) -> Option<String> {
    let words: BTreeSet<&str> =
        said.split(|char: char| !(char.is_ascii_hexdigit() || ".:".contains(char))).collect();
    let alike = |own: &str| own.contains(OF_GROUP) && plain_name(own).eq_ignore_ascii_case(name);
    let has = |own: &[IpAddr]| own.iter().any(|address| words.contains(address.to_string().as_str()));
    let mut all = addresses.iter().filter(|(own, list)| alike(own) && has(list));
    let first = all.next().map(|(own, _)| own.clone());
    first.filter(|_| all.next().is_none())
}
