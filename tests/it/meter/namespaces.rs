//! Real qperf and iperf across namespaces of this kernel.

use ghost_cloud::meter::run::{MeasurementRequest, State, TestSeconds};
use serde_json::{Value, json};

use super::place::{Human, Lab, ask, document, measured};
use crate::netns::skipped;

fn short(session: &str, lab: &Lab) -> MeasurementRequest {
    MeasurementRequest {
        iterations: 2,
        seconds: TestSeconds { latency: 1, throughput: 1 },
        ..ask(session, &lab.store())
    }
}

#[tokio::test]
async fn real_tools_measure_a_healthy_path_in_both_directions_and_a_shaped_one() {
    if skipped() {
        return;
    }
    let lab = Lab::up("netns");
    // Somebody left servers.
    lab.guest("tf-dest-vm", "setsid qperf > /dev/null 2>&1 < /dev/null &\nsetsid iperf -s > /dev/null 2>&1 < /dev/null &\nsleep 1");
    assert_eq!(lab.listeners("tf-dest-vm"), 2);
    let both = MeasurementRequest { both_directions: true, ..short("pmeter_real", &lab) };
    let (run, asked) = measured(&lab, both, Human::default()).await;
    assert_eq!((run.state(), asked.len()), (State::Success, 1), "{:?}", run.trouble());
    let result = document(&lab.store(), "pmeter_real", "result");
    for results in [&result["results"], &result["results"]["way_back"]] {
        let number = |name: &str| results[name].as_f64().unwrap_or_else(|| panic!("{result:#}"));
        assert!((1.0..10_000.0).contains(&number("latency_p90")), "{result:#}");
        assert!(number("throughput_p90") > 0.1, "{result:#}");
        assert_eq!(results["iteration_data"].as_array().unwrap().len(), 2);
    }
    assert_eq!((lab.listeners("tf-dest-vm"), lab.listeners("tf-source-vm")), (0, 0));

    lab.guest("tf-source-vm", "tc qdisc add dev eth0 root tbf rate 50mbit burst 20kb latency 400ms");
    let (run, _) = measured(&lab, short("pmeter_shaped", &lab), Human::default()).await;
    assert_eq!(run.state(), State::Success, "{:?}", run.trouble());
    let result = document(&lab.store(), "pmeter_shaped", "result");
    let shaped = result["results"]["throughput_p90"].as_f64().unwrap();
    assert!(
        (0.035..0.056).contains(&shaped),
        "the server's account is no more than the shaper lets out: {result:#}"
    );

    lab.guest("tf-dest-vm", "iptables -I INPUT -p tcp --dport 19766 -j REJECT --reject-with tcp-reset\niptables -I INPUT -p tcp --dport 5001 -j REJECT --reject-with tcp-reset");
    let refused = MeasurementRequest { iterations: 1, ..short("pmeter_refused", &lab) };
    let (run, _) = measured(&lab, refused, Human::default()).await;
    assert_eq!(run.state(), State::Success, "{:?}", run.trouble());
    let results = document(&lab.store(), "pmeter_refused", "result")["results"].clone();
    assert_eq!(
        (&results["anomaly_type"], &results["is_stable"]),
        (&json!("CONNECTIVITY_DROP"), &Value::Bool(false)),
        "{results:#}"
    );
    assert_eq!(lab.listeners("tf-dest-vm"), 0);
}
