//! The report: the answer and its files, each once.

use std::collections::BTreeSet;

use crate::bot::Thread;
use crate::bot::present::Presenter;
use crate::bot::present::gone::gone;
use crate::bot::present::render::{RenderedMessage, converted, place};
use crate::bot::show::{Message, report, stands};
use ghost_investigate::event::Delivered;
use ghost_investigate::report::{CaptureFile, capture_files, charts, markdown};
use ghost_investigate::state::{Entry, State};
use ghost_slack::arrive::IncomingMessage;
use ghost_slack::pace::Priority;
use ghost_slack::web::{Address, CallError, Posted, Upload, Web};

/// Slack's words for that it takes no files here, and will not take them in a moment either.
const NO_FILES: [&str; 6] = [
    "storage_limit_reached",
    "file_uploads_disabled",
    "file_upload_size_restricted",
    "missing_scope",
    "not_allowed",
    "restricted_action",
];

/// What stands above the files.
const FILES: &str = "The whole report, the audit trail, and what was recorded:";

/// A larger recording stays in the folder of captures; the report names it.
const MAX_FILE_BYTES: usize = 100_000_000;

/// Tells whether Slack takes no files here.
pub(in crate::bot) fn takes_no_files(error: &CallError) -> bool {
    error.code().is_some_and(|code| NO_FILES.contains(&code))
}

fn no_files(error: &CallError) -> Message {
    let why = error.code().unwrap_or_default();
    let text = format!("The files of this report could not be uploaded: Slack says {why}.");
    Message { text, blocks: Vec::new() }
}

/// Puts names in the place of ids. An id is a word of its own in what we write.
fn named(text: String, names: &[(String, String)]) -> String {
    names
        .iter()
        .fold(text, |text, (id, name)| text.replace(id.as_str(), &markdown::text(&format!("@{name}"))))
}

