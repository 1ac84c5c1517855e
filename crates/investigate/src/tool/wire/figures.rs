//! What a measurement says, in small plain facts.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::suspect::{SAME_NETWORK_LATENCY_US, expected_gbps, is_low, is_slow};
use ghost_cloud::Name;
use ghost_cloud::meter::run::{Assessment, Run};

/// What the path should carry, by what is known of its ends.
#[derive(Debug, Default)]
pub(super) struct PathExpectation {
    /// What its narrower end should carry, in gigabits a second.
    pub(super) expected_gbps: Option<f64>,
    /// Whether both ends are in one network; `None` where that is not known.
    pub(super) same_network: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Machine {
    name: String,
    hardware_profile: Option<Hardware>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hardware {
    vm_size: Option<String>,
}

/// Returns what the narrower of two machines should carry; `None` where the size of one is not known.
pub(super) fn expected(list: &str, ends: [&str; 2]) -> Option<f64> {
    let all: Vec<Machine> = serde_json::from_str(list).ok()?;
    let of = |name: &str| {
        let machine = all.iter().find(|machine| machine.name.eq_ignore_ascii_case(name))?;
        expected_gbps(machine.hardware_profile.as_ref()?.vm_size.as_deref()?)
    };
    let [source, destination] = ends;
    Some(of(source)?.min(of(destination)?))
}

/// Says whether two machines are in one virtual network, by the list of interfaces.
pub(super) fn same_network(list: &str, ends: [&str; 2]) -> Option<bool> {
    // What was printed as an error stands behind the document.
    let all = serde_json::Deserializer::from_str(list).into_iter::<Value>().next()?.ok()?;
    let network = |name: &str| {
        let own = |one: &&Value| {
            let id = one.pointer("/virtualMachine/id").and_then(Value::as_str);
            id.and_then(|id| id.rsplit('/').next()).is_some_and(|machine| machine.eq_ignore_ascii_case(name))
        };
        let one = all.as_array()?.iter().find(own)?;
        let subnet = one.pointer("/ipConfigurations/0/subnet/id")?.as_str()?;
        subnet.to_ascii_lowercase().split("/subnets/").next().map(str::to_owned)
    };
    let [source, destination] = ends;
    Some(network(source)? == network(destination)?)
}

/// Returns the names of both ends, as far as they are names.
pub(super) fn ends(run: &Run) -> [String; 2] {
    let [source, destination] = run.end_names();
    let ask = run.ask();
    [(source, &ask.source), (destination, &ask.destination)].map(|(found, given)| {
        let is_name = Name::parse(found).is_ok();
        if is_name { found.to_owned() } else { given.clone() }
    })
}

/// Writes the facts of a run.
pub(super) fn facts(run: &Run, expected: &PathExpectation) -> Value {
    let [source, destination] = ends(run);
    let ask = run.ask();
    let [there, back] = run.judged();
    let comparison = run.comparison();
    let before = comparison.as_ref().and_then(|comparison| comparison.baseline.as_ref());
    let mut facts = direction(there.as_ref(), expected, before.and_then(|before| before.throughput_p90));
    let more = json!({
        "session_id": ask.session.as_str(), "source": source, "destination": destination,
        "test_type": ask.test_type, "iterations": ask.iterations, "state": run.state().word(),
        "expected_gbps": expected.expected_gbps, "same_network": expected.same_network,
        "expected_latency_us": expected.same_network.unwrap_or(true).then_some(SAME_NETWORK_LATENCY_US),
        "blocked_ports": run.blocked_ports(),
        "servers_left_on": run.left().into_iter().filter(|name| Name::parse(name).is_ok()).collect::<Vec<_>>(),
    });
    if let Value::Object(more) = more {
        facts.extend(more);
    }
    for (key, latency) in [("latency_us", true), ("throughput_gbps", false)] {
        let samples = run.samples(latency);
        if samples.iter().any(Option::is_some) {
            facts.insert(key.to_owned(), json!(samples));
        }
    }
    if let Some(back) = &back {
        facts.insert("way_back".to_owned(), Value::Object(direction(Some(back), expected, None)));
    }
    if let Some(comparison) = &comparison {
        let compared = json!({
            "baseline_found": comparison.baseline.is_some(), "note": comparison.missing,
            "baseline_latency_p90_us": before.and_then(|before| before.latency_p90),
            "baseline_throughput_p90_gbps": before.and_then(|before| before.throughput_p90),
            "delta_pct_latency": comparison.latency, "delta_pct_throughput": comparison.throughput,
            "regression": comparison.baseline.as_ref().map(|_| comparison.is_regression()),
        });
        facts.insert("comparison".to_owned(), compared);
    }
    Value::Object(facts)
}

/// Writes the facts of one direction. That it is stable does not say that it is healthy.
fn direction(
    judged: Option<&Assessment>,
    expected: &PathExpectation,
    before: Option<f64>,
) -> Map<String, Value> {
    let Some(judged) = judged else { return Map::new() };
    let (latency, throughput) = (judged.extent(true), judged.extent(false));
    let low = throughput.map(|extent| is_low(extent.p90, expected.expected_gbps, before));
    let slow = latency.and_then(|extent| is_slow(extent.p90, expected.same_network.unwrap_or(true)));
    let facts = json!({
        "latency_p90_us": latency.map(|extent| extent.p90), "latency_min_us": latency.map(|extent| extent.min),
        "latency_max_us": latency.map(|extent| extent.max),
        "throughput_p90_gbps": throughput.map(|extent| extent.p90),
        "throughput_min_gbps": throughput.map(|extent| extent.min),
        "throughput_max_gbps": throughput.map(|extent| extent.max),
        "is_stable": judged.is_stable, "anomaly_type": judged.anomaly(), "is_low": low, "is_slow": slow,
    });
    facts.as_object().cloned().unwrap_or_default()
}
