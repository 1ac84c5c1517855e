//! Facts about lines and their chain.

use super::*;
use crate::model::Investigator;
use crate::{HypothesisState, Limits};
use ghost_base::{Digest, SessionId, Timestamp};

fn session() -> SessionId {
    "s1".parse().unwrap()
}

fn opened() -> Event {
    Event::Opened(Opened {
        symptom: "5001 hangs".to_owned(),
        requester: "ana".to_owned(),
        origin: Origin { place: "terminal".to_owned(), team: None, channel: None, thread: None },
        quotes: Vec::new(),
        nonce: "n".to_owned(),
        investigator: Investigator {
            provider: "scripted".to_owned(),
            model: String::new(),
            host: None,
            window: 1000,
        },
        limits: Limits::default(),
        scope: None,
        hosts: Vec::new(),
        cloud_too: false,
        clusters: Vec::new(),
        surroundings: None,
        gathered: Box::default(),
        by_program: false,
        outside: None,
        alert: None,
        version: "0".to_owned(),
    })
}

fn hypothesis(id: &str) -> Event {
    Event::HypothesisSet(HypothesisSet {
        id: id.to_owned(),
        description: Some("the NSG".to_owned()),
        state: HypothesisState::Active,
        by: "model".to_owned(),
        why: None,
    })
}

fn written() -> Vec<String> {
    let mut chain = Chain::new(session());
    let at = Timestamp::from_millis(0);
    [opened(), hypothesis("H1"), hypothesis("H2")]
        .iter()
        .map(|event| chain.seal(at, event).unwrap().0)
        .collect()
}

fn back(lines: &[String]) -> Result<Vec<Recorded>, LedgerError> {
    read(&session(), lines.iter().map(String::as_str))
}

#[test]
fn what_was_written_is_read() {
    let mut chain = Chain::new(session());
    let (line, sealed) = chain.seal(Timestamp::from_millis(7), &opened()).unwrap();
    let found = back(&[line]).unwrap();
    assert_eq!(found, [sealed]);
    assert_eq!(Chain::behind(session(), &found), chain);
}

#[test]
fn every_kind_is_known_by_its_word() {
    let unknown = serde_json::from_str::<Event>(r#"{"kind":"?","body":null}"#).unwrap_err().to_string();
    for kind in Event::KINDS {
        assert!(unknown.contains(&format!("`{kind}`")), "{kind}");
    }
    assert_eq!(unknown.matches('`').count(), 2 * (Event::KINDS.len() + 1), "a kind is missing: {unknown}");
}

#[test]
fn a_change_anywhere_in_a_line_shows() {
    let lines = written();
    let second = lines.get(1).unwrap();
    for at in 0..second.len() {
        let mut bytes = second.clone().into_bytes();
        *bytes.get_mut(at).unwrap() ^= 1;
        let Ok(changed) = String::from_utf8(bytes) else { continue };
        let mut lines = lines.clone();
        *lines.get_mut(1).unwrap() = changed.clone();
        assert!(back(&lines).is_err(), "{changed}");
    }
}

#[test]
fn a_line_that_is_missing_twice_or_elsewhere_shows() {
    let lines = written();
    let pick =
        |numbers: &[usize]| numbers.iter().map(|at| lines.get(*at).unwrap().clone()).collect::<Vec<_>>();
    for order in [&[1, 2][..], &[0, 2], &[0, 0, 1], &[1, 0, 2], &[0, 2, 1]] {
        assert!(back(&pick(order)).is_err(), "{order:?}");
    }
    assert!(read(&"s2".parse().unwrap(), lines.iter().map(String::as_str)).is_err());
}

#[test]
fn erased_lines_still_form_the_chain() {
    let lines = written();
    let erased = erase(lines.iter().map(String::as_str)).unwrap();
    assert!(!erased.concat().contains("5001 hangs"));
    let (before, after) = (back(&lines).unwrap(), back(&erased).unwrap());
    assert!(after.iter().all(|event| event.content == Content::Erased));
    assert_eq!(before.last().unwrap().hash, after.last().unwrap().hash);
}

#[test]
fn a_kind_of_the_future_is_read_as_foreign_and_a_format_of_the_future_is_refused() {
    let mut lines = written();
    let body = r#"{"x":1}"#;
    let prev = back(&lines).unwrap().last().unwrap().hash;
    let at = Timestamp::from_millis(0).to_string();
    let digest = Digest::of(body);
    let hash = Digest::of_fields(["s1", "4", &at, "future", &prev.to_string(), &digest.to_string()]);
    let line = format!(
        r#"{{"format":1,"session":"s1","seq":4,"at":"{at}","kind":"future","prev":"{prev}","digest":"{digest}","hash":"{hash}","body":{body}}}"#
    );
    lines.push(line.clone());
    assert_eq!(back(&lines).unwrap().last().unwrap().content, Content::Foreign);
    let newer = line.replace(r#""format":1"#, r#""format":2,"strange":[]"#);
    assert_eq!(back(&[newer]), Err(LedgerError::Newer { seq: 1, found: 2 }));
}

#[test]
fn what_is_no_line_is_an_error() {
    for text in ["", "{}", "null", "[1]", "{\"format\":\"1\"}", "\u{0}"] {
        assert!(matches!(back(&[text.to_owned()]), Err(LedgerError::Unreadable { seq: 1, .. })), "{text:?}");
    }
}
