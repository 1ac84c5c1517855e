//! Each document withheld in turn, in every manner in which a reading fails: what an answer needs opens it, and nothing else does.

use std::collections::BTreeSet;

use super::draft::Draft;
use crate::path::{Bundle, Estate, Protocol, Reading};

/// The documents that the flow from `a` to `b` by the appliance `nva` does not need.
const NOT_NEEDED: [&str; 12] = [
    "cloud/machines.json",
    "guests/a/filters/ip6tables-save.txt",
    "guests/a/settings.txt",
    "guests/a/tcp.txt",
    "guests/a/udp.txt",
    "guests/b/filters/ip6tables-save.txt",
    "guests/b/settings.txt",
    "guests/b/udp.txt",
    "guests/nva/addresses.txt",
    "guests/nva/filters/ip6tables-save.txt",
    "guests/nva/tcp.txt",
    "guests/nva/udp.txt",
];

/// A flow that passes two groups and an appliance.
fn draft() -> Draft {
    let allow = ("in", 110, "Inbound", "Allow", "Tcp", "10.11.0.0/16", "*", "8443");
    Draft::hub()
        .rule("right/work", allow)
        .rule("hub/nva", ("on", 110, "Inbound", "Allow", "*", "*", "*", "*"))
}

fn verdict(files: &[(String, Reading)]) -> &'static str {
    let bundle =
        Bundle::from_files(files.iter().map(|(path, reading)| (path.as_str(), reading.clone()))).unwrap();
    Estate::of(&bundle).judge(&draft().flow("a", "b", Protocol::Tcp, 8443)).fate.verdict()
}

/// What is in the place of a document; nothing where it is gone. A text that is cut off in the middle may still be a text.
fn manners(text: &str) -> Vec<(&'static str, Option<Reading>)> {
    let mut all = vec![
        ("gone", None),
        ("failed", Some(Reading::Failed { error: "no".to_owned() })),
        ("garbage", Some(Reading::Text("Segmentation fault\n".to_owned()))),
        (
            "refused",
            Some(Reading::Text(r#"{"error":{"code":"AuthorizationFailed","message":"no"}}"#.to_owned())),
        ),
    ];
    if text.starts_with(['[', '{']) {
        all.push(("cut off", Some(Reading::Text(text[..text.len() / 2].to_owned()))));
    }
    all
}

#[test]
fn a_flow_passes_only_where_every_document_that_it_needs_was_read() {
    let whole: Vec<(String, Reading)> = draft()
        .bundle()
        .to_files()
        .into_iter()
        .filter(|(path, _)| path != crate::path::LENGTHS)
        .map(|(path, text)| (path, Reading::Text(text)))
        .collect();
    assert_eq!(verdict(&whole), "PASSES");
    let (mut open, mut same) = (BTreeSet::new(), BTreeSet::new());
    for (at, (path, reading)) in whole.iter().enumerate() {
        let Reading::Text(text) = reading else { panic!("{path}") };
        for (manner, instead) in manners(text) {
            let mut files = whole.clone();
            match instead {
                Some(reading) => files[at].1 = reading,
                None => drop(files.remove(at)),
            }
            match verdict(&files) {
                "PASSES" => same.insert(path.as_str()),
                "INDETERMINATE" => open.insert(path.as_str()),
                other => panic!("without {path}, {manner}: {other}"),
            };
        }
    }
    println!("INDETERMINATE without {open:?}\nPASSES without {same:?}");
    assert_eq!(open.intersection(&same).count(), 0, "{:?}", open.intersection(&same));
    assert_eq!(same, BTreeSet::from(NOT_NEEDED));
}

/// Estates of every verdict.
fn drawn() -> Vec<Draft> {
    let deny = ("no", 110, "Inbound", "Deny", "Tcp", "*", "*", "5432");
    let out = ("out", 110, "Outbound", "Deny", "*", "*", "10.0.2.0/24", "*");
    vec![
        Draft::two(),
        Draft::two().rule("app/db", deny),
        Draft::two().rule("app/web", out),
        Draft::two().silent("db"),
        Draft::two().drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP"),
        Draft::two().drops("web", "-A OUTPUT -d 10.0.2.4/32 -j REJECT --reject-with icmp-port-unreachable"),
        Draft::two().policy("db", "INPUT", "DROP"),
        Draft::two().shapes("web", "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 loss 10%\n"),
        Draft::two().shapes("db", "qdisc tbf 1: dev eth0 root refcnt 2 rate 64Kbit burst 1600b lat 50ms\n"),
        Draft::two().route("app/web", "void", "10.0.2.0/24", "None", None),
        Draft::two().route("app/db", "back", "10.0.1.0/24", "None", None),
    ]
}

/// The law "to know less may only open": with a document, a line of it or its end withheld an answer stays, opens, or is refused.
#[test]
fn to_know_less_of_a_folder_may_only_open_an_answer() {
    let mut verdicts = BTreeSet::new();
    for draft in drawn() {
        let flow = draft.flow("web", "db", Protocol::Tcp, 5432);
        let files: Vec<(String, String)> = draft.bundle().to_files();
        let judge = |files: &[(String, String)]| {
            let read = files.iter().map(|(path, text)| (path.as_str(), Reading::Text(text.clone())));
            Bundle::from_files(read).ok().map(|bundle| Estate::of(&bundle).judge(&flow).fate.verdict())
        };
        let base = judge(&files).unwrap();
        verdicts.insert(base);
        for at in 0..files.len() {
            let (path, text) = files[at].clone();
            if path == crate::path::LENGTHS {
                continue;
            }
            let mut kept: Vec<Option<String>> = vec![
                None,
                Some(text[..text.len() / 2].to_owned()),
                Some("command not found\n".to_owned()),
                Some(r#"{"error":{"code":"AuthorizationFailed","message":"no"}}"#.to_owned()),
            ];
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            kept.extend((0..lines.len()).map(|gone| {
                Some(lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| *line).collect())
            }));
            for instead in kept {
                let mut less = files.clone();
                match &instead {
                    Some(text) => less[at].1.clone_from(text),
                    None => drop(less.remove(at)),
                }
                let now = judge(&less);
                assert!(
                    now.is_none_or(|now| now == base || now == "INDETERMINATE"),
                    "{base} became {now:?} with {instead:?} in the place of {path}"
                );
            }
        }
    }
    assert_eq!(verdicts, ["BLOCKED", "DEGRADED", "PASSES"].into());
}
