//! Facts about dialogs, the Home tab and private answers.

use ghost_agent::bot::Leftover;
use ghost_agent::bot::show::{
    FormError, Frozen, Home, Meta, Pending, People, Preview, Refusal, SessionLine, approvals, deny_modal,
    help, home, investigate_modal, modify_errors, modify_modal, policy, read_deny, read_investigate,
    read_modify, refusal, sessions, typed_command, whole_modal,
};
use ghost_base::Timestamp;
use ghost_investigate::event::{Impact, Reply};
use ghost_investigate::report::Summary;
use ghost_shell::Policy;
use ghost_slack::arrive::{View, What, interactive};
use serde_json::{Value, json};

use crate::bot::ledger::{concluded, context, good, good_view};

const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_000);

fn meta() -> Meta {
    Meta {
        session: "ghost-7k2f".to_owned(),
        approval: "a1".to_owned(),
        channel: "C1".to_owned(),
        ..Meta::default()
    }
}

/// Fills a field in, as Slack returns it.
fn filled(view: &Value, field: &str, value: Value) -> View {
    let mut view = view.clone();
    let state = json!({"values": {field: {field: {"type": "plain_text_input", "value": value}}}});
    view.as_object_mut().unwrap().insert("state".to_owned(), state);
    submitted(&view)
}

/// Sends a dialog off, as Slack does.
fn submitted(view: &Value) -> View {
    let arrival = interactive(&json!({"type": "view_submission", "view": view}));
    let What::Submit(submit) = arrival.what else { panic!("no submission") };
    submit.view
}

#[test]
fn a_denial_takes_a_reason() {
    let view = deny_modal(&meta());
    good_view(&view);
    let denied = read_deny(&filled(&view, "reason", json!(" not now \n"))).unwrap();
    assert_eq!((denied.meta, denied.reason.as_str()), (meta(), "not now"));
    for empty in [json!(null), json!(""), json!("  a "), json!("x".repeat(2_001))] {
        let error = read_deny(&filled(&view, "reason", empty)).unwrap_err();
        assert!(error.response().unwrap()["errors"]["reason"].is_string());
    }
    for foreign in [
        json!({}),
        json!(null),
        json!({"callback_id": "deny"}),
        json!({"callback_id": "modify", "private_metadata": "{}"}),
    ] {
        assert_eq!(read_deny(&submitted(&foreign)), Err(FormError::Foreign));
    }
}

#[test]
fn a_change_shows_the_verdict_on_what_stands_there() {
    let policy = Policy::builtin().unwrap();
    for (command, verdict, words) in [
        ("ip route show", "SAFE", "it runs as soon as you propose it"),
        ("ip link set eth0 down", "RISKY", "a new card follows"),
        ("rm -rf /", "BLOCKED", "never runs, whoever approves"),
    ] {
        let preview = Preview::from(&policy.classify(command));
        let view = modify_modal(&meta(), command, Some(&preview));
        let shown = good_view(&view);
        assert!(shown.contains(verdict) && shown.contains(words) && shown.contains(&preview.rule), "{shown}");
        let input = &view["blocks"][0];
        assert_eq!(input["element"]["initial_value"], command);
        assert_eq!(input["dispatch_action"], true);
        let error = modify_errors(&preview);
        assert_eq!(error.is_some(), verdict == "BLOCKED");
        let read = read_modify(&filled(&view, "command", json!(command))).unwrap();
        assert_eq!((read.meta, read.command.as_str()), (meta(), command));
    }
}

#[test]
fn a_command_that_a_field_cannot_hold_is_not_filled_in() {
    let view = modify_modal(&meta(), &"x".repeat(3_001), None);
    assert!(good_view(&view).contains("too long for a field"));
    assert_eq!(view["blocks"][0]["element"].get("initial_value"), None);
    assert!(read_modify(&filled(&view, "command", json!(" "))).is_err());
    assert_eq!(typed_command(&filled(&view, "command", json!(null))).unwrap().command, "");
}

#[test]
fn a_dialog_shows_a_command_to_its_end() {
    let command = format!("begin {} end", "e".repeat(128 * 1024));
    let words = good_view(&whole_modal(&command, &"why ".repeat(1_000)));
    assert!(words.contains("131,082 characters") && words.contains(" end") && words.contains("why why"));
    let words = good_view(&whole_modal(&"\u{202e}".repeat(128 * 1024), "why"));
    assert!(words.contains("the file in the thread holds all"));
    good_view(&whole_modal("", ""));
}