/// Returns the names of the people whom a session names; who cannot be looked up keeps the id.
pub(in crate::bot) async fn names_in(web: &Web, state: &State) -> Vec<(String, String)> {
    let mut ids: BTreeSet<&str> = BTreeSet::from([state.opened.requester.as_str()]);
    for approval in state.approvals.values() {
        ids.extend(approval.votes.iter().map(|vote| vote.who.as_str()));
    }
    ids.extend(state.end_request.iter().map(|(who, _)| who.as_str()));
    ids.extend(state.entries.iter().filter_map(|entry| match entry {
        Entry::Message { who, .. } => Some(who.as_str()),
        Entry::Note { .. } | Entry::Turn(_) => None,
    }));
    let is_member = |id: &&str| {
        id.len() > 6
            && id.starts_with(['U', 'W'])
            && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let web = &web.at(Priority::Report);
    let ask = ids.into_iter().filter(is_member).map(|id| async move {
        let profile = web.user(id).await.ok()?;
        Some((id.to_owned(), profile.name().to_owned()))
    });
    futures_util::future::join_all(ask).await.into_iter().flatten().collect()
}

impl Presenter {
    /// Brings the report to the thread, or directly to whoever asked where the thread takes nothing any more.
    pub(super) async fn publish(&self, state: &State, thread: &Thread) -> Result<String, CallError> {
        match self.publish_in(state, thread, self.broadcast).await {
            Err(error) => match gone(&error) {
                Some(why) => self.publish_directly(state, thread, why).await,
                None => Err(error),
            },
            done => done,
        }
    }

    /// Brings the one message of a later look that left the report as it was. The files of the report stand above.
    async fn put_line(
        &self,
        state: &State,
        thread: &Thread,
        said: &[IncomingMessage],
        message: Message,
    ) -> Result<String, CallError> {
        let what = format!("report {} part 1", state.earlier.len() + 1);
        let there = said.iter().find(|words| self.is_ours(words, state.session.as_str(), &what));
        let there = match there {
            Some(words) => Posted { channel: thread.channel.clone(), ts: words.ts.clone() },
            None => {
                let to = Address::thread(&thread.channel, &thread.ts);
                let rendered = RenderedMessage::new(state, what, &message);
                self.web.at(Priority::Report).post(&to, &rendered.message).await?
            }
        };
        Ok(place(&there))
    }

    /// Brings the report to a thread. What an attempt that was cut off brought already stays as it is.
    pub(super) async fn publish_in(
        &self,
        state: &State,
        thread: &Thread,
        broadcast: bool,
    ) -> Result<String, CallError> {
        let fresh = self.take_fresh(state, Delivered::REPORT);
        let said = if fresh { Vec::new() } else { self.said(thread).await? };
        let number = state.earlier.len() + 1;
        if let Some(message) = stands(state) {
            return self.put_line(state, thread, &said, message).await;
        }
        let mut drawn = report(state, &self.context(state), state.last_at);
        let names = names_in(&self.web, state).await;
        for file in drawn.files.iter_mut().filter(|file| file.name.ends_with(".md")) {
            let text = String::from_utf8_lossy(&file.bytes).into_owned();
            file.bytes = named(text, &names).into_bytes();
        }
        let web = self.web.at(Priority::Report);
        let to = Address::thread(&thread.channel, &thread.ts);
        let what = format!("report {number} part 1");
        let there = said.iter().find(|words| self.is_ours(words, state.session.as_str(), &what));
        let there = match there {
            Some(words) => Posted { channel: thread.channel.clone(), ts: words.ts.clone() },
            None => web.post(&to, &RenderedMessage::new(state, what, &drawn.answer).message).await?,
        };
        let what = format!("report {number} before");
        if !said.iter().any(|words| self.is_ours(words, state.session.as_str(), &what))
            && let Some(hint) = self.recall(state, thread).await
        {
            web.post(&to, &RenderedMessage::new(state, what, &hint).message).await?;
        }
        let what = format!("report {number} runbooks");
        if !said.iter().any(|words| self.is_ours(words, state.session.as_str(), &what))
            && let Some(notes) = self.runbooks_about(state).await
        {
            web.post(&to, &RenderedMessage::new(state, what, &notes).message).await?;
        }
        let title = |title: &str| if number > 1 { format!("{title} ({number})") } else { title.to_owned() };
        let mut files: Vec<Upload> = drawn
            .files
            .into_iter()
            .map(|file| Upload {
                name: file.name,
                title: title(&file.title),
                alt: file.alt,
                bytes: file.bytes,
            })
            .collect();
        if let Some(bytes) = (self.trail)(&state.session).filter(|bytes| !bytes.is_empty()) {
            let name = "audit.jsonl".to_owned();
            // The pictures are large, and come last.
            files.insert(
                1.min(files.len()),
                Upload {
                    name,
                    title: title("The audit trail"),
                    alt: Some("Every command and decision of this session, as JSON lines".to_owned()),
                    bytes,
                },
            );
        }
        let wanted = |file: &CaptureFile| self.attach_captures || !file.is_recording;
        files.extend(capture_files(state).into_iter().filter(wanted).filter_map(|file| {
            let bytes = (self.pictures)(&file.file).filter(|bytes| bytes.len() <= MAX_FILE_BYTES)?;
            Some(Upload { name: file.file, title: title(&file.title), alt: Some(file.alt), bytes })
        }));
        files.extend(charts(state).into_iter().filter_map(|chart| {
            let bytes = (self.pictures)(&chart.file)?;
            Some(Upload { name: chart.file, title: title(&chart.title), alt: Some(chart.title), bytes })
        }));
        let shared = |words: &IncomingMessage| {
            let names: Vec<&str> = words.files.iter().map(|file| file.name.as_str()).collect();
            files.iter().all(|file| names.contains(&file.name.as_str()))
        };
        let count = said
            .iter()
            .filter(|words| {
                words.user.as_deref() == Some(self.user.as_str()) && !words.files.is_empty() && shared(words)
            })
            .count();
        if !files.is_empty() && count < number {
            match web.upload(&to, &files, FILES).await {
                Ok(_) => {}
                // The report itself is there: it is not brought again and again for its files.
                Err(error) if takes_no_files(&error) => {
                    let what = format!("report {number} files");
                    if !said.iter().any(|words| self.is_ours(words, state.session.as_str(), &what)) {
                        web.post(&to, &RenderedMessage::new(state, what, &no_files(&error)).message).await?;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if broadcast {
            let what = format!("report {number} summary");
            if !said.iter().any(|words| self.is_ours(words, state.session.as_str(), &what)) {
                let message = converted(&drawn.broadcast);
                let fields = [("session", state.session.as_str()), ("what", what.as_str())];
                let message = message.with_metadata(super::render::METADATA, &fields);
                web.post(&to.clone().broadcast(), &message).await?;
            }
        }
        Ok(place(&there))
    }
}
