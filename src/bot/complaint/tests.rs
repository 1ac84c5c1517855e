//! Facts about which words of a thread are the complaint.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ThreadComplaint, ThreadMessage, compose};
use ghost_investigate::event::{PassagePlace, Unread};
use ghost_slack::arrive::{What, event};

/// The bot's own user.
const BOT: &str = "U0BOT";

fn read(message: &Value, place: PassagePlace) -> ThreadMessage {
    let mut inner = message.clone();
    for (name, value) in [("type", "message"), ("channel", "C1"), ("ts", "1700000100.000000")] {
        if inner.get(name).is_none() {
            inner[name] = json!(value);
        }
    }
    let body = json!({"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": inner});
    let What::Message(said) = event(&body).what else { panic!("{message}") };
    let names = BTreeMap::from([("U1".to_owned(), "alice".to_owned()), ("U2".to_owned(), "bob".to_owned())]);
    ThreadMessage::of(&said, place, &names, BOT)
}

#[track_caller]
fn complaint(mention: &Value, around: &[Value]) -> ThreadComplaint {
    let mention = read(mention, PassagePlace::Mention);
    let around: Vec<ThreadMessage> = around
        .iter()
        .enumerate()
        .map(|(at, message)| {
            let mut message = message.clone();
            message["ts"] = json!(format!("17000000{at:02}.000000"));
            read(&message, if at == 0 { PassagePlace::Root } else { PassagePlace::Reply })
        })
        .collect();
    compose(&mention, &around, 0, false)
}

fn says(user: &str, text: &str) -> Value {
    json!({"user": user, "text": text})
}

fn alert(text: &str) -> Value {
    json!({"subtype": "bot_message", "bot_id": "B1", "username": "Alertmanager", "text": text})
}

const LOOK: &str = "<@U0BOT> please look";

#[test]
fn a_mention_below_an_alert_is_about_the_alert_and_says_where_it_stands() {
    let found = complaint(&says("U1", LOOK), &[alert("[FIRING:1] ProbeFailed web-1 → db-1:5432")]);
    assert_eq!(found.symptom, "[FIRING:1] ProbeFailed web-1 → db-1:5432");
    assert!(found.is_complaint() && found.quotes.is_empty());
    let [own, taken] = found.gathered.passages.as_slice() else { panic!("{found:?}") };
    assert_eq!((own.place, own.text.as_str()), (PassagePlace::Mention, "please look"));
    assert_eq!(
        (taken.place, taken.who.as_str(), taken.by_program),
        (PassagePlace::Root, "bot Alertmanager", true)
    );
    assert!(taken.at.is_some());
}

#[test]
fn words_of_people_outrank_those_of_programs_and_newer_ones_older_ones() {
    let about = "web-1 cannot reach db-1 on port 5432";
    let newer = "it is web-2 that cannot reach db-2 on port 5433";
    let found = complaint(
        &says("U1", LOOK),
        &[alert("[FIRING:1] app-1 → app-2:80 down"), says("U2", about), says("U2", newer)],
    );
    assert_eq!(found.symptom, newer);
    assert_eq!(found.quotes.len(), 2);
    let found =
        complaint(&says("U1", LOOK), &[alert("[FIRING:1] app-1 → app-2:80 down"), says("U2", "same here")]);
    assert_eq!(found.symptom, "[FIRING:1] app-1 → app-2:80 down");
}

#[test]
fn a_mention_that_is_a_complaint_stays_what_it_is() {
    let found = complaint(
        &says("U1", "<@U0BOT> web-2 cannot reach db-1 on port 5432"),
        &[says("U2", "web-9 is unreachable"), says("U2", "hm")],
    );
    assert_eq!(found.symptom, "web-2 cannot reach db-1 on port 5432");
    assert!(found.gathered.passages.is_empty() && found.quotes.len() == 2);
}

