//! Each document withheld in turn, in every manner in which a reading fails: what an answer needs opens it, and nothing else does.

use std::collections::BTreeSet;

use super::draft::Draft;
use crate::path::{Bundle, Estate, Protocol, Reading};

/// The documents that the flow from `a` to `b` by the appliance `nva` does not need.
const NOT_NEEDED: [&str; 14] = [
    "cloud/machines.json",
    "guests/a/addresses.txt",
    "guests/a/filters/ip6tables-save.txt",
    "guests/a/settings.txt",
    "guests/a/tcp.txt",
    "guests/a/udp.txt",
    "guests/b/addresses.txt",
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
    let whole: Vec<(String, Reading)> =
        draft().bundle().to_files().into_iter().map(|(path, text)| (path, Reading::Text(text))).collect();
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
