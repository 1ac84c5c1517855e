//! Firewalls of the platform: which rule decides, what was not read, and answers that go around.

use serde_json::{Value, json};

use super::draft::{Draft, check, summary};
use crate::path::{Bundle, Document, Estate, Fate, Flow, Judgement, Protocol, Reading};

const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";

/// Two spokes whose packets for each other go through a firewall in a hub.
pub(crate) fn spokes() -> Draft {
    Draft::default()
        .network("hub", "10.0.0.0/16", &[("AzureFirewallSubnet", "10.0.1.0/26")])
        .network("shop", "10.1.0.0/16", &[("web", "10.1.1.0/24")])
        .network("data", "10.2.0.0/16", &[("db", "10.2.1.0/24")])
        .peered("hub", "shop", "Connected")
        .peered("hub", "data", "Connected")
        .machine("web", "10.1.1.4", "shop/web")
        .machine("db", "10.2.1.4", "data/db")
        .listens("db", "0.0.0.0:5432")
        .route("shop/web", "to-data", "10.2.0.0/16", "VirtualAppliance", Some("10.0.1.4"))
        .route("data/db", "to-shop", "10.1.0.0/16", "VirtualAppliance", Some("10.0.1.4"))
}

pub(crate) fn rule(name: &str, source: &str, destination: &str, port: &str) -> Value {
    json!({"ruleType": "NetworkRule", "name": name, "sourceAddresses": [source], "destinationAddresses": [destination],
        "ipProtocols": ["TCP"], "destinationPorts": [port]})
}

pub(crate) fn collection(name: &str, priority: u32, action: &str, rules: &[Value]) -> Value {
    json!({"ruleCollectionType": "FirewallPolicyFilterRuleCollection", "name": name, "priority": priority,
        "action": {"type": action}, "rules": rules})
}

pub(crate) fn group(policy: &str, name: &str, priority: u32, collections: &[Value]) -> Value {
    json!({"id": format!("{ID}/firewallPolicies/{policy}/ruleCollectionGroups/{name}"), "name": name,
        "properties": {"priority": priority, "ruleCollections": collections}})
}

fn policy(name: &str, parent: Option<&str>, groups: &[&str]) -> Value {
    let groups: Vec<Value> = groups
        .iter()
        .map(|group| json!({"id": format!("{ID}/firewallPolicies/{name}/ruleCollectionGroups/{group}")}))
        .collect();
    let parent = parent.map(|parent| json!({"id": format!("{ID}/firewallPolicies/{parent}")}));
    json!({"name": name, "properties": {"threatIntelMode": "Alert", "basePolicy": parent, "ruleCollectionGroups": groups}})
}

pub(crate) fn firewall(more: Value) -> Value {
    let subnet = format!("{ID}/virtualNetworks/hub/subnets/AzureFirewallSubnet");
    let mut body = json!({"ipConfigurations": [{"name": "c", "properties": {
        "privateIPAddress": "10.0.1.4", "subnet": {"id": subnet},
        "publicIPAddress": {"id": "/p", "ipAddress": "20.1.2.3"}}}]});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    json!({"name": "hub-fw", "properties": body})
}

pub(crate) fn text(rows: &[Value]) -> Option<Reading> {
    Some(Reading::Text(Value::Array(rows.to_vec()).to_string()))
}

/// The spokes with a policy `p` whose groups these are.
pub(crate) fn with(draft: &Draft, groups: &[Value]) -> Bundle {
    let mut bundle = draft.bundle();
    let names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    bundle.cloud.firewalls =
        text(&[firewall(json!({"firewallPolicy": {"id": format!("{ID}/firewallPolicies/p")}}))]);
    bundle.cloud.firewall_policies = text(&[policy("p", None, &names)]);
    bundle.cloud.firewall_rules = text(groups);
    bundle
}

fn judge(bundle: &Bundle, port: u16) -> Judgement {
    Estate::of(bundle).judge(&spokes().flow("web", "db", Protocol::Tcp, port))
}

fn allowed() -> Value {
    collection("app", 200, "Allow", &[rule("db", "10.1.0.0/16", "10.2.1.4", "5432")])
}

#[test]
fn a_rule_that_fits_lets_it_through_and_nothing_else_does() {
    let bundle = with(&spokes(), &[group("p", "g", 200, &[allowed()])]);
    check(&judge(&bundle, 5432), &["PASSES"]);
    let hop = judge(&bundle, 5432).forward.into_iter().find(|hop| hop.at == "hub-fw").unwrap();
    assert_eq!(hop.allowed.as_deref(), Some("the rule db of the collection app"));
    let denied = spokes().listens("db", "0.0.0.0:5433");
    let bundle = with(&denied, &[group("p", "g", 200, &[allowed()])]);
    check(&judge(&bundle, 5433), &["BLOCKED", "firewall_default_deny firewall/hub-fw/tcp/5433"]);
}