#[test]
fn a_later_correction_counts_and_so_does_a_port_of_the_mention() {
    let about = "web-1 cannot reach db-1 on port 5432";
    let found = complaint(&says("U1", LOOK), &[says("U2", about), says("U2", "sorry, I meant port 8080")]);
    assert_eq!(found.symptom, "web-1 cannot reach db-1 on port 8080");
    let found = complaint(&says("U1", "<@U0BOT> what about port 8443?"), &[says("U2", about)]);
    assert!(found.symptom.contains("web-1 cannot reach db-1 on port 8443"), "{}", found.symptom);
    assert!(!found.symptom.contains("5432"));
}

#[test]
fn what_is_forwarded_pasted_or_shown_of_a_file_is_the_complaint() {
    let forwarded = json!([{"is_share": true, "author_id": "U2", "author_name": "Bob", "ts": "1699999999.000100",
        "text": "web-1 cannot reach db-1:5432", "channel_id": "C7"}]);
    let mut message = says("U1", LOOK);
    message["attachments"] = forwarded;
    let found = complaint(&message, &[]);
    assert_eq!(found.symptom, "web-1 cannot reach db-1:5432");
    assert_eq!(
        (found.gathered.passages[1].place, found.gathered.passages[1].who.as_str()),
        (PassagePlace::Forwarded, "bob")
    );
    let mut message = says("U1", "<@U0BOT> see the output");
    message["files"] = json!([{"id": "F1", "name": "nc.txt", "mode": "snippet", "filetype": "text", "mimetype": "text/plain",
        "preview": "nc: connect to db-1 port 5432 (tcp) timed out: Operation now in progress"}]);
    let found = complaint(&message, &[]);
    assert!(found.symptom.contains("db-1 port 5432") && found.is_complaint(), "{found:?}");
    assert_eq!(found.gathered.passages[1].place, PassagePlace::File);
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_left_is_no_complaint() {
    let mut message = says("U1", LOOK);
    message["files"] = json!([{"id": "F1", "name": "shot.png", "mimetype": "image/png", "mode": "hosted"},
        {"id": "F2", "name": "app.log", "mimetype": "text/plain", "filetype": "text", "mode": "hosted", "url_private_download": "https://files.slack.com/f"}]);
    let found = complaint(&message, &[says("U2", "good morning")]);
    assert!(!found.is_complaint() && found.outline.is_bare);
    assert_eq!(
        found.gathered.unread,
        [
            Unread::Picture { name: "shot.png".to_owned() },
            Unread::Scope { name: "app.log".to_owned(), scope: "files:read".to_owned(), is_begun: false },
        ]
    );
}

#[test]
fn an_alert_that_is_over_counts_only_where_nothing_else_fires() {
    let over = alert("[RESOLVED] ProbeFailed web-1 → db-1:5432");
    let firing = alert("[FIRING:1] ProbeFailed web-2 → db-2:5432");
    let found = complaint(&says("U1", LOOK), &[firing.clone(), over.clone()]);
    assert_eq!(found.symptom, "[FIRING:1] ProbeFailed web-2 → db-2:5432");
    assert!(complaint(&says("U1", LOOK), &[over]).symptom.contains("web-1"));
}

#[test]
fn a_long_thread_stays_within_its_bound_and_says_what_was_left_out() {
    let long = format!("web-1 cannot reach db-1 on port 5432\n{}", "and more of it \n".repeat(2_000));
    let mention = read(&says("U1", LOOK), PassagePlace::Mention);
    let around = [read(&says("U2", &long), PassagePlace::Root)];
    let found = compose(&mention, &around, 130, false);
    assert!(found.symptom.len() < 3_000 && found.symptom.starts_with("web-1 cannot reach"));
    assert!(found.gathered.unread.contains(&Unread::Older { messages: 130 }));
}

#[test]
fn a_link_of_a_card_leads_nowhere_and_one_of_a_person_may_be_what_fails() {
    let card =
        alert("[FIRING:1] ProbeFailed web-1 → db-1:5432 <https://grafana.example:3000/d/1|View in Grafana>");
    assert!(!complaint(&says("U1", LOOK), &[card]).symptom.contains("3000"));
    let found = complaint(
        &says("U1", "<@U0BOT> <https://api.example:8443/health|the check> times out from web-1"),
        &[],
    );
    assert!(found.symptom.contains("https://api.example:8443/health"), "{}", found.symptom);
}
