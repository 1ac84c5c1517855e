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
    let printed = String::from_utf8(ghost(asked, RULES).stdout).unwrap();
    assert!(
        printed.starts_with("DENY") && printed.contains("ssh  misses: destination port; it takes 22"),
        "{printed}"
    );
    let printed = String::from_utf8(ghost("nsg audit --rules -", RULES).stdout).unwrap();
    assert!(printed.contains("lets anybody reach 22"), "{printed}");
    let printed = String::from_utf8(ghost("nsg reach --rules - --to 10.0.1.4", RULES).stdout).unwrap();
    assert!(printed.contains("IPv4  tcp  any  → 10.0.1.4/32 port 22"), "{printed}");
}

#[test]
fn that_no_group_stands_at_a_gate_is_reported_below_the_answer() {
    let asked = "nsg verdict --rules - --direction inbound --protocol tcp --src 10.0.0.4 --dst 10.0.1.4 --dst-port 23";
    check(asked, "[]", 0, "remark", "no network security group stands at either gate");
    for asked in [asked, "nsg audit --rules -", "nsg reach --rules -"] {
        let printed = String::from_utf8(ghost(asked, r#"{"value":[]}"#).stdout).unwrap();
        let below = printed.lines().nth(1).unwrap();
        assert_eq!(below, "  no network security group stands at either gate", "{printed}");
        assert!(!printed.contains("Not read"), "{printed}");
    }
}

#[test]
fn an_audit_that_did_not_see_everything_does_not_say_that_nothing_was_found() {
    for (arguments, good, odd) in [
        (
            "nsg audit --rules -",
            RULES.replace("\"22\"", "\"443\""),
            RULES.replace("\"22\"}", "\"443\"},null"),
        ),
        (
            "route audit --table -",
            ROUTES.replace("None", "VnetLocal").replace("Storage", "10.7.0.0/16"),
            ROUTES.replace("None", "VnetLocal"),
        ),
    ] {
        let code = |input: &str| ghost(&format!("{arguments} --exit-code"), input).status.code();
        assert_eq!((code(&good), code(&odd)), (Some(0), Some(4)), "{arguments}");
        assert_eq!(ghost(arguments, &odd).status.code(), Some(0), "{arguments}");
    }
    let printed = |rules: &str| String::from_utf8(ghost("nsg audit --rules -", rules).stdout).unwrap();
    assert!(printed(&RULES.replace("\"22\"", "\"443\"")).starts_with("Nothing found\n"));
    assert!(
        printed(&RULES.replace("\"22\"}", "\"443\"},null")).starts_with("Nothing found in what was read")
    );
}

#[test]
fn the_exit_code_may_be_asked_for_anywhere_and_has_no_effect_where_nothing_is_bad_news() {
    let nsg = "nsg verdict --rules - --direction inbound --protocol tcp --src 10.0.0.4 --dst 10.0.1.4 --dst-port 23";
    assert_eq!(ghost(&format!("--exit-code {nsg}"), RULES).status.code(), Some(3));
    assert_eq!(ghost(nsg, RULES).status.code(), Some(0));
    assert_eq!(ghost("completions bash --exit-code", "").status.code(), Some(0));
}

#[test]
fn a_document_that_is_none_is_exit_code_1_with_a_hint_and_nothing_on_standard_output() {
    for (arguments, input) in [
        ("nsg reach --rules -", r#"{"value":[],"nextLink":"https://next"}"#),
        ("nsg reach --rules -", r#"[{"association":{"subnet":{}},"association":{"networkInterface":{}}}]"#),
        ("route select --table - --to 10.0.0.1", "ERROR: no"),
        ("route audit --table -", r#"{"error":{"code":"AuthorizationFailed"}}"#),
        ("nsg audit --rules -", r#"{"value":[{"eff"#),
        ("nsg reach --rules /nonexistent", ""),
    ] {
        let output = ghost(arguments, input);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{printed}");
        assert!(printed.starts_with("error: reading "), "{printed}");
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

#[test]
fn a_warning_says_where_in_the_document_it_is() {
    let routes = ROUTES.replace("\"10.0.9.0/24\"", "\"10.0.9.0/24\",\"10.300.0.0/16\"");
    let printed = String::from_utf8(ghost("route audit --table -", &routes).stdout).unwrap();
    assert!(printed.contains("row 2, value[1].addressPrefix[1]: `10.300.0.0/16` is no prefix"), "{printed}");
    let rules =
        RULES.replace("\"destinationPortRange\":\"22\"", "\"destinationPortRanges\":[\"22\",\"99999\"]");
    let printed = String::from_utf8(ghost("nsg audit --rules -", &rules).stdout).unwrap();
    let place = "row 1, value[0].effectiveSecurityRules[0].destinationPortRanges[1]: ";
    assert!(printed.contains(place) && printed.contains("`99999`"), "{printed}");
}

#[test]
fn what_is_not_at_a_terminal_has_no_color() {
    for arguments in ["route audit --table -", "route select --table - --to 10.0.9.1 --trace"] {
        assert!(!ghost(arguments, ROUTES).stdout.contains(&0x1b), "{arguments}");
    }
}

/// Five thousand rules that have nothing in common: the answer is bounded, and says that it is.
#[test]
fn hostile_rules_are_reported_as_not_judged_and_never_as_clean() {
    let rule = |at: u32| {
        // Every rule takes other addresses and ports: the product of two sequences without a common period.
        let (first, second) = (at.wrapping_mul(2_654_435_761), at.wrapping_mul(40_503));
        serde_json::json!({
            "name": format!("r{at}"), "priority": 100 + at, "direction": "Inbound", "protocol": "*",
            "access": if at.is_multiple_of(2) { "Allow" } else { "Deny" },
            "sourceAddressPrefix": format!("{}/{}", std::net::Ipv4Addr::from_bits(first), at % 12),
            "destinationAddressPrefix": format!("{}/{}", std::net::Ipv4Addr::from_bits(second << 8), at % 11),
            "sourcePortRange": format!("{}-{}", second % 30_000, 30_000 + first % 30_000),
            "destinationPortRange": format!("{}-{}", first % 30_000, 30_000 + second % 30_000),
        })
    };
    let mut rules: Vec<Value> = (0..5_000).map(rule).collect();
    // What it hides is found all the same.
    rules.push(serde_json::json!({
        "name": "hidden", "priority": 60_000, "direction": "Inbound", "protocol": "Tcp", "access": "Allow",
        "sourceAddressPrefix": "*", "destinationAddressPrefix": "*", "sourcePortRange": "*", "destinationPortRange": "22",
    }));
    let group = serde_json::json!({"association": {"subnet": {"id": "/s"}}, "networkSecurityGroup": {"id": "/n"}, "effectiveSecurityRules": rules});
    let document = serde_json::json!({ "value": [group] }).to_string();
    let audit = ghost("nsg audit --rules - --json", &document);
    let audit: Value = serde_json::from_slice(&audit.stdout).unwrap();
    assert!(audit.get("unjudged").and_then(Value::as_u64).unwrap() > 0, "{}", audit.get("warnings").unwrap());
    assert!(
        audit.get("exposed").unwrap().to_string().contains("hidden"),
        "{}",
        audit.get("exposed").unwrap()
    );
    let reach = ghost("nsg reach --rules - --exit-code", &document);
    let printed = String::from_utf8(reach.stdout).unwrap();
    assert!(printed.contains("through for certain") && printed.contains("behind the first"), "{printed}");
    assert!(
        printed.contains("the rules cut the packet space into too many parts: only the first"),
        "{printed}"
    );
    assert_eq!(reach.status.code(), Some(4));
}
