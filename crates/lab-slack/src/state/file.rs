//! `files.*`: the upload in three steps, and what became of it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::block::{Content, Method, accept_message};
use crate::state::args::Args;
use crate::state::channel::{Kind, Message};
use crate::state::error::SlackError;
use crate::state::model::{Workspace, seconds, stamp, text_of};
use ghost_base::Timestamp;

/// A file. Its bytes lie elsewhere, under its id.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct File {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) title: String,
    /// What a screen reader says of it.
    #[serde(default)]
    pub(crate) alt: String,
    pub(crate) size: u64,
    pub(crate) user: String,
    pub(crate) app: Option<String>,
    pub(crate) created: i64,
    /// What the address of the upload ends in.
    pub(crate) ticket: String,
    /// Whether the bytes came.
    pub(crate) uploaded: bool,
    /// Whether the third step was done.
    pub(crate) complete: bool,
    /// Where it was shared: the conversation, the message, the root above it.
    pub(crate) shares: Vec<(String, String, Option<String>)>,
}

/// The type of a file by the ending of its name: MIME, Slack's word, and Slack's words for people.
fn kind(name: &str) -> (&'static str, &'static str, &'static str) {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "png" => ("image/png", "png", "PNG"),
        "jpg" | "jpeg" => ("image/jpeg", "jpg", "JPEG"),
        "gif" => ("image/gif", "gif", "GIF"),
        "webp" => ("image/webp", "webp", "WebP"),
        "md" => ("text/markdown", "markdown", "Markdown (raw)"),
        "json" | "jsonl" => ("application/json", "json", "JSON"),
        "csv" => ("text/csv", "csv", "CSV"),
        "txt" | "log" => ("text/plain", "text", "Plain Text"),
        "pdf" => ("application/pdf", "pdf", "PDF"),
        _ => ("application/octet-stream", "binary", "Binary"),
    }
}

impl File {
    /// The MIME type.
    pub(crate) fn mimetype(&self) -> &'static str {
        kind(&self.name).0
    }

    /// The file in Slack's form.
    pub(crate) fn form(&self, workspace: &Workspace) -> Value {
        let (mimetype, filetype, pretty) = kind(&self.name);
        let place = format!("{}/files-pri/{}-{}", workspace.base, workspace.team.id, self.id);
        let channels: Vec<&String> = self.shares.iter().map(|(channel, _, _)| channel).collect();
        let public: serde_json::Map<String, Value> = self
            .shares
            .iter()
            .map(|(channel, ts, root)| {
                let mut share =
                    json!({"ts": ts, "team_id": workspace.team.id, "reply_users": [], "reply_count": 0});
                if let (Some(root), Some(map)) = (root, share.as_object_mut()) {
                    map.insert("thread_ts".to_owned(), json!(root));
                }
                (channel.clone(), json!([share]))
            })
            .collect();
        let mut form = json!({
            "id": self.id, "created": self.created, "timestamp": self.created, "name": self.name,
            "title": self.title, "mimetype": mimetype, "filetype": filetype, "pretty_type": pretty,
            "user": self.user, "user_team": workspace.team.id, "editable": false, "size": self.size,
            "mode": "hosted", "is_external": false, "external_type": "", "is_public": !self.shares.is_empty(),
            "public_url_shared": false, "display_as_bot": false, "username": "", "url_private": format!("{place}/{}", escaped(&self.name)),
            "url_private_download": format!("{place}/download/{}", escaped(&self.name)),
            "permalink": format!("{}/files/{}/{}/{}", workspace.base, self.user, self.id, escaped(&self.name)),
            "is_starred": false, "has_rich_preview": false, "file_access": "visible", "comments_count": 0,
            "channels": channels, "groups": [], "ims": [], "shares": {"public": public},
        });
        if let Some(bot) = self.app.as_ref().and_then(|id| workspace.app(id).ok())
            && let Some(map) = form.as_object_mut()
        {
            map.insert("bot_id".to_owned(), json!(bot.bot_id));
        }
        if let Some(map) = form.as_object_mut().filter(|_| !self.alt.is_empty()) {
            map.insert("alt_txt".to_owned(), json!(self.alt));
        }
        form
    }
}

/// A name as it may stand in an address.
fn escaped(name: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_');
    name.chars().map(|char| if plain(char) { char.to_ascii_lowercase() } else { '_' }).collect()
}

/// How large a file may be here.
pub(crate) const MAX_FILE_BYTES: u64 = 64 << 20;

