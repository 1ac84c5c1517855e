//! Commands of `az network firewall` as edits, and the commands that take them back.

use serde_json::{Map, Value, json};

use super::command::{CommandError, Words};
use super::documents::{body, is_named, items, texts};
use super::draft::Draft;
use super::firewall::{FirewallEdit, FirewallPlace, FirewallRules};
use super::undo::Place;
use crate::net::Fields as _;

const NAME: &[&str] = &["--name", "-n"];
const COLLECTION: &[&str] = &["--collection-name", "-c"];
const FIREWALL: &[&str] = &["--firewall-name", "-f"];
const GROUP: &[&str] = &["--rule-collection-group-name", "--rcg-name"];

/// Reads what stands behind `network firewall`; nothing where nobody carries it out here.
///
/// # Errors
/// Fails where the words do not say what is changed.
pub(super) fn firewall(verb: &[&str], words: &Words<'_>) -> Result<Option<FirewallEdit>, CommandError> {
    let classic = |kind: &str| match kind {
        "network-rule" => Some(FirewallRules::Network),
        "application-rule" => Some(FirewallRules::Application),
        "nat-rule" => Some(FirewallRules::Nat),
        _ => None,
    };
    let place = |rules| Ok(FirewallPlace::Firewall { firewall: words.need(FIREWALL)?, rules });
    let policy =
        || Ok(FirewallPlace::Policy { policy: words.need(&["--policy-name"])?, group: words.need(GROUP)? });
    Ok(Some(match verb {
        [kind, "create"] if classic(kind).is_some() => {
            let Some(rules) = classic(kind) else { return Ok(None) };
            FirewallEdit::PutRule {
                place: place(rules)?,
                collection: words.need(COLLECTION)?,
                created: created(words, "--priority", rules)?,
                rule: rule(words, NAME, rules)?,
            }
        }
        [kind, "delete"] if classic(kind).is_some() => {
            let Some(rules) = classic(kind) else { return Ok(None) };
            FirewallEdit::DeleteRule {
                place: place(rules)?,
                collection: words.need(COLLECTION)?,
                rule: words.need(NAME)?,
            }
        }
        [kind, "collection", "delete"] if classic(kind).is_some() => {
            let Some(rules) = classic(kind) else { return Ok(None) };
            FirewallEdit::DeleteCollection { place: place(rules)?, collection: words.need(NAME)? }
        }
        ["policy", "rule-collection-group", "delete"] => {
            FirewallEdit::DeleteGroup { policy: words.need(&["--policy-name"])?, group: words.need(NAME)? }
        }
        ["policy", "rule-collection-group", "collection", "remove"] => {
            FirewallEdit::DeleteCollection { place: policy()?, collection: words.need(NAME)? }
        }
        ["policy", "rule-collection-group", "collection", "add-filter-collection"] => {
            let rules = rules_of(words)?;
            let (action, priority) = created(words, "--collection-priority", rules)?
                .ok_or_else(|| CommandError::Unclear("--collection-priority is missing".to_owned()))?;
            let rule = rule(words, &["--rule-name"], rules)?;
            let collection = json!({
                "ruleCollectionType": "FirewallPolicyFilterRuleCollection", "name": words.need(NAME)?, "priority": priority,
                "action": {"type": action}, "rules": [rule],
            });
            FirewallEdit::PutCollection { place: policy()?, collection }
        }
        ["policy", "rule-collection-group", "collection", "rule", "add"] => FirewallEdit::PutRule {
            place: policy()?,
            collection: words.need(&["--collection-name"])?,
            created: None,
            rule: rule(words, NAME, rules_of(words)?)?,
        },
        ["policy", "rule-collection-group", "collection", "rule", "remove"] => FirewallEdit::DeleteRule {
            place: policy()?,
            collection: words.need(&["--collection-name"])?,
            rule: words.need(NAME)?,
        },
        _ => return Ok(None),
    }))
}

fn rules_of(words: &Words<'_>) -> Result<FirewallRules, CommandError> {
    let kind = words.need(&["--rule-type"])?;
    [FirewallRules::Network, FirewallRules::Application, FirewallRules::Nat]
        .into_iter()
        .find(|own| own.rule_type().eq_ignore_ascii_case(&kind))
        .ok_or_else(|| CommandError::Unclear(format!("`{kind}` is no kind of rules")))
}

