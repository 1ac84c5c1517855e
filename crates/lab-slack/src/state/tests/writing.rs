//! Facts about what a person types: the text as it is kept, and the rich text beside it.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::block::{Surface, validate_blocks};
use crate::state::args::Args;
use crate::state::rich::rich;
use crate::state::tests::stage::{NETWORK, Stage};
use crate::state::wording::written;

fn kept(typed: &str) -> String {
    written(&Stage::new().workspace, typed)
}

/// Writes rich text in one line: style letters before words, brackets around parts.
fn drawn(text: &str) -> String {
    let blocks = rich(text);
    let parts = blocks[0]["elements"].as_array().unwrap().iter().map(part);
    parts.collect::<Vec<_>>().join(" ")
}

fn part(part: &Value) -> String {
    let kind = part["type"].as_str().unwrap().trim_start_matches("rich_text_");
    let inner: Vec<String> = part["elements"].as_array().unwrap().iter().map(element).collect();
    let more = part.get("style").and_then(Value::as_str).unwrap_or_default();
    let deep = part.get("indent").and_then(Value::as_i64).filter(|deep| *deep > 0);
    format!("{kind}{more}{}[{}]", deep.map(|deep| deep.to_string()).unwrap_or_default(), inner.join("|"))
}

fn element(element: &Value) -> String {
    let style: String =
        element["style"].as_object().into_iter().flatten().map(|(name, _)| &name[..1]).collect();
    let text = match element["type"].as_str().unwrap() {
        "rich_text_section" => return part(element),
        "text" => element["text"].as_str().unwrap().replace('\n', "⏎"),
        kind => {
            let named = ["name", "url", "user_id", "channel_id", "usergroup_id", "range"];
            let named = named.iter().find_map(|name| element[*name].as_str()).unwrap();
            format!(
                "{kind}:{named}{}",
                element["text"].as_str().map(|text| format!("={text}")).unwrap_or_default()
            )
        }
    };
    if style.is_empty() { text } else { format!("{style}'{text}'") }
}

#[test]
fn marks_become_styles_only_around_words() {
    for (text, expected) in [
        ("plain", "section[plain]"),
        ("*b* _i_ ~s~ `c`", "section[b'b'| |i'i'| |s's'| |c'c']"),
        ("*b _bi ~bis~_*", "section[b'b '|bi'bi '|bis'bis']"),
        ("a*b*c 2 * 3 * 4 snake_case_name ~ 5", "section[a*b*c 2 * 3 * 4 snake_case_name ~ 5]"),
        ("* a* *b *", "section[* a* *b *]"),
        ("*one\ntwo*", "section[*one⏎two*]"),
        ("(*b*), *b*.", "section[(|b'b'|), |b'b'|.]"),
        ("`*no* <@U1>` ``", "section[c'*no* <@U1>'| ``]"),
        ("&lt;*b*&gt; &amp;", "section[<|b'b'|> &]"),
        ("*<@U1> <https://x.example/a_b_c|x>*", "section[b'user:U1'|b' '|b'link:https://x.example/a_b_c=x']"),
        ("_<https://x.example/_y_>_", "section[i'link:https://x.example/_y_']"),
    ] {
        assert_eq!(drawn(text), expected, "{text}");
    }
}

#[test]
fn mentions_and_emoji_are_elements_and_times_are_not() {
    for (text, expected) in [
        (
            "<@U1> <#C1|net> <!subteam^S1> <!here>",
            "section[user:U1| |channel:C1| |usergroup:S1| |broadcast:here]",
        ),
        (":eyes: :+1: 10:30:00 :30: a:b:", "section[emoji:eyes| |emoji:+1| 10:30:00 :30: a:b:]"),
        ("*:fire:*", "section[b'emoji:fire']"),
        ("<@> <#> <!date^1^x> <!subteam^>", "section[<@> <#> <!date^1^x> <!subteam^>]"),
    ] {
        assert_eq!(drawn(text), expected, "{text}");
    }
    assert_eq!(rich(":wave::skin-tone-4:")[0]["elements"][0]["elements"][0]["skin_tone"], 4);
}

