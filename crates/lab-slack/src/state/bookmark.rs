//! `bookmarks.*`: links above a conversation.

use serde_json::{Value, json};

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::event::Notice;
use crate::state::model::{Workspace, seconds, text_of};
use ghost_base::Timestamp;

/// How many a conversation can have.
const MOST: usize = 100;

impl Workspace {
    /// `bookmarks.add`
    pub(crate) fn bookmarks_add(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel_id")?)?;
        let title = args.need("title")?;
        if args.need("type")? != "link" {
            return Err(SlackError::new("invalid_bookmark_type"));
        }
        let link = args.text("link").unwrap_or_default();
        if !link.starts_with("http://") && !link.starts_with("https://") {
            return Err(SlackError::new("invalid_link"));
        }
        if self.channel(&channel)?.bookmarks.len() >= MOST {
            return Err(SlackError::new("too_many_bookmarks"));
        }
        let bookmark = json!({
            "id": self.id("Bk"), "channel_id": channel, "title": title, "link": link, "emoji": args.text("emoji"),
            "icon_url": null, "type": "link", "entity_id": null, "date_created": seconds(now), "date_updated": 0,
            "rank": "g", "last_updated_by_user_id": self.app(app)?.bot_user, "last_updated_by_team_id": self.team.id,
            "shortcut_id": null, "app_id": app,
        });
        self.channel_mut(&channel)?.bookmarks.push(bookmark.clone());
        self.notice(Notice::of("channel").in_channel(&channel));
        Ok(json!({"ok": true, "bookmark": bookmark}))
    }

    /// `bookmarks.list`
    pub(crate) fn bookmarks_list(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel_id")?)?;
        Ok(json!({"ok": true, "bookmarks": self.channel(&channel)?.bookmarks}))
    }

    /// `bookmarks.remove`
    pub(crate) fn bookmarks_remove(&mut self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let channel = self.place_to_read(app, &args.need("channel_id")?)?;
        let id = args.need("bookmark_id")?;
        let bookmarks = &mut self.channel_mut(&channel)?.bookmarks;
        let before = bookmarks.len();
        bookmarks.retain(|bookmark| text_of(bookmark, "id") != id);
        if bookmarks.len() == before {
            return Err(SlackError::new("not_found"));
        }
        self.notice(Notice::of("channel").in_channel(&channel));
        Ok(json!({"ok": true}))
    }
}
