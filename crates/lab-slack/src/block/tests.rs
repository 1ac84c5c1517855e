//! The documented answers, and what holds for any JSON.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::block::layout::rule;
use crate::block::shape::{Rule, Shape};
use crate::block::{
    Content, MAX_PROBLEMS, Method, Problem, Surface, accept_message, accept_view, validate_attachments,
    validate_blocks, validate_view,
};

const CASES: &str = include_str!("../../../../tests/fixtures/lab/blocks.jsonl");

/// Writes out `{"$repeat": ["x", 3]}` as a string and `{"$items": [VALUE, 3]}` as a list.
fn spelled_out(value: &Value) -> Value {
    let marked = |name: &str| {
        let pair = value.get(name)?.as_array()?;
        Some((pair.first()?, usize::try_from(pair.get(1)?.as_u64()?).ok()?))
    };
    if let Some((text, times)) = marked("$repeat") {
        return text.as_str().unwrap().repeat(times).into();
    }
    if let Some((item, times)) = marked("$items") {
        return vec![spelled_out(item); times].into();
    }
    match value {
        Value::Array(items) => items.iter().map(spelled_out).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), spelled_out(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn cases() -> Vec<Value> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the lines of `response_metadata.messages`, none for a payload that is taken.
fn answer(kind: &str, payload: &Value) -> Vec<String> {
    let refusal = match kind {
        "message" => {
            accept_message(Content { blocks: Some(payload), ..Content::default() }, Method::Post).err()
        }
        "attachments" => {
            accept_message(Content { attachments: Some(payload), ..Content::default() }, Method::Post).err()
        }
        "view" => accept_view(payload).err(),
        kind => panic!("no kind {kind}"),
    };
    let Some(refusal) = refusal else { return Vec::new() };
    let mut lines: Vec<String> = refusal.problems.iter().map(Problem::to_string).collect();
    if lines.is_empty() {
        lines.push(refusal.error.to_owned());
    }
    lines
}

#[test]
fn each_payload_gets_its_documented_answer() {
    let mut wrong = Vec::new();
    for case in cases() {
        let payload = spelled_out(&case["payload"]);
        let wanted: Vec<String> = case["want"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|line| line.as_str().unwrap().to_owned())
            .collect();
        assert!(case["page"].as_str().unwrap().starts_with("https://docs.slack.dev/"), "{case}");
        let got = answer(case["kind"].as_str().unwrap(), &payload);
        if got != wanted {
            wrong.push(format!("{}\n  wanted {wanted:?}\n  got    {got:?}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn there_are_enough_cases_and_each_has_its_own_name() {
    let cases = cases();
    let mut names: Vec<&str> = cases.iter().map(|case| case["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(all, names.len());
    assert!(all >= 60, "{all}");
}

#[test]
fn blocks_that_are_no_list_have_an_error_of_their_own() {
    let blocks = json!({ "blocks": [] });
    let content = Content { blocks: Some(&blocks), text: Some("x"), ..Content::default() };
    assert_eq!(
        accept_message(content, Method::Post).unwrap_err().to_json(),
        json!({ "ok": false, "error": "invalid_blocks_format" })
    );
}

#[test]
fn a_refused_message_tells_its_problems_twice_and_a_view_once() {
    let blocks = json!([{ "type": "section" }]);
    let refusal =
        accept_message(Content { blocks: Some(&blocks), ..Content::default() }, Method::Post).unwrap_err();
    assert_eq!(
        refusal.to_json(),
        json!({
            "ok": false,
            "error": "invalid_blocks",
            "errors": ["must define either `text` or `fields` [json-pointer:/blocks/0/type]"],
            "response_metadata": {
                "messages": ["[ERROR] must define either `text` or `fields` [json-pointer:/blocks/0/type]"],
            },
        })
    );
    let view = json!({ "type": "modal" });
    let body = accept_view(&view).unwrap_err().to_json();
    assert_eq!(body["error"], "invalid_arguments");
    assert!(body.get("errors").is_none());
}

fn text(text: &str, method: Method) -> Result<(usize, bool), &'static str> {
    accept_message(Content { text: Some(text), ..Content::default() }, method)
        .map(|taken| (taken.text.chars().count(), taken.truncated))
        .map_err(|refusal| refusal.error)
}

#[test]
fn a_long_text_is_cut_when_posted_and_refused_when_updated() {
    assert_eq!(text(&"ä".repeat(40_000), Method::Post), Ok((40_000, false)));
    assert_eq!(text(&"ä".repeat(40_001), Method::Post), Ok((40_000, true)));
    assert_eq!(text(&"ä".repeat(4_000), Method::Update), Ok((4_000, false)));
    assert_eq!(text(&"ä".repeat(4_001), Method::Update), Err("msg_too_long"));
    assert_eq!(text("", Method::Post), Err("no_text"));
    let cut = accept_message(Content { text: Some(&"x".repeat(50_000)), ..Content::default() }, Method::Post);
    assert_eq!(cut.unwrap().warning().unwrap()["warnings"], json!(["message_truncated"]));
}

#[test]
fn markdown_text_stands_alone() {
    let content = Content { markdown_text: Some("**x**"), ..Content::default() };
    assert!(accept_message(content, Method::Post).is_ok());
    let both = Content { text: Some("x"), ..content };
    assert_eq!(accept_message(both, Method::Post).unwrap_err().error, "markdown_text_conflict");
    let long = "x".repeat(12_001);
    let content = Content { markdown_text: Some(&long), ..Content::default() };
    assert_eq!(accept_message(content, Method::Post).unwrap_err().error, "msg_too_long");
}

#[test]
fn all_texts_of_all_blocks_have_a_limit_together() {
    let block = |length: usize| json!({ "type": "section", "text": { "type": "mrkdwn", "text": "x".repeat(length) } });
    let error = |blocks: Value| {
        accept_message(Content { blocks: Some(&blocks), ..Content::default() }, Method::Post)
            .err()
            .map(|r| r.error)
    };
    assert_eq!(error(json!([block(3000), block(3000), block(3000), block(3000)])), None);
    assert_eq!(
        error(json!([block(3000), block(3000), block(3000), block(3000), block(1201)])),
        Some("msg_blocks_too_long")
    );
}

#[test]
fn a_hundred_and_one_attachments_are_too_many() {
    let attachments = json!(vec![json!({ "text": "x" }); 101]);
    let content = Content { attachments: Some(&attachments), ..Content::default() };
    assert_eq!(accept_message(content, Method::Post).unwrap_err().error, "too_many_attachments");
}

#[test]
fn a_view_of_more_than_250_kilobytes_is_too_large() {
    let field = json!({ "type": "mrkdwn", "text": "x".repeat(2000) });
    let section = json!({ "type": "section", "fields": vec![field; 10] });
    let view = json!({ "type": "home", "blocks": vec![section; 13] });
    assert_eq!(accept_view(&view).unwrap_err().error, "view_too_large");
}

#[test]
fn a_pointer_is_escaped_and_a_name_from_outside_is_clipped() {
    let blocks = json!([{ "type": "divider", "x".repeat(5000): 1 }]);
    let problems = validate_blocks(&blocks, Surface::Home).unwrap_err();
    assert!(problems[0].to_string().len() < 200, "{}", problems[0]);
}

#[test]
fn a_payload_of_a_million_mistakes_is_answered_with_a_hundred() {
    let parts = vec![json!({ "type": "text" }); 1_000_000];
    let blocks =
        json!([{ "type": "rich_text", "elements": [{ "type": "rich_text_section", "elements": parts }] }]);
    assert_eq!(validate_blocks(&blocks, Surface::Message).unwrap_err().len(), MAX_PROBLEMS);
}

#[test]
fn deep_json_is_no_deeper_a_walk() {
    let mut deep = json!("x");
    // It is moved in and taken apart level by level: what writes, copies or drops such a value goes down by itself.
    for _ in 0..2_000 {
        let mut around = json!({ "type": "rich_text", "text": null, "child_blocks": [] });
        around["elements"] = Value::Array(vec![deep]);
        deep = around;
    }
    let mut blocks = Value::Array(vec![deep]);
    assert!(validate_blocks(&blocks, Surface::Message).is_err());
    assert!(validate_attachments(&blocks).is_ok());
    assert!(validate_view(&blocks[0]).is_err());
    let mut inner = blocks[0].take();
    while inner.is_object() {
        inner = inner["elements"][0].take();
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "section",
        "actions",
        "input",
        "plain_text",
        "mrkdwn",
        "button",
        "rich_text",
        "table",
        "home",
        "modal",
        "static_select",
        "plan",
        "pie",
        "datepicker",
        "1990-04-28",
        "é~/",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let names = prop::sample::select(vec![
            "type",
            "text",
            "elements",
            "fields",
            "accessory",
            "options",
            "rows",
            "blocks",
            "title",
            "chart",
            "series",
            "data",
            "axis_config",
            "categories",
            "tasks",
            "element",
            "initial_option",
            "a~/b",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(names.prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Puts a value in place of the n-th value inside another.
fn graft(target: &mut Value, at: &mut usize, graft_in: &Value) -> bool {
    if *at == 0 {
        *target = graft_in.clone();
        return true;
    }
    *at -= 1;
    match target {
        Value::Array(items) => items.iter_mut().any(|item| graft(item, at, graft_in)),
        Value::Object(members) => members.values_mut().any(|member| graft(member, at, graft_in)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn holds_for(payload: &Value) {
    for surface in [Surface::Message, Surface::Modal, Surface::Home] {
        if let Err(problems) = validate_blocks(payload, surface) {
            assert!((1..=MAX_PROBLEMS).contains(&problems.len()));
            assert!(problems.iter().all(|problem| problem.pointer.starts_with("/blocks")));
        }
    }
    let _ = (validate_view(payload), validate_attachments(payload));
    let content = Content { blocks: Some(payload), attachments: Some(payload), ..Content::default() };
    let _ = accept_message(content, Method::Update).map_err(|refusal| refusal.to_json());
}

proptest! {
    #[test]
    fn any_json_is_judged_without_a_panic(payload in any_json()) {
        holds_for(&payload);
        holds_for(&json!([payload]));
    }

    #[test]
    fn a_broken_payload_is_judged_without_a_panic(
        case in 0..200_usize, mut at in 0..30_usize, other in any_json()
    ) {
        static PARSED: std::sync::OnceLock<Vec<Value>> = std::sync::OnceLock::new();
        let cases = PARSED.get_or_init(cases);
        let mut payload = spelled_out(&cases[case % cases.len()]["payload"]);
        graft(&mut payload, &mut at, &other);
        holds_for(&payload);
        let _ = (validate_view(&payload), validate_attachments(&payload));
    }
}

/// What is here, of what Slack has.
const TABLE: &str = include_str!("../person/fidelity.md");

fn collect(rule: &Rule, found: &mut BTreeSet<&'static str>) {
    match rule {
        Rule::Any
        | Rule::Bool
        | Rule::Int(..)
        | Rule::Number
        | Rule::Str(..)
        | Rule::Word(_)
        | Rule::Text(..) => {}
        Rule::List(_, _, rule) | Rule::Is(rule) | Rule::OrNull(rule) => collect(rule, found),
        Rule::Object(shape) => inside(shape, found),
        Rule::Typed(lists) => {
            for kind in lists.iter().copied().flatten() {
                found.insert(kind.0);
                inside(kind.1, found);
            }
        }
    }
}

fn inside(shape: &Shape, found: &mut BTreeSet<&'static str>) {
    shape.fields.iter().for_each(|field| collect(&field.rule, found));
}

#[test]
fn every_block_and_element_stands_in_the_table_of_what_is_here() {
    let mut found = BTreeSet::new();
    for surface in [Surface::Message, Surface::Modal, Surface::Home] {
        collect(rule(surface), &mut found);
    }
    assert!(found.len() > 60, "{found:?}");
    let missing: Vec<&&str> =
        found.iter().filter(|kind| !TABLE.contains(&format!("\n| `{kind}` | "))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
