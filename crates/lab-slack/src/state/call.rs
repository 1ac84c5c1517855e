//! Which part of the workspace answers which method.

use serde_json::Value;

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::model::Workspace;
use crate::state::validate::blocks_validate;
use ghost_base::Timestamp;

impl Workspace {
    /// Answers a call of an app whose token was checked.
    pub(crate) fn call(
        &mut self,
        app: &str,
        name: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        let (family, _) = name.split_once('.').unwrap_or((name, ""));
        match family {
            "chat" => self.call_chat(app, name, args, now),
            "conversations" => self.call_conversations(app, name, args, now),
            "users" | "usergroups" | "team" | "bots" | "dnd" | "emoji" => {
                self.call_people(app, name, args, now)
            }
            "assistant" | "agents" => self.call_agent(app, name, args, now),
            _ => self.call_rest(app, name, args, now),
        }
    }

    fn call_chat(&mut self, app: &str, name: &str, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        match name {
            "chat.postMessage" => self.chat_post_message(app, args, now),
            "chat.postEphemeral" => self.chat_post_ephemeral(app, args, now),
            "chat.update" => self.chat_update(app, args, now),
            "chat.delete" => self.chat_delete(app, args, now),
            "chat.getPermalink" => self.chat_get_permalink(app, args),
            "chat.scheduleMessage" => self.chat_schedule_message(app, args, now),
            "chat.scheduledMessages.list" => self.chat_scheduled_messages(app, args),
            "chat.deleteScheduledMessage" => self.chat_delete_scheduled(app, args, now),
            "chat.unfurl" => self.chat_unfurl(app, args, now),
            "chat.startStream" => self.chat_start_stream(app, args, now),
            "chat.appendStream" => self.chat_append_stream(app, args, now),
            "chat.stopStream" => self.chat_stop_stream(app, args, now),
            _ => Err(unknown(name)),
        }
    }

    fn call_conversations(
        &mut self,
        app: &str,
        name: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        match name {
            "conversations.list" => self.conversations_list(app, args),
            "conversations.info" => self.conversations_info(app, args),
            "conversations.history" => self.conversations_history(app, args),
            "conversations.replies" => self.conversations_replies(app, args),
            "conversations.members" => self.conversations_members(app, args),
            "conversations.open" => self.conversations_open(app, args, now),
            "conversations.join" => self.conversations_join(app, args, now),
            "conversations.invite" => self.conversations_invite(app, args, now),
            "conversations.create" => self.conversations_create(app, args, now),
            "conversations.rename" => self.conversations_rename(app, args, now),
            "conversations.archive" => self.conversations_archive(app, args, true, now),
            "conversations.unarchive" => self.conversations_archive(app, args, false, now),
            "conversations.setTopic" => self.conversations_set_topic(app, args, now),
            "conversations.setPurpose" => self.conversations_set_purpose(app, args, now),
            "conversations.leave" => self.conversations_leave(app, args, now),
            "conversations.kick" => self.conversations_kick(app, args, now),
            "conversations.mark" => self.conversations_mark(app, args),
            _ => Err(unknown(name)),
        }
    }

    fn call_people(&self, app: &str, name: &str, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        match name {
            "bots.info" => self.bots_info(app, args),
            "dnd.info" => self.dnd_info(args),
            "dnd.teamInfo" => self.dnd_team_info(args),
            "emoji.list" => Ok(Self::emoji_list(now)),
            "team.info" => Ok(self.team_info()),
            "users.conversations" => self.users_conversations(app, args),
            "users.getPresence" => self.users_presence(app, args),
            "users.info" => self.users_info(args),
            "users.list" => self.users_list(args),
            "users.lookupByEmail" => self.users_lookup_by_email(args),
            "users.profile.get" => self.users_profile_get(args, &self.app(app)?.bot_user),
            "usergroups.list" => Ok(self.usergroups_list(args)),
            "usergroups.users.list" => self.usergroups_users_list(args),
            _ => Err(unknown(name)),
        }
    }

    fn call_agent(
        &mut self,
        app: &str,
        name: &str,
        args: &Args,
        now: Timestamp,
    ) -> Result<Value, SlackError> {
        match name {
            "assistant.threads.setStatus" => self.assistant_set_status(app, args, now),
            "assistant.threads.setTitle" => self.assistant_set_title(app, args),
            "assistant.threads.setSuggestedPrompts" => self.assistant_set_prompts(app, args),
            "agents.sessions.setStatus" => self.agents_set_status(app, args),
            "agents.sessions.rename" => self.agents_rename(app, args),
            _ => Err(unknown(name)),
        }
    }

    fn call_rest(&mut self, app: &str, name: &str, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        match name {
            "auth.test" => self.auth_test(app),
            "apps.event.authorizations.list" => self.authorizations_list(app, args),
            "blocks.validate" => blocks_validate(args),
            "bookmarks.add" => self.bookmarks_add(app, args, now),
            "bookmarks.list" => self.bookmarks_list(app, args),
            "bookmarks.remove" => self.bookmarks_remove(app, args),
            "pins.add" => self.pins_add(app, args, now),
            "pins.list" => self.pins_list(app, args),
            "pins.remove" => self.pins_remove(app, args, now),
            "reactions.add" => self.reactions_add(app, args, now),
            "reactions.remove" => self.reactions_remove(app, args, now),
            "reactions.get" => self.reactions_get(app, args),
            "reactions.list" => self.reactions_list(app, args),
            "views.open" => self.views_open(app, args, now),
            "views.push" => self.views_push(app, args, now),
            "views.update" => self.views_update(app, args, now),
            "views.publish" => self.views_publish(app, args, now),
            "files.getUploadURLExternal" => self.files_get_upload_url(app, args, now),
            "files.completeUploadExternal" => self.files_complete_upload(app, args, now),
            "files.info" => self.files_info(args),
            "files.list" => self.files_list(app, args),
            "files.delete" => self.files_delete(app, args, now),
            _ => Err(unknown(name)),
        }
    }
}

fn unknown(name: &str) -> SlackError {
    SlackError::new("unknown_method").beside("req_method", name)
}
