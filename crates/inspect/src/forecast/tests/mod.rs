//! Facts about forecasts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    CommandError, Edit, Forecast, Outcome, PlanError, Scope, SecurityRule, Verdict, command, forecast,
    terraform, what_if,
};
use crate::path::tests::draft::Draft;
use crate::path::{Bundle, Protocol};

mod review;
mod undo;

const DENY_ALL: (&str, u32, &str, &str, &str, &str, &str, &str) =
    ("deny-all", 4096, "Inbound", "Deny", "*", "*", "*", "*");
const ALLOW_WEB: (&str, u32, &str, &str, &str, &str, &str, &str) =
    ("allow-web", 200, "Inbound", "Allow", "Tcp", "10.0.1.0/24", "*", "5432");

/// The two machines, with a group that lets the caller in and nobody else.
fn guarded() -> Draft {
    Draft::two().rule("app/db", ALLOW_WEB).rule("app/db", DENY_ALL)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn of_command(draft: &Draft, text: &str) -> Forecast {
    let bundle = draft.bundle();
    let mut parts = words(text);
    // What stands in single quotes is one word.
    if let Some((head, rest)) = text.split_once('\'') {
        parts = words(head);
        parts.push(rest.trim_end_matches('\'').to_owned());
    }
    forecast(&bundle, &command(&parts, &bundle).unwrap(), &Scope::default())
}

/// Lists what differs, as `cut tcp web -> db:5432`.
fn said(found: &Forecast) -> Vec<String> {
    let one = |one: &super::Difference| {
        let port = one.flow.dst_port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{} {} {} -> {}{port}", one.verdict, one.flow.protocol, one.from, one.to)
    };
    found.flows.iter().map(one).collect()
}

#[test]
fn the_rule_that_lets_a_caller_in_is_missed_once_it_is_gone() {
    let found = of_command(&guarded(), "az network nsg rule delete -g rg --nsg-name db-nsg -n allow-web");
    assert_eq!(said(&found), ["cut tcp web -> db:5432"]);
    let cause = found.flows[0].cause.as_deref();
    assert_eq!(cause, Some("nsg_deny nsg/db-nsg/deny-all"));
    assert!(found.is_bad() && !found.is_open());
    assert_eq!(found.flows[0].listens, Some(true));
}

#[test]
fn a_rule_for_anybody_opens_to_the_internet_and_is_shown_with_a_packet() {
    let draft = guarded().public("db", "20.1.1.1");
    let line = "az network nsg rule create -g rg --nsg-name db-nsg -n ssh --priority 150 --access Allow \
                --source-address-prefixes Internet --destination-port-ranges 22 --protocol Tcp";
    let found = of_command(&draft, line);
    assert!(said(&found).contains(&"opened to the internet tcp internet -> db:22".to_owned()), "{found:?}");
    let line = line.replace("Internet", "*");
    let found = of_command(&draft, &line);
    let note = found.rules.iter().find(|note| note.effect == "open").unwrap();
    assert_eq!((note.object.as_str(), note.packet.is_some()), ("nsg/db-nsg/ssh", true));
    assert!(found.is_bad());
}

#[test]
fn a_rule_that_can_match_nothing_is_named() {
    let line = "az network nsg rule create -g rg --nsg-name db-nsg -n late --priority 4096 --access Allow \
                --source-address-prefixes 10.0.1.4 --destination-port-ranges 22";
    let found =
        of_command(&guarded().rule("app/db", ("all", 4000, "Inbound", "Deny", "*", "*", "*", "*")), line);
    let dead: Vec<&str> =
        found.rules.iter().filter(|note| note.effect == "dead").map(|note| note.object.as_str()).collect();
    assert_eq!(dead, ["nsg/db-nsg/late"]);
    assert!(!found.is_bad());
}

#[test]
fn a_route_to_nowhere_cuts_and_its_deletion_opens() {
    let line = "az network route-table route create -g rg --route-table-name app-web-rt -n void \
                --address-prefix 10.0.2.0/24 --next-hop-type None";
    let found = of_command(&Draft::two().route("app/web", "other", "192.0.2.0/24", "None", None), line);
    assert!(said(&found).contains(&"cut tcp web -> db:5432".to_owned()));
    assert_eq!(found.flows[0].cause.as_deref(), Some("route_blackhole route/app-web-rt/void"));
    let draft = Draft::two().route("app/web", "void", "10.0.2.0/24", "None", None);
    let found =
        of_command(&draft, "az network route-table route delete -g rg --route-table-name app-web-rt -n void");
    assert!(said(&found).contains(&"opened tcp web -> db:5432".to_owned()));
    assert!(!found.is_bad());
}

#[test]
fn the_deletion_of_one_side_of_a_peering_cuts_both_directions() {
    let found =
        of_command(&Draft::hub(), "az network vnet peering delete -g rg --vnet-name hub -n hub-to-left");
    let said = said(&found);
    assert!(said.contains(&"cut icmp a -> nva".to_owned()), "{said:?}");
    assert!(said.contains(&"cut icmp nva -> a".to_owned()), "{said:?}");
}

#[test]
fn a_peering_without_access_cuts_what_its_rules_let_in_as_one_network() {
    let line = "az network vnet peering update -g rg --vnet-name hub -n hub-to-left --allow-vnet-access";
    let draft = Draft::hub().rule("hub/nva", ("first", 4000, "Inbound", "Deny", "Udp", "*", "*", "53"));
    let found = of_command(&draft, &format!("{line} false"));
    let now = said(&found);
    assert!(now.contains(&"cut icmp a -> nva".to_owned()), "{now:?}");
    let same = of_command(&draft, &format!("{line} true"));
    assert_eq!((said(&same), same.unknown.len()), (Vec::new(), 0));
    // One that was not read is not known afterwards.
    let unread = "az network vnet peering update -g rg --vnet-name hub -n nope --allow-vnet-access false";
    assert!(!of_command(&Draft::hub(), unread).unknown.is_empty());
}

#[test]
fn lines_of_iptables_are_carried_out_on_what_was_printed() {
    let line = |script: &str| {
        format!("az vm run-command invoke -g rg -n db --command-id RunShellScript --scripts '{script}'")
    };
    let found = of_command(&Draft::two(), &line("iptables -I INPUT 1 -p tcp --dport 5432 -j DROP"));
    assert_eq!(said(&found), ["cut tcp web -> db:5432"]);
    let dropping = Draft::two().drops("db", "-A INPUT -s 10.0.1.4/32 -p tcp -m tcp --dport 5432 -j DROP");
    let found =
        of_command(&dropping, &line("sudo iptables -D INPUT -s 10.0.1.4 -p tcp --dport 5432 -j DROP"));
    assert_eq!(said(&found), ["opened tcp web -> db:5432"]);
    let found = of_command(&dropping, &line("iptables -D INPUT 1"));
    assert_eq!(said(&found), ["opened tcp web -> db:5432"]);
    let found = of_command(&dropping, &line("iptables -P INPUT DROP"));
    assert!(said(&found).contains(&"cut tcp web -> db:22".to_owned()));
    // What is not carried out here makes the machine unknown.
    for script in ["ufw deny 5432", "iptables -D INPUT -p udp -j DROP", "nft add rule inet f input drop"] {
        let found = of_command(&dropping.clone(), &line(script));
        assert!(found.is_open() && !found.unknown.is_empty(), "{script}: {found:?}");
    }
    let found = of_command(&Draft::two(), &line("tc qdisc add dev eth0 root netem loss 10%"));
    assert!(said(&found).contains(&"degraded tcp db -> web:22".to_owned()), "{:?}", said(&found));
}

#[test]
fn a_machine_without_rules_gets_its_first_one() {
    let mut bundle = Draft::two().bundle();
    let guest = bundle.guests.get_mut("db").unwrap();
    guest.filters.clear();
    for source in ["iptables-legacy", "iptables-nft", "ip6tables-nft"] {
        guest.filters.insert(source.to_owned(), crate::path::Reading::Text(String::new()));
    }
    let words = words("iptables -A INPUT -p tcp --dport 5432 -j DROP");
    let edit = Edit::Filter { machine: "db".to_owned(), words };
    let found = forecast(&bundle, &[edit], &Scope::default());
    assert_eq!(said(&found), ["cut tcp web -> db:5432"]);
    assert!(found.unknown.is_empty());
}

/// An estate in which a machine has a filter of `nft`: a chain with rules, each with its handle.
fn native(rules: &[(u64, u16, &str)]) -> Bundle {
    let mut bundle = Draft::two().bundle();
    let guest = super::guest::of(&mut bundle, "db").unwrap();
    let mut rows = vec![
        json!({"table": {"family": "inet", "name": "f", "handle": 1}}),
        json!({"chain": {"family": "inet", "table": "f", "name": "input", "handle": 1, "type": "filter",
            "hook": "input", "prio": 0, "policy": "accept"}}),
    ];
    rows.extend(rules.iter().map(|(handle, port, verdict)| {
        let port = json!({"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": port}});
        json!({"rule": {"family": "inet", "table": "f", "chain": "input", "handle": handle, "expr": [port, { *verdict: null }]}})
    }));
    guest.filters.insert("nft".to_owned(), crate::path::Reading::Text(json!({"nftables": rows}).to_string()));
    bundle
}

