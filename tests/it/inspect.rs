//! The inspectors on the command line: exit codes, streams, and what they say to documents that are none.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const ROUTES: &str = r#"{"value":[
    {"addressPrefix":["10.0.0.0/16"],"nextHopType":"VnetLocal","source":"Default","state":"Active"},
    {"addressPrefix":["10.0.9.0/24"],"nextHopType":"None","source":"User","state":"Active"},
    {"addressPrefix":["Storage"],"nextHopType":"Internet","source":"User","state":"Active"}]}"#;
const RULES: &str = r#"{"value":[{"association":{"subnet":{"id":"/s"}},"networkSecurityGroup":{"id":"/n"},"effectiveSecurityRules":[
    {"name":"ssh","priority":100,"direction":"Inbound","access":"Allow","protocol":"Tcp","sourceAddressPrefix":"*",
     "destinationAddressPrefix":"*","sourcePortRange":"*","destinationPortRange":"22"}]}]}"#;

/// Runs `ghost` with nothing in its environment.
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn ghost(arguments: &str, input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(arguments.split(' '))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments does not wait for its input.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    child.wait_with_output().unwrap()
}

/// Checks the exit code and one field of the document.
#[track_caller]
fn check(arguments: &str, input: &str, code: i32, field: &str, expected: &str) {
    let output = ghost(&format!("{arguments} --json --exit-code"), input);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), answer.get(field).and_then(Value::as_str)),
        (Some(code), Some(expected)),
        "{answer}"
    );
}

#[test]
fn bad_news_and_open_questions_have_their_exit_codes() {
    let route = "route select --table - --to";
    check(&format!("{route} 10.0.9.1"), ROUTES, 4, "result", "INDETERMINATE");
    let plain = ROUTES.replace("Storage", "10.7.0.0/16");
    check(&format!("{route} 10.0.1.1"), &plain, 0, "result", "WINNER");
    check(&format!("{route} 10.0.9.1"), &plain, 3, "result", "WINNER");
    check(&format!("{route} 8.8.8.8"), &plain, 3, "result", "NO_ROUTE");
    let nsg =
        "nsg verdict --rules - --direction inbound --protocol tcp --src 10.0.0.4 --dst 10.0.1.4 --dst-port";
    check(&format!("{nsg} 22"), RULES, 0, "verdict", "ALLOW");
    check(&format!("{nsg} 23"), RULES, 3, "verdict", "DENY");
    check(&format!("{nsg} 23"), r#"{"value":[null]}"#, 4, "verdict", "INDETERMINATE");
}

#[test]
fn people_read_the_rule_and_the_field_in_which_it_failed() {
    let asked = "nsg verdict --rules - --direction inbound --protocol tcp --src 10.0.0.4 --dst 10.0.1.4 --dst-port 23 --trace";
    let told = String::from_utf8(ghost(asked, RULES).stdout).unwrap();
    assert!(
        told.starts_with("DENY") && told.contains("ssh  misses: destination port; it takes 22"),
        "{told}"
    );
    let told = String::from_utf8(ghost("nsg audit --rules -", RULES).stdout).unwrap();
    assert!(told.contains("lets anybody reach 22"), "{told}");
    let told = String::from_utf8(ghost("nsg reach --rules - --to 10.0.1.4", RULES).stdout).unwrap();
    assert!(told.contains("IPv4  tcp  any  → 10.0.1.4/32 port 22"), "{told}");
}

#[test]
fn a_document_that_is_none_is_exit_code_1_with_a_hint_and_nothing_on_standard_output() {
    for (arguments, input) in [
        ("route select --table - --to 10.0.0.1", "ERROR: no"),
        ("route audit --table -", r#"{"error":{"code":"AuthorizationFailed"}}"#),
        ("nsg audit --rules -", r#"{"value":[{"eff"#),
        ("nsg reach --rules /nonexistent", ""),
    ] {
        let output = ghost(arguments, input);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{told}");
        assert!(told.starts_with("error: reading "), "{told}");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [
        "route select --table - --to 10.0.0.999",
        "route select --table - --to 10.0.0.1 --return-table -",
        "nsg verdict --rules - --direction up --protocol tcp --src 10.0.0.4 --dst 10.0.1.4 --dst-port 22",
        "nsg verdict --rules - --direction inbound --protocol tcp --src 10.0.0.4 --dst 10.0.1.4",
    ] {
        assert_eq!(ghost(arguments, "").status.code(), Some(2), "{arguments}");
    }
}
