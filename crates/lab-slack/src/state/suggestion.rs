//! Menus whose options come from the app while a person types.

use serde_json::{Value, json};

use crate::block::validate_options;
use crate::state::args::Args;
use crate::state::block::find;
use crate::state::error::SlackError;
use crate::state::interaction::{Interaction, Post};
use crate::state::model::{Workspace, text_of};
use crate::state::user::set;
use ghost_base::Timestamp;

/// How much has to be typed where the menu does not say.
const DEFAULT_MIN_QUERY_LEN: u64 = 3;

impl Workspace {
    /// A person types into a menu; nothing to ask where it is too little.
    pub(crate) fn suggest(&mut self, args: &Args, now: Timestamp) -> Result<Option<Interaction>, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let name = args.need("action_id")?;
        let typed = args.text("value").unwrap_or_default();
        let spot = self.spot(&user, args)?;
        let found = spot
            .blocks
            .iter()
            .find_map(|blocks| find(blocks, args.text("block_id").as_deref(), &name, None))
            .filter(|(_, element)| text_of(element, "type").ends_with("external_select"));
        let (block, element) = found.ok_or_else(|| SlackError::new("action_not_found"))?;
        let least = element.get("min_query_length").and_then(Value::as_u64).unwrap_or(DEFAULT_MIN_QUERY_LEN);
        if u64::try_from(typed.chars().count()).unwrap_or(u64::MAX) < least {
            return Ok(None);
        }
        let (mut payload, trigger) = self.payload("block_suggestion", &spot.app, &user, now)?;
        // It is answered at once or not at all: it opens nothing.
        if let Some(map) = payload.as_object_mut() {
            map.remove("trigger_id");
        }
        set(&mut payload, "action_id", json!(name));
        set(&mut payload, "block_id", json!(block));
        set(&mut payload, "value", json!(typed));
        for (name, value) in spot.place {
            set(&mut payload, name, value);
        }
        Ok(Some(Interaction { app: spot.app, post: Post::Interactive, payload, trigger }))
    }
}

/// Reads the options that the app offers, in the form that a person gets.
pub(crate) fn offered(answer: &Value) -> Result<Value, SlackError> {
    validate_options(answer).map_err(|problems| {
        SlackError::new("invalid_options").messages(problems.iter().map(ToString::to_string))
    })?;
    let name = if answer.get("option_groups").is_some() { "option_groups" } else { "options" };
    let mut said = json!({"ok": true});
    set(&mut said, name, answer.get(name).cloned().unwrap_or_else(|| json!([])));
    Ok(said)
}
