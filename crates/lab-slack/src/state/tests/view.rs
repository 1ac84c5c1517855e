//! Facts about modals and the Home tab.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::tests::stage::{GHOST, Stage};

pub(super) fn modal() -> Value {
    json!({"type": "modal", "callback_id": "why", "title": {"type": "plain_text", "text": "Why"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [{"type": "input", "block_id": "reason", "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text", "min_length": 3}}]})
}

fn trigger(stage: &mut Stage) -> String {
    let now = stage.time();
    stage.workspace.trigger(GHOST, "U0LABALICE", now)
}

#[test]
fn a_trigger_opens_one_view_within_three_seconds() {
    let mut stage = Stage::new();
    let first = trigger(&mut stage);
    stage.now += 3_000;
    let open = stage.ok("views.open", json!({"trigger_id": first, "view": modal().to_string()}));
    assert_eq!(open["view"]["root_view_id"], open["view"]["id"]);
    assert_eq!(
        stage.refused("views.open", json!({"trigger_id": first, "view": modal()})),
        "exchanged_trigger_id"
    );
    let late = trigger(&mut stage);
    stage.now += 3_001;
    assert_eq!(
        stage.refused("views.open", json!({"trigger_id": late, "view": modal()})),
        "expired_trigger_id"
    );
    assert_eq!(
        stage.refused("views.open", json!({"trigger_id": "no", "view": modal()})),
        "invalid_arguments"
    );
}

#[test]
fn three_modals_lie_on_each_other_and_no_more() {
    let mut stage = Stage::new();
    let first = trigger(&mut stage);
    let root = stage.ok("views.open", json!({"trigger_id": first, "view": modal()}))["view"]["id"].clone();
    for _ in 0..2 {
        let next = trigger(&mut stage);
        let pushed = stage.ok("views.push", json!({"trigger_id": next, "view": modal()}));
        assert_eq!(pushed["view"]["root_view_id"], root);
    }
    let next = trigger(&mut stage);
    assert_eq!(
        stage.refused("views.push", json!({"trigger_id": next, "view": modal()})),
        "push_limit_reached"
    );
}

#[test]
fn an_old_hash_changes_nothing() {
    let mut stage = Stage::new();
    let first = trigger(&mut stage);
    let view = stage.ok("views.open", json!({"trigger_id": first, "view": modal()}))["view"].clone();
    let update = json!({"view_id": view["id"], "hash": view["hash"], "view": modal()});
    assert_ne!(stage.ok("views.update", update.clone())["view"]["hash"], view["hash"]);
    assert_eq!(stage.refused("views.update", update), "hash_conflict");
    assert_eq!(stage.refused("views.update", json!({"view_id": "V1", "view": modal()})), "not_found");
}

#[test]
fn an_external_name_is_there_once() {
    let mut stage = Stage::new();
    let mut view = modal();
    view["external_id"] = json!("mine");
    let first = trigger(&mut stage);
    stage.ok("views.open", json!({"trigger_id": first, "view": view}));
    let second = trigger(&mut stage);
    assert_eq!(
        stage.refused("views.push", json!({"trigger_id": second, "view": view})),
        "duplicate_external_id"
    );
    stage.ok("views.update", json!({"external_id": "mine", "view": view}));
}

#[test]
fn a_published_home_is_seen_and_opening_it_is_an_event() {
    let mut stage = Stage::new();
    let home = json!({"type": "home", "blocks": [{"type": "divider"}]});
    let view = stage.ok("views.publish", json!({"user_id": "U0LABALICE", "view": home}))["view"].clone();
    let args = Args::of(json!({"user": "alice"}));
    let opened = stage.workspace.open_home(&args, stage.time()).unwrap();
    assert_eq!(opened["view"]["id"], view["id"]);
    let event = stage.events().pop().unwrap();
    assert_eq!((&event["type"], &event["tab"]), (&json!("app_home_opened"), &json!("home")));
    assert_eq!(
        stage.refused("views.publish", json!({"user_id": "U0LABALICE", "view": modal()})),
        "invalid_arguments"
    );
    let old = json!({"user_id": "U0LABALICE", "view": home, "hash": "0.0"});
    assert_eq!(stage.refused("views.publish", old), "hash_conflict");
}
