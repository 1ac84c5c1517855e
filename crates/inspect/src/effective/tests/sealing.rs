//! Facts about snapshots, certificates and change windows.

use serde_json::{Value, json};

use super::*;
use ghost_base::Timestamp;

#[test]
fn a_snapshot_is_what_it_was_made_of_and_its_digests_form_a_chain() {
    let (text, made) = sealed(&plain(), 0);
    let read = Snapshot::parse(&text).unwrap();
    assert_eq!((read.digest, read.content, read.raw), (made.digest, made.content, made.raw));
    assert_eq!(read.taken, made.taken);
    let mut other = plain();
    *other.pointer_mut("/nics/0/routes/value/0/name").unwrap() = json!("x");
    let (_, other) = sealed(&other, 0);
    assert!(other.raw != made.raw && other.content != made.content && other.digest != made.digest);
    let found = Side::from(read).compare(&Side::from(made), Options::default());
    assert!(found.verified && found.status == Status::Clean);
}

#[test]
fn a_file_that_was_sealed_is_never_taken_for_a_bundle() {
    let (text, _) = sealed(&plain(), 0);
    for broken in [
        text.trim_end().to_owned(),
        text.replacen("nic-a", "nic-b", 1),
        text.replacen("\"kind\":", "\"kinf\":", 1),
        text.replacen(",\"sha256\":", ",\"sha257\":", 1),
        text.replacen("\"}\n", "\" }\n", 1),
        format!("{text}\n"),
    ] {
        assert!(Side::parse(&broken).is_err(), "{broken}");
    }
    assert!(Bundle::parse(&text).is_err());
}

#[test]
fn digests_that_were_made_anew_have_to_fit_what_they_cover() {
    let (text, _) = sealed(&plain(), 0);
    let (body, _) = text.rsplit_once(",\"sha256\"").unwrap();
    let mut value: Value = serde_json::from_str(&format!("{body}}}")).unwrap();
    *value.pointer_mut("/nics/0/routes/value/0/state").unwrap() = json!("Invalid");
    let (forged, _) = seal::seal(&value).unwrap();
    assert!(matches!(Snapshot::parse(&forged), Err(Error::Contradiction { .. })));
    *value.pointer_mut("/version").unwrap() = json!(2);
    let (newer, _) = seal::seal(&value).unwrap();
    assert!(matches!(Snapshot::parse(&newer), Err(Error::Version { found: 2, known: 1 })));
}

