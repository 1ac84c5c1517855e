//! Each trouble is found, and its filter shows the frames that it names to whoever pastes it.

use std::fs;

use ghost_pcap::{Analyzer, Scope, frames};
use serde_json::Value;

use super::capture::{Timed, pcap};
use super::packet::{Ask, arp, ask, error, ip, ping};
use super::scenario::{Scenario, link, names, path};
use super::tshark::shown;

/// Returns the account of frames.
pub(super) fn account(all: &[Timed]) -> Value {
    let capture = pcap(all, 65_535);
    let mut analyzer = Analyzer::new(Scope::default());
    let ending = frames(&capture[..], |frame| {
        analyzer.feed(frame);
    });
    serde_json::to_value(analyzer.finish(&ending.unwrap())).unwrap()
}

/// Returns codes and severities of the findings.
pub(super) fn codes(account: &Value) -> Vec<(&str, &str)> {
    let findings = account.get("findings").unwrap().as_array().unwrap();
    findings
        .iter()
        .map(|finding| {
            let field = |name: &str| finding.get(name).unwrap().as_str().unwrap();
            (field("code"), field("severity"))
        })
        .collect()
}

#[track_caller]
fn prove(scenarios: Vec<Scenario>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.pcap");
    for (code, all) in scenarios {
        let account = account(&all);
        assert!(codes(&account).iter().any(|(found, _)| *found == code), "{code}: {:?}", codes(&account));
        fs::write(&path, pcap(&all, 65_535)).unwrap();
        for finding in account.get("findings").unwrap().as_array().unwrap() {
            let evidence = finding.get("evidence").unwrap();
            let filter = evidence.get("filter").unwrap().as_str().unwrap();
            let Some(shown) = shown(&path, filter) else {
                continue;
            };
            let named: Vec<u64> = serde_json::from_value(evidence.get("frames").unwrap().clone()).unwrap();
            assert!(!named.is_empty(), "{code}: {finding}");
            let hidden: Vec<&u64> = named.iter().filter(|frame| !shown.contains(frame)).collect();
            assert!(hidden.is_empty(), "{code}: `{filter}` does not show {hidden:?}: {finding}");
        }
    }
}

#[test]
fn trouble_with_names_is_found_and_shown() {
    prove(names());
}

#[test]
fn trouble_on_the_path_is_found_and_shown() {
    prove(path());
}

#[test]
fn trouble_on_the_link_is_found_and_shown() {
    prove(link());
}

#[test]
fn a_connection_that_a_router_filters_says_so_itself() {
    let (_, all) = path().swap_remove(0);
    let account = account(&all);
    let complaint = account.pointer("/tcp/flows/0/complaint").unwrap();
    assert_eq!(complaint.get("meaning").unwrap(), "communication administratively prohibited");
    assert_eq!(complaint.get("from").unwrap(), "10.0.0.254");
    let titles: Vec<&str> = account
        .get("findings")
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding.get("title").unwrap().as_str().unwrap())
        .collect();
    assert!(titles.iter().any(|title| title.contains("10.0.0.1:40000 was filtered there")), "{titles:?}");
}

#[test]
fn a_made_up_name_comes_with_its_score_and_the_parts_of_it() {
    let (_, all) = names().into_iter().find(|(code, _)| *code == "dns_generated_names").unwrap();
    let account = account(&all);
    let first = account.pointer("/dns/suspicious/0").unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let parts: f64 = first.get("parts").unwrap().as_object().unwrap().values().map(number).sum();
    assert!((number(first.get("score").unwrap()) - parts).abs() < 0.2, "{first}");
    assert_eq!(first.pointer("/parts/nxdomain_share").unwrap(), 15.0);
}

#[test]
fn all_troubles_together_fit_into_a_short_account() {
    let mut all: Vec<Timed> = [names(), path(), link()]
        .into_iter()
        .flatten()
        .flat_map(|(_, frames)| frames.into_iter().take(400))
        .collect();
    for number in 0..400_u16 {
        let [high, low] = number.to_be_bytes();
        let server = [10, 7, high, low];
        let time = 1_000_000 + u64::from(number) * 100;
        let client = [10, 8, high, low];
        let label = format!("{number:04}{}", "x7q4zk9w".repeat(7));
        let name = format!("{label}.{label}.{label}.example.com");
        let missing = Ask { client, name: &name, kind: 16, answer: Some(0x8183), ..Ask::default() };
        ask(&mut all, time, missing);
        let request = ping((client, server), 8, number, 64);
        for _ in 0..3 {
            all.push((time, error([10, 9, high, low], (3, 1), [0; 4], &request)));
            all.push((time, error([10, 9, high, low], (3, 4), [0, 0, 5, 0], &request)));
            all.push((time, error([10, 9, high, low], (11, 0), [0; 4], &request)));
            all.push((time, error([10, 9, high, low], (5, 1), [10, 0, 0, 9], &request)));
        }
        all.push((time, request));
        for from in 0..8 {
            all.push((time, arp(2, [2, 0, 0, 0, low, from], (client, server))));
        }
        all.push((time, ip((client, server), 1, 64, (1, 0), &[low, high.max(low), 0, 0, 0, 0, 0, 0])));
    }
    let text = serde_json::to_string_pretty(&account(&all)).unwrap();
    assert!(serde_json::to_string(&account(&all)).unwrap().len() < 24_000, "{text}");
}
