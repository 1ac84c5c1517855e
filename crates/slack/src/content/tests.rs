//! Facts about what can be read in a message.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Content, PassageKind, Unread};
use crate::arrive::{What, event};

#[track_caller]
fn content(message: &Value) -> Content {
    let body = json!({"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": message});
    let (What::Message(words) | What::Mention(words)) = event(&body).what else { panic!("{message}") };
    Content::of(&words)
}

#[track_caller]
fn texts(message: &Value, wanted: &[(&str, &str)]) {
    let found = content(message);
    let kind = |kind: &PassageKind| match kind {
        PassageKind::Words => "words",
        PassageKind::Table => "table",
        PassageKind::Forwarded(_) => "forwarded",
        PassageKind::Card => "card",
        PassageKind::Preview => "preview",
        PassageKind::Snippet { .. } => "snippet",
    };
    let found: Vec<(&str, &str)> =
        found.passages.iter().map(|passage| (kind(&passage.kind), passage.text.as_str())).collect();
    assert_eq!(found, wanted, "{message}");
}

fn message(more: &Value) -> Value {
    let mut message =
        json!({"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1700000000.000100", "text": ""});
    let fields = message.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    message
}

#[test]
fn rich_text_is_one_line_with_its_links_and_says_nothing_twice() {
    let blocks = json!([{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
        {"type": "user", "user_id": "U9"}, {"type": "text", "text": " curl to "},
        {"type": "link", "url": "https://api:8443/health", "text": "the check"},
        {"type": "text", "text": " fails <now>", "style": {"bold": true}}, {"type": "emoji", "name": "eyes"},
    ]}, {"type": "rich_text_list", "style": "bullet", "elements": [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": "from web-1"}]},
    ]}]}]);
    let said = "<@U9> curl to <https://api:8443/health|the check> fails &lt;now&gt;:eyes:\nfrom web-1";
    texts(&message(&json!({"blocks": blocks})), &[("words", said)]);
    texts(
        &message(
            &json!({"blocks": blocks, "text": "<@U9> curl to the check fails &lt;now&gt; :eyes:\n• from web-1"}),
        ),
        &[("words", said)],
    );
    // What both say with the same letters stands there once, and what only the text says stands there, too.
    texts(
        &message(&json!({"blocks": blocks, "text": "New alert"})),
        &[("words", &format!("New alert\n{said}"))],
    );
}

#[test]
fn a_forwarded_message_keeps_who_wrote_it_and_its_words_stand_once() {
    let inner = json!([{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
        {"type": "text", "text": "web-1 cannot reach db-1:5432"}]}]}]);
    let forwarded = json!({"is_share": true, "is_msg_unfurl": true, "author_id": "U7", "author_name": "Chloe", "ts": "1699999999.000200",
        "channel_id": "C7", "channel_name": "net", "from_url": "https://acme.slack.com/archives/C7/p1699999999000200",
        "text": "web-1 cannot reach db-1:5432", "fallback": "[Chloe] web-1 cannot reach db-1:5432", "footer": "Slack Conversation",
        "message_blocks": [{"team": "T1", "channel": "C7", "ts": "1699999999.000200", "message": {"blocks": inner}}]});
    let found = content(&message(&json!({"text": "<@U9> please look", "attachments": [forwarded]})));
    let [words, passage] = found.passages.as_slice() else { panic!("{found:?}") };
    assert_eq!(words.text, "<@U9> please look");
    let PassageKind::Forwarded(origin) = &passage.kind else { panic!("{passage:?}") };
    assert_eq!(
        (origin.user.as_deref(), origin.name.as_deref(), origin.is_bot),
        (Some("U7"), Some("Chloe"), false)
    );
    assert_eq!(passage.text, "web-1 cannot reach db-1:5432");
}

