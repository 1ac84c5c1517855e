//! Facts about plans: nothing is passed over that was not understood.

use serde_json::{Value, json};

use super::{change, command, forecast, guarded, plan, said, words};
use crate::forecast::{Edit, Forecast, Plan, Scope, terraform, what_if};

fn read(changes: &[Value]) -> (Plan, Forecast) {
    let read = terraform(&plan(changes)).unwrap();
    let found = forecast(&read.before, &read.edits, &Scope::default());
    (read, found)
}

/// The verdict of `ghost change review` over one change of a plan.
fn verdict(changed: Value) -> &'static str {
    let (read, found) = read(&[changed]);
    of(&read, &found)
}

fn of(read: &Plan, found: &Forecast) -> &'static str {
    match (found.is_bad(), found.is_open() || !read.ignored.is_empty()) {
        (true, _) => "HARMFUL",
        (false, true) => "INDETERMINATE",
        (false, false) => "HARMLESS",
    }
}

fn created(kind: &str, after: Value) -> Value {
    change(kind, &["create"], Value::Null, after, json!({"id": true}))
}

fn updated(kind: &str, before: Value, after: Value) -> Value {
    change(kind, &["update"], before, after, json!({}))
}

fn deleted(kind: &str, before: Value) -> Value {
    change(kind, &["delete"], before, Value::Null, json!({}))
}

#[test]
fn a_resource_of_a_cloud_or_a_type_that_is_not_known_is_named_and_never_harmless() {
    for kind in [
        "aws_security_group_rule",
        "google_compute_firewall",
        "kubernetes_network_policy",
        "helm_release",
        "azurerm_virtual_machine_extension",
        "azurerm_virtual_machine_run_command",
        "azurerm_resource_group_template_deployment",
        "azurerm_subscription_template_deployment",
        "azurerm_dns_a_record",
        "azurerm_linux_web_app",
        "azurerm_orchestrated_virtual_machine_scale_set",
        "azurerm_something_of_next_year",
        "azapi_resource_action",
        "azapi_update_resource",
        "made_up_by_nobody",
    ] {
        let values = json!({"name": "kestrel", "location": "westeurope"});
        for changed in [
            created(kind, values.clone()),
            deleted(kind, values.clone()),
            updated(kind, values.clone(), json!({"name": "kestrel", "odd": 1})),
        ] {
            let (read, found) = read(&[changed]);
            assert_eq!(of(&read, &found), "INDETERMINATE", "{kind}");
            assert_eq!(read.ignored, [format!("{kind}.x")]);
            assert!(!found.unknown.is_empty());
        }
        let tagged =
            updated(kind, values, json!({"name": "kestrel", "location": "westeurope", "tags": {"a": "b"}}));
        assert_eq!(verdict(tagged), "HARMLESS", "{kind}");
    }
}

#[test]
fn what_no_flow_depends_on_is_passed_over_with_the_reason() {
    let (read, found) = read(&[
        created("random_pet", json!({"length": 2})),
        created("azurerm_role_assignment", json!({"scope": "/x"})),
        updated("azurerm_monitor_metric_alert", json!({"severity": 1}), json!({"severity": 2})),
        created("azurerm_resource_group", json!({"name": "kiln"})),
    ]);
    assert_eq!(of(&read, &found), "HARMLESS");
    assert_eq!(read.irrelevant.len(), 4);
    assert!(read.irrelevant.iter().all(|one| !one.why.is_empty()));
    assert_eq!(verdict(deleted("azurerm_resource_group", json!({"name": "kiln"}))), "INDETERMINATE");
}

#[test]
fn a_value_that_is_known_only_afterwards_opens_the_review() {
    let later = |kind: &str, after: Value, later: Value| {
        verdict(change(kind, &["create"], Value::Null, after, later))
    };
    let both = json!({"id": true, "subnet_id": true, "network_security_group_id": true});
    assert_eq!(later("azurerm_subnet_network_security_group_association", json!({}), both), "INDETERMINATE");
    let both = json!({"id": true, "network_interface_id": true, "network_security_group_id": true});
    assert_eq!(
        later("azurerm_network_interface_security_group_association", json!({}), both),
        "INDETERMINATE"
    );
    let both = json!({"id": true, "subnet_id": true, "route_table_id": true});
    assert_eq!(later("azurerm_subnet_route_table_association", json!({}), both), "INDETERMINATE");
    let nics = json!({"id": true, "network_interface_ids": true});
    assert_eq!(later("azurerm_linux_virtual_machine", json!({"name": "new"}), nics), "INDETERMINATE");
    // A field that nobody reads is as open when it is known.
    let (old, new) = (json!({"name": "app"}), json!({"name": "app", "dns_servers": ["10.0.0.9"]}));
    assert_eq!(verdict(updated("azurerm_virtual_network", old.clone(), new)), "INDETERMINATE");
    let one = change("azurerm_virtual_network", &["update"], old.clone(), old, json!({"dns_servers": true}));
    assert_eq!(verdict(one), "INDETERMINATE");
}

