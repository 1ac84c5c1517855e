//! Installing a further app: a bot of anybody's beside the one that is there from the start.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::channel::Kind;
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, seconds};
use crate::state::seed::add_app;
use ghost_base::Timestamp;

/// How many apps there may be.
const MAX_APPS: usize = 50;
/// How long a name may be.
const MAX_NAME_LEN: usize = 35;
/// How long a command may be, with its slash.
const MAX_COMMAND_LEN: usize = 32;

impl Workspace {
    /// Installs an app, brings its bot into channels, and returns what a program needs to be that app.
    pub(crate) fn install(&mut self, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        if self.apps.len() >= MAX_APPS {
            return Err(SlackError::new("too_many_apps"));
        }
        let name = args.need("name")?;
        let handle = handle(&name).ok_or_else(|| SlackError::new("invalid_name"))?;
        let taken = |word: &str| {
            self.user_named(word).is_ok() || self.groups.iter().any(|group| group.handle == handle)
        };
        if taken(&name) || taken(&handle) {
            return Err(SlackError::new("name_taken"));
        }
        let command = args.text("command").unwrap_or_else(|| {
            let cut: String = handle.chars().take(MAX_COMMAND_LEN - 1).collect();
            format!("/{}", cut.trim_end_matches('-'))
        });
        if !is_command(&command) {
            return Err(SlackError::new("invalid_command"));
        }
        if self.apps.iter().any(|app| app.command == command) {
            return Err(SlackError::new("command_taken"));
        }
        let channels = self.rooms_for(args)?;
        let (id, bot_id, user) = (self.id("A"), self.id("B"), self.id("U"));
        add_app(self, &id, &bot_id, &user, &name, true, seconds(now));
        if let Some(bot) = self.users.get_mut(&user) {
            bot.name = handle;
        }
        if let Some(app) = self.apps.last_mut() {
            app.command = command;
        }
        for channel in &channels {
            self.admit(channel, &user, None, now)?;
        }
        self.notice(Notice::of("all"));
        let app = self.app(&id)?;
        Ok(json!({
            "ok": true, "id": app.id, "name": app.name, "bot_id": app.bot_id, "bot_user_id": app.bot_user,
            "command": app.command, "bot_token": app.bot_token, "app_token": app.app_token,
            "signing_secret": app.signing_secret, "channels": channels,
        }))
    }

    /// The channels that are named; where none are, those of the app that was there first.
    fn rooms_for(&self, args: &Args) -> Result<Vec<String>, SlackError> {
        let rooms = self.channels.values().filter(|place| matches!(place.kind, Kind::Public | Kind::Private));
        if !args.0.contains_key("channels") {
            let first = self.apps.first().map(|app| app.bot_user.as_str()).unwrap_or_default();
            return Ok(rooms
                .filter(|place| place.members.contains(first))
                .map(|place| place.id.clone())
                .collect());
        }
        let find = |name: &String| {
            let bare = name.trim_start_matches('#');
            let room = rooms.clone().find(|place| place.id == bare || place.name == bare);
            room.map(|place| place.id.clone()).ok_or_else(|| SlackError::new("channel_not_found"))
        };
        args.names("channels").iter().map(find).collect()
    }
}

/// The name that is typed behind an at sign; nothing where no letter and no digit is left.
fn handle(name: &str) -> Option<String> {
    if name.chars().count() > MAX_NAME_LEN || name.chars().any(char::is_control) {
        return None;
    }
    let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let words: String = name.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join("-"))
}

fn is_command(command: &str) -> bool {
    let fits = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || "-_".contains(char);
    let word = command.strip_prefix('/').unwrap_or_default();
    !word.is_empty() && command.len() <= MAX_COMMAND_LEN && word.chars().all(fits)
}
