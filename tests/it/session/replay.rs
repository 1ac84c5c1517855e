//! A record that was changed anywhere is not what follows from itself, even where the chain was made to fit again.

use ghost_base::SessionId;
use ghost_investigate::event::{Chain, Content, Event, Instruction, Recorded, Reply, read};
use ghost_investigate::replay::{Divergence, ReplayInputs, Replayed, Wording, replay};
use ghost_investigate::tool::Registry;
use ghost_session::export;
use ghost_shell::{Policy, Surroundings};
use serde_json::{Value, json};

use super::world::{REFUSED, World, run, suppose, turn};

/// A session in which a bit of everything happens.
pub(super) async fn rich() -> World {
    let folder = tempfile::tempdir().unwrap().keep();
    let touch = |name: &str| format!("sh -c 'echo ran >> {}'", folder.join(name).display());
    let finding = json!({"confidence": "high", "root_cause_summary": "nobody listens (o1)",
        "confirmed_hypotheses": ["H1"], "recommended_actions": ["boot another one"],
        "findings": [{"code": "tcp_refused", "object": "flow/10.0.0.4/127.0.0.1/tcp/1",
            "evidence": [{"observation": "o2", "quote": "refused"}]}]});
    let settle = turn(&[("manage_hypotheses", json!({"update": [{"id": "H1", "state": "CONFIRMED"}]}))]);
    let recall = turn(&[("recall_observation", json!({"observation_id": "o1", "contains": "Linux"}))]);
    let world = World::new(&[
        turn(&[]),
        suppose(),
        run("uname -s"),
        run(REFUSED),
        run(&touch("approved")),
        run(&touch("denied")),
        run(&touch("modified")),
        run("rm -rf /"),
        recall,
        turn(&[("complete_investigation", json!({"confidence": "low", "root_cause_summary": "early"}))]),
        settle,
        turn(&[("complete_investigation", finding)]),
    ]);
    world.mention("look at 5001").await;
    world.say("ben", "also check the source VM", Instruction::Steer).await;
    let question = world.question().await;
    world.answer(&question, "ben", Reply::Approve).await;
    let question = world.question().await;
    world.answer(&question, "ben", Reply::Deny { reason: "not now".to_owned() }).await;
    let question = world.question().await;
    world.answer(&question, "ben", Reply::Modify { command: touch("other") }).await;
    let question = world.question().await;
    world.answer(&question, "cem", Reply::Approve).await;
    world.drive().await;
    world
}

/// Decides an export once more, as `ghost replay` does.
fn again(text: &str, wording: Wording) -> Result<Replayed, Box<Divergence>> {
    let export = export::read(text.as_bytes()).unwrap();
    let recorded = read(&export.session, export.ledger.iter().map(String::as_str)).unwrap();
    decide(&export.session, &recorded, &export, wording)
}

pub(super) fn decide(
    session: &SessionId,
    recorded: &[Recorded],
    evidence: &export::Export,
    wording: Wording,
) -> Result<Replayed, Box<Divergence>> {
    let (policy, tools) = (Policy::builtin().unwrap(), Registry::default());
    replay(session, recorded, &ReplayInputs { policy, tools: &tools, evidence, site: None, wording })
}

#[tokio::test]
async fn a_session_replays_as_far_as_it_got() {
    let world = rich().await;
    let text = world.exported().await;
    let replayed = again(&text, Wording::Same).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((replayed.standing, replayed.outcome.is_some()), ("concluded", true));
    let export = export::read(text.as_bytes()).unwrap();
    let recorded = world.recorded().await;
    for end in 1..=recorded.len() {
        let part = recorded.get(..end).unwrap();
        if let Err(found) = decide(&export.session, part, &export, Wording::Same) {
            panic!("up to event {end}: {found}");
        }
    }
}

/// What is taken from the record because nothing that is recorded follows from it.
const FREE: [(&str, &str); 14] = [
    ("opened", "/origin"),
    ("opened", "/version"),
    ("opened", "/brain"),
    ("opened", "/limits"),
    // What no command of this session would send something to.
    ("opened", "/surroundings"),
    ("answered", "/brain"),
    // Of the last turn: of the others the next question holds it.
    ("answered", "/text"),
    ("answered", "/usage"),
    ("answered", "/latency_ms"),
    ("answered", "/stop"),
    ("classified", "/policy"),
    ("executing", "/epoch"),
    ("done", "/audit_head"),
    ("delivered", "/place"),
];