/// What `nft` printed there.
fn text_of(bundle: &mut Bundle) -> &mut String {
    let filters = &mut super::guest::of(bundle, "db").unwrap().filters;
    let Some(crate::path::Reading::Text(text)) = filters.get_mut("nft") else { unreachable!() };
    text
}

#[test]
fn lines_of_nft_are_carried_out_where_they_say() {
    let changed = |rules: &[(u64, u16, &str)], line: &str| {
        let edit = Edit::Filter { machine: "db".to_owned(), words: words(line) };
        let found = forecast(&native(rules), &[edit], &Scope::default());
        assert!(found.unknown.is_empty(), "{line}: {:?}", found.unknown);
        said(&found)
    };
    let accepts: &[_] = &[(4, 5432, "accept")];
    let cut = ["cut tcp web -> db:5432"];
    assert_eq!(changed(accepts, "nft insert rule inet f input tcp dport 5432 drop"), cut);
    assert_eq!(changed(accepts, "nft add rule inet f input tcp dport { 5432, 5433 } drop"), [""; 0]);
    assert_eq!(changed(&[], "nft add rule inet f input tcp dport { 5432, 5433 } drop"), cut);
    assert_eq!(changed(accepts, "nft insert rule inet f input handle 4 tcp dport 5432 drop"), cut);
    assert_eq!(changed(accepts, "nft add rule inet f input index 0 tcp dport 5432 drop"), [""; 0]);
    let drops: &[_] = &[(4, 5432, "drop")];
    assert_eq!(changed(drops, "nft flush chain inet f input"), ["opened tcp web -> db:5432"]);
    assert_eq!(changed(drops, "nft delete rule inet f input handle 4"), ["opened tcp web -> db:5432"]);
    // What is no rule of that chain is not known.
    for line in [
        "nft add rule inet f other tcp dport 5432 drop",
        "nft add rule inet f input handle 9 tcp dport 5432 drop",
        "nft add rule inet f input tcp dport 5432 drop } chain x { drop",
        "nft add rule inet f input",
        "nft add rule inet f input frobnicate 5",
        "nft add rule inet f input tcp dport 2000-1000 drop",
        "nft add rule inet f input ip saddr 10.0.0.9-10.0.0.1 drop",
        "nft delete chain inet f input",
    ] {
        let edit = Edit::Filter { machine: "db".to_owned(), words: words(line) };
        let found = forecast(&native(accepts), &[edit], &Scope::default());
        assert!(!found.unknown.is_empty(), "{line}: {found:?}");
    }
}

