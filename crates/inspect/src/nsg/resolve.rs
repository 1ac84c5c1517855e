//! Reads whom a side of a rule means, and resolves the names in it once for all rules.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use ipnet::IpNet;
use serde_json::Value;

use super::names::Names;
use super::peers::{Knowledge, Open, Peers, is_anybody};
use crate::net::{
    AddressSet, Fields, JsonPath, Platform, beginning, clipped, each_text, is_tag, parse_prefix,
};

/// How many ranges are kept for names; what goes beyond stays a name.
const MAX_RANGES: usize = 10_000_000;

/// Members of an application security group, and the known addresses that are none.
type Membership = (Arc<AddressSet>, Arc<AddressSet>);

/// What a service tag certainly stands for, and whether that is all of it.
type Prefixes = (Arc<AddressSet>, bool);

/// Reads sides of rules.
pub(super) struct Resolver<'a> {
    knowledge: Knowledge<'a>,
    tags: HashMap<String, Prefixes>,
    groups: HashMap<String, Membership>,
    unions: HashMap<String, Arc<AddressSet>>,
    names: Names,
    left: usize,
}

/// A side while it is read.
#[derive(Default)]
struct Side {
    all: bool,
    prefixes: Vec<IpNet>,
    /// What names stand for, and the names.
    sets: Vec<Arc<AddressSet>>,
    names: Vec<String>,
    open: Vec<Open>,
    seen: HashSet<String>,
}

/// What a side of a rule is read for.
pub(super) struct SideQuery<'a> {
    pub(super) rule: &'a Value,
    /// Its number: what only it says is nobody else's.
    pub(super) number: usize,
    /// `source` or `destination`.
    pub(super) side: &'a str,
}

impl Side {
    fn leave(&mut self, name: String, never: Arc<AddressSet>, unread: bool) {
        if self.seen.insert(name.clone()) {
            self.open.push(Open { name, never, unread });
        }
    }
}

impl<'a> Resolver<'a> {
    pub(super) fn new(knowledge: Knowledge<'a>) -> Self {
        let (tags, groups, unions) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { knowledge, tags, groups, unions, names: Names::default(), left: MAX_RANGES }
    }

    /// Reads one side of a rule: the expanded list, else the plural list, else the single value, and the groups.
    ///
    /// `odd` is called with the place and the text of what is neither an address nor a name.
    pub(super) fn side(&mut self, asked: &SideQuery<'_>, odd: &mut dyn FnMut(JsonPath, String)) -> Peers {
        let SideQuery { rule, number, side } = asked;
        let capital: String =
            side.chars().take(1).flat_map(char::to_uppercase).chain(side.chars().skip(1)).collect();
        let [expanded, also, plural, single] = [
            format!("expanded{capital}AddressPrefix"),
            format!("expanded{capital}AddressPrefixes"),
            format!("{side}AddressPrefixes"),
            format!("{side}AddressPrefix"),
        ];
        let mut peers = Peers::default();
        for name in [&plural, &single] {
            each_text(rule.field(name), &mut |text, _| {
                peers.anybody |= text.is_ok_and(is_anybody);
                peers.platform.extend(text.ok().and_then(Platform::tagged));
            });
        }
        let mut found = Side::default();
        for name in [&expanded, &also, &plural, &single] {
            let mut any = false;
            each_text(rule.field(name), &mut |text, direction| {
                any = true;
                let place = || JsonPath::default().field(name).items(direction);
                match text {
                    Ok(text) => self.take(text, &mut found, &mut |text| odd(place(), text)),
                    Err(value) => {
                        odd(place(), beginning(value));
                        let own = format!("{number} {}", place());
                        found.leave(self.names.own(&own, beginning(value)), Arc::default(), true);
                    }
                }
            });
            if any {
                break;
            }
        }
        let name = format!("{side}ApplicationSecurityGroups");
        let groups = rule.field(&name).filter(|groups| !groups.is_null());
        let items =
            groups.map(|groups| groups.as_array().map_or(std::slice::from_ref(groups), Vec::as_slice));
        for (at, group) in items.into_iter().flatten().enumerate() {
            if let Some(id) = group.text("id").or_else(|| group.as_str()) {
                self.group(id, &mut found);
            } else {
                // Whose it is is not known, so that anybody may be in it, and it is no other rule's.
                let place = JsonPath::default().field(&name).items(&[at]);
                let own = self.names.own(&format!("{number} {place}"), "an unnamed group".to_owned());
                odd(place, beginning(group));
                found.leave(own, Arc::default(), true);
            }
        }
        if !found.all && found.prefixes.is_empty() && found.sets.is_empty() && found.open.is_empty() {
            // A rule that names nobody is not known to mean nobody.
            let own =
                self.names.own(&format!("{number} {side}"), format!("the {side} of a rule without one"));
            found.leave(own, Arc::default(), true);
        }
        peers.open = std::mem::take(&mut found.open);
        peers.known = self.known(found);
        peers
    }

