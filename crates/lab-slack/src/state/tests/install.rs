//! Facts about apps that are installed beside the first.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::state::app::App;
use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::event::Effect;
use crate::state::model::text_of;
use crate::state::tests::stage::{GHOST, NETWORK, Stage};

impl Stage {
    fn installs(&mut self, args: Value) -> Result<Value, SlackError> {
        let now = self.time();
        self.workspace.install(&Args::of(args), now)
    }

    /// Returns the apps that receive events of this type.
    fn events_for(&mut self, kind: &str) -> Vec<String> {
        let happenings = self.workspace.take_outbox().into_iter();
        happenings
            .filter_map(|happening| match happening {
                Effect::Event { app, payload } if text_of(&payload["event"], "type") == kind => Some(app),
                Effect::Event { .. } | Effect::Notice(_) => None,
            })
            .collect()
    }
}

#[test]
fn an_installed_app_hears_what_is_said_where_it_is_and_is_called_by_its_handle() {
    let mut stage = Stage::new();
    let app = stage.installs(json!({"name": "Deploy Bot", "channels": ["#general", NETWORK]})).unwrap();
    let id = text_of(&app, "id").to_owned();
    assert_eq!((&app["command"], &app["channels"]), (&json!("/deploy-bot"), &json!(["C0LAB1GENE", NETWORK])));
    stage.says("alice", "general", "@deploy-bot ship it");
    assert_eq!(stage.events_for("app_mention"), [id.as_str()]);
    stage.says("alice", NETWORK, "hello");
    assert_eq!(stage.events_for("message"), [GHOST, &id]);
    stage.says("alice", "ext-partner", "hello");
    assert_eq!(stage.events_for("message"), [GHOST]);
}

#[test]
fn an_app_that_names_little_goes_where_the_first_is_and_gets_a_command() {
    let mut stage = Stage::new();
    let app = stage.installs(json!({"name": "Deploy"})).unwrap();
    assert_eq!(app["channels"], json!([NETWORK, "C0LAB1GENE", "C0LAB2SECR", "C0LAB3SHAR"]));
    let long = stage.installs(json!({"name": "An application with a long name too"})).unwrap();
    assert_eq!(long["command"], "/an-application-with-a-long-name");
    let alone = stage.installs(json!({"name": "Alone", "channels": []})).unwrap();
    assert_eq!(alone["channels"], json!([]));
}

#[test]
fn every_app_has_secrets_of_its_own() {
    let mut stage = Stage::new();
    for name in ["One", "Two"] {
        stage.installs(json!({"name": name})).unwrap();
    }
    let apps = &stage.workspace.apps;
    let secrets: [fn(&App) -> &String; 4] = [
        |app| &app.bot_token,
        |app| &app.app_token,
        |app| &app.signing_secret,
        |app| &app.verification_token,
    ];
    let all: BTreeSet<&String> = apps.iter().flat_map(|app| secrets.map(|secret| secret(app))).collect();
    assert_eq!(all.len(), apps.len() * secrets.len());
}

#[test]
fn a_command_goes_to_the_app_whose_it_is() {
    let mut stage = Stage::new();
    let app = stage.installs(json!({"name": "Deploy", "command": "/ship"})).unwrap();
    let now = stage.time();
    for (text, expected) in [("/ship now", text_of(&app, "id")), ("/ghost status", GHOST), ("status", GHOST)]
    {
        let args = Args::of(json!({"user": "alice", "channel": NETWORK, "text": text}));
        assert_eq!(stage.workspace.command(&args, now).unwrap().app, expected, "{text}");
    }
}

#[test]
fn what_cannot_be_installed_changes_nothing() {
    let mut stage = Stage::new();
    let before = stage.workspace.apps.len();
    for (args, code) in [
        (json!({}), "invalid_arguments"),
        (json!({"name": "!!"}), "invalid_name"),
        (json!({"name": "x".repeat(36)}), "invalid_name"),
        (json!({"name": "a\u{7}b"}), "invalid_name"),
        (json!({"name": "Ghost"}), "name_taken"),
        (json!({"name": "A l i c e", "command": "x"}), "invalid_command"),
        (json!({"name": "@alice"}), "name_taken"),
        (json!({"name": "On Call"}), "name_taken"),
        (json!({"name": "Deploy", "command": "/"}), "invalid_command"),
        (json!({"name": "Deploy", "command": "/Ship It"}), "invalid_command"),
        (json!({"name": "Deploy", "command": "/ghost"}), "command_taken"),
        (json!({"name": "Deploy", "channels": ["general", "nowhere"]}), "channel_not_found"),
    ] {
        let refused = stage.installs(args.clone()).unwrap_err();
        assert_eq!(refused.code(), code, "{args}");
    }
    assert_eq!(stage.workspace.apps.len(), before);
}

#[test]
fn there_is_room_for_fifty_apps() {
    let mut stage = Stage::new();
    let refused = (0..100).find_map(|number| stage.installs(json!({"name": format!("app {number}")})).err());
    assert_eq!((refused.unwrap().code(), stage.workspace.apps.len()), ("too_many_apps", 50));
}