#[test]
fn an_investigation_is_asked_for_with_the_text_of_a_message() {
    let view = investigate_modal(&meta(), "5001 hangs");
    good_view(&view);
    assert_eq!(view["blocks"][0]["element"]["initial_value"], "5001 hangs");
    let wanted = read_investigate(&filled(&view, "symptom", json!("5001 hangs since noon"))).unwrap();
    assert_eq!((wanted.meta, wanted.symptom.as_str()), (meta(), "5001 hangs since noon"));
    assert!(read_investigate(&filled(&view, "symptom", json!("a"))).is_err());
    assert!(good_view(&investigate_modal(&meta(), &"x".repeat(5_000))).contains("Only the beginning"));
    assert_eq!(view["private_metadata"], r#"{"session":"ghost-7k2f","approval":"a1","channel":"C1"}"#);
}

#[test]
fn metadata_that_does_not_fit_is_left_out_as_a_whole() {
    let meta = Meta { session: "x".repeat(4_000), ..meta() };
    let view = deny_modal(&meta);
    good_view(&view);
    assert_eq!(read_deny(&filled(&view, "reason", json!("not now"))).unwrap().meta, Meta::default());
}

fn line() -> SessionLine {
    SessionLine { summary: Summary::of(&concluded().state()), link: Some("https://example.com/t".to_owned()) }
}

fn pending() -> Pending {
    Pending {
        session: "ghost-7k2f".to_owned(),
        command: "tc qdisc del dev eth0 root".to_owned(),
        impact: Impact::Change,
        until: NOW.plus(std::time::Duration::from_secs(600)),
        link: None,
    }
}

#[test]
fn lists_are_short_and_count_what_they_leave_out() {
    let words = good(&sessions(&vec![line(); 1_000]));
    assert!(words.contains("1,000 sessions") && words.contains("… and 980 more"), "{words}");
    assert!(words.contains("ghost-7k2f · likely · iperf from"), "{words}");
    let words = good(&approvals(&vec![pending(); 21], NOW));
    assert!(
        words.contains("21 open approvals")
            && words.contains("change · until")
            && words.contains("(in 10 min)")
    );
    assert!(words.contains("… and 1 more"));
    assert!(good(&sessions(&[])).contains("No session yet"));
    assert!(good(&approvals(&[], NOW)).contains("Nothing waits"));
}

#[test]
fn help_and_policy_are_shown() {
    assert!(good(&help()).contains("/ghost freeze"));
    let rules = Policy::builtin().unwrap().rules().collect::<Vec<_>>();
    let words = good(&policy(&rules, Policy::builtin().unwrap().digest()));
    assert!(words.contains("SAFE") && words.contains("What is not recognized asks first"), "{words}");
}

#[test]
fn a_refusal_says_why_in_plain_words() {
    let at = NOW;
    let frozen = Frozen { by: "ben".to_owned(), at, reason: "change window".to_owned() };
    for (why, words) in [
        (Refusal::NotYours { why: "only for netops".to_owned() }, "not yours to approve: only for netops"),
        (Refusal::Outsider, "guests and people of other organizations"),
        (Refusal::Decided { who: "ben".to_owned(), answer: Reply::Approve, at }, "already decided by "),
        (Refusal::Voted, "your vote counted already"),
        (Refusal::Expired { at }, "expired at "),
        (Refusal::Gone, "closed"),
        (Refusal::Frozen(frozen), "frozen by "),
        (Refusal::OutOfScope { what: "rg-prod".to_owned() }, "outside this channel's scope: rg-prod"),
        (Refusal::Unverified, "the answer is no"),
        (Refusal::NotStored, "does not count"),
    ] {
        let message = refusal(&why, &context());
        assert!(good(&message).contains(words) && message.text.contains(words), "{}", message.text);
    }
}

#[test]
fn the_home_tab_fits_whatever_there_is() {
    let empty = Home::default();
    let words = good_view(&home(&empty, NOW));
    assert!(words.contains("Nothing waits for your answer.") && !words.contains("Freeze"));
    let left = Leftover {
        name: "ghost-7k2f-1".to_owned(),
        session: "s1".parse().unwrap(),
        machine: "tf-dest-vm".to_owned(),
        began: NOW,
    };
    let full = Home {
        approvals: vec![pending(); 500],
        sessions: vec![line(); 500],
        reports: vec![line(); 500],
        warnings: vec!["One identity both reads and acts.".to_owned(); 50],
        captures: vec![left; 500],
        frozen: Some(Frozen { by: "cleo".to_owned(), at: NOW, reason: String::new() }),
        may_freeze: true,
        people: People::new(),
    };
    let words = good_view(&home(&full, NOW));
    for part in [
        "Frozen by cleo",
        "Thaw",
        "One identity",
        "Waiting for you",
        "Captures left behind",
        "… and 490 more",
        "ghost-7k2f-1 of tf-dest-vm",
        "Clean up…",
    ] {
        assert!(words.contains(part), "{part}");
    }
}
