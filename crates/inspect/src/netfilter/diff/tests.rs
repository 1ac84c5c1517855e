//! What comes and goes by itself is reported, and is no drift.

use crate::netfilter::{Change, Diff, Severity, Status, diff, read};

fn compare(a: &str, b: &str) -> Diff {
    diff(&read(a).unwrap(), &read(b).unwrap()).unwrap()
}

fn nat(rules: &str) -> String {
    format!(
        "*nat\n:PREROUTING ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n{rules}-A PREROUTING -j KUBE-SERVICES\nCOMMIT\n"
    )
}

const ONE: &str = ":KUBE-SVC-AAAA - [0:0]\n:KUBE-SEP-BBBB - [0:0]\n-A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m udp --dport 53 -j KUBE-SVC-AAAA\n-A KUBE-SVC-AAAA -j KUBE-SEP-BBBB\n-A KUBE-SEP-BBBB -p udp -j DNAT --to-destination 10.244.0.3:53\n";

#[test]
fn a_service_that_comes_with_its_chains_is_churn() {
    let found = compare(&nat(""), &nat(ONE));
    assert_eq!(found.status, Status::Clean, "{found:?}");
    assert!(found.changes.len() >= 3 && found.changes.iter().all(is_churn), "{found:?}");
    assert_eq!(compare(&nat(ONE), &nat("")).status, Status::Clean);
}

#[test]
fn a_pod_that_moves_is_churn() {
    let moved = ONE.replace("10.244.0.3", "10.244.7.9").replace("BBBB", "CCCC");
    assert_eq!(compare(&nat(ONE), &nat(&moved)).status, Status::Clean);
}

#[test]
fn a_drop_in_the_chain_of_a_service_is_none() {
    let dropped =
        ONE.replace("-A KUBE-SVC-AAAA -j", "-A KUBE-SVC-AAAA -s 10.0.0.9/32 -j DROP\n-A KUBE-SVC-AAAA -j");
    let found = compare(&nat(ONE), &nat(&dropped));
    assert_eq!((found.status, found.critical), (Status::Drift, true), "{found:?}");
    assert_eq!(compare(&nat(""), &nat(&dropped)).status, Status::Drift);
}

#[test]
fn a_chain_of_anybody_else_that_leads_to_a_service_is_none() {
    let other = format!("{ONE}-A PREROUTING -s 10.0.0.9/32 -j KUBE-SVC-AAAA\n");
    assert_eq!(compare(&nat(ONE), &nat(&other)).status, Status::Drift);
}

#[test]
fn a_ban_in_a_chain_is_drift_and_changes_traffic() {
    let jail = |rules: &str| {
        format!(
            "*filter\n:INPUT ACCEPT [0:0]\n:f2b-sshd - [0:0]\n-A INPUT -p tcp -m tcp --dport 22 -j f2b-sshd\n{rules}-A f2b-sshd -j RETURN\nCOMMIT\n"
        )
    };
    let found = compare(&jail(""), &jail("-A f2b-sshd -s 203.0.113.9/32 -j REJECT\n"));
    assert_eq!((found.status, found.critical), (Status::Drift, true));
}

#[test]
fn a_second_copy_that_no_packet_notices_is_noise_and_still_drift() {
    let rules = |rules: &str| format!("*filter\n:INPUT DROP [0:0]\n{rules}COMMIT\n");
    let one = "-A INPUT -s 10.0.0.0/8 -j ACCEPT\n";
    let found = compare(&rules(one), &rules(&format!("{one}{one}")));
    let found_changes: Vec<(Severity, bool)> =
        found.changes.iter().map(|change| (change.severity, change.churn)).collect();
    assert_eq!((found.status, found_changes), (Status::Drift, vec![(Severity::Noise, false)]));
    // A second line in a log is noticed by whoever reads it.
    let log = "-A INPUT -j LOG\n";
    let found = compare(&rules(log), &rules(&format!("{log}{log}")));
    assert_eq!(found.changes[0].severity, Severity::Notable);
}

/// Returns a native ruleset whose set `bad`, of these flags, has these elements.
fn native(flags: &str, elements: &str) -> String {
    format!(
        r#"{{"nftables":[{{"table":{{"family":"inet","name":"fw"}}}},
        {{"set":{{"family":"inet","table":"fw","name":"bad","type":"ipv4_addr","flags":[{flags}],"elem":[{elements}]}}}},
        {{"chain":{{"family":"inet","table":"fw","name":"in","type":"filter","hook":"input","prio":0,"policy":"accept"}}}},
        {{"rule":{{"family":"inet","table":"fw","chain":"in","expr":[
            {{"match":{{"op":"==","left":{{"payload":{{"protocol":"ip","field":"saddr"}}}},"right":"@bad"}}}},{{"drop":null}}]}}}}]}}"#
    )
}

#[test]
fn elements_that_end_or_that_packets_put_there_are_churn_and_others_are_not() {
    let ends = r#"{"elem":{"val":"10.0.0.1","timeout":600,"expires":590}}"#;
    let soon = ends.replace("590", "10");
    let (timeout, dynamic) = (r#""timeout""#, r#""dynamic""#);
    assert_eq!(compare(&native(timeout, ""), &native(timeout, ends)).status, Status::Clean);
    assert_eq!(compare(&native(timeout, ends), &native(timeout, &soon)).changes, []);
    assert_eq!(compare(&native(dynamic, ""), &native(dynamic, "\"10.0.0.1\"")).status, Status::Clean);
    let found = compare(&native("", ""), &native("", "\"10.0.0.1\""));
    assert_eq!((found.status, found.critical), (Status::Drift, true));
}

#[test]
fn where_something_was_left_out_and_nothing_differs_the_status_is_inconclusive() {
    let odd = "*filter\n:INPUT ACCEPT [0:0]\nwhat is this\nCOMMIT\n";
    let found = compare(odd, odd);
    assert_eq!((found.status, found.drift), (Status::Inconclusive, None));
}

#[test]
fn things_without_a_name_are_distinguished_by_what_they_are() {
    let odd = |chains: &[&str]| {
        let objects: Vec<String> = chains
            .iter()
            .map(|chain| format!(r#",{{"odd":{{"family":"inet","table":"fw","chain":"{chain}"}}}}"#))
            .collect();
        format!(r#"{{"nftables":[{{"table":{{"family":"inet","name":"fw"}}}}{}]}}"#, objects.concat())
    };
    let details = |a: &[&str], b: &[&str]| -> Vec<String> {
        compare(&odd(a), &odd(b)).changes.into_iter().map(|change| change.detail).collect()
    };
    assert_eq!(details(&["a", "b", "b"], &["b", "a", "b"]), Vec::<String>::new());
    assert_eq!(details(&["a", "b"], &["b", "c", "d"]), ["odd differs", "odd is new"]);
    assert_eq!(details(&["a", "b", "b"], &["b"]), ["odd is gone", "odd is gone"]);
}

#[test]
fn sets_of_one_name_differ_from_themselves_in_nothing() {
    let twice = native("", "").replace(
        r#"{"chain""#,
        r#"{"set":{"family":"inet","table":"fw","name":"bad","type":"ipv6_addr"}},{"chain""#,
    );
    assert_eq!(compare(&twice, &twice).changes, []);
}

fn is_churn(change: &Change) -> bool {
    change.churn && change.severity == Severity::Noise
}
