//! A try of the flow among the documents: it outranks what was computed from the others.

use super::draft::Draft;
use crate::path::{Estate, Protocol, Reading, Report};

const OPEN: &str = "tcp Connection to 10.0.2.4 5432 port [tcp/postgresql] succeeded!";
const SILENT: &str = "tcp nc: connect to 10.0.2.4 port 5432 (tcp) timed out: Operation now in progress";

/// Judges web → db with what `web` printed when it tried.
fn judged(draft: &Draft, protocol: Protocol, said: &str) -> Report {
    let mut bundle = draft.bundle();
    let text = format!("to 10.0.2.4 5432\naddress 10.0.2.4\n{said}\n");
    bundle.guests.get_mut("web").unwrap().probes = Some(Reading::Text(text));
    let estate = Estate::of(&bundle);
    estate.judge(&draft.flow("web", "db", protocol, 5432)).report(&estate)
}

#[track_caller]
fn check(draft: &Draft, said: &str, verdict: &str, contradicts: bool) -> Report {
    let report = judged(draft, Protocol::Tcp, said);
    let tried = report.tried.clone().unwrap();
    assert_eq!((report.verdict, tried.is_contradiction), (verdict, contradicts), "{report:#?}");
    assert!(report.fate.contains("it was tried from web"), "{}", report.fate);
    report
}

#[test]
fn a_flow_that_was_tried_in_vain_does_not_pass() {
    let report = check(&Draft::two(), SILENT, "INDETERMINATE", true);
    assert_eq!(report.missing.len(), 1, "{report:#?}");
    check(&Draft::two(), OPEN, "PASSES", false);
}

#[test]
fn what_would_stop_a_flow_that_was_reached_is_noticed_and_no_cause() {
    let denied = Draft::two().drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP");
    check(&denied, SILENT, "BLOCKED", false);
    let report = check(&denied, OPEN, "INDETERMINATE", true);
    assert_eq!((report.causes.len(), report.behind.len()), (0, 0), "{report:#?}");
    assert!(report.noticed.iter().any(|one| one.what.starts_with("guest_firewall_drop")), "{report:#?}");
}

#[test]
fn a_share_that_is_lost_explains_a_try_that_failed_and_a_delay_does_not() {
    let netem = |what: &str| {
        Draft::two().shapes("web", &format!("qdisc netem 1: dev eth0 root refcnt 2 limit 1000 {what}\n"))
    };
    check(&netem("loss 30%"), SILENT, "DEGRADED", false);
    check(&netem("delay 40ms"), SILENT, "INDETERMINATE", true);
    check(&netem("delay 40ms"), OPEN, "DEGRADED", false);
}

#[test]
fn a_try_decides_what_documents_leave_open() {
    let draft = Draft::two();
    let mut bundle = draft.bundle();
    bundle.guests.get_mut("db").unwrap().tcp = None;
    let report = |said: &str| {
        let mut bundle = bundle.clone();
        let text = format!("to 10.0.2.4 5432\naddress 10.0.2.4\n{said}\n");
        bundle.guests.get_mut("web").unwrap().probes = Some(Reading::Text(text));
        let estate = Estate::of(&bundle);
        estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432)).report(&estate)
    };
    assert_eq!(report(OPEN).verdict, "PASSES");
    assert_eq!(report(SILENT).verdict, "INDETERMINATE");
    assert_eq!(report("tcp neither nc nor curl is installed").tried, None);
}

#[test]
fn a_try_of_another_flow_says_nothing_of_this_one() {
    for (protocol, said) in [
        (Protocol::Udp, SILENT),
        (Protocol::Icmp, SILENT),
        (Protocol::Tcp, "ping 3 packets transmitted, 0 received, 100% packet loss, time 2000ms"),
    ] {
        assert_eq!(judged(&Draft::two(), protocol, said).tried, None, "{protocol}");
    }
    let echoes = "ping 3 packets transmitted, 0 received, 100% packet loss, time 2000ms";
    assert_eq!(judged(&Draft::two(), Protocol::Icmp, echoes).verdict, "INDETERMINATE");
}
