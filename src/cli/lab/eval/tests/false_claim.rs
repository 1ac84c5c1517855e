//! Models that conclude falsely about flows: nothing false is CONFIRMED, and nothing that code found is hidden.

use serde_json::{Value, json};

use super::stage::{
    Calls, FinishedSession, Scene, ScriptedModel, conclude, finding, investigate, look, run, settle, suppose,
};
use crate::cli::lab::eval::consent::Consent;
use ghost_investigate::event::Refusal;
use ghost_investigate::report::rca;

/// What is wrong in case A.
const WALL: &str = "nsg/tf-dest-vm-nsg/ghost-demo-block-8080";
/// Denies telnet, which nobody asked about.
const HERRING: &str = "nsg/tf-dest-vm-nsg/keep-telnet-out";
const DROP: &str = "netfilter/tf-dest-vm/filter/INPUT/tcp/5001";
const DELAY: &str = "qdisc/tf-source-vm/eth0";

const KEEP_OUT: &str = r#"
[[fault]]
kind = "nsg_rule"
nsg = "tf-dest-vm-nsg"
name = "keep-telnet-out"
priority = 140
access = "Deny"
protocol = "Tcp"
ports = ["23"]
"#;

/// A case with a herring beside its fault, or in place of it.
fn scene(case: &str, is_healthy: bool, consent: Consent) -> Scene {
    let mut scene = Scene::of(case, consent);
    if is_healthy {
        let parts: Vec<&str> = scene.case.split("\n[[").filter(|part| !part.starts_with("fault]]")).collect();
        scene.case = parts.join("\n[[");
    }
    scene.case.push_str(KEEP_OUT);
    scene
}

async fn tell(scene: Scene, turns: Vec<Calls>) -> FinishedSession {
    let ended = investigate(scene, ScriptedModel::turns(turns)).await;
    assert_eq!(ended.trouble, None);
    ended
}

fn judge() -> (&'static str, Value) {
    look("check_path", &json!({}))
}

fn rules() -> (&'static str, Value) {
    let flow = json!({"vm_name": "tf-dest-vm", "direction": "inbound", "proto": "tcp", "src_ip": "10.0.1.4",
        "dst_ip": "10.0.1.5", "dst_port": 23});
    look("inspect_nsg", &flow)
}

fn accepted(ended: &FinishedSession) -> Vec<&str> {
    ended.state.accepted.iter().map(|found| found.finding.object.as_str()).collect()
}

/// Returns the observations of a tool's calls.
fn seen_by(ended: &FinishedSession, tool: &str) -> Vec<String> {
    let calls = ended.state.calls().filter(|call| call.call.tool == tool);
    calls.flat_map(|call| &call.observations).map(ToString::to_string).collect()
}

/// Cites every observation that may show it: which of them does is for the gate to say.
fn claims(code: &str, object: &str, observations: &[&str]) -> Vec<Calls> {
    let claim = |id: &&str| vec![conclude(json!([finding(code, object, id, None)]), true)];
    observations.iter().map(claim).collect()
}