/// Returns action and number of a collection that is created with its first rule.
fn created(
    words: &Words<'_>,
    option: &str,
    rules: FirewallRules,
) -> Result<Option<(String, u64)>, CommandError> {
    let Some(number) = words.one(&[option]) else { return Ok(None) };
    let priority = number.parse().map_err(|_| CommandError::Unclear(format!("`{number}` is no priority")))?;
    let action = match rules {
        FirewallRules::Nat => "DNAT".to_owned(),
        FirewallRules::Network | FirewallRules::Application => words.need(&["--action"])?,
    };
    Ok(Some((action, priority)))
}

fn rule(words: &Words<'_>, name: &[&str], rules: FirewallRules) -> Result<Value, CommandError> {
    let list = |names: &[&str]| json!(words.list(names).unwrap_or_default());
    let mut rule = Map::from_iter([
        ("name".to_owned(), json!(words.need(name)?)),
        ("ruleType".to_owned(), json!(rules.rule_type())),
        ("sourceAddresses".to_owned(), list(&["--source-addresses"])),
        ("sourceIpGroups".to_owned(), list(&["--source-ip-groups"])),
    ]);
    let more = match rules {
        FirewallRules::Application => {
            let asked = words.list(&["--protocols"]).unwrap_or_default();
            let asked: Option<Vec<Value>> = asked
                .iter()
                .map(|own| {
                    let (kind, port) = own.split_once('=')?;
                    Some(json!({"protocolType": kind, "port": port.parse::<u16>().ok()?}))
                })
                .collect();
            let asked =
                asked.ok_or_else(|| CommandError::Unclear("--protocols cannot be read".to_owned()))?;
            vec![
                ("protocols", json!(asked)),
                ("targetFqdns", list(&["--target-fqdns"])),
                ("fqdnTags", list(&["--fqdn-tags"])),
            ]
        }
        FirewallRules::Network => vec![
            ("ipProtocols", list(&["--protocols", "--ip-protocols"])),
            ("destinationPorts", list(&["--destination-ports"])),
            ("destinationAddresses", list(&["--destination-addresses", "--dest-addr"])),
            ("destinationIpGroups", list(&["--destination-ip-groups", "--dest-ipg"])),
            ("destinationFqdns", list(&["--destination-fqdns"])),
        ],
        FirewallRules::Nat => vec![
            ("ipProtocols", list(&["--protocols", "--ip-protocols"])),
            ("destinationPorts", list(&["--destination-ports"])),
            ("destinationAddresses", list(&["--destination-addresses", "--dest-addr"])),
            ("translatedAddress", json!(words.need(&["--translated-address"])?)),
            ("translatedPort", json!(words.one(&["--translated-port"]))),
        ],
    };
    rule.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Ok(Value::Object(rule))
}

/// Returns the command that takes an edit back; nothing where one is not enough, or where nothing was read of it.
pub(super) fn undo(edit: &FirewallEdit, draft: &Draft, at: &Place) -> Option<Vec<String>> {
    match edit {
        FirewallEdit::PutRule { place, collection, rule, .. } => {
            draft.is_firewall_read(place).then_some(())?;
            let name = rule.text("name")?;
            match draft.firewall_collection(place, collection) {
                // One that took the place of another is put back by two commands.
                Some(own) if items(own, "rules").any(|row| is_named(row, name)) => None,
                Some(_) => Some(named(at, place, ("delete", "rule remove"), (Some(collection), name))),
                None => Some(named(at, place, ("collection delete", "remove"), (None, collection))),
            }
        }
        FirewallEdit::DeleteRule { place, collection, rule } => {
            let own = draft.firewall_collection(place, collection)?;
            let old = items(own, "rules").find(|row| is_named(row, rule))?;
            // The last one may take its collection with it.
            (items(own, "rules").count() > 1).then_some(())?;
            let words = named(at, place, ("create", "rule add"), (Some(collection), rule));
            written(words, place, old)
        }
        FirewallEdit::PutCollection { place: place @ FirewallPlace::Policy { .. }, collection } => {
            let name = collection.text("name")?;
            let is_new = draft.is_firewall_read(place) && draft.firewall_collection(place, name).is_none();
            is_new.then(|| named(at, place, ("collection delete", "remove"), (None, name)))
        }
        FirewallEdit::DeleteCollection { place: place @ FirewallPlace::Policy { .. }, collection } => {
            let own = draft.firewall_collection(place, collection)?;
            let mut rules = items(own, "rules");
            let (only, None) = (rules.next()?, rules.next()) else { return None };
            let mut words = named(at, place, ("", "add-filter-collection"), (None, collection));
            let action = body(own).field("action").and_then(|action| action.text("type"))?;
            let priority = body(own).field("priority").and_then(Value::as_u64)?.to_string();
            let name = only.text("name")?;
            words.extend(
                ["--action", action, "--collection-priority", &priority, "--rule-name", name]
                    .map(str::to_owned),
            );
            written(words, place, only)
        }
        FirewallEdit::PutCollection { place: FirewallPlace::Firewall { .. }, .. }
        | FirewallEdit::DeleteCollection { place: FirewallPlace::Firewall { .. }, .. }
        | FirewallEdit::PutGroup { .. }
        | FirewallEdit::DeleteGroup { .. } => None,
    }
}