impl Workspace {
    /// `files.getUploadURLExternal`
    pub(crate) fn files_get_upload_url(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let name = args.need("filename")?;
        let size = args.number("length").ok_or_else(|| SlackError::missing("length"))?;
        if size == 0 || size > MAX_FILE_BYTES {
            return Err(SlackError::new("invalid_arguments"));
        }
        self.forget_unfinished(now);
        if !self.fits(size) {
            return Err(SlackError::new("storage_limit_reached"));
        }
        let id = self.begin_file(&name, size, &bot, Some(app), now);
        if let Some(file) = self.files.get_mut(&id) {
            file.alt = args.text("alt_txt").unwrap_or_default();
        }
        let ticket = self.files.get(&id).map(|file| file.ticket.clone()).unwrap_or_default();
        Ok(json!({"ok": true, "upload_url": format!("{}/upload/v1/{ticket}", self.base), "file_id": id}))
    }

    /// Notes a file whose bytes are to come.
    pub(crate) fn begin_file(
        &mut self,
        name: &str,
        size: u64,
        user: &str,
        app: Option<&str>,
        now: Timestamp,
    ) -> String {
        let (id, ticket) = (self.id("F"), self.unguessable());
        let file = File {
            id: id.clone(),
            name: name.to_owned(),
            title: name.to_owned(),
            alt: String::new(),
            size,
            user: user.to_owned(),
            app: app.map(str::to_owned),
            created: seconds(now),
            ticket,
            uploaded: false,
            complete: false,
            shares: Vec::new(),
        };
        self.files.insert(id.clone(), file);
        id
    }

    /// Notes that the bytes of a ticket came; returns the id under which they are kept.
    pub(crate) fn bytes_came(&mut self, ticket: &str, size: u64) -> Result<String, SlackError> {
        let file = self.files.values().find(|file| file.ticket == ticket && !file.complete);
        let file = file.ok_or_else(|| SlackError::new("file_not_found"))?;
        let (id, promised) = (file.id.clone(), file.size);
        if size > promised && !self.fits(size - promised) {
            return Err(SlackError::new("storage_limit_reached"));
        }
        if let Some(file) = self.files.get_mut(&id) {
            (file.uploaded, file.size) = (true, size);
        }
        Ok(id)
    }

    /// `files.completeUploadExternal`
    pub(crate) fn files_complete_upload(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let list = args.json("files", "invalid_arguments")?.ok_or_else(|| SlackError::missing("files"))?;
        let list = list
            .as_array()
            .filter(|list| !list.is_empty())
            .ok_or_else(|| SlackError::missing("files"))?
            .clone();
        let mut ids = Vec::new();
        for item in &list {
            let id = text_of(item, "id");
            let file = self.files.get(id).filter(|file| file.app.as_deref() == Some(app));
            let file = file.ok_or_else(|| SlackError::new("file_not_found"))?;
            if !file.uploaded {
                return Err(SlackError::new("file_not_found"));
            }
            if file.complete {
                return Err(SlackError::new("file_update_failed"));
            }
            ids.push(id.to_owned());
        }
        let mut channels = args.names("channels");
        channels.extend(args.text("channel_id"));
        let mut places = Vec::new();
        for channel in &channels {
            places.push(self.place_to_speak(app, channel, now)?);
        }
        let comment = args.text("initial_comment").unwrap_or_default();
        let blocks = if comment.is_empty() { args.json("blocks", "invalid_blocks_format")? } else { None };
        if let Some(blocks) = &blocks {
            accept_message(Content { blocks: Some(blocks), ..Content::default() }, Method::Post)?;
        }
        for (item, id) in list.iter().zip(&ids) {
            if let Some(file) = self.files.get_mut(id) {
                file.complete = true;
                if let Some(title) =
                    item.get("title").and_then(Value::as_str).filter(|title| !title.is_empty())
                {
                    file.title = title.to_owned();
                }
            }
        }
        let bot = self.app(app)?.bot_user.clone();
        for place in &places {
            let message = Message {
                user: bot.clone(),
                app: Some(app.to_owned()),
                text: comment.clone(),
                blocks: blocks.clone(),
                thread_ts: args.text("thread_ts"),
                files: ids.clone(),
                ..Message::default()
            };
            self.share(place, message, now)?;
        }
        let files: Vec<Value> =
            ids.iter().filter_map(|id| self.files.get(id)).map(|file| file.form(self)).collect();
        Ok(json!({"ok": true, "files": files}))
    }

    /// Posts a message with files, and tells of each.
    pub(crate) fn share(
        &mut self,
        place: &str,
        message: Message,
        now: Timestamp,
    ) -> Result<String, SlackError> {
        let (ids, user, root) = (message.files.clone(), message.user.clone(), message.thread_ts.clone());
        let ts = self.post(place, message, now)?;
        for id in ids {
            if self.files.get(&id).is_some_and(|file| file.shares.is_empty()) {
                let event = json!({
                    "type": "file_created", "file_id": id, "user_id": user, "file": {"id": id},
                    "event_ts": stamp(now),
                });
                self.notify_members(place, &event, now);
            }
            if let Some(file) = self.files.get_mut(&id) {
                file.shares.push((place.to_owned(), ts.clone(), root.clone()));
            }
            let event = json!({
                "type": "file_shared", "file_id": id, "user_id": user, "file": {"id": id}, "channel_id": place,
                "event_ts": stamp(now),
            });
            self.notify_members(place, &event, now);
        }
        Ok(ts)
    }

