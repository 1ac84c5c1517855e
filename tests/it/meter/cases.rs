//! What a measurement says of the cases' faults, on machines that are a model.

use std::path::PathBuf;

use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{Compare, MeasurementRequest, State};
use serde_json::{Value, json};

use super::place::{Human, Lab, ask, document, measured, measured_by, storage};
use crate::random::setting;

async fn results(case: &str, force: bool) -> (Value, Option<String>) {
    let lab = Lab::up("simulated");
    lab.order(&["inject", case]);
    let session = format!("pmeter_{case}");
    let (run, asked) =
        measured(&lab, MeasurementRequest { force, ..ask(&session, &lab.store()) }, Human::default()).await;
    let trouble = run.trouble().map(|trouble| trouble.text.clone());
    if run.state() == State::AbortedPreflight {
        assert_eq!(asked.len(), 0);
        return (document(&lab.store(), &session, "preflight"), trouble);
    }
    let is_dead = trouble
        .as_deref()
        .is_some_and(|text| text.contains("two iterations") && text.contains("in a row failed"));
    let ended = if is_dead { State::Failed } else { State::Success };
    assert_eq!((run.state(), asked.len()), (ended, 1), "{trouble:?}");
    assert_eq!(lab.listeners("tf-dest-vm"), 0, "no server is left, not even a stale one");
    (document(&lab.store(), &session, "result").get("results").cloned().unwrap(), trouble)
}

fn number(results: &Value, name: &str) -> f64 {
    results[name].as_f64().unwrap_or_else(|| panic!("no {name}: {results:#}"))
}

#[tokio::test]
async fn a_healthy_path_is_stable_and_becomes_a_baseline_for_others() {
    let lab = Lab::up("simulated");
    let store = lab.store();
    let first = MeasurementRequest { is_baseline: true, storage: storage(), ..ask("pmeter_first", &store) };
    let (run, asked) = measured(&lab, first, Human::default()).await;
    assert_eq!((run.state(), asked.len()), (State::Success, 1), "{:?}", run.trouble());
    let result = document(&store, "pmeter_first", "result");
    assert_eq!(
        (&result["results"]["is_stable"], &result["results"]["anomaly_type"]),
        (&json!(true), &Value::Null),
        "{result:#}"
    );
    let uploaded = lab.order(&[
        "az",
        "--",
        "storage",
        "blob",
        "list",
        "--account-name",
        "nwlogs080613",
        "-c",
        "pktcaptures",
        "--auth-mode",
        "login",
    ]);
    for name in ["pmeter_first_result.json", "10_0_1_4_10_0_1_5_baseline.json"] {
        assert!(uploaded.contains(name), "{name}: {uploaded}");
    }
    let second =
        MeasurementRequest { compare: Compare::Pair(store.baselines()), ..ask("pmeter_second", &store) };
    let (run, _) = measured(&lab, second, Human::default()).await;
    let comparison = run.comparison().unwrap();
    assert!(comparison.baseline.is_some() && !comparison.is_regression(), "{comparison:?}");
    // Another machine knows only what lies in the storage account.
    let third = MeasurementRequest {
        compare: Compare::Pair(Vec::new()),
        storage: storage(),
        ..ask("pmeter_third", &store)
    };
    let (run, asked) = measured(&lab, third, Human::default()).await;
    assert_eq!(run.comparison().unwrap().baseline, comparison.baseline);
    assert_eq!(asked.len(), 1);
    assert_eq!(store.history().unwrap().len(), 3);
}

#[tokio::test]
async fn g_loss_makes_throughput_collapse() {
    let (results, _) = results("g", false).await;
    assert!(!results["anomaly_type"].is_null() && number(&results, "throughput_p90") < 0.5, "{results:#}");
}

#[tokio::test]
async fn h_delay_and_loss_are_seen_in_latency() {
    let (results, _) = results("h", false).await;
    assert!(number(&results, "latency_p90") > 40_000.0, "{results:#}");
}

#[tokio::test]
async fn j_a_guest_that_drops_is_a_drop_although_the_rules_allow() {
    let (results, trouble) = results("j", false).await;
    assert!(trouble.unwrap().contains("were not run"));
    assert_eq!(results["anomaly_type"], "CONNECTIVITY_DROP", "{results:#}");
    assert_eq!(number(&results, "throughput_p90"), 0.0);
    assert!(number(&results, "latency_min") > 10_000.0, "the delay behind it is seen: {results:#}");
    assert!(results["iteration_data"][0]["throughput_error"].is_string());
}

#[tokio::test]
async fn k_a_shaped_path_is_stable_and_slow() {
    let (results, _) = results("k", false).await;
    assert_eq!(results["anomaly_type"], Value::Null, "{results:#}");
    assert!((0.003..0.008).contains(&number(&results, "throughput_p90")), "{results:#}");
}

#[tokio::test]
async fn l_a_rule_that_blocks_is_named_and_what_is_behind_it_can_be_measured_all_the_same() {
    let (preflight, trouble) = results("l", false).await;
    let trouble = trouble.unwrap();
    for word in ["5001", "inbound", "tf-dest-vm-nsg", "ghost-demo-l-block-iperf", "200"] {
        assert!(trouble.contains(word), "{word}: {trouble}");
    }
    assert_eq!(preflight["blocked_ports"], json!([5001]));
    let (results, trouble) = results("l", true).await;
    assert_eq!(results["anomaly_type"], "CONNECTIVITY_DROP", "{results:#}");
    assert!(trouble.unwrap().contains("were not run"));
}

#[tokio::test]
async fn missing_tools_are_installed_or_nothing_is_measured() {
    let lab = Lab::up("simulated");
    lab.guest("tf-dest-vm", "apt-get remove -y qperf iperf");
    let human = Human { never: "apt-get", ..Human::default() };
    let (run, asked) = measured(&lab, ask("pmeter_no", &lab.store()), human).await;
    assert_eq!((run.state(), asked.len()), (State::Denied, 1));
    assert!(!lab.guest("tf-dest-vm", "command -v qperf; echo $?").contains("/usr/bin/qperf"));
    let (run, asked) = measured(&lab, ask("pmeter_yes", &lab.store()), Human::default()).await;
    assert_eq!((run.state(), asked.len()), (State::Success, 1), "{:?}", run.trouble());
    assert!(lab.guest("tf-dest-vm", "command -v qperf").contains("/usr/bin/qperf"));
}

#[tokio::test]
async fn the_real_az_measures_the_same() {
    if setting("GHOST_TEST_WITHOUT").split(',').any(|name| name == "az") {
        return;
    }
    let cache = setting("XDG_CACHE_HOME");
    let cache = if cache.is_empty() { PathBuf::from(setting("HOME")).join(".cache") } else { cache.into() };
    let az = cache.join("ghost-tests/az-2.91.0/bin/az");
    assert!(az.is_file(), "{} is not there: tests/az installs it", az.display());
    let lab = Lab::up("simulated");
    lab.order(&["inject", "k"]);
    let short = MeasurementRequest {
        iterations: 2,
        test_type: TestType::Throughput,
        storage: storage(),
        ..ask("pmeter_az", &lab.store())
    };
    let (run, asked) = measured_by(&lab, short, Human::default(), &az).await;
    assert_eq!((run.state(), asked.len()), (State::Success, 1), "{:?}", run.trouble());
    let result = document(&lab.store(), "pmeter_az", "result");
    assert!((0.003..0.008).contains(&number(&result["results"], "throughput_p90")), "{result:#}");
    assert_eq!(lab.listeners("tf-dest-vm"), 0);
}