#[test]
fn an_action_that_is_not_known_a_plan_that_is_cut_short_and_provisioners_open_the_review() {
    let pet = |actions: &[&str]| change("random_pet", actions, json!({}), json!({}), json!({}));
    assert_eq!(verdict(pet(&["forget"])), "HARMLESS");
    assert_eq!(verdict(pet(&["transmute"])), "INDETERMINATE");
    assert_eq!(verdict(pet(&[])), "INDETERMINATE");
    assert_eq!(verdict(json!({"address": "random_pet.x", "type": "random_pet"})), "INDETERMINATE");
    for (field, value) in [
        ("errored", json!(true)),
        ("complete", json!(false)),
        ("deferred_changes", json!([{"reason": "resource_config_unknown"}])),
    ] {
        let mut whole: Value = serde_json::from_str(&plan(&[])).unwrap();
        whole[field] = value;
        let read = terraform(&whole.to_string()).unwrap();
        assert_eq!(
            of(&read, &forecast(&read.before, &read.edits, &Scope::default())),
            "INDETERMINATE",
            "{field}"
        );
    }
    let mut changed = created("null_resource", json!({}));
    changed["name"] = json!("open");
    let mut whole: Value = serde_json::from_str(&plan(&[changed])).unwrap();
    let read = |whole: &Value| {
        let read = terraform(&whole.to_string()).unwrap();
        of(&read, &forecast(&read.before, &read.edits, &Scope::default()))
    };
    assert_eq!(read(&whole), "HARMLESS");
    whole["configuration"] = json!({"root_module": {"module_calls": {"m": {"module": {"resources": [
        {"type": "null_resource", "name": "open", "provisioners": [{"type": "local-exec"}]}]}}}}});
    assert_eq!(read(&whole), "INDETERMINATE");
}

#[test]
fn a_rule_of_a_database_that_lets_anybody_in_is_harmful_and_one_for_an_office_is_not() {
    let rule = |from: &str, to: &str| json!({"name": "wide", "server_id": "/x/servers/ledger", "start_ip_address": from, "end_ip_address": to});
    for kind in ["azurerm_mssql_firewall_rule", "azurerm_postgresql_flexible_server_firewall_rule"] {
        let (read, found) = read(&[created(kind, rule("0.0.0.0", "255.255.255.255"))]);
        assert_eq!(of(&read, &found), "HARMFUL", "{kind}");
        assert_eq!(found.rules[0].object, "ledger/wide");
        assert!(found.rules[0].packet.as_deref().is_some_and(|packet| packet.contains("ledger.")));
        assert_eq!(verdict(created(kind, rule("1.0.0.0", "254.255.255.255"))), "HARMFUL");
        assert_eq!(verdict(created(kind, rule("20.1.2.3", "20.1.2.3"))), "HARMLESS");
        assert_eq!(verdict(created(kind, rule("0.0.0.0", "0.0.0.0"))), "INDETERMINATE");
        assert_eq!(verdict(deleted(kind, rule("20.1.2.3", "20.1.2.3"))), "INDETERMINATE");
        let narrower = updated(kind, rule("20.1.2.0", "20.1.2.255"), rule("20.1.2.0", "20.1.2.99"));
        assert_eq!(verdict(narrower), "INDETERMINATE");
        let later =
            change(kind, &["create"], Value::Null, json!({"name": "w"}), json!({"start_ip_address": true}));
        assert_eq!(verdict(later), "INDETERMINATE");
    }
}

