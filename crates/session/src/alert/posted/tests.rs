//! Facts about alerts that programs post in a channel.

use super::form::FORMS;
use super::{Posted, PostedStatus, not_of_network, posted};

#[test]
fn the_forms_are_read_and_written_in_small_letters() {
    assert!(FORMS.form.len() > 10 && !FORMS.status.resolved.is_empty() && !FORMS.network.words.is_empty());
    for form in &FORMS.form {
        let all = form.names.iter().chain(&form.firing).chain(&form.acknowledged).chain(&form.resolved);
        for words in all.chain(&form.ids).chain(&form.links) {
            assert_eq!(*words, words.to_lowercase(), "{}", form.source);
        }
        assert!(!form.firing.is_empty() && !form.resolved.is_empty(), "{}", form.source);
    }
    assert!(FORMS.form.last().unwrap().names.is_empty());
}

#[track_caller]
fn read(author: &str, text: &str) -> Posted {
    posted(author, text, &[]).unwrap_or_else(|| panic!("no alert: {text}"))
}

#[test]
fn the_two_ends_of_an_alert_have_one_identity() {
    for (author, begins, ends) in [
        (
            "Alertmanager",
            "[FIRING:1] ProbeFailed web-1 -> db-1:5432",
            "[RESOLVED] ProbeFailed web-1 -> db-1:5432",
        ),
        (
            "Alertmanager",
            ":fire: *[FIRING:2]* ProbeFailed (web-1)",
            ":white_check_mark: *[RESOLVED:2]* ProbeFailed (web-1)",
        ),
        ("Grafana", "[Alerting] db-1 port 5432", "[OK] db-1 port 5432"),
        (
            "PagerDuty",
            "Triggered #4711: db-1:5432 unreachable from web-1",
            "Resolved #4711: db-1:5432 unreachable",
        ),
        ("Opsgenie", "New alert: #381 db-1:5432 unreachable", "Closed alert: #381 db-1:5432 unreachable"),
        (
            "Datadog",
            "[Triggered on {host:web-1}] TCP check db-1:5432",
            "[Recovered on {host:web-1}] TCP check db-1:5432",
        ),
        ("Datadog", "Triggered: TCP check db-1:5432", "Recovered: TCP check db-1:5432"),
        (
            "Azure Monitor",
            "Fired:Sev1 Azure Monitor Alert db-1-unreachable",
            "Resolved:Sev1 Azure Monitor Alert db-1-unreachable",
        ),
        (
            "Zabbix",
            "Problem: db-1 port 5432 is down\nOriginal problem ID: 991",
            "Resolved in 5m 2s: db-1 port 5432 is down\nOriginal problem ID: 991",
        ),
        (
            "Icinga",
            "** PROBLEM Service Alert: web-1/tcp-5432 is CRITICAL **",
            "** RECOVERY Service Alert: web-1/tcp-5432 is OK **",
        ),
        (
            "incident.io",
            "🚨 INC-77: db-1 unreachable\nStatus: Investigating",
            "INC-77: db-1 unreachable\nStatus: Closed",
        ),
        ("Rootly", "Incident #12 started: db-1 unreachable", "Incident #12 resolved: db-1 unreachable"),
        ("UptimeRobot", "Monitor is DOWN: db-1", "Monitor is UP: db-1"),
        ("Some Bot", "🔴 db-1:5432 is down", "🟢 db-1:5432 is back up"),
        ("AWS Chatbot", "ALARM: \"db-1 unreachable\"", "OK: \"db-1 unreachable\""),
    ] {
        let (begun, ended) = (read(author, begins), read(author, ends));
        assert_eq!(
            (begun.status, ended.status),
            (PostedStatus::Firing, PostedStatus::Resolved),
            "{begins} | {ends}"
        );
        assert_eq!(begun.identity, ended.identity, "{begins} | {ends}");
    }
}

#[test]
fn two_alerts_have_two_identities() {
    for (author, one, other) in [
        ("PagerDuty", "Triggered #1: db-1 down", "Triggered #2: db-1 down"),
        ("Alertmanager", "[FIRING:1] ProbeFailed web-1", "[FIRING:1] ProbeFailed web-2"),
        ("Datadog", "[Triggered on {host:web-1}] TCP", "[Triggered on {host:web-2}] TCP"),
    ] {
        assert_ne!(read(author, one).identity, read(author, other).identity);
    }
}

#[test]
fn a_repetition_fires_and_somebody_may_have_taken_it_on() {
    assert_eq!(read("Datadog", "[Re-Triggered] TCP check db-1").status, PostedStatus::Firing);
    assert_eq!(read("PagerDuty", "Acknowledged #4711: db-1").status, PostedStatus::Acknowledged);
    assert_eq!(read("Alertmanager", "[FIRING:3] x").alerts, 3);
}

#[test]
fn a_link_names_an_alert() {
    let link = vec!["https://acme.pagerduty.com/incidents/Q2ABC7".to_owned()];
    let found = posted("PagerDuty", "Triggered: db-1 down", &link).unwrap();
    assert_eq!(found.identity, "pagerduty q2abc7");
}

#[test]
fn words_of_people_and_odd_ones_are_no_alert() {
    for text in
        ["", "***", "web-1 cannot reach db-1", "good morning", ":", "::", ":fire:", "\u{202e}[", "[FIRING"]
    {
        assert_eq!(posted("ana", text, &[]), None, "{text}");
    }
}

#[test]
fn an_alert_about_something_else_says_about_what() {
    for (text, about) in [
        ("certificate of the wiki expires in 14 days", Some("a certificate or a domain that expires")),
        ("[FIRING:1] DiskFull web-1 disk usage 91 %", Some("disk space")),
        ("CPU high on web-1:9100", Some("processor or memory")),
        ("Backup job failed on db-1", Some("a job or a backup")),
        ("monthly budget reached 80 %", Some("cost or quota")),
        ("lunch is served", Some("something else")),
        ("web-1 cannot reach db-1 on port 5432", None),
        ("ProbeFailed web-1 → db-1:5432", None),
        ("HighLatency between web-1 and db-1", None),
        ("Host web-1 is unreachable", None),
        ("certificate check: connection timed out to web-1:443", None),
    ] {
        assert_eq!(not_of_network(text), about, "{text}");
    }
}