    /// `files.info`
    pub(crate) fn files_info(&self, args: &Args) -> Result<Value, SlackError> {
        let file = self.files.get(&args.need("file")?).filter(|file| file.complete);
        let file = file.ok_or_else(|| SlackError::new("file_not_found"))?;
        Ok(
            json!({"ok": true, "file": file.form(self), "comments": [], "response_metadata": {"next_cursor": ""}}),
        )
    }

    /// `files.list`
    pub(crate) fn files_list(&self, app: &str, args: &Args) -> Result<Value, SlackError> {
        let bot = self.app(app)?.bot_user.clone();
        let user = args.text("user");
        user.as_ref().map(|user| self.user(user)).transpose()?;
        let types = args.names("types");
        let known = ["all", "spaces", "snippets", "images", "gdocs", "zips", "pdfs"];
        if types.iter().any(|word| !known.contains(&word.as_str())) {
            return Err(SlackError::new("unknown_type"));
        }
        let wanted = |file: &File| {
            let images = file.mimetype().starts_with("image/");
            types.is_empty()
                || types.iter().any(|word| match word.as_str() {
                    "all" => true,
                    "images" => images,
                    "pdfs" => file.mimetype() == "application/pdf",
                    _ => false,
                })
        };
        let inside = |channel: &String| {
            self.channels
                .get(channel)
                .is_some_and(|place| place.kind == Kind::Public || place.members.contains(&bot))
        };
        let edge = |name: &str| args.text(name).and_then(|text| text.parse::<f64>().ok());
        let (from, to) = (edge("ts_from").unwrap_or(0.0), edge("ts_to").unwrap_or(f64::MAX));
        let mut found: Vec<&File> = self
            .files
            .values()
            .filter(|file| file.complete && wanted(file))
            .filter(|file| {
                file.app.as_deref() == Some(app) || file.shares.iter().any(|(channel, _, _)| inside(channel))
            })
            .filter(|file| user.as_ref().is_none_or(|user| *user == file.user))
            .filter(|file| {
                args.text("channel").is_none_or(|channel| file.shares.iter().any(|share| share.0 == channel))
            })
            .filter(|file| i32::try_from(file.created).is_ok_and(|at| (from..=to).contains(&f64::from(at))))
            .collect();
        found.sort_by(|one, other| (other.created, &other.id).cmp(&(one.created, &one.id)));
        let number = |name: &str, or: u64| args.number(name).filter(|number| *number > 0).unwrap_or(or);
        let (count, page) = (number("count", 100).min(200), number("page", 1));
        let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
        let skipped = usize::try_from((page - 1).saturating_mul(count)).unwrap_or(usize::MAX);
        let shown = found.into_iter().skip(skipped).take(usize::try_from(count).unwrap_or(100));
        let files: Vec<Value> = shown.map(|file| file.form(self)).collect();
        let paging = json!({"count": count, "total": total, "page": page, "pages": total.div_ceil(count)});
        Ok(json!({"ok": true, "files": files, "paging": paging}))
    }

    /// `files.delete`; returns the answer, and the bytes go with the entry.
    pub(crate) fn files_delete(
        &mut self,
        app: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let id = args.need("file")?;
        let file = self.files.get(&id).ok_or_else(|| SlackError::new("file_not_found"))?;
        if file.app.as_deref() != Some(app) {
            return Err(SlackError::new("cant_delete_file"));
        }
        let shares = file.shares.clone();
        self.drop_file(&id);
        let mut places: Vec<String> = Vec::new();
        for (channel, ts, _) in shares {
            drop(self.edit(&channel, &ts, now, |message| message.files.retain(|file| *file != id)));
            if !places.contains(&channel) {
                places.push(channel);
            }
        }
        let event = json!({"type": "file_deleted", "file_id": id, "event_ts": stamp(now)});
        for place in places {
            self.notify_members(&place, &event, now);
        }
        Ok(json!({"ok": true}))
    }

    fn drop_file(&mut self, id: &str) {
        if self.files.remove(id).is_some() {
            self.gone.push(id.to_owned());
        }
    }

    /// Forgets uploads that were begun long ago and never came to an end.
    fn forget_unfinished(&mut self, now: Timestamp) {
        const AN_HOUR: i64 = 60 * 60;
        let late = |file: &&File| !file.complete && file.created < seconds(now) - AN_HOUR;
        let ids: Vec<String> = self.files.values().filter(late).map(|file| file.id.clone()).collect();
        ids.iter().for_each(|id| self.drop_file(id));
    }
}