#[test]
fn the_lower_number_goes_first_and_a_group_before_its_collections() {
    let deny = |priority| collection("stop", priority, "Deny", &[rule("no-db", "*", "*", "5432")]);
    let denies = ["BLOCKED", "firewall_deny firewall/hub-fw/stop/no-db"];
    let one = |deny| with(&spokes(), &[group("p", "g", 200, &[allowed(), deny])]);
    check(&judge(&one(deny(100)), 5432), &denies);
    check(&judge(&one(deny(300)), 5432), &["PASSES"]);
    let two = |first| {
        let groups = [group("p", "g", 200, &[allowed()]), group("p", "h", first, &[deny(300)])];
        with(&spokes(), &groups)
    };
    check(&judge(&two(100), 5432), &denies);
    check(&judge(&two(300), 5432), &["PASSES"]);
}

#[test]
fn a_parent_is_asked_before_its_child() {
    let deny = collection("stop", 60_000, "Deny", &[rule("no-db", "*", "*", "5432")]);
    let mut bundle = with(&spokes(), &[group("p", "g", 100, &[allowed()])]);
    bundle.cloud.firewall_policies = text(&[policy("p", Some("base"), &["g"]), policy("base", None, &["b"])]);
    assert_eq!(judge(&bundle, 5432).fate, Fate::Unknown, "the parent's group was not read");
    bundle.cloud.firewall_rules =
        text(&[group("p", "g", 100, &[allowed()]), group("base", "b", 60_000, &[deny])]);
    check(&judge(&bundle, 5432), &["BLOCKED", "firewall_deny firewall/hub-fw/stop/no-db"]);
    bundle.cloud.firewall_policies = text(&[policy("p", Some("base"), &["g"])]);
    assert_eq!(judge(&bundle, 5432).fate, Fate::Unknown, "the parent was not read");
}

#[test]
fn what_was_not_read_never_lets_anything_through() {
    let whole = with(&spokes(), &[group("p", "g", 200, &[allowed()])]);
    let without: [fn(&mut Bundle); 3] = [
        |bundle| bundle.cloud.firewall_rules = None,
        |bundle| bundle.cloud.firewall_policies = None,
        |bundle| bundle.cloud.firewall_rules = Some(Reading::Text("[]".to_owned())),
    ];
    for remove in without {
        let mut bundle = whole.clone();
        remove(&mut bundle);
        let judged = judge(&bundle, 5432);
        assert_eq!(judged.fate, Fate::Unknown, "{judged:#?}");
        assert!(judged.missing().iter().any(|missing| missing.what == Document::Firewalls));
    }
}

#[test]
fn what_cannot_be_followed_to_its_end_is_not_known() {
    // A circle of policies, and more of them than are followed.
    let mut bundle = with(&spokes(), &[group("p", "g", 200, &[allowed()])]);
    bundle.cloud.firewall_policies = text(&[policy("p", Some("p"), &["g"])]);
    assert_eq!(judge(&bundle, 5432).fate, Fate::Unknown);
    // Two policies of one name, in different groups of resources.
    let other = |id: &str| {
        let mut own = policy("p", None, &["g"]);
        own["id"] = json!(id);
        own
    };
    bundle.cloud.firewall_policies = text(&[other("/g/one/p"), other("/g/two/p")]);
    assert_eq!(judge(&bundle, 5432).fate, Fate::Unknown);
    bundle.cloud.firewall_policies = text(&[other("/g/one/p"), other("/G/one/P")]);
    check(&judge(&bundle, 5432), &["PASSES"]);
    // A collection in the firewall itself that nobody can read.
    let odd = json!({"name": "odd", "properties": {"priority": "first", "rules": 7}});
    bundle.cloud.firewalls = text(&[firewall(json!({"networkRuleCollections": [odd]}))]);
    assert_eq!(judge(&bundle, 5432).fate, Fate::Unknown);
}

#[test]
fn rules_that_stand_in_the_firewall_itself_are_asked_by_kind_before_their_numbers() {
    let network = json!({"name": "net", "properties": {"priority": 500, "action": {"type": "Deny"}, "rules": [
        {"name": "no", "protocols": ["Any"], "sourceAddresses": ["10.1.1.0-10.1.1.255"],
            "destinationAddresses": ["10.2.0.0/16"], "destinationPorts": ["443", "5000-6000"]}]}});
    let application = json!({"name": "web", "properties": {"priority": 100, "action": {"type": "Allow"}, "rules": [
        {"name": "any", "sourceAddresses": ["*"], "targetFqdns": ["*"],
            "protocols": [{"protocolType": "Https", "port": 443}]}]}});
    let mut bundle = spokes().listens("db", "0.0.0.0:443").bundle();
    let classic = |network: &[&Value]| {
        text(&[firewall(
            json!({"networkRuleCollections": network, "applicationRuleCollections": [application]}),
        )])
    };
    bundle.cloud.firewalls = classic(&[&network]);
    check(&judge(&bundle, 443), &["BLOCKED", "firewall_deny firewall/hub-fw/net/no"]);
    bundle.cloud.firewalls = classic(&[]);
    check(&judge(&bundle, 443), &["PASSES"]);
}

