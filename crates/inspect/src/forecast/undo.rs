//! The command that takes a change back, from what was read before it.

use super::balancer::BalancerList;
use super::command::{Script, command, known_peering};
use super::compare::applied;
use super::documents::{body, id_name, is_named, items, texts};
use super::draft::Draft;
use super::edit::{Edit, Peering, SecurityRule};
use super::firewall_command;
use super::guest;
use super::name::part_after;
use super::resource::peering_of;
use super::routes::route_of;
use super::script::{bare, segments};
use crate::net::Fields as _;
use crate::path::Bundle;
use serde_json::Value;

/// Returns the words of the command that takes a command back: it puts there again what was read before. Nothing where that was not
/// read, where nothing would change, or where one command is not enough.
#[must_use]
pub fn undo(words: &[String], bundle: &Bundle) -> Option<Vec<String>> {
    let edits = command(words, bundle).ok()?;
    if let [edit] = edits.as_slice() {
        return one_back(words, edit, bundle);
    }
    if edits.iter().all(|edit| matches!(edit, Edit::Filter { .. } | Edit::Shape { .. })) {
        return script_back(words, &edits, bundle);
    }
    let mut back = edits.iter().map(|edit| one_back(words, edit, bundle));
    let first = back.next()??;
    back.try_fold(first, |all, more| joined(all, &more?))
}

/// Joins two commands that set an option each of the same thing.
fn joined(mut all: Vec<String>, more: &[String]) -> Option<Vec<String>> {
    let (same, [option, value]) = more.split_last_chunk::<2>()?;
    let is_same = all.get(..same.len()) == Some(same) && !all.contains(option);
    is_same.then(|| {
        all.extend([option.clone(), value.clone()]);
        all
    })
}

/// Returns the words of the command that takes one edit back.
fn one_back(words: &[String], edit: &Edit, bundle: &Bundle) -> Option<Vec<String>> {
    let draft = Draft::of(bundle);
    let place = Place::of(words);
    match edit {
        Edit::PutRule { group, rule } => match draft.rules_of(group, Some(&rule.name)).first() {
            Some(old) if old == rule => None,
            Some(old) => Some(place.rule("update", group, old)),
            None => {
                Some(place.named("network nsg rule delete", &[("--nsg-name", group), ("--name", &rule.name)]))
            }
        },
        Edit::DeleteRule { group, rule } => {
            draft.rules_of(group, Some(rule)).first().map(|old| place.rule("create", group, old))
        }
        Edit::PutRoute { table, route } => match old_route(&draft, table, &route.name) {
            Some(old) if old == *route => None,
            Some(old) => Some(place.route("update", table, &old)),
            None => Some(place.named(
                "network route-table route delete",
                &[("--route-table-name", table), ("--name", &route.name)],
            )),
        },
        Edit::DeleteRoute { table, route } => {
            old_route(&draft, table, route).map(|old| place.route("create", table, &old))
        }
        Edit::SetSubnetGroup { network, subnet, .. } => {
            let old = draft.subnet(network, subnet)?;
            Some(place.subnet(network, subnet, "--network-security-group", old, "networkSecurityGroup"))
        }
        Edit::SetSubnetTable { network, subnet, .. } => {
            let old = draft.subnet(network, subnet)?;
            Some(place.subnet(network, subnet, "--route-table", old, "routeTable"))
        }
        Edit::PutPeering { network, peering } => {
            draft.networks.named(network)?;
            match known_peering(&draft, network, &peering.name) {
                None => Some(place.named(
                    "network vnet peering delete",
                    &[("--vnet-name", network), ("--name", &peering.name)],
                )),
                // Whoever is joined with another network by it cannot be joined with the old one by a change of it.
                Some(old) if old == *peering || old.remote != peering.remote => None,
                Some(old) => Some(place.peering_as("update", network, &old, &[])),
            }
        }
        Edit::SetForwarding { nic, .. } => {
            let old = body(draft.interfaces.named(nic)?).field("enableIpForwarding").and_then(Value::as_bool);
            let old = if old.unwrap_or(false) { "true" } else { "false" };
            Some(place.named("network nic update", &[("--name", nic), ("--ip-forwarding", old)]))
        }
        Edit::SetPoolMember { balancer, pool, nic, is_in } => {
            let back = words.iter().map(|word| match word.as_str() {
                "add" if *is_in => "remove".to_owned(),
                "remove" if !*is_in => "add".to_owned(),
                _ => word.clone(),
            });
            // Where nothing would change nothing is taken back.
            (is_member(&draft, balancer, pool, nic) != *is_in).then(|| back.collect())
        }
        Edit::SetPower { machine, runs } => {
            let verb = if *runs { "vm deallocate" } else { "vm start" };
            Some(place.named(verb, &[("--name", machine)]))
        }
        Edit::Firewall(edit) => firewall_command::undo(edit, &draft, &place),
        Edit::Filter { .. } | Edit::Shape { .. } => script_back(words, std::slice::from_ref(edit), bundle),
        Edit::DeletePeering { network, peering } => {
            let known = draft.networks.named(network)?;
            let row = items(known, "virtualNetworkPeerings").find(|row| is_named(row, peering))?;
            let remote = texts(body(row).field("remoteVirtualNetwork")?, &["id"]).into_iter().next()?;
            Some(place.peering_as("create", network, &peering_of(row)?, &[("--remote-vnet", &remote)]))
        }
        Edit::SetInterfaceGroup { nic, .. } => {
            let old = body(draft.interfaces.named(nic)?).field("networkSecurityGroup");
            let old = old.and_then(|one| texts(one, &["id"]).into_iter().next()).or_else(|| id_name(old));
            let old = old.unwrap_or_default();
            Some(place.named("network nic update", &[("--name", nic), ("--network-security-group", &old)]))
        }
        Edit::PutGroup { .. }
        | Edit::DeleteGroup { .. }
        | Edit::PutTable { .. }
        | Edit::DeleteTable { .. }
        | Edit::PutNetwork { .. }
        | Edit::PutSubnet { .. }
        | Edit::PutInterface(_)
        | Edit::DeleteInterface { .. }
        | Edit::Attach { .. }
        | Edit::PutBalancer { .. }
        | Edit::DeleteBalancer { .. }
        | Edit::PutBalancerPart { .. }
        | Edit::DeleteBalancerPart { .. }
        | Edit::Admit(_)
        | Edit::Obscure { .. } => None,
    }
}

