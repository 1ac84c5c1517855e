//! Issues on GitHub: `POST /repos/OWNER/NAME/issues` of its REST interface, version 2022-11-28.

use serde_json::json;

use super::error::SendError;
use super::request::Prepared;
use ghost_investigate::report::postmortem::Postmortem;

/// GitHub takes 65,536 characters.
pub const MAX_BODY_CHARS: usize = 65_536;

/// GitHub takes 256 characters.
const MAX_TITLE_CHARS: usize = 256;

const VERSION: &str = "2022-11-28";

/// Where issues are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHubPlace {
    /// The address of the interface.
    pub url: String,
    /// `OWNER/NAME`.
    pub repository: String,
    pub labels: Vec<String>,
}

/// Prepares an issue.
///
/// # Errors
/// Fails where the document is too long for one.
pub fn github(place: &GitHubPlace, document: &Postmortem) -> Result<Prepared, SendError> {
    let text = document.markdown_within(MAX_BODY_CHARS)?;
    // The title of the issue is the title of the document.
    let body = text.split_once("\n\n").map_or(text.as_str(), |(_, below)| below);
    let title = format!("Post-mortem: {}", document.title);
    let title: String = match title.char_indices().nth(MAX_TITLE_CHARS) {
        Some(_) => title.chars().take(MAX_TITLE_CHARS - 1).chain(['…']).collect(),
        None => title,
    };
    Ok(Prepared {
        service: "GitHub",
        into: format!("repository {}", place.repository),
        url: format!("{}/repos/{}/issues", place.url.trim_end_matches('/'), place.repository),
        scheme: "Bearer",
        headers: vec![
            ("Accept", "application/vnd.github+json".to_owned()),
            ("X-GitHub-Api-Version", VERSION.to_owned()),
        ],
        body: json!({ "title": title, "body": body, "labels": place.labels }),
        place: "/html_url",
    })
}