/// Returns every place in a value at which there is no other one below.
fn leaves(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            object.iter().for_each(|(key, value)| leaves(value, &format!("{place}/{key}"), found));
        }
        Value::Array(array) if !array.is_empty() => {
            array.iter().enumerate().for_each(|(at, value)| leaves(value, &format!("{place}/{at}"), found));
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            found.push(place.to_owned());
        }
    }
}

/// Changes a value into another one of the same shape.
fn change(value: &mut Value) {
    *value = match value.take() {
        Value::Null => json!("something"),
        Value::Bool(it) => json!(!it),
        Value::Number(it) => json!(it.as_u64().unwrap_or(0) + 1),
        Value::String(it) => json!(other(&it)),
        Value::Array(_) => json!(["something"]),
        Value::Object(_) => json!({"something": 1}),
    };
}

/// Returns another text, still a digest or a moment where it was one.
fn other(text: &str) -> String {
    let last = text.chars().last().unwrap_or('x');
    let (start, end) = text.split_at(text.len() - if text.is_empty() { 0 } else { last.len_utf8() });
    if text.len() == 64 {
        return format!("{start}{}", if end == "0" { "1" } else { "0" });
    }
    if text.len() == 24 && text.starts_with("20") && text.ends_with('Z') {
        return text.replacen("20", "21", 1);
    }
    format!("{text}x")
}

/// Seals events into a new chain.
pub(super) fn seal(session: &SessionId, events: &[(ghost_base::Timestamp, Event)]) -> Vec<Recorded> {
    let mut chain = Chain::new(session.clone());
    events.iter().map(|(at, event)| chain.seal(*at, event).unwrap().1).collect()
}

pub(super) fn known(recorded: &[Recorded]) -> Vec<(ghost_base::Timestamp, Event)> {
    let event = |recorded: &Recorded| match &recorded.content {
        Content::Known(event) => (recorded.at, event.as_ref().clone()),
        Content::Foreign | Content::Erased => panic!("{recorded:?}"),
    };
    recorded.iter().map(event).collect()
}

#[tokio::test]
async fn a_field_that_was_changed_shows_although_the_chain_was_made_to_fit() {
    let world = rich().await;
    let export = export::read(world.exported().await.as_bytes()).unwrap();
    let events = known(&world.recorded().await);
    let (mut tried, mut silent) = (0, Vec::new());
    for (at, (_, event)) in events.iter().enumerate() {
        let value = serde_json::to_value(event).unwrap();
        let mut places = Vec::new();
        leaves(&value["body"], "", &mut places);
        for place in places {
            let mut value = value.clone();
            change(value.pointer_mut(&format!("/body{place}")).unwrap());
            // What is no event any more cannot be read at all.
            let Ok(changed) = serde_json::from_value::<Event>(value.clone()) else { continue };
            let mut events = events.clone();
            events.get_mut(at).unwrap().1 = changed;
            tried += 1;
            if value["kind"] == "delivered" && place == "/place" {
                continue;
            }
            // The report names the last hash, so that it gives away what nothing else does.
            if decide(&export.session, &seal(&export.session, &events), &export, Wording::Same).is_ok() {
                silent.push(format!("{} {place}", value["kind"]));
            }
        }
    }
    assert!(tried > 300, "{tried}");
    assert!(silent.is_empty(), "{silent:#?}");
}