fn is_member(draft: &Draft, balancer: &str, pool: &str, nic: &str) -> bool {
    let pool = draft.part(balancer, BalancerList::Pools, pool);
    let members = pool.into_iter().flat_map(|pool| items(pool, "backendIPConfigurations"));
    let own = members.filter_map(|row| part_after(row.text("id")?, "networkInterfaces"));
    own.into_iter().any(|own| own.eq_ignore_ascii_case(nic))
}

/// Returns the words of the command that takes a command back whose undoing only the kernel can name, from what was read after it.
#[must_use]
pub fn undo_read(words: &[String], before: &Bundle, after: &Bundle) -> Option<Vec<String>> {
    let edits = command(words, before).ok()?;
    let [Edit::Filter { machine, words: line }] = edits.as_slice() else { return None };
    let back = guest::inverse_read(before, after, machine, line)?;
    sent_back(words, &[line], &[vec![back]])
}

/// Tells whether a command is one that `undo_read` is for.
#[must_use]
pub fn is_undone_later(words: &[String], before: &Bundle) -> bool {
    let edits = command(words, before).unwrap_or_default();
    matches!(edits.as_slice(), [Edit::Filter { words: line, .. }] if guest::is_named_later(line))
}

/// Takes the lines of a script back, the last one first; each is judged on what the lines before it leave.
fn script_back(words: &[String], edits: &[Edit], bundle: &Bundle) -> Option<Vec<String>> {
    let (mut now, mut lines, mut back) = (bundle.clone(), Vec::new(), Vec::new());
    for edit in edits {
        let (line, inverse) = if let Edit::Filter { machine, words: line } = edit {
            (line, guest::inverse(&now, machine, line)?)
        } else if let Edit::Shape { machine, words: line } = edit {
            (line, vec![guest::unshaped(&now, machine, line)?])
        } else {
            return None;
        };
        let (after, unread) = applied(&now, std::slice::from_ref(edit));
        if !unread.is_empty() {
            return None;
        }
        now = after;
        lines.push(line.as_slice());
        back.push(inverse);
    }
    sent_back(words, &lines, &back)
}