#[test]
fn fences_quotes_and_lists_stand_apart() {
    for (text, expected) in [
        ("hi\n```\nip a\n```\nbye", "section[hi⏎] preformatted[ip a] section[bye]"),
        ("```a *b*``` c", "preformatted[a *b*] section[ c]"),
        ("``` ```", "preformatted[ ]"),
        ("```open", "section[```open]"),
        ("&gt; one\n&gt;two\nthree", "quote[one⏎two] section[three]"),
        ("a\n&gt;&gt;&gt; b\nc", "section[a⏎] quote[b⏎c]"),
        ("• a\n• *b*\n    • c", "listbullet[section[a]|section[b'b']] listbullet1[section[c]]"),
        ("1. a\n2. b\n3.c", "listordered[section[a]|section[b]] section[3.c]"),
    ] {
        assert_eq!(drawn(text), expected, "{text}");
    }
}

#[test]
fn a_text_is_kept_as_slack_keeps_it() {
    for (typed, expected) in [
        ("see https://x.example/a?b=1&c=2.", "see <https://x.example/a?b=1&amp;c=2>."),
        ("(https://x.example/y)", "(<https://x.example/y>)"),
        ("<https://x.example|x> xhttps://y http://", "<https://x.example|x> xhttps://y http://"),
        ("- one\n* two\na - b", "• one\n• two\na - b"),
        ("`@alice <b>` @alice", "`@alice &lt;b&gt;` <@U0LABALICE>"),
        ("```\n- @alice\n```\n- @alice", "```\n- @alice\n```\n• <@U0LABALICE>"),
        ("`curl https://x.example`", "`curl <https://x.example>`"),
        ("*bold* & ~old~", "*bold* &amp; ~old~"),
        ("` @bob", "` <@U0LABBOB01>"),
    ] {
        assert_eq!(kept(typed), expected, "{typed}");
    }
}

#[test]
fn what_a_person_writes_or_edits_has_a_limit_and_both_forms() {
    let mut stage = Stage::new();
    let ts = stage.says("alice", NETWORK, "*down* again");
    let now = stage.time();
    let edit = |text: String| Args::of(json!({"user": "alice", "channel": NETWORK, "ts": ts, "text": text}));
    assert_eq!(stage.workspace.rewrite(&edit("x".repeat(40_001)), now).unwrap_err().code(), "msg_too_long");
    stage.workspace.rewrite(&edit("_up_ again".to_owned()), now).unwrap();
    let (_, message) = stage.workspace.at(NETWORK, &ts).unwrap();
    assert_eq!(message.text, "_up_ again");
    let first = &message.blocks.as_ref().unwrap()[0]["elements"][0]["elements"][0];
    assert_eq!((&first["text"], &first["style"]["italic"]), (&json!("up"), &json!(true)));
}

#[test]
fn a_long_line_of_marks_is_read_in_time() {
    for mark in ["*a ", "`a ", "_", "<", ":a", "```", "*a_b~c ", "&gt;\n", "• \n"] {
        let text = mark.repeat(40_000 / mark.len());
        let blocks = rich(&kept(&text));
        assert!(blocks[0]["elements"].as_array().is_some_and(|parts| !parts.is_empty()), "{mark}");
    }
}

proptest! {
    #[test]
    fn whatever_is_typed_makes_blocks_that_slack_takes(typed in "[a-c *_~`:<>@#&|\\-•.1\n/hטé]{1,60}") {
        let text = kept(&typed);
        let blocks = rich(&text);
        prop_assert!(validate_blocks(&blocks, Surface::Message).is_ok(), "{text:?} {blocks}");
    }

    #[test]
    fn what_is_kept_is_kept_as_it_is_a_second_time(typed in "[a-c *_~`@#&.1\n]{1,40}") {
        let once = kept(&typed);
        prop_assert_eq!(kept(&once), once);
    }
}