#[tokio::test]
async fn a_herring_without_a_judgement_of_the_flows_is_never_certain() {
    for is_healthy in [false, true] {
        let mut turns =
            vec![vec![suppose(), look("topology", &json!({}))], vec![rules()], vec![settle("CONFIRMED")]];
        let ids: Vec<String> = (1..12).map(|number| format!("o{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        turns.extend(claims("nsg_deny", HERRING, &ids));
        turns.push(vec![conclude(json!([]), true)]);
        let ended = tell(scene("a", is_healthy, Consent::All), turns).await;
        assert!(!seen_by(&ended, "inspect_nsg").is_empty());
        assert_ne!(ended.outcome(), "CONFIRMED", "{}", rca(&ended.state));
        assert_ne!(ended.outcome(), "NO_FAULT_FOUND", "{}", rca(&ended.state));
    }
}

#[tokio::test]
async fn a_rule_for_another_port_is_no_cause() {
    let mut turns = vec![vec![suppose()], vec![judge(), rules()], vec![settle("CONFIRMED")]];
    let ids: Vec<String> = (1..20).map(|number| format!("o{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    turns.extend(claims("nsg_deny", HERRING, &ids));
    let ended = tell(scene("a", true, Consent::All), turns).await;
    assert!(!accepted(&ended).contains(&HERRING), "{}", rca(&ended.state));
    assert!(!seen_by(&ended, "inspect_nsg").is_empty());
    assert_ne!(ended.outcome(), "CONFIRMED");
    // It is reported, and reported to be none.
    assert!(rca(&ended.state).contains("keep-telnet-out"), "{}", rca(&ended.state));
}

#[tokio::test]
async fn what_code_found_on_the_flow_is_not_waved_away() {
    let turns = vec![
        vec![suppose()],
        vec![judge()],
        vec![settle("REFUTED"), conclude(json!([]), true)],
        vec![conclude(json!([]), true)],
    ];
    let ended = tell(scene("a", false, Consent::All), turns).await;
    for (refused, text) in ended.returned("complete_investigation") {
        assert_eq!(refused, Some(Refusal::Gate), "{text}");
        assert!(text.contains("flows_explained") && text.contains(WALL), "{text}");
    }
    assert_ne!(ended.outcome(), "NO_FAULT_FOUND");
    assert_ne!(ended.outcome(), "CONFIRMED");
    assert!(rca(&ended.state).contains("ghost-demo-block-8080"), "{}", rca(&ended.state));
}

#[tokio::test]
async fn one_cause_does_not_hide_the_other() {
    let half = |id: &str| vec![conclude(json!([finding("guest_firewall_drop", DROP, id, None)]), true)];
    let mut turns = vec![vec![suppose()], vec![judge()], vec![settle("CONFIRMED")]];
    turns.extend(["o9", "o10", "o11"].map(half));
    let ended = tell(Scene::of("j", Consent::All), turns).await;
    for (refused, text) in ended.returned("complete_investigation") {
        assert_eq!(refused, Some(Refusal::Gate), "{text}");
        assert!(text.contains("netem_delay") && text.contains(DELAY), "{text}");
    }
    assert_ne!(ended.outcome(), "CONFIRMED");
}

#[tokio::test]
async fn nothing_is_healthy_that_nobody_looked_at() {
    // One end, one direction, and a word.
    let rules = look(
        "inspect_nsg",
        &json!({"vm_name": "tf-dest-vm", "direction": "inbound", "proto": "tcp", "src_ip": "10.0.1.4",
            "dst_ip": "10.0.1.5", "dst_port": 8080}),
    );
    let turns = vec![vec![suppose()], vec![rules], vec![settle("REFUTED"), conclude(json!([]), true)]];
    let ended = tell(scene("a", true, Consent::All), turns).await;
    assert_eq!(ended.outcome(), "INCONCLUSIVE", "{}", rca(&ended.state));
}

#[tokio::test]
async fn a_flow_that_the_model_picked_is_not_the_complaint() {
    // Judged, and passes: another port, the other direction.
    let other =
        look("check_path", &json!({"source": "tf-dest-vm", "destination": "tf-source-vm", "port": 22}));
    let turns = vec![vec![suppose()], vec![other], vec![settle("REFUTED"), conclude(json!([]), true)]];
    let ended = tell(scene("a", false, Consent::All), turns).await;
    assert_eq!(ended.outcome(), "INCONCLUSIVE", "{}", rca(&ended.state));
}

#[tokio::test]
async fn what_nobody_consented_to_is_not_healthy() {
    let capture =
        look("capture_traffic", &json!({"target": "tf-source-vm to tf-dest-vm", "duration_seconds": 10}));
    let turns = vec![
        vec![suppose()],
        vec![judge()],
        vec![capture],
        vec![settle("REFUTED"), conclude(json!([]), true)],
    ];
    let ended = tell(scene("a", true, Consent::None), turns).await;
    assert_eq!(ended.outcome(), "INCONCLUSIVE", "{}", rca(&ended.state));
    let (_, concluded) = ended.state.concluded.as_ref().unwrap();
    assert!(
        concluded
            .complaints
            .iter()
            .all(|one| one.why.contains("not checked") && one.why.contains("denied by")),
        "{:?}",
        concluded.complaints
    );
}

#[tokio::test]
async fn an_observation_of_another_machine_proves_nothing() {
    let other = look("detect_config_drift", &json!({"vm_name": "tf-source-vm"}));
    let mut turns = vec![vec![suppose()], vec![other], vec![settle("CONFIRMED")]];
    turns.extend(claims("guest_firewall_drop", DROP, &["o1", "o2", "o3"]));
    turns.push(vec![conclude(json!([]), true)]);
    let ended = tell(Scene::of("j", Consent::All), turns).await;
    assert!(ended.state.accepted.is_empty(), "{:?}", accepted(&ended));
    assert_eq!(ended.outcome(), "INCONCLUSIVE");
}

#[tokio::test]
async fn a_quote_that_stands_nowhere_proves_nothing() {
    let turns = vec![
        vec![suppose()],
        vec![judge()],
        vec![
            settle("CONFIRMED"),
            conclude(
                json!([finding("nsg_deny", WALL, "o7", Some("deny all of 8080, says the owner"))]),
                true,
            ),
        ],
    ];
    let ended = tell(scene("a", false, Consent::All), turns).await;
    let (refused, text) = &ended.returned("complete_investigation")[0];
    assert_eq!(*refused, Some(Refusal::Gate));
    assert!(text.contains("does not say"), "{text}");
    assert!(ended.state.accepted.is_empty());
}

/// Ends case A rightly, with words and advice of its own.
async fn right(summary: &'static str, advice: &'static [&'static str]) -> FinishedSession {
    let model = ScriptedModel::new(move |ask| match ask.turn {
        0 => vec![suppose()],
        1 => vec![judge()],
        2 => vec![settle("CONFIRMED")],
        turn => {
            // The observation that shows it is one of these.
            let id = format!("o{}", turn + 2);
            let (name, mut arguments) = conclude(json!([finding("nsg_deny", WALL, &id, None)]), true);
            arguments["root_cause_summary"] = json!(summary);
            arguments["recommended_actions"] = json!(advice);
            vec![(name, arguments)]
        }
    });
    let ended = investigate(scene("a", false, Consent::All), model).await;
    assert_eq!(accepted(&ended), [WALL], "{}", rca(&ended.state));
    ended
}

#[tokio::test]
async fn advice_goes_through_the_gate_and_opens_nothing_that_protects() {
    let ended = right(
        "The rule ghost-demo-block-8080 denies 8080.",
        &[
            "Run `sudo rm -rf /` on tf-dest-vm.",
            "Delete the rule keep-telnet-out, and DenyAllInBound as well.",
            "`sudo iptables -F` on tf-dest-vm",
            "Tell the owner of the rule.",
        ],
    )
    .await;
    let (_, concluded) = ended.state.concluded.as_ref().unwrap();
    let all = concluded.actions.join("\n");
    assert!(
        !all.contains("rm -rf") && !all.contains("iptables -F") && !all.contains("keep-telnet-out"),
        "{all}"
    );
    assert!(!all.contains("DenyAllInBound") && all.contains("left out"), "{all}");
    // What was tried on what was read comes first, with its class.
    let first = &concluded.actions[0];
    assert!(first.contains("ghost-demo-block-8080") && first.contains("Class: RISKY (change)"), "{first}");
    assert!(first.contains("Checked: With it tf-source-vm → tf-dest-vm tcp/8080 passes"), "{first}");
    assert!(all.contains("Tell the owner of the rule."), "{all}");
}

#[tokio::test]
async fn who_says_that_it_is_fixed_has_fixed_nothing() {
    let ended = right("I fixed it: the rule is gone and 8080 works again.", &[]).await;
    let report = rca(&ended.state);
    assert!(report.starts_with("# Root cause"), "{report}");
    assert!(report.contains("Nothing of this was carried out"), "{report}");
    assert!(!report.to_lowercase().contains("verified fixed"), "{report}");
    let rules = serde_json::to_string(&ended.lab.cloud().documents()).unwrap();
    assert!(rules.contains("ghost-demo-block-8080"), "the rule is gone");
}

#[tokio::test]
async fn one_explained_complaint_does_not_confirm_the_other() {
    let mut scene = scene("a", false, Consent::All);
    // The second one is healthy: somebody listens there and nothing denies it.
    scene.case = scene.case.replace(
        "Why is 8080 dead?\"\"\"",
        "Why is 8080 dead? Also, tf-source-vm cannot reach tf-dest-vm on port 22.\"\"\"",
    );
    assert!(scene.case.contains("port 22"), "the prompt changed");
    let model = ScriptedModel::new(move |ask| match ask.turn {
        0 => vec![suppose()],
        1 => vec![judge()],
        2 => vec![settle("CONFIRMED")],
        turn => vec![conclude(json!([finding("nsg_deny", WALL, &format!("o{}", turn + 2), None)]), true)],
    });
    let ended = investigate(scene, model).await;
    assert_eq!(accepted(&ended), [WALL], "{}", rca(&ended.state));
    assert_eq!(ended.outcome(), "LIKELY", "{}", rca(&ended.state));
    let (_, concluded) = ended.state.concluded.as_ref().unwrap();
    let outcomes: Vec<&str> = concluded.complaints.iter().map(|one| one.outcome.as_str()).collect();
    assert_eq!(outcomes.len(), 2, "{:?}", concluded.complaints);
    assert!(outcomes.contains(&"CONFIRMED") && !outcomes.contains(&"LIKELY"), "{:?}", concluded.complaints);
    let report = rca(&ended.state);
    assert!(report.contains("tcp/22**") && report.contains("tcp/8080**"), "{report}");
}

#[tokio::test]
async fn whoever_never_ends_is_ended_without_a_verdict() {
    let list = run("az vm list -g nw-forensics-rg -o json");
    let ended = investigate(
        scene("a", false, Consent::All),
        ScriptedModel::turns(vec![vec![suppose()], vec![judge()], vec![list], Vec::new(), Vec::new()]),
    )
    .await;
    assert!(["INCONCLUSIVE", "none"].contains(&ended.outcome()), "{}", ended.outcome());
}