#[tokio::test]
async fn without_the_report_nearly_every_field_is_held_by_what_follows_from_it() {
    let world = rich().await;
    let export = export::read(world.exported().await.as_bytes()).unwrap();
    let mut events = known(&world.recorded().await);
    // Without the delivery of the report there is no last hash to compare with.
    assert!(matches!(events.pop(), Some((_, Event::Delivered(_)))));
    let mut silent = Vec::new();
    for (at, (_, event)) in events.iter().enumerate() {
        let value = serde_json::to_value(event).unwrap();
        let mut places = Vec::new();
        leaves(&value["body"], "", &mut places);
        for place in places {
            let mut value = value.clone();
            change(value.pointer_mut(&format!("/body{place}")).unwrap());
            let kind = value["kind"].as_str().unwrap().to_owned();
            let free = |(of, start): &(&str, &str)| *of == kind && place.starts_with(start);
            let Ok(changed) = serde_json::from_value::<Event>(value) else { continue };
            let mut events = events.clone();
            events.get_mut(at).unwrap().1 = changed;
            let same =
                decide(&export.session, &seal(&export.session, &events), &export, Wording::Same).is_ok();
            if same && !FREE.iter().any(free) {
                silent.push(format!("{at} {kind} {place}"));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[tokio::test]
async fn an_event_that_is_missing_twice_or_elsewhere_shows() {
    let world = rich().await;
    let export = export::read(world.exported().await.as_bytes()).unwrap();
    let mut events = known(&world.recorded().await);
    assert!(matches!(events.pop(), Some((_, Event::Delivered(_)))));
    let mut silent = Vec::new();
    for at in 0..events.len() - 1 {
        let kind = serde_json::to_value(&events.get(at).unwrap().1).unwrap()["kind"].clone();
        let kind = kind.as_str().unwrap();
        let mut missing = events.clone();
        missing.remove(at);
        let mut twice = events.clone();
        twice.insert(at, events.get(at).unwrap().clone());
        let mut swapped = events.clone();
        swapped.swap(at, at + 1);
        for (what, events) in [("missing", missing), ("twice", twice), ("swapped", swapped)] {
            let recorded = seal(&export.session, &events);
            if decide(&export.session, &recorded, &export, Wording::Same).is_ok() {
                silent.push(format!("{what}: event {} {kind}", at + 1));
            }
        }
    }
    // An owner that went away asked, or began what only reads, and the next one did so again.
    silent.retain(|found| !found.ends_with("asked") && !found.ends_with("executing"));
    assert!(silent.is_empty(), "{silent:#?}");
}

const WRITTEN: &str = "tests/fixtures/agent/ledger-1.export.jsonl";

/// What format 1 wrote is read for ever. `UPDATE=1` writes it anew, which only a format that nobody has seen yet allows.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test writes its fixture where that is asked for")]
async fn what_format_1_wrote_is_read_folded_and_decided_the_same() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(WRITTEN);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, rich().await.exported().await).unwrap();
    }
    let text = std::fs::read_to_string(path).unwrap();
    let state = export::read(text.as_bytes()).unwrap().session().unwrap().unwrap();
    assert_eq!((state.opened.symptom.as_str(), state.steps.len()), ("look at 5001", 6));
    let replayed = again(&text, Wording::Free).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(replayed.outcome.map(|outcome| outcome.as_str()), Some("CONFIRMED"));
    assert_eq!(
        u64::try_from(text.lines().filter(|line| line.contains("\"kind\":")).count()),
        Ok(replayed.events)
    );
}

#[tokio::test]
async fn a_ledger_from_before_destinations_were_judged_replays() {
    let command = "dig +time=1 +tries=1 status.example @127.0.0.1";
    let world = World::new(&[suppose(), run(command), super::world::conclude("REFUTED")]);
    world.mention("status.example does not answer").await;
    world.drive().await;
    let text = world.exported().await;
    let export = export::read(text.as_bytes()).unwrap();
    let recorded = world.recorded().await;
    let ran = recorded.iter().filter_map(|event| match &event.content {
        Content::Known(known) => Some(known.as_ref()),
        Content::Foreign | Content::Erased => None,
    });
    let ran = ran.filter(|event| {
        matches!(event, Event::Classified(judged) if judged.command == command && judged.verdict == "SAFE")
    });
    assert_eq!(ran.count(), 1);
    // Nobody names the place any more: a version that judges destinations would have asked.
    let unnamed = |surroundings: Option<Surroundings>| {
        let events: Vec<_> = recorded
            .iter()
            .map(|event| {
                let Content::Known(known) = &event.content else { panic!("{}", event.kind) };
                let mut known = known.as_ref().clone();
                if let Event::Opened(opened) = &mut known {
                    opened.symptom = "it does not answer".to_owned();
                    opened.surroundings = surroundings.clone();
                }
                (event.at, known)
            })
            .collect();
        decide(&export.session, &seal(&export.session, &events), &export, Wording::Free)
    };
    unnamed(None).unwrap_or_else(|found| panic!("{found}"));
    let found = unnamed(Some(Surroundings::default())).unwrap_err();
    assert!(found.to_string().contains("RISKY") || found.to_string().contains("classified"), "{found}");
}
