//! Which part of the workspace answers which method.

use serde_json::Value;

use crate::state::args::Args;
use crate::state::error::SlackError;
use crate::state::model::Workspace;
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
            "users" | "usergroups" | "team" | "bots" => self.call_people(app, name, args),
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
            "conversations.invite" => self.conversations_invite(app, args, now),
            "conversations.create" => self.conversations_create(app, args, now),
            "conversations.archive" => self.conversations_archive(app, args, now),
            _ => Err(unknown(name)),
        }
    }

    fn call_people(&self, app: &str, name: &str, args: &Args) -> Result<Value, SlackError> {
        match name {
            "bots.info" => self.bots_info(app, args),
            "team.info" => Ok(self.team_info()),
            "users.info" => self.users_info(args),
            "users.list" => self.users_list(args),
            "users.lookupByEmail" => self.users_lookup_by_email(args),
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
            "assistant.threads.setSuggestedPrompts" => self.assistant_set_prompts(app, args),
            "agents.sessions.setStatus" => self.agents_set_status(app, args),
            _ => Err(unknown(name)),
        }
    }

    fn call_rest(&mut self, app: &str, name: &str, args: &Args, now: Timestamp) -> Result<Value, SlackError> {
        match name {
            "auth.test" => self.auth_test(app),
            "apps.event.authorizations.list" => self.authorizations_list(app, args),
            "reactions.add" => self.reactions_add(app, args, now),
            "reactions.remove" => self.reactions_remove(app, args, now),
            "reactions.get" => self.reactions_get(app, args),
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
