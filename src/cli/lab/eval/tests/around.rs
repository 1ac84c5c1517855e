//! What surrounds a look: it is read once in a while, and proves what it was read with.

use serde_json::{Value, json};

use super::stage::{
    Calls, FinishedSession, Scene, ScriptedModel, conclude, investigate, look, settle, suppose,
};
use crate::cli::lab::eval::consent::Consent;
use ghost_investigate::event::Refusal;

const REDIRECT: &str = "route/ghost-demo-blackhole-rt/ghost-demo-nva-redirect";

/// Claims what is wrong in case E, by these observations.
fn claim(observations: &[&str]) -> Value {
    let evidence: Vec<Value> = observations.iter().map(|id| json!({"observation": id})).collect();
    json!([{"code": "route_dead_nva", "object": REDIRECT, "statement": "nobody is there", "evidence": evidence}])
}

fn routes(machine: &str, to: &str) -> (&'static str, Value) {
    look("effective_route_inspector", &json!({"vm_name": machine, "dst_ip": to}))
}

async fn in_case_e(turns: Vec<Calls>) -> FinishedSession {
    investigate(Scene::of("e", Consent::All), ScriptedModel::turns(turns)).await
}

fn ran(ended: &FinishedSession, part: &str) -> usize {
    ended.state.steps.iter().filter(|step| step.current().contains(part)).count()
}

#[tokio::test]
async fn what_surrounds_a_look_is_listed_once_and_what_is_looked_at_each_time() {
    let there = || routes("tf-source-vm", "10.0.1.5");
    let ended = in_case_e(vec![
        vec![suppose(), look("topology", &json!({})), there()],
        vec![there(), routes("tf-dest-vm", "10.0.1.4")],
        vec![settle("CONFIRMED"), conclude(json!([]), true)],
    ])
    .await;
    assert_eq!(ended.trouble, None);
    assert_eq!((ran(&ended, "vnet list"), ran(&ended, "route-table list")), (1, 1));
    assert_eq!(ran(&ended, "show-effective-route-table"), 3);
    let text = ended.returned("effective_route_inspector");
    assert_eq!(text[0].1.replace("o6", "o8").replace("o7", "o9"), text[1].1, "the same, read once more");
    assert!(text.iter().all(|(_, text)| text.contains("\"o2\"")), "{text:?}");
}

#[tokio::test]
async fn whoever_asks_for_the_topology_gets_it_as_it_is_now() {
    let ended = in_case_e(vec![
        vec![suppose(), look("topology", &json!({}))],
        vec![look("topology", &json!({}))],
        vec![settle("REFUTED"), conclude(json!([]), true)],
    ])
    .await;
    assert_eq!(ran(&ended, "vnet list"), 2);
}

#[tokio::test]
async fn an_observation_supports_a_claim_together_with_what_it_was_read_with() {
    let ended = in_case_e(vec![
        vec![suppose(), look("topology", &json!({})), routes("tf-source-vm", "10.0.1.5")],
        vec![settle("CONFIRMED"), conclude(claim(&["o2"]), true)],
        vec![conclude(claim(&["o7", "o2"]), true)],
    ])
    .await;
    let returned = ended.returned("complete_investigation");
    assert_eq!(returned[0].0, Some(Refusal::Gate), "{returned:?}");
    assert!(returned[0].1.contains("quotes nothing"), "{returned:?}");
    assert_eq!((returned.len(), returned[1].0), (2, None), "{returned:?}");
    assert_eq!(ended.state.accepted.len(), 1);
}
