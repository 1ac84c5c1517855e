//! Files: the text that Slack shows of them, and the names of the others.

use crate::arrive::Attached;
use crate::content::passage::{Content, PassageKind, Unread};
use crate::text::escape;

/// Kinds of files that are text, as Slack calls them.
const TEXT_TYPES: &[&str] = &[
    "text",
    "log",
    "json",
    "yaml",
    "yml",
    "xml",
    "csv",
    "tsv",
    "ini",
    "conf",
    "config",
    "toml",
    "properties",
    "shell",
    "bash",
    "sh",
    "powershell",
    "diff",
    "markdown",
    "post",
    "email",
    "sql",
    "python",
    "javascript",
    "go",
    "terraform",
    "hcl",
    "plain",
    "rtf",
    "html",
    "css",
    "dockerfile",
    "puppet",
    "ruby",
    "perl",
];

/// Ends of names of files that are text.
const TEXT_ENDS: &[&str] = &[
    ".txt",
    ".log",
    ".json",
    ".yaml",
    ".yml",
    ".xml",
    ".csv",
    ".tsv",
    ".conf",
    ".cfg",
    ".ini",
    ".md",
    ".out",
    ".err",
    ".tf",
    ".sh",
    ".ps1",
    ".sql",
    ".toml",
    ".properties",
    ".trace",
    ".diff",
    ".patch",
];

/// Tells whether a file holds text, by what Slack and its name say.
#[must_use]
pub fn is_text_file(file: &Attached) -> bool {
    let (media, name) = (file.media.to_lowercase(), file.name.to_lowercase());
    media.starts_with("text/")
        || [
            "application/json",
            "application/xml",
            "application/yaml",
            "application/x-yaml",
            "application/x-sh",
        ]
        .contains(&media.as_str())
        || TEXT_TYPES.contains(&file.file_type.to_lowercase().as_str())
        || TEXT_ENDS.iter().any(|end| name.ends_with(end))
        || file.mode == "snippet"
}

pub(super) fn read_files(files: &[Attached], content: &mut Content) {
    for file in files {
        let name = shown(file);
        if file.mode == "tombstone" || file.mode == "hidden_by_limit" {
            content.unread.push(Unread::Other { name });
            continue;
        }
        if file.access.as_deref() == Some("check_file_info") {
            content.unread.push(Unread::Elsewhere { name });
            continue;
        }
        let media = file.media.to_lowercase();
        if ["image/", "video/", "audio/"].iter().any(|kind| media.starts_with(kind)) {
            content.unread.push(Unread::Picture { name });
            continue;
        }
        let begun = file.preview.as_deref().filter(|text| !text.trim().is_empty());
        if let Some(text) = begun {
            let kind = PassageKind::Snippet { name: name.clone(), is_cut: file.is_cut };
            content.add(kind, escape(text));
        }
        match (begun, is_text_file(file)) {
            (Some(_), _) if !file.is_cut => {}
            (_, true) => content.unread.push(Unread::Text {
                name,
                id: file.id.clone(),
                url: file.url.clone(),
                size: file.size,
                is_begun: begun.is_some(),
            }),
            (_, false) => content.unread.push(Unread::Other { name }),
        }
    }
}

fn shown(file: &Attached) -> String {
    let name = file.name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() { "a file without a name".to_owned() } else { name.chars().take(80).collect() }
}
