//! The app that people create and the app that the code expects are one.

use std::collections::BTreeSet;

use ghost_agent::bot::{COMMAND, EVENTS, OPTIONAL_SCOPES, SCOPES, SHORTCUTS};
use serde_json::{Value, json};

use crate::yaml::{document, text, words};

fn manifest() -> Value {
    document("manifest.yaml")
}

/// What an event cannot be subscribed to without.
fn needed(event: &str) -> &'static str {
    match event {
        "agent_session_stopped" => "assistant:write",
        "app_mention" => "app_mentions:read",
        "message.channels" => "channels:history",
        "message.groups" => "groups:history",
        "message.im" => "im:history",
        "message.mpim" => "mpim:history",
        // Every app hears that it is removed.
        "app_uninstalled" | "tokens_revoked" => "chat:write",
        // Whoever has a bot may see its Home tab.
        "app_home_opened" => "chat:write",
        other => panic!("nobody has said yet what {other} needs"),
    }
}

#[test]
fn the_manifest_asks_for_what_the_code_needs_and_for_nothing_else() {
    let manifest = manifest();
    assert_eq!(words(&manifest["oauth_config"]["scopes"]["bot"]), SCOPES);
    assert_eq!(words(&manifest["oauth_config"]["scopes"]["bot_optional"]), OPTIONAL_SCOPES);
    assert_eq!(manifest["oauth_config"]["scopes"].get("user"), None);
    assert_eq!(words(&manifest["settings"]["event_subscriptions"]["bot_events"]), EVENTS);
    let commands = manifest["features"]["slash_commands"].as_array().unwrap();
    assert_eq!(commands.iter().map(|command| &command["command"]).collect::<Vec<_>>(), [COMMAND]);
    let shortcuts = manifest["features"]["shortcuts"].as_array().unwrap();
    assert_eq!(shortcuts.iter().map(|shortcut| &shortcut["callback_id"]).collect::<Vec<_>>(), SHORTCUTS);
    assert!(shortcuts.iter().all(|shortcut| shortcut["type"] == "message"));
}

#[test]
fn every_event_has_its_scope() {
    let missing: Vec<_> = EVENTS.iter().filter(|event| !SCOPES.contains(&needed(event))).collect();
    assert_eq!(missing, Vec::<&&str>::new());
}

#[test]
fn every_scope_and_every_event_says_why() {
    let text = text("manifest.yaml");
    for name in SCOPES.iter().chain(OPTIONAL_SCOPES).chain(EVENTS) {
        let entry = format!("- {name} ");
        let line = text.lines().find(|line| line.trim_start().starts_with(&entry));
        let why = line.and_then(|line| line.split_once("# ")).map_or("", |(_, why)| why.trim());
        assert!(why.len() > 8, "{name}: {why}");
    }
}

#[test]
fn nothing_stands_twice() {
    for list in [SCOPES, EVENTS, SHORTCUTS] {
        assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len());
        assert!(list.is_sorted(), "{list:?}");
    }
}

#[test]
fn the_app_speaks_socket_mode_with_buttons_tabs_and_an_agent() {
    let manifest = manifest();
    let settings = &manifest["settings"];
    assert_eq!(settings["socket_mode_enabled"], true);
    assert_eq!(settings["interactivity"], json!({"is_enabled": true}));
    assert_eq!(
        (&settings["token_rotation_enabled"], &settings["org_deploy_enabled"]),
        (&json!(false), &json!(true))
    );
    let features = &manifest["features"];
    assert_eq!(
        features["app_home"],
        json!({"home_tab_enabled": true, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false})
    );
    assert!(features["agent_view"].is_object());
    // Slack takes one of the two.
    assert_eq!(features.get("assistant_view"), None);
}

#[test]
fn every_text_fits() {
    let manifest = manifest();
    let about = &manifest["display_information"];
    let features = &manifest["features"];
    let mut texts = vec![
        (&about["name"], 1..=35),
        (&about["description"], 1..=140),
        (&about["long_description"], 174..=4000),
        (&features["bot_user"]["display_name"], 1..=80),
        (&features["agent_view"]["agent_description"], 1..=300),
        (&features["slash_commands"][0]["description"], 1..=2000),
        (&features["slash_commands"][0]["usage_hint"], 1..=1000),
        (&features["shortcuts"][0]["name"], 1..=24),
        (&features["shortcuts"][0]["description"], 1..=150),
    ];
    let prompts = features["agent_view"]["suggested_prompts"].as_array().unwrap();
    assert!((1..=4).contains(&prompts.len()));
    texts.extend(
        prompts.iter().flat_map(|prompt| [(&prompt["title"], 1..=75), (&prompt["message"], 1..=2000)]),
    );
    for (text, range) in texts {
        let text = text.as_str().unwrap();
        assert!(range.contains(&text.chars().count()), "{text}");
    }
}