/// Writes a command about a rule or a collection: of a firewall itself, or of a policy.
fn named(
    at: &Place,
    place: &FirewallPlace,
    (classic, policy): (&str, &str),
    (collection, name): (Option<&str>, &str),
) -> Vec<String> {
    let of_collection = collection.map(|collection| ("--collection-name", collection));
    match place {
        FirewallPlace::Firewall { firewall, rules } => {
            let kind = match rules {
                FirewallRules::Network => "network-rule",
                FirewallRules::Application => "application-rule",
                FirewallRules::Nat => "nat-rule",
            };
            let mut options = vec![("--firewall-name", firewall.as_str())];
            options.extend(of_collection);
            options.push(("--name", name));
            at.named(&format!("network firewall {kind} {classic}"), &options)
        }
        FirewallPlace::Policy { policy: own, group } => {
            let mut options =
                vec![("--policy-name", own.as_str()), ("--rule-collection-group-name", group.as_str())];
            options.extend(of_collection);
            options.push(("--name", name));
            at.named(&format!("network firewall policy rule-collection-group collection {policy}"), &options)
        }
    }
}

/// Adds what a rule says, as options; nothing for a rule that these options do not say whole.
fn written(mut words: Vec<String>, place: &FirewallPlace, rule: &Value) -> Option<Vec<String>> {
    let is_policy = matches!(place, FirewallPlace::Policy { .. });
    let is_network = match place {
        FirewallPlace::Firewall { rules, .. } => *rules == FirewallRules::Network,
        FirewallPlace::Policy { .. } => rule.text("ruleType").is_some_and(|own| own == "NetworkRule"),
    };
    is_network.then_some(())?;
    if is_policy {
        words.extend(["--rule-type", "NetworkRule"].map(str::to_owned));
    }
    let lists = [
        (if is_policy { "--ip-protocols" } else { "--protocols" }, ["ipProtocols", "protocols"]),
        ("--source-addresses", ["sourceAddresses", "sourceAddresses"]),
        ("--source-ip-groups", ["sourceIpGroups", "sourceIpGroups"]),
        ("--destination-addresses", ["destinationAddresses", "destinationAddresses"]),
        ("--destination-ip-groups", ["destinationIpGroups", "destinationIpGroups"]),
        ("--destination-fqdns", ["destinationFqdns", "destinationFqdns"]),
        ("--destination-ports", ["destinationPorts", "destinationPorts"]),
    ];
    for (option, [one, other]) in lists {
        let mut own = texts(rule, &[one]);
        if own.is_empty() {
            own = texts(rule, &[other]);
        }
        if !own.is_empty() {
            words.push(option.to_owned());
            words.extend(own);
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::forecast::{Forecast, Scope, applied, command, forecast, terraform, undo};
    use crate::path::Bundle;
    use crate::path::tests::firewall::{collection, firewall, group, rule, spokes, text, with};

    fn allowed() -> Value {
        let rules = [rule("db", "10.1.0.0/16", "10.2.1.4", "5432"), rule("ssh", "10.1.0.0/16", "*", "22")];
        collection("app", 200, "Allow", &rules)
    }

    fn of_policy() -> Bundle {
        with(&spokes(), &[group("p", "g", 200, &[allowed()])])
    }

    fn classic() -> Bundle {
        let mut bundle = spokes().bundle();
        let network = json!([{"name": "app", "properties": allowed()}]);
        bundle.cloud.firewalls = text(&[firewall(json!({"networkRuleCollections": network}))]);
        bundle
    }

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn of_command(bundle: &Bundle, line: &str) -> Forecast {
        forecast(bundle, &command(&words(line), bundle).unwrap(), &Scope::default())
    }

    fn said(found: &Forecast) -> Vec<String> {
        let to_db = found.flows.iter().filter(|one| one.from == "web" && one.to == "db");
        to_db
            .map(|one| {
                let port = one.flow.dst_port.unwrap_or_default();
                format!("{} {port} {}", one.verdict, one.cause.clone().unwrap_or_default())
            })
            .collect()
    }

    const OF_POLICY: &str = "az network firewall policy rule-collection-group collection";
    const PLACE: &str = "-g rg --policy-name p --rcg-name g";

    #[test]
    fn a_rule_that_is_deleted_cuts_and_its_undo_puts_it_back() {
        for (bundle, line) in [
            (classic(), "az network firewall network-rule delete -g rg -f hub-fw -c app -n db".to_owned()),
            (of_policy(), format!("{OF_POLICY} rule remove {PLACE} --collection-name app -n db")),
        ] {
            let found = of_command(&bundle, &line);
            assert_eq!(said(&found), ["cut 5432 firewall_default_deny firewall/hub-fw/tcp/5432"], "{line}");
            assert!(found.is_bad() && !found.is_open(), "{:?}", found.unknown);
            let back = undo(&words(&line), &bundle).unwrap();
            let gone = applied(&bundle, &command(&words(&line), &bundle).unwrap()).0;
            let again = forecast(&gone, &command(&back, &gone).unwrap(), &Scope::default());
            assert_eq!(
                said(&again),
                ["opened 5432 firewall_default_deny firewall/hub-fw/tcp/5432"],
                "{back:?}"
            );
        }
    }

    #[test]
    fn a_collection_that_denies_cuts_what_a_higher_number_lets_through() {
        let line = |priority: u32| {
            format!(
                "{OF_POLICY} add-filter-collection {PLACE} -n stop --collection-priority {priority} --action Deny --rule-name all \
                 --rule-type NetworkRule --ip-protocols TCP --source-addresses * --destination-addresses * --destination-ports 5432"
            )
        };
        let found = of_command(&of_policy(), &line(100));
        assert_eq!(said(&found), ["cut 5432 firewall_deny firewall/hub-fw/stop/all"]);
        assert_eq!(said(&of_command(&of_policy(), &line(300))), Vec::<String>::new());
        let back = undo(&words(&line(100)), &of_policy()).unwrap().join(" ");
        assert_eq!(
            back,
            "az network firewall policy rule-collection-group collection remove -g rg --policy-name p \
             --rule-collection-group-name g --name stop"
        );
    }

    #[test]
    fn a_firewall_that_was_not_read_leaves_the_change_unknown() {
        let mut bundle = of_policy();
        bundle.cloud.firewall_rules = None;
        let line = format!("{OF_POLICY} rule remove {PLACE} --collection-name app -n db");
        let found = of_command(&bundle, &line);
        assert!(found.is_open() && !found.is_bad(), "{found:?}");
        assert!(undo(&words(&line), &bundle).is_none());
    }

    #[test]
    fn a_plan_changes_rules_of_a_firewall_and_of_a_policy() {
        let change = |kind: &str, after: &Value, later: &Value| {
            let one = json!({"address": "x", "type": kind, "change": {"actions": ["update"], "before": {}, "after": after,
                "after_unknown": later}});
            let plan = json!({"format_version": "1.2", "resource_changes": [one]});
            let plan = terraform(&plan.to_string()).unwrap();
            assert!(plan.ignored.is_empty(), "{:?}", plan.ignored);
            plan.edits
        };
        let none = json!({});
        let ssh = json!({"name": "ssh", "protocols": ["TCP"], "source_addresses": ["*"], "destination_addresses": ["*"],
            "destination_ports": ["22"]});
        let own = json!({"name": "app", "azure_firewall_name": "hub-fw", "priority": 200, "action": "Allow", "rule": [ssh]});
        let edits = change("azurerm_firewall_network_rule_collection", &own, &none);
        let cut = ["cut 5432 firewall_default_deny firewall/hub-fw/tcp/5432"];
        assert_eq!(said(&forecast(&classic(), &edits, &Scope::default())), cut);
        let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/firewallPolicies/p";
        let inner = json!({"name": "app", "priority": 200, "action": "Allow", "rule": [ssh]});
        let own = json!({"name": "g", "firewall_policy_id": id, "priority": 200, "network_rule_collection": [inner]});
        let kind = "azurerm_firewall_policy_rule_collection_group";
        let edits = change(kind, &own, &none);
        assert_eq!(said(&forecast(&of_policy(), &edits, &Scope::default())), cut);
        let edits = change(kind, &own, &json!({"network_rule_collection": true}));
        let found = forecast(&of_policy(), &edits, &Scope::default());
        assert!(found.is_open() && !found.is_bad());
    }
}
