//! Resources: sessions, their reports, and evidence by its digest.

use std::str::FromStr as _;

use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::workplace::Workplace;
use ghost_base::{Digest, SessionId};
use ghost_investigate::tool::Evidence as _;
use ghost_session::EvidenceFolder;
use ghost_shell::redact;
use ghost_tools::sessions::{ReportKind, report, summary};

/// So many resources stand on a page.
const PAGE: usize = 100;

/// No resource has more characters; what is longer is cut, and says so.
const MAX_CHARS: usize = 200_000;

const SESSIONS: &str = "ghost://sessions";
const EVIDENCE: &str = "ghost://evidence/";
const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// The reports of a session, by the last part of their address.
const REPORTS: [(&str, &str, ReportKind); 3] = [
    ("report.md", "The root cause, as it was delivered", ReportKind::RootCause),
    ("audit.md", "The report for auditors", ReportKind::Audit),
    ("timeline.txt", "What happened, event by event", ReportKind::Timeline),
];

/// Describes the addresses that are not listed one by one.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let of = |address: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(address, name).with_description(about).with_mime_type(kind)
    };
    let reports = REPORTS.iter().map(|(file, about, _)| {
        of(&format!("{SESSIONS}/{{session}}/{file}"), file, &format!("{about}."), kind(file))
    });
    let mut all = vec![of(&format!("{SESSIONS}/{{session}}"), "session", "How a session stands.", JSON)];
    all.extend(reports);
    all.push(of(
        &format!("{EVIDENCE}{{digest}}"),
        "evidence",
        "What a command printed, whole and redacted, by the digest that reports and audit name.",
        "text/plain",
    ));
    all
}

/// Lists sessions and their reports, a page at a time.
pub(super) async fn list(place: &Workplace, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let after = cursor.map(|cursor| cursor.parse::<SessionId>()).transpose();
    let after = after.map_err(|_| ErrorData::invalid_params("this is no cursor of ours", None))?;
    let mut found = Vec::new();
    if after.is_none() {
        let about = "The sessions of this client, the state and outcome of each.";
        found.push(Resource::new(SESSIONS, "sessions").with_description(about).with_mime_type(JSON));
    }
    let names = names(place, after.as_ref()).await.map_err(unavailable)?;
    for name in &names {
        let report = format!("{SESSIONS}/{name}/report.md");
        found.push(Resource::new(report, format!("{name} report")).with_mime_type(MARKDOWN));
    }
    let mut listed = ListResourcesResult::with_all_items(found);
    listed.next_cursor = names.last().filter(|_| names.len() == PAGE).map(ToString::to_string);
    Ok(listed)
}

/// Reads one. Its text is data: between fences, without secrets.
pub(super) async fn read(place: &Workplace, address: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || ErrorData::resource_not_found("there is no such resource", None);
    let (text, kind) = if address == SESSIONS {
        (sessions(place).await.map_err(unavailable)?, JSON)
    } else if let Some(digest) = address.strip_prefix(EVIDENCE) {
        let digest = Digest::from_str(digest).map_err(|_| missing())?;
        let folder = place.setup.data().map_err(unavailable)?.join("evidence");
        let text = EvidenceFolder::new(folder).text(&digest.to_string()).ok_or_else(missing)?;
        (text, "text/plain")
    } else {
        let rest =
            address.strip_prefix(SESSIONS).and_then(|rest| rest.strip_prefix('/')).ok_or_else(missing)?;
        let (session, file) =
            rest.split_once('/').map_or((rest, None), |(session, file)| (session, Some(file)));
        let session: SessionId = session.parse().map_err(|_| missing())?;
        let wanted = match file {
            None => ReportKind::RootCause,
            Some(file) => REPORTS.iter().find(|(name, ..)| *name == file).ok_or_else(missing)?.2,
        };
        let (summary, text) = report(&place.setup, &session, wanted).await.map_err(|_| missing())?;
        match file {
            None => (json!(summary).to_string(), JSON),
            Some(file) => (text, kind(file)),
        }
    };
    let clean = redact(&text);
    let mut short: String = clean.as_str().chars().take(MAX_CHARS).collect();
    if short.len() < clean.as_str().len() {
        short.push_str("\n[cut off here]");
    }
    let contents = ResourceContents::text(place.fence.wrap(address, &short), address).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn sessions(place: &Workplace) -> anyhow::Result<String> {
    let mut found = Vec::new();
    for name in names(place, None).await? {
        found.extend(summary(place.setup.store().await?.as_ref(), &name).await?);
    }
    Ok(serde_json::to_string(&found)?)
}

/// Returns names of sessions; a look makes no store.
async fn names(place: &Workplace, after: Option<&SessionId>) -> anyhow::Result<Vec<SessionId>> {
    if place.setup.store_is_to_be_made() {
        return Ok(Vec::new());
    }
    Ok(place.setup.store().await?.list(after, PAGE).await?)
}

fn kind(file: &str) -> &'static str {
    if file.ends_with(".md") { MARKDOWN } else { "text/plain" }
}

fn unavailable(error: anyhow::Error) -> ErrorData {
    let text: String = redact(&format!("{error:#}")).as_str().chars().take(500).collect();
    ErrorData::internal_error(text, None)
}