#[test]
fn a_rule_about_a_name_decides_once_the_name_is_known() {
    let rule = json!({"ruleType": "ApplicationRule", "name": "vendor", "sourceAddresses": ["*"],
        "targetFqdns": ["*.vendor.example"], "protocols": [{"protocolType": "Https", "port": 443}]});
    let named = collection("web", 200, "Allow", &[rule]);
    let bundle = with(&spokes().listens("db", "0.0.0.0:443"), &[group("p", "g", 200, &[named])]);
    let flow = spokes().flow("web", "db", Protocol::Tcp, 443);
    let estate = Estate::of(&bundle);
    assert_eq!(estate.judge(&flow).fate, Fate::Unknown);
    let by = |name: &str| {
        let judged = estate.judge(&flow.clone().by_name(name));
        judged
            .forward
            .into_iter()
            .find(|hop| hop.at == "hub-fw" && hop.kind == crate::path::Kind::Firewall)
            .unwrap()
    };
    assert!(by("api.vendor.example").allowed.is_some());
    assert_eq!(
        by("other.example").stops[0].cause.to_string(),
        "firewall_default_deny firewall/hub-fw/tcp/443"
    );
}

#[test]
fn a_group_of_addresses_stands_for_what_is_in_it() {
    let rule = json!({"ruleType": "NetworkRule", "name": "db", "sourceIpGroups": [format!("{ID}/ipGroups/web")],
        "destinationAddresses": ["10.2.1.4"], "ipProtocols": ["TCP"], "destinationPorts": ["5432"]});
    let mut bundle = with(&spokes(), &[group("p", "g", 200, &[collection("app", 200, "Allow", &[rule])])]);
    assert_eq!(judge(&bundle, 5432).fate, Fate::Unknown);
    bundle.cloud.ip_groups = text(&[json!({"name": "web", "properties": {"ipAddresses": ["10.1.1.0/24"]}})]);
    check(&judge(&bundle, 5432), &["PASSES"]);
    bundle.cloud.ip_groups = text(&[json!({"name": "web", "properties": {"ipAddresses": ["10.9.1.0/24"]}})]);
    check(&judge(&bundle, 5432), &["BLOCKED", "firewall_default_deny firewall/hub-fw/tcp/5432"]);
}

/// Spokes of which one side alone leads through the firewall, and which are peered.
fn one_sided(leads: &str) -> Bundle {
    let mut draft = Draft::default()
        .network("hub", "10.0.0.0/16", &[("AzureFirewallSubnet", "10.0.1.0/26")])
        .network("shop", "10.1.0.0/16", &[("web", "10.1.1.0/24")])
        .network("data", "10.2.0.0/16", &[("db", "10.2.1.0/24")])
        .peered("hub", "shop", "Connected")
        .peered("hub", "data", "Connected")
        .peered("shop", "data", "Connected")
        .machine("web", "10.1.1.4", "shop/web")
        .machine("db", "10.2.1.4", "data/db")
        .listens("db", "0.0.0.0:5432");
    draft = match leads {
        "web" => draft.route("shop/web", "to-data", "10.2.0.0/16", "VirtualAppliance", Some("10.0.1.4")),
        _ => draft.route("data/db", "to-shop", "10.1.0.0/16", "VirtualAppliance", Some("10.0.1.4")),
    };
    with(&draft, &[group("p", "g", 200, &[allowed()])])
}

#[test]
fn half_a_path_through_a_firewall_is_named() {
    let expected = ["BLOCKED", "asymmetric_path flow/10.1.1.4/10.2.1.4/tcp/5432"];
    check(&judge(&one_sided("web"), 5432), &expected);
    check(&judge(&one_sided("db"), 5432), &expected);
}

#[test]
fn what_comes_from_outside_is_led_on_by_a_rule_alone() {
    let nat = json!({"ruleCollectionType": "FirewallPolicyNatRuleCollection", "name": "in", "priority": 100,
        "action": {"type": "DNAT"}, "rules": [{"ruleType": "NatRule", "name": "db", "sourceAddresses": ["*"],
        "destinationAddresses": ["20.1.2.3"], "ipProtocols": ["TCP"], "destinationPorts": ["15432"],
        "translatedAddress": "10.2.1.4", "translatedPort": "5432"}]});
    let bundle = with(&spokes(), &[group("p", "g", 200, &[nat])]);
    let flow = |port| {
        Flow::new("8.8.8.8".parse().unwrap(), "20.1.2.3".parse().unwrap(), Protocol::Tcp, Some(port)).unwrap()
    };
    let estate = Estate::of(&bundle);
    let judged = estate.judge(&flow(15_432));
    assert_eq!(judged.fate, Fate::Passes, "{judged:#?}");
    assert_eq!(
        summary(&estate.judge(&flow(22))),
        ["BLOCKED", "firewall_default_deny firewall/hub-fw/tcp/22"]
    );
}
