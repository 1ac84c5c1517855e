//! A case is there, whole, or not at all.

use ghost_inspect::effective;
use ghost_inspect::netfilter;
use ghost_lab::case::{CASES, Case, InjectError, active_case, clean, embedded, inject, reset};

use super::stage::Here;

fn waited<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn put(here: &Here, name: &str, phase: usize) -> Result<ghost_lab::case::Injected, InjectError> {
    waited(inject(here, here.path(), embedded(name).unwrap(), None, phase))
}

#[test]
fn every_case_goes_in_and_leaves_nothing() {
    let here = Here::up();
    let (estate, guests) = (here.estate(), here.guests());
    for (name, text) in CASES {
        let case = Case::read(text).unwrap();
        for phase in 1..=case.phases.len() {
            let injected = waited(inject(&here, here.path(), text, None, phase))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((injected.phase, injected.files.len()), (phase, case.baselines.len()));
            let touched = here.estate() != estate || here.guests() != guests;
            assert!(touched, "{name}");
            assert!(waited(reset(&here, here.path())).unwrap().unwrap().starts_with(name));
            assert_eq!((here.estate(), here.guests()), (estate.clone(), guests.clone()), "{name}");
            assert_eq!(here.files(), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn a_step_that_fails_takes_back_all_before_it() {
    let here = Here::up();
    let (estate, guests) = (here.estate(), here.guests());
    *here.guests.fails.lock().unwrap() = Some("--dport 5001".to_owned());
    let Err(failed @ InjectError::Step { .. }) = put(&here, "p", 1) else { panic!("it went in") };
    let reported = failed.to_string();
    assert!(
        reported.contains("--dport 5001")
            && reported.contains("no, thank you")
            && reported.contains("as it was"),
        "{reported}"
    );
    assert_eq!((here.estate(), here.guests(), here.files()), (estate, guests, Vec::new()));
    *here.guests.fails.lock().unwrap() = None;
    put(&here, "p", 1).unwrap();
}

#[test]
fn whoever_comes_after_a_crash_finds_the_journal_and_cleans_up() {
    let here = Here::up();
    let (estate, guests) = (here.estate(), here.guests());
    // The caller goes away before each step: the future is dropped there, as with a process that is killed.
    for steps in 0..12 {
        waited(async {
            let mut work = Box::pin(super::plan::in_steps(
                inject(&here, here.path(), embedded("p").unwrap(), None, 1),
                steps,
            ));
            work.as_mut().await;
        });
        let there = active_case(here.path()).unwrap();
        if there.is_none() {
            assert_eq!(
                (here.estate(), here.guests()),
                (estate.clone(), guests.clone()),
                "nothing before the journal"
            );
        }
        // The next order, whatever it is.
        put(&here, "a", 1).unwrap();
        assert_eq!(here.files(), ["lab-case.json"]);
        waited(reset(&here, here.path())).unwrap();
        assert_eq!(
            (here.estate(), here.guests(), here.files()),
            (estate.clone(), guests.clone(), Vec::new()),
            "{steps}"
        );
    }
}

#[test]
fn what_a_dead_lab_left_on_the_disk_goes_with_the_next_one() {
    let here = Here::up();
    put(&here, "n", 1).unwrap();
    assert_eq!(here.files(), ["lab-case.json", "netfilter/fw_pre_hardening_N_snapshot.json"]);
    // The process is gone, and its estate and guests with it.
    assert_eq!(clean(here.path()).unwrap().unwrap(), "n: The Hardening Surprise");
    assert_eq!(here.files(), Vec::<String>::new());
    assert_eq!(clean(here.path()).unwrap(), None);
}

#[test]
fn a_case_over_another_takes_its_place() {
    let here = Here::up();
    let estate = here.estate();
    put(&here, "a", 1).unwrap();
    let alone = {
        let other = Here::up();
        put(&other, "e", 1).unwrap();
        other.essence()
    };
    let over = put(&here, "e", 1).unwrap();
    assert_eq!(over.before.as_deref(), Some("a: The Invisible Wall"));
    assert_eq!(here.essence(), alone);
    // The same case once more is the same case.
    put(&here, "e", 1).unwrap();
    assert_eq!(here.essence(), alone);
    waited(reset(&here, here.path())).unwrap();
    assert_eq!(here.estate(), estate);
    assert_eq!(waited(reset(&here, here.path())).unwrap(), None);
    assert_eq!(here.estate(), estate);
}

#[test]
fn a_later_phase_only_takes_away_what_was_fixed() {
    let here = Here::up();
    let estate = here.estate();
    put(&here, "t", 1).unwrap();
    assert!(here.estate().contains("ghost-demo-t-rt"));
    let ran = here.guests().ran;
    let second = put(&here, "t", 2).unwrap();
    assert!(!here.estate().contains("ghost-demo-t-rt") && second.done.len() == 2, "{:?}", second.done);
    assert_eq!(here.guests().ran, ran, "what was not fixed is not touched");
    let at_once = {
        let other = Here::up();
        put(&other, "t", 2).unwrap();
        other.essence()
    };
    assert_eq!(here.essence(), at_once);
    assert!(matches!(put(&here, "t", 3), Err(InjectError::Phase { has: 2, .. })));
    assert!(matches!(put(&here, "t", 0), Err(InjectError::Phase { .. })));
    waited(reset(&here, here.path())).unwrap();
    assert_eq!(here.estate(), estate);
}

#[test]
fn baselines_are_what_the_tools_compare_with_and_older_than_the_window() {
    let here = Here::up();
    put(&here, "p", 1).unwrap();
    let text = std::fs::read_to_string(here.path().join("effective/eni_pre_window_P.json")).unwrap();
    let snapshot = effective::Snapshot::parse(&text).unwrap();
    assert!(snapshot.taken.baseline && snapshot.taken.at.to_string().starts_with("2025-06-02T04:31"));
    assert_eq!(
        (snapshot.len(), snapshot.taken.scope.to_string()),
        (1, "vm tf-dest-vm in nw-forensics-rg".to_owned())
    );
    assert!(!text.contains("ghost-demo-rollback-block-8080"), "it was taken before the fault");
    put(&here, "o", 1).unwrap();
    let text = std::fs::read_to_string(here.path().join("netfilter/fw_pre_docker_O_snapshot.json")).unwrap();
    let snapshot = netfilter::Snapshot::read(serde_json::from_str(&text).unwrap()).unwrap();
    assert!(snapshot.is_baseline && snapshot.scope == "tf-dest-vm");
    assert!(matches!(netfilter::open(&text).unwrap(), netfilter::Document::Host(_)));
}

#[test]
fn a_baseline_that_is_somebody_elses_is_not_touched() {
    let here = Here::up();
    let estate = here.estate();
    let path = here.path().join("effective/eni_pre_window_P.json");
    std::fs::create_dir(here.path().join("effective")).unwrap();
    std::fs::write(&path, "mine").unwrap();
    assert!(matches!(put(&here, "p", 1), Err(InjectError::Baseline(_))));
    assert_eq!((here.estate(), std::fs::read_to_string(&path).unwrap()), (estate, "mine".to_owned()));
    assert_eq!(here.files(), ["effective/eni_pre_window_P.json"]);
}

#[test]
fn a_case_that_does_not_fit_touches_nothing() {
    let here = Here::up();
    let estate = here.estate();
    let text = embedded("j").unwrap().replace("tf-dest-vm\"", "tf-other-vm\"");
    let failed = waited(inject(&here, here.path(), &text, None, 1)).unwrap_err();
    assert!(failed.to_string().contains("there is no machine `tf-other-vm`"), "{failed}");
    assert!(failed.hint().contains("tf-source-vm, tf-dest-vm"), "{}", failed.hint());
    assert_eq!((here.estate(), here.files()), (estate, Vec::new()));
}

#[test]
fn an_estate_of_ones_own_is_there_with_the_case_and_gone_after_it() {
    let here = Here::up();
    let estate = here.estate();
    let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/az/_estate.json");
    if !place.exists() {
        return;
    }
    let text = std::fs::read_to_string(place).unwrap().replace("tf-dest-vm", "db-1");
    let own: serde_json::Value = serde_json::from_str(&text).unwrap();
    let case = embedded("j").unwrap().replace("tf-dest-vm", "db-1");
    waited(inject(&here, here.path(), &case, Some(&own), 1)).unwrap();
    assert!(here.guests().ran.contains_key("db-1") && here.estate().contains("db-1"));
    waited(reset(&here, here.path())).unwrap();
    assert_eq!(here.estate(), estate);
}
