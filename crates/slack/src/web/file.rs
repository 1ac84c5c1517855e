//! Files, in three steps: ask for an address, send the bytes there, share them all in one message.

use serde_json::{Value, json};

use crate::web::call::{Body, Web};
use crate::web::error::CallError;
use crate::web::message::Address;

/// A file to be shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    pub name: String,
    /// What stands above it; the name where it is empty.
    pub title: String,
    /// What it shows, for those who cannot see it; only for images.
    pub alt: Option<String>,
    /// Its bytes; Slack takes no empty file.
    pub bytes: Vec<u8>,
}

/// A file that was shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// The file, `F…`.
    pub id: String,
    pub name: String,
    /// Where it can be looked at, where Slack says.
    pub permalink: Option<String>,
}

impl Web {
    /// Shares files in one message with a comment in Slack's markup. Nothing is shared unless all of them could be sent.
    ///
    /// # Errors
    /// Fails where a step does.
    pub async fn upload(
        &self,
        to: &Address,
        files: &[Upload],
        comment: &str,
    ) -> Result<Vec<Shared>, CallError> {
        let mut list = Vec::new();
        for file in files {
            let id = self.send_file(file).await?;
            let title = if file.title.is_empty() { &file.name } else { &file.title };
            list.push(json!({"id": id, "title": title}));
        }
        if list.is_empty() {
            return Ok(Vec::new());
        }
        let mut arguments = json!({"files": list, "channel_id": to.channel});
        if let Some(map) = arguments.as_object_mut() {
            if let Some(root) = &to.thread_ts {
                map.insert("thread_ts".to_owned(), json!(root));
            }
            if !comment.is_empty() {
                map.insert("initial_comment".to_owned(), json!(comment));
            }
        }
        let answer = self.call("files.completeUploadExternal", &arguments).await?;
        let answered = answer.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let shared = list.iter().zip(files).map(|(sent, file)| {
            let id = sent.get("id").and_then(Value::as_str).unwrap_or_default();
            let about = answered.iter().find(|file| file.get("id").and_then(Value::as_str) == Some(id));
            let permalink = about.and_then(|about| about.get("permalink")).and_then(Value::as_str);
            Shared { id: id.to_owned(), name: file.name.clone(), permalink: permalink.map(str::to_owned) }
        });
        Ok(shared.collect())
    }

    async fn send_file(&self, file: &Upload) -> Result<String, CallError> {
        let method = "files.getUploadURLExternal";
        let arguments = json!({"filename": file.name, "length": file.bytes.len(), "alt_txt": file.alt});
        let answer = self.get(method, &arguments).await?;
        let field = |name: &str| answer.get(name).and_then(Value::as_str);
        let url = field("upload_url").ok_or_else(|| CallError::odd(method, "upload_url"))?;
        let id = field("file_id").ok_or_else(|| CallError::odd(method, "file_id"))?;
        self.post_to("files.upload", url, Body::Bytes(&file.bytes)).await?;
        Ok(id.to_owned())
    }
}