#[test]
fn an_account_that_is_opened_is_harmful_and_one_that_is_closed_is_open() {
    let storage = |action: &str| {
        json!({"name": "acct", "public_network_access_enabled": true,
            "network_rules": [{"default_action": action, "ip_rules": ["20.1.2.3"], "virtual_network_subnet_ids": []}]})
    };
    let vault = |action: &str| json!({"name": "kv", "network_acls": [{"default_action": action, "bypass": "AzureServices", "ip_rules": ["20.1.2.0/24"]}]});
    let cosmos = |filter: Value| json!({"name": "db", "ip_range_filter": filter, "is_virtual_network_filter_enabled": false});
    for (kind, open, closed) in [
        ("azurerm_storage_account", storage("Allow"), storage("Deny")),
        ("azurerm_key_vault", vault("Allow"), vault("Deny")),
        ("azurerm_cosmosdb_account", cosmos(json!([])), cosmos(json!(["20.1.2.3"]))),
        ("azurerm_cosmosdb_account", cosmos(json!("")), cosmos(json!("20.1.2.3,20.1.2.4"))),
    ] {
        assert_eq!(verdict(updated(kind, closed.clone(), open.clone())), "HARMFUL", "{kind}");
        assert_eq!(verdict(updated(kind, open.clone(), closed.clone())), "INDETERMINATE", "{kind}");
        assert_eq!(verdict(deleted(kind, closed.clone())), "INDETERMINATE", "{kind}");
        let mut tagged = closed.clone();
        tagged["tags"] = json!({"cost": "7"});
        assert_eq!(verdict(updated(kind, closed, tagged)), "HARMLESS", "{kind}");
    }
}

fn azapi(name: &str, kind: &str, parent: &str, body: Value) -> Value {
    json!({"type": format!("{kind}@2023-09-01"), "name": name, "parent_id": parent, "body": body})
}

#[test]
fn azapi_is_judged_by_its_type_and_body() {
    let group = "/subscriptions/s/resourceGroups/g";
    let nsg = format!("{group}/providers/Microsoft.Network/networkSecurityGroups/db-nsg");
    let kind = "Microsoft.Network/networkSecurityGroups/securityRules";
    let rule = json!({"properties": {"priority": 150, "direction": "Inbound", "access": "Deny", "protocol": "Tcp",
        "sourceAddressPrefix": "*", "destinationAddressPrefix": "*", "sourcePortRange": "*", "destinationPortRange": "5432"}});
    for body in [rule.clone(), Value::String(rule.to_string())] {
        let (read, found) = read(&[created("azapi_resource", azapi("deny", kind, &nsg, body))]);
        assert_eq!(of(&read, &found), "HARMFUL");
        assert_eq!(said(&found), ["cut tcp web -> db:5432"]);
    }
    let firewall = azapi("fw", "Microsoft.Network/azureFirewalls", group, json!({"properties": {}}));
    assert_eq!(verdict(created("azapi_resource", firewall)), "INDETERMINATE");
    let alert = azapi("a", "Microsoft.Insights/metricAlerts", group, json!({"properties": {}}));
    assert_eq!(verdict(created("azapi_resource", alert)), "HARMLESS");
    let later = change(
        "azapi_resource",
        &["create"],
        Value::Null,
        azapi("deny", kind, &nsg, Value::Null),
        json!({"body": true}),
    );
    assert_eq!(verdict(later), "INDETERMINATE");
    let server = format!("{group}/providers/Microsoft.Sql/servers/ledger");
    let all = json!({"properties": {"startIpAddress": "0.0.0.0", "endIpAddress": "255.255.255.255"}});
    let wide = azapi("all", "Microsoft.Sql/servers/firewallRules", &server, all);
    assert_eq!(verdict(created("azapi_resource", wide)), "HARMFUL");
}

