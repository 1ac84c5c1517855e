//! Facts about clipping, and its properties.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Kind, Limits, ModelText, clip};
use crate::redact;

fn clipped(text: &str) -> ModelText {
    clip(&redact(text), Limits::MODEL)
}

/// Cuts a text that is too long and checks what holds for every kind.
#[track_caller]
fn check(text: &str, kind: Kind) -> ModelText {
    let cut = clipped(text);
    assert_eq!(cut.clipping().kind, kind);
    assert!(cut.clipping().applied);
    assert!(cut.as_str().len() < text.len());
    assert!(Limits::MODEL.hold(cut.as_str()));
    assert_eq!(cut.clipping().total_bytes, text.len());
    cut
}

#[test]
fn a_text_that_fits_comes_back_as_it_is() {
    for text in ["", "one", "one\n", "a\n\nb\n", "[1, 2,\n3]", "{ \"a\" : 1 }", &"x\n".repeat(200)] {
        let cut = clipped(text);
        assert_eq!(cut.as_str(), text);
        assert!(!cut.clipping().applied);
        assert_eq!(cut.clipping().shown_lines, cut.clipping().total_lines);
    }
}

#[test]
fn a_long_log_keeps_its_first_and_its_last_line() {
    let log: String = (0..5_000).map(|line| format!("line {line}\n")).collect();
    let cut = check(&log, Kind::LogStream);
    let lines: Vec<&str> = cut.as_str().lines().collect();
    assert_eq!((lines.first(), lines.last()), (Some(&"line 0"), Some(&"line 4999")));
    let left_out = cut.clipping().total_lines - cut.clipping().shown_lines;
    assert!(lines.contains(&format!("[... {left_out} lines left out ...]").as_str()));
    assert_eq!(lines.len(), cut.clipping().shown_lines + 1);
}

#[test]
fn one_long_line_keeps_both_its_ends() {
    let cut = check(&format!("begin{}end", "é".repeat(50_000)), Kind::LogStream);
    assert!(cut.as_str().starts_with("begin") && cut.as_str().ends_with("end"));
    assert_eq!((cut.clipping().total_lines, cut.clipping().shown_lines), (1, 1));
}

#[test]
fn a_table_keeps_its_head() {
    let rows: String = (0..900).map(|row| format!("vm-{row}  {}  Up\n", "wide ".repeat(row % 90))).collect();
    let cut = check(&format!("Name  Note  State\n----  ----  -----\n{rows}"), Kind::Tabular);
    assert!(cut.as_str().starts_with("Name  Note  State\n----  ----  -----\nvm-0"));
    assert!(cut.as_str().contains("lines left out"));
}

#[test]
fn an_array_counts_what_it_leaves_out() {
    let items: Vec<Value> =
        (0..3_000).map(|item| json!({ "name": format!("rule-{item}"), "priority": item })).collect();
    let cut = check(&Value::Array(items).to_string(), Kind::JsonArray);
    let value: Value = serde_json::from_str(cut.as_str()).unwrap();
    let shown = value.as_array().unwrap();
    let left_out = shown.iter().find_map(|item| item["left_out"].as_u64()).unwrap();
    assert_eq!(cut.clipping().items_total, Some(3_000));
    assert_eq!(cut.clipping().items_shown, Some(shown.len() - 1));
    assert_eq!(left_out, 3_000 - (shown.len() as u64 - 1));
    assert_eq!(shown.last().unwrap()["name"], "rule-2999");
}

#[test]
fn four_huge_items_are_cut_inside() {
    let item = json!({ "text": "word ".repeat(10_000), "list": vec![1; 5_000] });
    let cut = check(&json!([item, item, item, item]).to_string(), Kind::JsonArray);
    let value: Value = serde_json::from_str(cut.as_str()).unwrap();
    assert_eq!(value.as_array().unwrap().len(), 4);
    assert_eq!(cut.clipping().items_shown, Some(4));
}

#[test]
fn a_long_string_in_an_object_is_shortened() {
    let cut = check(&json!({ "name": "nsg", "log": "x".repeat(50_000) }).to_string(), Kind::JsonObject);
    let value: Value = serde_json::from_str(cut.as_str()).unwrap();
    assert_eq!(value["name"], "nsg");
    assert!(value["log"].as_str().unwrap().contains("bytes left out"));
}

#[test]
fn binary_data_is_only_named() {
    let cut = clipped(&"\0\u{1}".repeat(500));
    assert_eq!((cut.as_str(), cut.clipping().kind), ("[binary data, 1000 bytes]", Kind::Binary));
    assert_eq!(clipped("\0").as_str(), "");
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), ".{0,300}".prop_map(Value::from)];
    leaf.prop_recursive(4, 200, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::Array),
            prop::collection::vec((".{0,12}", inner), 0..12)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever goes in, what comes out is no longer and within both limits.
    #[test]
    fn nothing_grows_and_the_limits_hold(text in "([ -~é\n\t]{0,40}|\\{\"a\":|[0-9\n]{30}){0,60}", lines in 0..30_usize, tokens in 0..200_usize) {
        let limits = Limits { lines, tokens };
        let redacted = redact(&text);
        let cut = clip(&redacted, limits);
        prop_assert!(cut.as_str().len() <= redacted.as_str().len());
        prop_assert!(limits.hold(cut.as_str()));
        prop_assert_eq!(cut.clipping().applied, cut.as_str() != redacted.as_str());
        prop_assert!(cut.clipping().shown_lines <= cut.clipping().total_lines);
    }

    /// JSON stays JSON of the same kind, however little is left of it.
    #[test]
    fn documents_stay_documents(value in documents(), pretty: bool, tokens in 1..400_usize) {
        prop_assume!(value.is_array() || value.is_object());
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let redacted = redact(&text);
        let limits = Limits { lines: 40, tokens };
        let cut = clip(&redacted, limits);
        prop_assert!(cut.as_str().len() <= redacted.as_str().len());
        prop_assert!(limits.hold(cut.as_str()));
        let read: Value = serde_json::from_str(cut.as_str()).unwrap();
        prop_assert_eq!(read.is_array(), value.is_array());
    }
}
