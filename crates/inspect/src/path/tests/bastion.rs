//! Bastion hosts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::draft::{Draft, Rule, summary};
use crate::path::{Bundle, Estate, Flow, Judgement, Kind, Protocol, Reading};

const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";

/// A bastion host in 10.0.9.0/26 beside `web` (10.0.1.4), which listens on 22.
struct Host {
    draft: Draft,
    bastion: Value,
    is_read: bool,
    by_client: bool,
    to: &'static str,
}

fn host() -> Host {
    let draft = Draft::default()
        .network("app", "10.0.0.0/16", &[("web", "10.0.1.0/24"), ("AzureBastionSubnet", "10.0.9.0/26")])
        .machine("web", "10.0.1.4", "app/web")
        .listens("web", "0.0.0.0:22");
    let subnet = json!({"id": format!("{ID}/virtualNetworks/app/subnets/AzureBastionSubnet")});
    let public = json!({"id": format!("{ID}/publicIPAddresses/bastion-ip")});
    let bastion = json!({"name": "jump", "provisioningState": "Succeeded", "sku": {"name": "Standard"}, "scaleUnits": 2,
        "enableTunneling": false, "enableIpConnect": false,
        "ipConfigurations": [{"name": "IpConf", "subnet": subnet, "publicIPAddress": public}]});
    Host { draft, bastion, is_read: true, by_client: false, to: "10.0.1.4" }
}

impl Host {
    fn rule(self, rule: Rule) -> Self {
        Self { draft: self.draft.rule("app/AzureBastionSubnet", rule), ..self }
    }

    /// The rules that its subnet's group should have.
    fn guarded(self) -> Self {
        let inbound = |name, number, source| (name, number, "Inbound", "Allow", "Tcp", source, "*", "443");
        self.rule(inbound("manager", 100, "GatewayManager"))
            .rule(inbound("users", 110, "Internet"))
            .rule(("machines", 100, "Outbound", "Allow", "Tcp", "*", "VirtualNetwork", "22-3389"))
            .rule(("cloud", 110, "Outbound", "Allow", "Tcp", "*", "AzureCloud", "443"))
            .rule(("nothing-else", 4000, "Outbound", "Deny", "*", "*", "*", "*"))
    }

    fn bundle(&self) -> Bundle {
        let mut bundle = self.draft.bundle();
        bundle.cloud.bastions = Some(match self.is_read {
            true => Reading::Text(json!([self.bastion]).to_string()),
            false => Reading::Failed {
                error: "'bastion' is misspelled or not recognized by the system".to_owned(),
            },
        });
        bundle
    }

    fn judge(&self) -> Judgement {
        let estate = Estate::of(&self.bundle());
        let (_, from) = estate.bastions().next().unwrap();
        let flow = Flow::new(from, self.to.parse().unwrap(), Protocol::Tcp, Some(22)).unwrap();
        estate.judge(&if self.by_client { flow.by_client() } else { flow })
    }
}

#[track_caller]
fn check(host: &Host, expected: &[&str]) {
    let judged = host.judge();
    assert_eq!(summary(&judged), expected, "{judged:#?}");
}

#[test]
fn a_session_begins_at_the_subnet_of_the_host_and_passes_hop_by_hop() {
    let judged = host().guarded().judge();
    assert_eq!(summary(&judged), ["PASSES"], "{judged:#?}");
    let kinds: Vec<Kind> = judged.forward.iter().map(|hop| hop.kind).collect();
    assert_eq!(kinds.first(), Some(&Kind::Bastion));
    assert!(kinds.contains(&Kind::GroupOutbound) && kinds.contains(&Kind::Listener), "{kinds:?}");
}

#[test]
fn what_the_host_does_not_work_without_is_named() {
    let deny =
        |name, direction, source, target, port| (name, 90, direction, "Deny", "*", source, target, port);
    check(
        &host().rule(("nothing", 100, "Inbound", "Allow", "Tcp", "10.0.0.0/8", "*", "22")),
        &["BLOCKED", "nsg_deny nsg/AzureBastionSubnet-nsg/DenyAllInBound"],
    );
    let cases = [
        (deny("no-manager", "Inbound", "GatewayManager", "*", "443"), "no-manager"),
        (deny("no-users", "Inbound", "Internet", "*", "443"), "no-users"),
        (deny("no-cloud", "Outbound", "*", "AzureCloud", "443"), "no-cloud"),
        (deny("no-net", "Outbound", "*", "Internet", "*"), "no-net"),
        (deny("no-ssh", "Outbound", "*", "VirtualNetwork", "22"), "no-ssh"),
    ];
    for (rule, name) in cases {
        let found = format!("nsg_deny nsg/AzureBastionSubnet-nsg/{name}");
        check(&host().guarded().rule(rule), &["BLOCKED", &found]);
    }
}

#[test]
fn rules_for_some_users_are_no_fault() {
    let host = host().rule(("manager", 100, "Inbound", "Allow", "Tcp", "GatewayManager", "*", "443")).rule((
        "office",
        110,
        "Inbound",
        "Allow",
        "Tcp",
        "203.0.113.0/24",
        "*",
        "443",
    ));
    check(&host, &["PASSES"]);
}