#[test]
fn a_what_if_passes_nothing_over_that_is_not_known() {
    let group = "/subscriptions/s/resourceGroups/g";
    let one = |id: &str, word: &str, before: Value, after: Value| {
        let text = json!({"status": "Succeeded", "changes": [{"resourceId": id, "changeType": word, "before": before, "after": after}]});
        let read = what_if(&text.to_string()).unwrap();
        let found = forecast(&guarded().bundle(), &read.edits, &Scope::default());
        of(&read, &found)
    };
    let at = |kind: &str| format!("{group}/providers/{kind}");
    let some = || json!({"properties": {"a": 1}});
    for kind in [
        "Microsoft.Compute/virtualMachines/db/extensions/x",
        "Microsoft.Web/sites/shop",
        "Microsoft.Resources/deployments/more",
        "Microsoft.Network/dnsZones/example.com/A/www",
        "Microsoft.Compute/virtualMachineScaleSets/pool",
    ] {
        assert_eq!(one(&at(kind), "Create", Value::Null, some()), "INDETERMINATE", "{kind}");
        assert_eq!(one(&at(kind), "Delete", some(), Value::Null), "INDETERMINATE", "{kind}");
    }
    assert_eq!(one(group, "Delete", some(), Value::Null), "INDETERMINATE");
    assert_eq!(one(group, "Create", Value::Null, some()), "HARMLESS");
    assert_eq!(one(&at("Microsoft.Insights/actionGroups/a"), "Create", Value::Null, some()), "HARMLESS");
    let network = |servers: Value| json!({"name": "app", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": [], "dhcpOptions": servers}});
    let app = at("Microsoft.Network/virtualNetworks/app");
    let servers = json!({"dnsServers": ["10.0.0.9"]});
    assert_eq!(one(&app, "Modify", network(Value::Null), network(servers)), "INDETERMINATE");
    let rule = json!({"properties": {"startIpAddress": "0.0.0.0", "endIpAddress": "255.255.255.255"}});
    assert_eq!(
        one(&at("Microsoft.Sql/servers/ledger/firewallRules/all"), "Create", Value::Null, rule),
        "HARMFUL"
    );
    let acls = |action: &str| json!({"name": "acct", "properties": {"networkAcls": {"defaultAction": action, "ipRules": [{"value": "20.1.2.3"}]}}});
    let account = at("Microsoft.Storage/storageAccounts/acct");
    assert_eq!(one(&account, "Modify", acls("Deny"), acls("Allow")), "HARMFUL");
    assert_eq!(one(&account, "Modify", acls("Allow"), acls("Deny")), "INDETERMINATE");
}

#[test]
fn a_replaced_group_stands_and_the_inside_of_a_replaced_machine_is_not_known() {
    let group = json!({"name": "db-nsg", "security_rule": []});
    let replaced = change(
        "azurerm_network_security_group",
        &["delete", "create"],
        group.clone(),
        group,
        json!({"id": true}),
    );
    let (_, found) = read(&[replaced]);
    assert!(!said(&found).iter().any(|line| line.starts_with("opened to")), "{found:?}");
    let machine = json!({"name": "db", "network_interface_ids": ["/networkInterfaces/db-nic"]});
    let (read, found) = read(&[change(
        "azurerm_linux_virtual_machine",
        &["delete", "create"],
        machine.clone(),
        machine,
        json!({"id": true}),
    )]);
    assert_eq!(of(&read, &found), "INDETERMINATE", "{:?}", said(&found));
}

#[test]
fn a_command_that_deletes_a_container_or_runs_code_is_not_judged_and_a_rule_of_a_database_is() {
    let bundle = guarded().bundle();
    let unknown = |line: &str| {
        let edits = command(&words(line), &bundle).unwrap_or_else(|error| panic!("{line}: {error}"));
        let found = forecast(&bundle, &edits, &Scope::default());
        assert!(found.is_open() && !found.is_bad(), "{line}: {found:?}");
    };
    for line in [
        "az group delete -n rg --yes",
        "az deployment group create -g rg -f main.bicep",
        "az vm extension set -g rg --vm-name db -n CustomScript --publisher Microsoft.Azure.Extensions",
        "az vmss delete -g rg -n pool",
        "az storage account update -g rg -n acct --default-action Deny",
        "az keyvault network-rule remove -g rg -n kv --ip-address 20.1.2.3",
        "az rest --method put --url https://management.azure.com/x",
        "az vm run-command invoke -g rg -n db --command-id RunShellScript --scripts ./fix.sh",
        "az sql server firewall-rule delete -g rg --server ledger -n office",
    ] {
        unknown(line);
    }
    let wide = "az sql server firewall-rule create -g rg --server ledger -n all --start-ip-address 0.0.0.0 --end-ip-address 255.255.255.255";
    let edits = command(&words(wide), &bundle).unwrap();
    assert!(matches!(edits.as_slice(), [Edit::Admit(_)]));
    assert!(forecast(&bundle, &edits, &Scope::default()).is_bad());
    for line in ["az rest --method get --url https://x", "az sql db list -g rg", "az vmss show -g rg -n pool"]
    {
        assert!(command(&words(line), &bundle).is_err(), "{line}");
    }
}
