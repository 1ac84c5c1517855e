//! What the files of the use cases say.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

use ghost_lab::case::{CASES, CODES, Case, Outcome, Pair, SERVICE_CASES, View, embedded, markdown, plan};
use serde_json::Value;

use super::stage::{Here, usual};

fn all() -> Vec<Case> {
    CASES
        .iter()
        .map(|(name, text)| Case::read(text).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

#[test]
fn every_file_reads_and_is_named_as_its_case() {
    for ((name, _), case) in CASES.iter().zip(all()) {
        assert_eq!(case.id, *name);
        assert!(!case.notes.is_empty() && !case.seen.is_empty() && !case.forbidden.is_empty(), "{name}");
    }
    for (name, text) in SERVICE_CASES {
        let case = Case::read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(case.id, name);
        assert!(!case.notes.is_empty() && !case.forbidden.is_empty() && case.estate.is_none(), "{name}");
    }
    for (folder, count) in [("demo/cases", CASES.len()), ("demo/services", SERVICE_CASES.len())] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), count);
    }
    assert!(embedded("J").is_some() && embedded("zz").is_none());
}

#[test]
fn prompts_and_pairs_are_those_that_are_pinned() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/cases/cases.jsonl");
    let Ok(text) = std::fs::read_to_string(place) else { return };
    let pinned: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pinned.len(), CASES.len());
    for (case, pinned) in all().iter().zip(&pinned) {
        assert_eq!((pinned["id"].as_str(), pinned["title"].as_str()), (Some(&*case.id), Some(&*case.title)));
        let prompts: Vec<&str> = case.phases.iter().map(|phase| phase.prompt.as_str()).collect();
        assert_eq!(serde_json::json!(prompts), pinned["prompts"], "{}", case.id);
        for (phase, line) in case.phases.iter().zip(pinned["lines"].as_array().unwrap()) {
            let pairs =
                |name: &str| -> BTreeSet<Pair> { serde_json::from_value(line[name].clone()).unwrap() };
            let own = |pairs: &[Pair]| -> BTreeSet<Pair> { pairs.iter().cloned().collect() };
            assert_eq!(
                (own(&phase.expected), own(&phase.may)),
                (pairs("expect"), pairs("may")),
                "{}",
                line["id"]
            );
            let outcome: Vec<Outcome> = serde_json::from_value(line["outcome"].clone()).unwrap();
            assert_eq!(phase.outcome, outcome, "{}", line["id"]);
        }
        assert_eq!(case.phases.len(), pinned["lines"].as_array().unwrap().len());
    }
}

#[test]
fn what_is_expected_follows_from_the_faults() {
    let view = View::new(usual().documents());
    let (address, owned) = (|vm: &str| view.address(vm), |address: IpAddr| view.owned(address));
    // The estate's own, and what is there where nothing changed.
    let beside = [
        Pair::new("nsg_exposure", "nsg/tf-dest-vm-nsg/default-allow-ssh"),
        Pair::new("no_drift", "effective/tf-dest-vm"),
    ];
    for case in all() {
        let given: BTreeSet<Pair> = case
            .faults
            .iter()
            .flat_map(|placed| placed.fault.pairs(&address, &owned))
            .chain(beside.clone())
            .collect();
        let reported: BTreeSet<Pair> =
            case.phases.iter().flat_map(|phase| phase.expected.iter().chain(&phase.may)).cloned().collect();
        assert!(reported.is_subset(&given), "{}: {reported:?} of {given:?}", case.id);
        let own = case.faults.iter().flat_map(|placed| placed.fault.pairs(&address, &owned));
        let missing: Vec<Pair> = own.filter(|pair| !reported.contains(pair)).collect();
        assert_eq!(missing, [], "{}: a fault that nobody is to find", case.id);
    }
}

#[test]
fn every_code_of_the_contract_can_be_injected() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/design/contracts.md");
    let Ok(text) = std::fs::read_to_string(place) else { return };
    let table = text.split("### Fault codes and object ids").nth(1).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let reported: BTreeSet<&str> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .filter(|code| *code != "no_drift")
        .collect();
    let own: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
    // Codes are added to those of the contract, and none is taken away.
    let missing: Vec<&&str> = reported.difference(&own).collect();
    assert!(!reported.is_empty() && missing.is_empty(), "{missing:?}");
}

#[test]
fn every_case_fits_the_estate() {
    let view = View::new(usual().documents());
    for case in all() {
        if let Err(problems) = plan(&case, &view) {
            panic!("{}: {problems}", case.id);
        }
    }
}

/// What is wrong in their clusters is real by then: the reader follows each flow.
#[test]
fn every_written_case_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/estates");
    let mut clusters = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let read = Case::read(&std::fs::read_to_string(&path).unwrap());
            clusters +=
                read.unwrap_or_else(|problems| panic!("{}: {problems}", path.display())).clusters.len();
        }
    }
    assert!(clusters > 12, "{clusters}");
}

#[test]
fn nobody_may_conclude_what_has_to_be_found() {
    for case in all() {
        for forbidden in &case.forbidden {
            let reported = case.phases.iter().flat_map(|phase| phase.expected.iter().chain(&phase.may));
            let hit = |pair: &&Pair| {
                forbidden.fault.as_ref() == Some(&pair.fault)
                    && forbidden.object.as_ref().is_none_or(|object| *object == pair.object)
            };
            assert_eq!(reported.clone().find(hit), None, "{}: {}", case.id, forbidden.claim);
            assert!(
                forbidden.fault.is_some() || !forbidden.says.is_empty(),
                "{}: {}",
                case.id,
                forbidden.claim
            );
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes the page anew where a variable asks for it")]
fn the_page_about_the_cases_holds_what_is_generated() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/README.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (begin, end) =
        ("<!-- generated: ghost lab cases --markdown -->\n", "<!-- end of what is generated -->");
    let (before, rest) = page.split_once(begin).expect("the page says where the generated part begins");
    let (found, after) = rest.split_once(end).expect("the page says where the generated part ends");
    let wanted = markdown().unwrap();
    if found == wanted {
        return;
    }
    assert!(std::env::var_os("UPDATE").is_some(), "demo/README.md is out of step: run with UPDATE=1");
    std::fs::write(path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
}

#[test]
fn nothing_is_seen_where_nothing_is_wrong_by_name() {
    // What a case shows must not be there before: names of rules and routes are its own.
    let here = Here::up();
    let estate = here.estate();
    for case in all() {
        for seen in case.seen.iter().filter(|seen| seen.shows.contains("ghost-demo")) {
            assert!(
                !regex::Regex::new(&seen.shows).unwrap().is_match(&estate),
                "{}: {}",
                case.id,
                seen.shows
            );
        }
    }
}