#[test]
fn a_card_is_its_title_text_and_fields_and_its_fallback_only_where_nothing_else_is() {
    let card = json!({"color": "danger", "fallback": "[FIRING:1] loss - http://x", "title": "[FIRING:1] loss", "title_link": "http://x",
        "text": "on <http://web-1|web-1>", "fields": [{"title": "Host", "value": "web-1", "short": true}, {"title": "", "value": "5 %"}],
        "actions": [{"type": "button", "text": "Silence"}]});
    texts(
        &message(&json!({"attachments": [card]})),
        &[("card", "[FIRING:1] loss\non <http://web-1|web-1>\nHost: web-1\n5 %")],
    );
    texts(&message(&json!({"attachments": [{"fallback": "db-1 is down"}]})), &[("card", "db-1 is down")]);
    texts(&message(&json!({"attachments": [{"fallback": "[no preview available]"}]})), &[]);
    let preview = json!({"from_url": "https://docs.example/x", "service_name": "Docs", "title": "A page", "text": "about ports"});
    texts(&message(&json!({"attachments": [preview]})), &[("preview", "A page\nabout ports")]);
}

#[test]
fn a_table_in_an_attachment_is_read() {
    let cell = |text: &str| json!({"type": "raw_text", "text": text});
    let table = json!([{"blocks": [{"type": "table", "rows": [[cell("from"), cell("to"), cell("port")], [cell("web-1"), cell("db-1"), cell("5432")]]}],
        "fallback": "[no preview available]"}]);
    texts(
        &message(&json!({"text": "these fail", "attachments": table})),
        &[("words", "these fail"), ("table", "web-1 cannot reach db-1 on port 5432.")],
    );
}

#[test]
fn a_snippet_is_read_and_the_other_files_are_named() {
    let files = json!([
        {"id": "F1", "name": "out.txt", "mimetype": "text/plain", "filetype": "text", "mode": "snippet", "preview": "nc: connect to <db-1>", "preview_is_truncated": true, "lines_more": 7, "size": 900},
        {"id": "F2", "name": "shot.png", "mimetype": "image/png", "filetype": "png", "mode": "hosted", "size": 10},
        {"id": "F3", "name": "app.log", "mimetype": "text/plain", "filetype": "text", "mode": "hosted", "size": 10, "url_private_download": "https://files.slack.com/x"},
        {"id": "F4", "name": "a.pcap", "mimetype": "application/octet-stream", "filetype": "binary", "mode": "hosted"},
        {"id": "F5", "name": "theirs", "file_access": "check_file_info"}, {"id": "F6", "mode": "tombstone"}, null, 7,
    ]);
    let found = content(&message(&json!({"text": "see", "files": files})));
    assert_eq!(found.passages[1].text, "nc: connect to &lt;db-1&gt;");
    assert_eq!(found.passages[1].kind, PassageKind::Snippet { name: "out.txt".to_owned(), is_cut: true });
    let named = |part: &Unread| match part {
        Unread::Picture { name } => format!("picture {name}"),
        Unread::Text { name, is_begun, .. } => format!("text {name} {is_begun}"),
        Unread::Other { name } => format!("other {name}"),
        Unread::Elsewhere { name } => format!("elsewhere {name}"),
    };
    let unread: Vec<String> = found.unread.iter().take(5).map(named).collect();
    assert_eq!(
        unread,
        ["text out.txt true", "picture shot.png", "text app.log false", "other a.pcap", "elsewhere theirs"]
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        "[a-z<>|:@#! ]{0,12}",
        Just("table".to_owned()),
        Just("rich_text".to_owned()),
        Just("rich_text_section".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        words.prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let names = prop_oneof![
            Just("type"),
            Just("text"),
            Just("elements"),
            Just("rows"),
            Just("blocks"),
            Just("message_blocks"),
            Just("message"),
            Just("fields"),
            Just("title"),
            Just("value"),
            Just("files"),
            Just("preview"),
            Just("is_share"),
            Just("fallback"),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((names, inner), 0..6).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn an_odd_message_is_read_as_far_as_it_goes(blocks in any_json(), attachments in any_json(), files in any_json()) {
        let odd = message(&json!({"text": "web-1", "blocks": blocks, "attachments": attachments, "files": files}));
        prop_assert!(content(&odd).text().contains("web-1"));
    }
}