/// Returns a command with other lines in place of its own: they are sent as its own were, and as whoever these ran as. Whatever else
/// the script does is not done again.
fn sent_back(words: &[String], lines: &[&[String]], back: &[Vec<String>]) -> Option<Vec<String>> {
    let script = Script::of(words, lines.first()?)?;
    let own: Vec<_> = segments(&script.text).filter_map(bare).collect();
    let mut said = Vec::new();
    for (line, back) in lines.iter().zip(back).rev() {
        let (runs_as, _) = own.iter().find(|(_, own)| own == line)?;
        said.extend(back.iter().map(|back| {
            runs_as.iter().map(String::as_str).chain([back.as_str()]).collect::<Vec<_>>().join(" ")
        }));
    }
    let all = script.with(said.join("; "));
    (all != words).then_some(all)
}

fn old_route(draft: &Draft, table: &str, route: &str) -> Option<super::RouteRow> {
    let row = draft.tables.named(table)?;
    items(row, "routes").find(|row| is_named(row, route)).and_then(route_of)
}

/// Resource group and subscription of the command, as it names them.
pub(super) struct Place(Vec<String>);

impl Place {
    fn of(words: &[String]) -> Self {
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if matches!(word.as_str(), "-g" | "--resource-group" | "--subscription") {
                found.extend([word.clone(), words.get(at + 1).cloned().unwrap_or_default()]);
            }
        }
        Self(found)
    }

    pub(super) fn named(&self, verb: &str, options: &[(&str, &str)]) -> Vec<String> {
        let head = std::iter::once("az").chain(verb.split(' ')).map(str::to_owned);
        let options = options.iter().flat_map(|(name, value)| [(*name).to_owned(), (*value).to_owned()]);
        head.chain(self.0.iter().cloned()).chain(options).collect()
    }

    fn rule(&self, verb: &str, group: &str, old: &SecurityRule) -> Vec<String> {
        let priority = old.priority.to_string();
        let mut words = self.named(
            &format!("network nsg rule {verb}"),
            &[
                ("--nsg-name", group),
                ("--name", &old.name),
                ("--priority", &priority),
                ("--direction", &old.direction),
                ("--access", &old.access),
                ("--protocol", &old.protocol),
            ],
        );
        let lists = [
            ("--source-address-prefixes", &old.sources),
            ("--source-port-ranges", &old.source_ports),
            ("--destination-address-prefixes", &old.destinations),
            ("--destination-port-ranges", &old.destination_ports),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            words.push(name.to_owned());
            words.extend(list.iter().cloned());
        }
        words
    }

    /// Makes a side of a peering what it was.
    fn peering_as(&self, verb: &str, network: &str, old: &Peering, more: &[(&str, &str)]) -> Vec<String> {
        let said = |is: bool| if is { "true" } else { "false" };
        let mut options = vec![("--vnet-name", network), ("--name", old.name.as_str())];
        options.extend(more);
        options.extend([
            ("--allow-vnet-access", said(old.access)),
            ("--allow-forwarded-traffic", said(old.forwarded)),
            ("--allow-gateway-transit", said(old.transit)),
            ("--use-remote-gateways", said(old.remote_gateway)),
        ]);
        self.named(&format!("network vnet peering {verb}"), &options)
    }

    fn route(&self, verb: &str, table: &str, old: &super::RouteRow) -> Vec<String> {
        let mut options = vec![
            ("--route-table-name", table),
            ("--name", old.name.as_str()),
            ("--address-prefix", old.prefix.as_str()),
            ("--next-hop-type", old.hop_type.as_str()),
        ];
        options.extend(old.hop.as_deref().map(|hop| ("--next-hop-ip-address", hop)));
        self.named(&format!("network route-table route {verb}"), &options)
    }

    fn subnet(&self, network: &str, subnet: &str, option: &str, old: &Value, field: &str) -> Vec<String> {
        let value = body(old).field(field).and_then(|one| texts(one, &["id"]).into_iter().next());
        let name = value.or_else(|| id_name(body(old).field(field))).unwrap_or_default();
        self.named(
            "network vnet subnet update",
            &[("--vnet-name", network), ("--name", subnet), (option, &name)],
        )
    }
}