#[test]
fn nobody_comes_from_outside_to_a_private_host() {
    let mut host = host().rule(("manager", 100, "Inbound", "Allow", "Tcp", "GatewayManager", "*", "443"));
    host.bastion["ipConfigurations"][0]["publicIPAddress"] = Value::Null;
    check(&host, &["PASSES"]);
}

#[test]
fn the_group_of_the_machine_sees_the_subnet_of_the_host() {
    let own = host();
    let draft = own
        .draft
        .clone()
        .rule("app/web", ("no-bastion", 110, "Inbound", "Deny", "Tcp", "10.0.9.0/26", "*", "22"));
    check(&Host { draft, ..own }, &["BLOCKED", "nsg_deny nsg/web-nsg/no-bastion"]);
}

#[test]
fn a_rule_is_made_for_the_whole_subnet_of_the_host() {
    let own = host();
    let draft = own.draft.clone().rule("app/web", ("closed", 4000, "Inbound", "Deny", "*", "*", "*", "*"));
    let own = Host { draft, ..own };
    let remedies = crate::path::remedies(&own.bundle(), &[own.judge().flow]);
    let [remedy] = remedies.as_slice() else { panic!("{remedies:#?}") };
    let [crate::path::Change::AllowInGroup { admitted, .. }] = remedy.changes.as_slice() else {
        panic!("{remedy:#?}")
    };
    assert_eq!(
        (admitted.src.to_string(), admitted.dst.to_string()),
        ("10.0.9.0/26".to_owned(), "10.0.1.4".to_owned())
    );
}

#[test]
fn what_is_wanted_of_it_needs_its_tier_and_a_setting() {
    let found = ["BLOCKED", "bastion_unconfigured bastion/jump"];
    check(&Host { by_client: true, ..host() }, &found);
    let nobodys = "no_path flow/10.0.9.4/192.168.4.4/tcp/22";
    check(&Host { to: "192.168.4.4", ..host() }, &[&found[..], &[nobodys]].concat());
    let mut on = Host { by_client: true, ..host() };
    on.bastion["enableTunneling"] = json!(true);
    check(&on, &["PASSES"]);
    // A small tier does not say so, and cannot.
    let mut basic = Host { by_client: true, ..host() };
    basic.bastion = json!({"name": "jump", "provisioningState": "Succeeded", "sku": {"name": "Basic"},
        "ipConfigurations": basic.bastion["ipConfigurations"]});
    check(&basic, &found);
    basic.by_client = false;
    check(&basic, &["PASSES"]);
}

#[test]
fn a_host_that_was_not_read_or_is_being_changed_leaves_the_answer_open() {
    let open = Host { is_read: false, ..host() };
    assert_eq!(open.judge().fate.verdict(), "INDETERMINATE");
    let closed = Host { is_read: false, ..host() };
    let draft = closed
        .draft
        .clone()
        .rule("app/web", ("no-bastion", 110, "Inbound", "Deny", "Tcp", "10.0.9.0/26", "*", "22"));
    check(&Host { draft, ..closed }, &["BLOCKED", "nsg_deny nsg/web-nsg/no-bastion"]);
    let mut changing = host();
    changing.bastion["provisioningState"] = json!("Updating");
    assert_eq!(changing.judge().fate.verdict(), "INDETERMINATE");
}

#[test]
fn a_machine_of_a_peered_network_is_reached_and_one_of_another_is_not() {
    let far = |state: Option<&str>| {
        let own = host();
        let draft = own.draft.network("far", "10.7.0.0/16", &[("db", "10.7.1.0/24")]);
        let draft = match state {
            Some(state) => draft.peered("app", "far", state),
            None => draft,
        };
        let draft = draft.machine("db", "10.7.1.4", "far/db").listens("db", "0.0.0.0:22");
        Host { draft, bastion: own.bastion, is_read: true, by_client: false, to: "10.7.1.4" }
    };
    check(&far(Some("Connected")), &["PASSES"]);
    check(&far(None), &["BLOCKED", "peering_missing peering/app/far"]);
}

/// Whether rules let somebody pass whom the platform calls by a tag, as a small model has it: the first rule that holds the whole of them.
fn passes(rules: &[(u32, bool, bool)]) -> bool {
    let mut rules = rules.to_vec();
    rules.sort_by_key(|(number, ..)| *number);
    rules.iter().find(|(_, _, is_own)| *is_own).is_some_and(|(_, allows, _)| *allows)
}

proptest! {
    #[test]
    fn the_first_rule_for_who_manages_it_decides(drawn in proptest::collection::vec((any::<bool>(), any::<bool>()), 0..6)) {
        let mut own = host().rule(("users", 4000, "Inbound", "Allow", "Tcp", "203.0.113.0/24", "*", "443"));
        let mut rules = Vec::new();
        for (at, (allows, is_own)) in (0_u32..).zip(drawn) {
            let names = ["r0", "r1", "r2", "r3", "r4", "r5"];
            let access = if allows { "Allow" } else { "Deny" };
            let source = if is_own { "GatewayManager" } else { "10.0.1.0/24" };
            own = own.rule((names[at as usize], 100 + at, "Inbound", access, "Tcp", source, "*", "443"));
            rules.push((100 + at, allows, is_own));
        }
        let judged = own.judge();
        prop_assert_eq!(judged.fate.verdict() == "PASSES", passes(&rules), "{:#?}", judged);
    }
}