    fn take(&mut self, text: &str, found: &mut Side, odd: &mut dyn FnMut(String)) {
        if text == "*" || text.eq_ignore_ascii_case("any") {
            found.all = true;
        } else if let Some(prefix) = parse_prefix(text).or_else(|| whole_number(text)) {
            found.prefixes.push(prefix);
        } else {
            let tag = self.tag(text);
            let platform = Platform::tagged(text);
            let whole = platform.is_some() || tag.as_ref().is_some_and(|(_, whole)| *whole);
            found.prefixes.extend(platform.map(|platform| IpNet::from(platform.address())));
            let mut unread = false;
            if let Some((set, _)) = tag {
                found.sets.push(set);
                found.names.push(text.to_ascii_lowercase());
            } else if text.contains(['/', ' ', ':', '{'])
                || text.starts_with(|char: char| char.is_ascii_digit())
            {
                odd(clipped(text));
                unread = true;
            }
            if !whole {
                found.leave(self.names.shared("tag", text, clipped(text)), Arc::default(), unread);
            }
        }
    }

    /// Returns what a tag certainly stands for, and whether that is all of it.
    fn tag(&mut self, name: &str) -> Option<Prefixes> {
        let name = name.to_ascii_lowercase();
        if let Some((known, whole)) = self.tags.get(&name) {
            return Some((Arc::clone(known), *whole));
        }
        let tag = self.knowledge.tags.filter(|_| is_tag(&name))?.resolve(&name)?;
        self.left = self.left.checked_sub(tag.prefixes.len())?;
        let set = Arc::new(AddressSet::of(&tag.prefixes));
        self.tags.insert(name, (Arc::clone(&set), tag.whole));
        Some((set, tag.whole))
    }

    fn group(&mut self, id: &str, found: &mut Side) {
        let name = clipped(id.rsplit('/').next().unwrap_or(id));
        let (members, never) = self.membership(id);
        if !members.is_empty() {
            found.sets.push(members);
            found.names.push(id.to_ascii_lowercase());
        }
        found.leave(self.names.shared("group", id, name), never, false);
    }

    fn membership(&mut self, id: &str) -> Membership {
        let id = id.to_ascii_lowercase();
        if let Some((members, others)) = self.groups.get(&id) {
            return (Arc::clone(members), Arc::clone(others));
        }
        let (mut members, mut others) = (Vec::new(), Vec::new());
        for (address, inside) in self.knowledge.inventory.into_iter().flat_map(|known| known.membership(&id))
        {
            match inside {
                Some(true) => members.push(IpNet::from(address)),
                Some(false) => others.push(IpNet::from(address)),
                None => {}
            }
        }
        let Some(left) = self.left.checked_sub(members.len() + others.len()) else {
            return Membership::default();
        };
        self.left = left;
        let known = (Arc::new(AddressSet::of(&members)), Arc::new(AddressSet::of(&others)));
        self.groups.insert(id, (Arc::clone(&known.0), Arc::clone(&known.1)));
        known
    }

    /// Puts together what a side certainly means; what several rules say is kept once.
    fn known(&mut self, found: Side) -> Arc<AddressSet> {
        if found.all {
            return self.shared("*", AddressSet::all);
        }
        let written = AddressSet::of(&found.prefixes);
        match found.sets.as_slice() {
            [] => Arc::new(written),
            [one] if found.prefixes.is_empty() => Arc::clone(one),
            sets => {
                let names = found.names.join(",");
                let prefixes: Vec<String> = found.prefixes.iter().map(ToString::to_string).collect();
                let union = || sets.iter().fold(written, |all, set| all.union(set));
                self.shared(&format!("{names},{}", prefixes.join(",")), union)
            }
        }
    }

    fn shared(&mut self, key: &str, make: impl FnOnce() -> AddressSet) -> Arc<AddressSet> {
        if let Some(known) = self.unions.get(key) {
            return Arc::clone(known);
        }
        let set = Arc::new(make());
        self.unions.insert(key.to_owned(), Arc::clone(&set));
        set
    }
}

/// Reads an address that is written as one number: Azure accepts `789` in a rule, and means 0.0.3.21.
fn whole_number(text: &str) -> Option<IpNet> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<u32>().ok().filter(|_| is_number)?;
    Some(IpNet::from(IpAddr::from(Ipv4Addr::from_bits(number))))
}
