//! Pressing, choosing and typing in a message, a modal or a Home tab.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::block::find;
use crate::state::error::SlackError;
use crate::state::field::action;
use crate::state::field::state_of;
use crate::state::interaction::{Interaction, Post, channel_name};
use crate::state::model::{Workspace, stamp};
use crate::state::user::set;
use ghost_base::Timestamp;

/// Where a person uses an element.
pub(crate) struct ElementTarget {
    pub(crate) app: String,
    /// The blocks in which the element can be: first those of the message or view, then those of each attachment.
    pub(crate) blocks: Vec<Value>,
    /// What a payload says of the place.
    pub(crate) place: Vec<(&'static str, Value)>,
    /// The message: its conversation, its name, the thread that it is in.
    message: Option<(String, String, Option<String>)>,
}

impl Workspace {
    /// A person presses something.
    pub(crate) fn press(&mut self, args: &Args, now: Timestamp) -> Result<Interaction, SlackError> {
        let user = self.user_named(&args.need("user")?)?.id.clone();
        let name = args.need("action_id")?;
        let spot = self.spot(&user, args)?;
        let (block, value) = (args.text("block_id"), args.text("value"));
        let found = spot.blocks.iter().enumerate().find_map(|(at, blocks)| {
            find(blocks, block.as_deref(), &name, value.as_deref()).map(|found| (at, blocks, found))
        });
        let (at, blocks, (block, element)) = found.ok_or_else(|| SlackError::new("action_not_found"))?;
        let pressed = action(element, &block, args.0.get("value"), &stamp(now))?;
        let state = state_of(blocks, args)?;
        let (mut payload, trigger) = self.payload("block_actions", &spot.app, &user, now)?;
        for (name, value) in spot.place {
            set(&mut payload, name, value);
        }
        if let Some((channel, ts, thread)) = &spot.message {
            let url = self.hook(&spot.app, &user, channel, Some(ts), thread.as_deref(), "actions", now);
            set(&mut payload, "response_url", json!(url));
            set(&mut payload, "state", json!({"values": state}));
        }
        if let Some(container) = payload.get_mut("container").filter(|_| at > 0) {
            set(container, "type", json!("message_attachment"));
            set(container, "attachment_id", json!(at));
            set(container, "is_app_unfurl", json!(false));
        }
        set(&mut payload, "actions", json!([pressed]));
        Ok(Interaction { app: spot.app, post: Post::Interactive, payload, trigger })
    }

    /// Finds the place that a call names: a view, or a message.
    pub(crate) fn spot(&self, user: &str, args: &Args) -> Result<ElementTarget, SlackError> {
        match args.text("view_id") {
            Some(view) => self.spot_in_view(user, &view, args),
            None => self.spot_in_message(user, args),
        }
    }

    fn spot_in_message(&self, user: &str, args: &Args) -> Result<ElementTarget, SlackError> {
        let channel = self.seen_by(user, &args.need("channel")?)?;
        let ts = args.need("ts")?;
        let (place, message) = self.at(&channel, &ts)?;
        if message.only_for.as_ref().is_some_and(|only| only != user) {
            return Err(SlackError::new("message_not_found"));
        }
        let attachments = message.attachments.as_ref().and_then(Value::as_array).into_iter().flatten();
        let blocks = std::iter::once(message.blocks.as_ref()).chain(attachments.map(|one| one.get("blocks")));
        let blocks: Vec<Value> = blocks.map(|blocks| blocks.cloned().unwrap_or(Value::Null)).collect();
        let app = message.app.clone().ok_or_else(|| SlackError::new("action_not_found"))?;
        let hidden = message.only_for.is_some();
        let thread = message.thread_ts.clone();
        let mut container =
            json!({"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": hidden});
        if let Some(thread) = &thread {
            set(&mut container, "thread_ts", json!(thread));
        }
        let mut fields =
            vec![("container", container), ("channel", json!({"id": channel, "name": channel_name(place)}))];
        // The body of an ephemeral message is not sent.
        if !hidden {
            fields.push(("message", self.look(message, true)));
        }
        Ok(ElementTarget { app, blocks, place: fields, message: Some((channel, ts, thread)) })
    }

    fn spot_in_view(&self, user: &str, id: &str, args: &Args) -> Result<ElementTarget, SlackError> {
        let mut open = self.modals.values().flatten().chain(self.homes.values());
        let view = open.find(|view| view.id == id && view.user == user);
        let mut view = view.ok_or_else(|| SlackError::new("view_not_found"))?.clone();
        let blocks = view.body.get("blocks").cloned().unwrap_or(Value::Null);
        let mut state = state_of(&blocks, args)?;
        self.name_files(&mut state);
        view.state = Value::Object(state);
        let place =
            vec![("container", json!({"type": "view", "view_id": view.id})), ("view", view.form(self))];
        Ok(ElementTarget { app: view.app, blocks: vec![blocks], place, message: None })
    }
}
