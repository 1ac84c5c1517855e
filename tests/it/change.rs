//! `ghost change` on the command line: plans as they come, exit codes, and what is no plan.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// Runs `ghost` with nothing in its environment but a home.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments does not wait for its input.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    child.wait_with_output().unwrap()
}

fn id(kind: &str, name: &str) -> String {
    format!("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/{kind}/{name}")
}

fn resource(kind: &str, values: Value) -> Value {
    json!({"mode": "managed", "type": kind, "address": format!("{kind}.x"), "values": values})
}

/// So many machines in two tiers, each with a rule of its own.
fn state(machines: usize) -> Vec<Value> {
    let mut all = vec![
        resource("azurerm_virtual_network", json!({"name": "app", "address_space": ["10.0.0.0/16"]})),
        resource("azurerm_network_security_group", json!({"name": "db-nsg", "security_rule": []})),
        resource(
            "azurerm_subnet_network_security_group_association",
            json!({"subnet_id": id("virtualNetworks", "app/subnets/db"), "network_security_group_id": id("networkSecurityGroups", "db-nsg")}),
        ),
    ];
    for (at, subnet) in ["web", "db"].iter().enumerate() {
        let prefix = format!("10.0.{}.0/24", at + 1);
        all.push(resource(
            "azurerm_subnet",
            json!({"name": subnet, "virtual_network_name": "app", "address_prefixes": [prefix]}),
        ));
    }
    for number in 0..machines {
        let tier = if number % 2 == 0 { "web" } else { "db" };
        let (name, nic) = (format!("{tier}-{number}"), format!("{tier}-{number}-nic"));
        let address = format!("10.0.{}.{}", 1 + number % 2, 4 + number / 2);
        all.push(resource(
            "azurerm_network_interface",
            json!({"name": nic, "ip_configuration": [{"private_ip_address": address, "subnet_id": id("virtualNetworks", &format!("app/subnets/{tier}"))}]}),
        ));
        all.push(resource(
            "azurerm_linux_virtual_machine",
            json!({"name": name, "network_interface_ids": [id("networkInterfaces", &nic)]}),
        ));
    }
    all
}

fn rule(name: &str, priority: usize, access: &str, source: &str, port: &str) -> Value {
    json!({
        "name": name, "network_security_group_name": "db-nsg", "priority": priority, "direction": "Inbound", "access": access,
        "protocol": "Tcp", "source_address_prefix": source, "destination_address_prefix": "*", "source_port_range": "*",
        "destination_port_range": port,
    })
}

fn plan(machines: usize, rules: &[Value]) -> String {
    let changes: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({"address": "azurerm_network_security_rule.x", "type": "azurerm_network_security_rule",
                "change": {"actions": ["create"], "before": null, "after": rule, "after_unknown": {"id": true}}})
        })
        .collect();
    json!({
        "format_version": "1.2", "prior_state": {"values": {"root_module": {"resources": state(machines)}}}, "resource_changes": changes,
    })
    .to_string()
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_plan_that_cuts_ends_with_3_and_names_the_flow() {
    let home = tempfile::tempdir().unwrap();
    let cuts = plan(2, &[rule("deny-web", 100, "Deny", "10.0.1.0/24", "5432")]);
    let output = ghost(home.path(), &["change", "review", "-", "--json"], &cuts);
    let said = answer(&output);
    assert_eq!((output.status.code(), said["verdict"].as_str()), (Some(3), Some("HARMFUL")), "{said}");
    let flow = &said["flows"][0];
    assert_eq!((flow["from"].as_str(), flow["to"].as_str()), (Some("web-0"), Some("db-1")));
    assert_eq!(flow["cause"].as_str(), Some("nsg_deny nsg/db-nsg/deny-web"));
    // A named flow comes first, a file works as well as standard input, and people read the same.
    std::fs::write(home.path().join("plan.json"), &cuts).unwrap();
    let words = ["change", "review", "plan.json", "--from", "web-0", "--to", "db-1:5432"];
    let text = String::from_utf8(ghost(home.path(), &words, "").stdout).unwrap();
    assert!(text.starts_with("HARMFUL") && text.contains("tcp web-0 -> db-1:5432"), "{text}");
}

#[test]
fn a_plan_without_harm_ends_with_0_and_an_open_question_with_4_where_asked() {
    let home = tempfile::tempdir().unwrap();
    let fine = plan(2, &[rule("allow-web", 100, "Allow", "10.0.1.0/24", "5432")]);
    let output = ghost(home.path(), &["change", "review", "-", "--json", "--exit-code"], &fine);
    assert_eq!((output.status.code(), answer(&output)["verdict"].as_str()), (Some(0), Some("HARMLESS")));
    let mut later = rule("late", 100, "Deny", "10.0.1.0/24", "5432");
    later["source_address_prefix"] = Value::Null;
    let text = plan(2, &[later]).replace(r#"{"id":true}"#, r#"{"id":true,"source_address_prefix":true}"#);
    for (words, code) in [
        (vec!["change", "review", "-", "--json"], 0),
        (vec!["change", "review", "-", "--json", "--exit-code"], 4),
    ] {
        let output = ghost(home.path(), &words, &text);
        assert_eq!(
            (output.status.code(), answer(&output)["verdict"].as_str()),
            (Some(code), Some("INDETERMINATE"))
        );
    }
}

#[test]
fn a_plan_of_a_thousand_resources_is_reviewed_whole() {
    let home = tempfile::tempdir().unwrap();
    let rules: Vec<Value> = (0..900)
        .map(|number| {
            rule(&format!("r{number}"), 100 + number, "Deny", "10.9.0.0/24", &(1_000 + number).to_string())
        })
        .collect();
    let output = ghost(home.path(), &["change", "review", "-", "--json"], &plan(60, &rules));
    let said = answer(&output);
    assert_eq!(
        (output.status.code(), said["changes"].as_array().unwrap().len()),
        (Some(0), 900),
        "{}",
        said["flows"][0]
    );
    assert!(said["compared"].as_u64().unwrap() > 1_000);
}

#[test]
fn what_is_no_plan_is_exit_code_1_with_a_hint_and_nothing_on_standard_output() {
    let home = tempfile::tempdir().unwrap();
    for input in ["", "PK", "{}", "[]", r#"{"format_version":"9.0","planned_values":{}}"#, "null"] {
        let output = ghost(home.path(), &["change", "review", "-", "--json"], input);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true), "{input}: {error}");
        assert!(error.contains("hint: "), "{input}: {error}");
    }
    let output = ghost(home.path(), &["change", "forecast", "az storage account list"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("name -g GROUP"));
}