#[test]
fn what_could_not_be_read_is_no_baseline() {
    let nothing =
        Bundle::parse(r#"{"nics":[{"nic":"a","routes":null,"nsg":null,"error":"Forbidden"}]}"#).unwrap();
    assert!(matches!(Snapshot::seal(&nothing, taken(true, 0)), Err(Error::NothingRead)));
    assert!(matches!(Snapshot::seal(&Bundle::default(), taken(true, 0)), Err(Error::NothingRead)));
    assert_eq!(Snapshot::seal(&nothing, taken(false, 0)).unwrap().1.nic_errors(Which::Current).len(), 1);
}

fn issue() -> Issue {
    Issue {
        at: Timestamp::from_millis(9),
        by: None,
        tool: "ghost 0".into(),
        window: None,
        forced: Vec::new(),
        options: Options::default(),
    }
}

fn certified(a: &Side, b: &Side) -> Result<(String, Certificate, ghost_base::Digest), Error> {
    Certificate::issue(&a.compare(b, Options::default()), a, b, issue())
}

#[test]
fn a_certificate_covers_the_two_files_that_it_is_about_and_no_others() {
    let side = |value: &Value, at| Side::from(sealed(value, at).1);
    let (before, after) = (side(&plain(), 1), side(&plain(), 2));
    let (text, made, _) = certified(&before, &after).unwrap();
    let (read, _) = Certificate::parse(&text).unwrap();
    assert_eq!((&read, read.verified), (&made, true));
    let covered = read.covers(Some(&before), Some(&after)).unwrap();
    assert!(covered.baseline && covered.current && covered.repeated);
    assert!(matches!(read.covers(Some(&after), None), Err(Error::NotCovered { .. })));
    assert!(!read.covers(None, Some(&after)).unwrap().repeated);
    assert!(matches!(
        Certificate::parse(&text.replacen("no drift", "no  rift", 1)),
        Err(Error::Changed { .. })
    ));
    assert!(matches!(Certificate::parse(&plain().to_string()), Err(Error::WrongKind { .. })));
    let twice = before.compare(&before, Options::default());
    assert!(matches!(Certificate::issue(&twice, &before, &after, issue()), Err(Error::NotCovered { .. })));
    let other = side(&bundle(vec![nic("x", vec![route("::/0", "User", "")], vec![])]), 3);
    assert!(matches!(certified(&before, &other), Err(Error::NotClean { status: "DRIFT" })));
}

#[test]
fn a_baseline_has_to_lie_before_the_change_and_the_present_behind_it() {
    let side = |at| Side::from(sealed(&plain(), at).1);
    let window = |text: &str| Some(text.parse::<Window>().unwrap());
    let open = window("1970-01-01T00:00:01Z");
    let closed = window("1970-01-01T01:00:01+01:00..1970-01-01T00:00:02Z");
    assert!(objections(&side(1000), &side(1000), open).is_empty());
    assert!(
        objections(&side(1001), &side(1002), open).first().unwrap().contains("after the change window began")
    );
    assert!(objections(&side(999), &side(1500), closed).is_empty());
    assert!(
        doubts(&side(999), &side(1500), closed).first().unwrap().contains("before the change window ended")
    );
    assert!(doubts(&side(999), &side(998), None).first().unwrap().contains("before the baseline"));
    assert!(doubts(&side(999), &side(2000), closed).is_empty());
    let undated = Side::parse(&plain().to_string()).unwrap();
    assert_eq!((objections(&undated, &undated, open).len(), doubts(&undated, &undated, open).len()), (1, 1));
    assert!(objections(&undated, &undated, None).is_empty());
    for text in ["", "yesterday", "2026-01-02T00:00:00Z..2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z.."] {
        assert_eq!(text.parse::<Window>(), Err(WindowError), "{text}");
    }
}

#[test]
fn answers_that_are_not_newer_than_the_baseline_are_reported_and_certified_with_that() {
    let printed = |at| {
        let bundle = Bundle::parse(&plain().to_string()).unwrap();
        let answers_at = Some(Timestamp::from_millis(at));
        Side::from(Snapshot::seal(&bundle, Taken { answers_at, ..taken(false, 9) }).unwrap().1)
    };
    assert!(doubts(&printed(1), &printed(2), None).is_empty());
    assert_eq!(doubts(&printed(2), &printed(2), None).len(), 1);
    let (_, certificate, _) = certified(&printed(2), &printed(2)).unwrap();
    assert_eq!(certificate.doubts.len(), 1);
}

#[test]
fn whatever_is_sealed_can_be_read_again() {
    let odd = r#"{"kind":"mine","nics":[{"nic":"a","routes":[1e-7,123456789012345678901234567890,0.1,-0.0],"nsg":"\u0000"},5]}"#;
    let (text, made) = Snapshot::seal(&Bundle::parse(odd).unwrap(), taken(false, 0)).unwrap();
    assert_eq!(Snapshot::parse(&text).unwrap().content, made.content);
}

#[test]
fn snapshots_of_different_things_are_not_compared_unasked() {
    let about = |name: &str| {
        let scope = Scope { kind: Some("vm".into()), name: Some(name.into()), resource_group: None };
        let bundle = Bundle::parse(&plain().to_string()).unwrap();
        Side::from(Snapshot::seal(&bundle, Taken { scope, ..taken(false, 0) }).unwrap().1)
    };
    assert_eq!(objections(&about("web-1"), &about("web-2"), None).len(), 1);
    assert!(objections(&about("web-1"), &about("WEB-1"), None).is_empty());
}

#[test]
fn more_interfaces_than_a_subscription_has_are_refused() {
    let many = format!(r#"{{"nics":[{}{{}}]}}"#, "{},".repeat(65_536));
    assert!(matches!(Side::parse(&many), Err(Error::TooMany { .. })));
}