#[test]
fn a_rule_of_nft_is_put_back_where_it_was() {
    let rules = &[(3, 22, "accept"), (4, 5432, "drop")];
    for (handle, back) in [
        (3, "nft insert rule inet f input tcp dport 22 accept"),
        (4, "nft add rule inet f input handle 3 tcp dport 5432 drop"),
    ] {
        let line = format!("ssh ops@10.0.2.4 nft delete rule inet f input handle {handle}");
        taken_back(&native(rules), &line);
        let line = format!("nft delete rule inet f input handle {handle}");
        assert_eq!(super::guest::inverse(&native(rules), "db", &words(&line)), Some(vec![back.to_owned()]));
    }
    // What a shell would read otherwise is not offered as a line: it would run something else.
    let mut bundle = native(rules);
    let odd = text_of(&mut bundle).replace(r#"{"accept":null}"#, r#"{"log":{"prefix":"a & reboot"}}"#);
    *text_of(&mut bundle) = odd;
    let line = words("nft delete rule inet f input handle 3");
    assert_eq!(super::guest::inverse(&bundle, "db", &line), None);
    let odd = text_of(&mut bundle)
        .replace(r#"{"log":{"prefix":"a & reboot"}}"#, r#"{"jump":{"target":"a|reboot"}}"#);
    *text_of(&mut bundle) = odd;
    assert_eq!(super::guest::inverse(&bundle, "db", &line), None);
}

#[test]
fn what_was_not_read_is_never_taken_for_no_difference() {
    let found = of_command(&guarded(), "az network nsg rule delete -g rg --nsg-name other-nsg -n x");
    assert_eq!(found.unknown.len(), 1);
    assert!(found.is_open());
    let bundle = guarded().bundle();
    let update = words("az network nsg rule update -g rg --nsg-name db-nsg -n absent --access Deny");
    assert!(matches!(command(&update, &bundle), Err(CommandError::Unclear(_))));
    let set = words("az network nsg rule update -g rg --nsg-name db-nsg -n allow-web --set access=Deny");
    let found = forecast(&bundle, &command(&set, &bundle).unwrap(), &Scope::default());
    assert!(
        found.flows.iter().any(|one| one.verdict == Verdict::Unknown && one.after == Outcome::Indeterminate)
    );
    let foreign = words("az storage account list");
    assert_eq!(command(&foreign, &bundle), Err(CommandError::Foreign));
}

#[test]
fn a_named_flow_comes_first_and_machines_that_were_not_read_are_assumed_to_stay() {
    let mut bundle = guarded().bundle();
    bundle.guests.clear();
    let draft = guarded();
    let named = vec![draft.flow("web", "db", Protocol::Tcp, 5432)];
    let line = words("az network nsg rule delete -g rg --nsg-name db-nsg -n allow-web");
    let found = forecast(&bundle, &command(&line, &bundle).unwrap(), &Scope { named, ..Scope::default() });
    assert_eq!((found.flows[0].verdict, found.flows[0].named), (Verdict::Cut, true));
    assert!(found.flows[0].assumed.contains(&"the packet filter of db".to_owned()), "{found:?}");
}

#[test]
fn what_takes_a_change_back_leads_to_the_documents_of_before() {
    let draft = guarded()
        .route("app/web", "first", "192.0.2.0/24", "None", None)
        .drops("db", "-A INPUT -s 10.9.0.0/16 -j DROP");
    let bundle = draft.bundle();
    for line in [
        "az network nsg rule delete -g rg --nsg-name db-nsg -n allow-web",
        "az network nsg rule update -g rg --nsg-name db-nsg -n allow-web --access Deny",
        "az network nsg rule create -g rg --nsg-name db-nsg -n more --priority 150 --access Deny --destination-port-ranges *",
        "az network route-table route create -g rg --route-table-name app-web-rt -n void --address-prefix 10.0.2.0/24 --next-hop-type None",
        "az network route-table route delete -g rg --route-table-name app-web-rt -n first",
        "az network vnet subnet update -g rg --vnet-name app -n db --network-security-group null",
        "az network nic update -g rg -n db-nic --ip-forwarding true",
        "az vm deallocate -g rg -n db",
        "ssh ops@10.0.2.4 iptables -I INPUT 1 -p tcp --dport 5432 -j DROP",
        "ssh ops@10.0.2.4 iptables -D INPUT -s 10.9.0.0/16 -j DROP",
        "ssh ops@10.0.2.4 iptables -P INPUT DROP",
        "ssh ops@10.0.2.4 tc qdisc add dev eth0 root netem delay 100ms",
        "az network nic update -g rg -n db-nic --network-security-group db-nsg",
    ] {
        taken_back(&bundle, line);
    }
    let shaped = "qdisc netem 8001: dev eth0 root refcnt 2 limit 1000 loss 10%\n";
    for line in [
        "tc qdisc del dev eth0 root",
        "tc qdisc replace dev eth0 root tbf rate 1mbit burst 32kb latency 400ms",
    ] {
        taken_back(&guarded().shapes("db", shaped).bundle(), &format!("ssh ops@10.0.2.4 {line}"));
    }
    for line in [
        "az network vnet peering delete -g rg --vnet-name hub -n hub-to-left",
        "az network vnet peering create -g rg --vnet-name left -n more --remote-vnet right",
        "az network vnet peering update -g rg --vnet-name hub -n hub-to-left --allow-vnet-access false",
        "az network vnet peering update -g rg --vnet-name hub -n hub-to-left --allow-forwarded-traffic false",
    ] {
        taken_back(&Draft::hub().bundle(), line);
    }
}

/// Makes a change and takes it back: every flow ends as before.
#[track_caller]
fn taken_back(bundle: &Bundle, line: &str) {
    let there = words(line);
    let back = super::undo(&there, bundle).unwrap_or_else(|| panic!("{line}"));
    let (changed, unknown) = super::applied(bundle, &command(&there, bundle).unwrap());
    assert!(unknown.is_empty(), "{line}: {unknown:?}");
    let (again, unknown) = super::applied(&changed, &command(&back, &changed).unwrap());
    assert!(unknown.is_empty(), "{back:?}: {unknown:?}");
    let found = forecast(bundle, &[], &Scope::default());
    assert_eq!(found.contradictions(&again), [], "{line} and {}", back.join(" "));
}

/// Writes what Terraform knows of an estate with two machines.
fn state() -> Value {
    let id = |kind: &str, name: &str| {
        format!("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/{kind}/{name}")
    };
    let subnet = |name: &str| id("virtualNetworks", &format!("app/subnets/{name}"));
    let resource = |kind: &str, values: Value| json!({"mode": "managed", "type": kind, "values": values});
    let nic = |name: &str, address: &str, place: &str| {
        resource(
            "azurerm_network_interface",
            json!({
                "name": format!("{name}-nic"), "id": id("networkInterfaces", &format!("{name}-nic")),
                "ip_configuration": [{"private_ip_address": address, "subnet_id": subnet(place), "public_ip_address_id": ""}],
            }),
        )
    };
    let machine = |name: &str| {
        resource(
            "azurerm_linux_virtual_machine",
            json!({
                "name": name, "network_interface_ids": [id("networkInterfaces", &format!("{name}-nic"))],
            }),
        )
    };
    json!({"values": {"root_module": {
        "resources": [
            machine("web"), machine("db"), nic("web", "10.0.1.4", "web"), nic("db", "10.0.2.4", "db"),
            resource("azurerm_subnet_network_security_group_association", json!({
                "subnet_id": subnet("db"), "network_security_group_id": id("networkSecurityGroups", "db-nsg"),
            })),
        ],
        "child_modules": [{"resources": [
            resource("azurerm_virtual_network", json!({"name": "app", "address_space": ["10.0.0.0/16"]})),
            resource("azurerm_subnet", json!({"name": "web", "virtual_network_name": "app", "address_prefixes": ["10.0.1.0/24"]})),
            resource("azurerm_subnet", json!({"name": "db", "virtual_network_name": "app", "address_prefixes": ["10.0.2.0/24"]})),
            resource("azurerm_network_security_group", json!({"name": "db-nsg", "security_rule": []})),
            resource("azurerm_network_security_rule", rule("allow-web", 200, "Allow", "5432")),
        ]}],
    }}})
}

fn rule(name: &str, priority: u32, access: &str, port: &str) -> Value {
    json!({
        "name": name, "network_security_group_name": "db-nsg", "priority": priority, "direction": "Inbound", "access": access,
        "protocol": "Tcp", "source_address_prefix": "10.0.1.0/24", "destination_address_prefix": "*",
        "source_port_range": "*", "destination_port_range": port, "source_address_prefixes": [],
    })
}

fn plan(changes: &[Value]) -> String {
    json!({"format_version": "1.2", "terraform_version": "1.9.0", "prior_state": state(), "resource_changes": changes})
        .to_string()
}

fn change(kind: &str, actions: &[&str], before: Value, after: Value, later: Value) -> Value {
    json!({"address": format!("{kind}.x"), "type": kind, "change": {"actions": actions, "before": before, "after": after, "after_unknown": later}})
}

#[test]
fn a_terraform_plan_is_judged_on_what_it_knows_itself() {
    let deny = rule("deny-web", 150, "Deny", "5432");
    let text = plan(&[
        change("azurerm_network_security_rule", &["create"], Value::Null, deny, json!({"id": true})),
        change(
            "azurerm_network_security_group",
            &["no-op"],
            json!({"name": "db-nsg"}),
            json!({"name": "db-nsg"}),
            json!({}),
        ),
        change("azurerm_nat_gateway", &["update"], json!({}), json!({}), json!({})),
    ]);
    let read = terraform(&text).unwrap();
    let found = forecast(&read.before, &read.edits, &Scope::default());
    assert_eq!(said(&found), ["cut tcp web -> db:5432"]);
    assert_eq!(read.ignored, ["azurerm_nat_gateway.x"]);
    // A value that is known only afterwards leaves the group unknown.
    let mut later = rule("allow-more", 160, "Allow", "22");
    later.as_object_mut().unwrap().remove("source_address_prefix");
    let text = plan(&[change(
        "azurerm_network_security_rule",
        &["create"],
        Value::Null,
        later,
        json!({"id": true, "source_address_prefix": true}),
    )]);
    let read = terraform(&text).unwrap();
    let found = forecast(&read.before, &read.edits, &Scope::default());
    assert!(found.is_open() && found.flows.iter().any(|one| one.verdict == Verdict::Unknown), "{found:?}");
}

#[test]
fn a_rule_that_is_replaced_is_deleted_and_put() {
    let (old, new) = (rule("allow-web", 200, "Allow", "5432"), rule("allow-web", 200, "Deny", "5432"));
    let text = plan(&[change(
        "azurerm_network_security_rule",
        &["delete", "create"],
        old,
        new,
        json!({"id": true}),
    )]);
    let read = terraform(&text).unwrap();
    let found = forecast(&read.before, &read.edits, &Scope::default());
    assert_eq!(said(&found), ["cut tcp web -> db:5432"]);
}

#[test]
fn a_what_if_is_read_with_its_whole_resources() {
    let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/db-nsg";
    let rule = |access: &str| {
        json!({"name": "web", "properties": {
            "priority": 100, "direction": "Inbound", "access": access, "protocol": "Tcp", "sourceAddressPrefix": "10.0.1.0/24",
            "destinationAddressPrefix": "*", "sourcePortRange": "*", "destinationPortRange": "5432",
        }})
    };
    let group =
        |access: &str| json!({"id": id, "name": "db-nsg", "properties": {"securityRules": [rule(access)]}});
    let text = json!({"status": "Succeeded", "changes": [
        {"resourceId": id, "changeType": "Modify", "before": group("Allow"), "after": group("Deny"), "delta": []},
        {"resourceId": id.replace("db-nsg", "y"), "changeType": "Unsupported", "unsupportedReason": "too deep", "after": null},
        {"resourceId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/azureFirewalls/fw", "changeType": "Modify", "after": {}},
    ]})
    .to_string();
    let read = what_if(&text).unwrap();
    assert_eq!(read.ignored, ["Microsoft.Network/azureFirewalls/fw"]);
    let found = forecast(&guarded().bundle(), &read.edits, &Scope::default());
    assert!(said(&found).contains(&"cut tcp web -> db:5432".to_owned()), "{found:?}");
    assert!(found.is_open());
}

#[test]
fn what_is_no_plan_is_refused_with_what_it_should_have_been() {
    assert!(matches!(terraform("PK\u{3}"), Err(PlanError::Json(_))));
    assert!(matches!(terraform("{}"), Err(PlanError::Foreign(_))));
    assert!(matches!(
        terraform(r#"{"format_version": "7.0", "planned_values": {}}"#),
        Err(PlanError::Format(_))
    ));
    assert!(matches!(what_if("[]"), Err(PlanError::Foreign(_))));
    let whole = plan(&[]);
    for end in [1, whole.len() / 3, whole.len() - 1] {
        assert!(terraform(&whole[..end]).is_err());
    }
}

#[test]
fn a_plan_with_more_resources_than_are_read_is_refused_and_a_large_estate_is_counted_no_further_than_it_helps()
 {
    let many: Vec<Value> = (0..10_001)
        .map(|_| change("azurerm_route", &["no-op"], Value::Null, Value::Null, json!({})))
        .collect();
    assert!(matches!(terraform(&plan(&many)), Err(PlanError::TooMany(_))));
    let id = |name: &str| format!("/virtualNetworks/app/subnets/{name}");
    let nics: Vec<Value> = (0..1_500)
        .map(|at| {
            json!({"name": format!("n{at}"), "virtualMachine": {"id": format!("/virtualMachines/m{at}")}, "ipConfigurations": [
                {"privateIPAddress": format!("10.0.{}.{}", 1 + at / 200, 4 + at % 200), "subnet": {"id": id("web")}}]})
        })
        .collect();
    let mut bundle = guarded().bundle();
    bundle.guests.clear();
    bundle.cloud.interfaces = Some(crate::path::Reading::Text(Value::Array(nics).to_string()));
    let found = forecast(&bundle, &[], &Scope { named: Vec::new(), most: Some(50) });
    assert_eq!(found.compared, 50);
    assert!(found.left_out > 100_000 && found.left_out < 200_000, "{}", found.left_out);
}

/// A change of an estate with a hub: as an edit, and made on the draft itself.
fn choice(draft: Draft, which: u8) -> (Draft, Edit) {
    let rule = |name: &str,
                priority: u32,
                direction: &str,
                access: &str,
                source: &str,
                destination: &str,
                port: &str| {
        SecurityRule {
            name: name.to_owned(),
            priority,
            direction: direction.to_owned(),
            access: access.to_owned(),
            protocol: "Tcp".to_owned(),
            sources: vec![source.to_owned()],
            source_ports: vec!["*".to_owned()],
            destinations: vec![destination.to_owned()],
            destination_ports: vec![port.to_owned()],
        }
    };
    let put = |group: &str, rule: SecurityRule| Edit::PutRule { group: group.to_owned(), rule };
    let route = |name: &str, prefix: &str, hop_type: &str, hop: Option<&str>| {
        let (name, prefix, hop_type) = (name.to_owned(), prefix.to_owned(), hop_type.to_owned());
        super::RouteRow { name, prefix, hop_type, hop: hop.map(str::to_owned) }
    };
    let line = |machine: &str, text: &str| Edit::Filter { machine: machine.to_owned(), words: words(text) };
    let own = |text: &str| text.to_owned();
    match which % 9 {
        0 => (
            draft.rule("right/work", ("c0", 105, "Inbound", "Deny", "Tcp", "10.11.0.0/16", "*", "8443")),
            put("work-nsg", rule("c0", 105, "Inbound", "Deny", "10.11.0.0/16", "*", "8443")),
        ),
        1 => (
            draft.rule("right/work", ("c1", 104, "Inbound", "Allow", "Tcp", "*", "*", "8000-9000")),
            put("work-nsg", rule("c1", 104, "Inbound", "Allow", "*", "*", "8000-9000")),
        ),
        2 => (
            draft.rule("right/work", ("c2", 103, "Outbound", "Deny", "Tcp", "*", "10.11.0.0/16", "*")),
            put("work-nsg", rule("c2", 103, "Outbound", "Deny", "*", "10.11.0.0/16", "*")),
        ),
        3 => (
            draft.route("left/work", "c3", "10.12.0.0/25", "None", None),
            Edit::PutRoute { table: own("left-work-rt"), route: route("c3", "10.12.0.0/25", "None", None) },
        ),
        4 => (
            draft.route("right/work", "c4", "10.11.0.0/25", "VirtualAppliance", Some("10.10.0.99")),
            Edit::PutRoute {
                table: own("right-work-rt"),
                route: route("c4", "10.11.0.0/25", "VirtualAppliance", Some("10.10.0.99")),
            },
        ),
        5 => (
            draft.drops("b", "-A INPUT -p tcp -m tcp --dport 8443 -j DROP"),
            line("b", "iptables -A INPUT -p tcp --dport 8443 -j DROP"),
        ),
        6 => (draft.policy("b", "INPUT", "DROP"), line("b", "iptables -P INPUT DROP")),
        7 => (draft.stopped("b"), Edit::SetPower { machine: own("b"), runs: false }),
        _ => (
            draft.drops("nva", "-A FORWARD -p tcp -m tcp --dport 8443 -j REJECT --reject-with tcp-reset"),
            line("nva", "iptables -A FORWARD -p tcp --dport 8443 -j REJECT --reject-with tcp-reset"),
        ),
    }
}

fn hub() -> Draft {
    Draft::hub()
        .rule("right/work", ("first", 4000, "Inbound", "Deny", "Udp", "*", "*", "53"))
        .route("left/work", "first", "192.0.2.0/24", "None", None)
        .route("right/work", "first", "192.0.2.0/24", "None", None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_foreseen_is_what_is_read_afterwards(before in proptest::collection::vec(any::<u8>(), 0..3), which in any::<u8>()) {
        let start = before.iter().filter(|one| **one % 9 != which % 9).fold(hub(), |draft, one| choice(draft, *one).0);
        let (changed, edit) = choice(start.clone(), which);
        let found = forecast(&start.bundle(), &[edit], &Scope::default());
        prop_assert!(found.unknown.is_empty(), "{:?}", found.unknown);
        let wrong = found.contradictions(&changed.bundle());
        prop_assert!(wrong.is_empty(), "{wrong:?}");
        prop_assert!(found.expected.len() > 10);
    }

    #[test]
    fn the_order_of_changes_does_not_matter(chosen in proptest::collection::btree_set(0_u8..9, 2..5), seed in any::<u64>()) {
        let edits: Vec<Edit> = chosen.iter().map(|which| choice(hub(), *which).1).collect();
        let mut other = edits.clone();
        let at = usize::try_from(seed % other.len() as u64).unwrap();
        other.rotate_left(at);
        let bundle = hub().bundle();
        let [one, two] = [edits, other].map(|edits| forecast(&bundle, &edits, &Scope::default()));
        prop_assert_eq!(one.rules, two.rules);
        // Lines that are added to one chain stand in the order in which they are run.
        if !(chosen.contains(&5) && chosen.contains(&6)) {
            prop_assert_eq!(said(&Forecast { flows: one.flows, ..Forecast::default() }), said(&Forecast { flows: two.flows, ..Forecast::default() }));
        }
    }

    #[test]
    fn nothing_that_is_sent_as_a_plan_or_a_command_ends_in_a_panic(at in 0_usize..4_000, byte in any::<u8>(), text in ".{0,120}") {
        let whole = plan(&[change("azurerm_network_security_rule", &["create"], Value::Null, rule("x", 100, "Deny", "1-2"), json!({}))]);
        let mut bytes = whole.into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes)
            && let Ok(read) = terraform(&text)
        {
            let _found = forecast(&read.before, &read.edits, &Scope::default());
        }
        let _read = what_if(&text);
        let bundle: Bundle = guarded().bundle();
        for head in ["az network nsg rule create --nsg-name db-nsg -n x", "az network nic update -n", "ssh"] {
            if let Ok(edits) = command(&words(&format!("{head} {text}")), &bundle) {
                let _found = forecast(&bundle, &edits, &Scope::default());
            }
        }
    }
}
