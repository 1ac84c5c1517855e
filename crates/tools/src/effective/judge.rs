//! Compares two sides for a user: objections, the answer, a certificate, an exit code.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::place::{TOOL, written};
use super::text::{Page, flat, text};
use crate::print::{Hinted, line};
use ghost_base::{Clock as _, Digest, SystemClock};
use ghost_inspect::effective::{
    Certificate, Comparison, Issue, Options, Side, Status, Window, doubts, objections,
};

/// How two sides are compared and what becomes of the answer.
#[derive(Debug, Args)]
pub(super) struct Judging {
    /// The time in which something was meant to be changed, START or START..END; a baseline that was taken later is refused.
    #[arg(long, value_name = "WINDOW")]
    change_window: Option<Window>,
    /// The digest that the baseline has to have, from where it was noted.
    #[arg(long, value_name = "SHA256")]
    baseline_sha256: Option<Digest>,
    /// Compare although the baseline lies behind the start of the change window, or the two are about different things.
    #[arg(long)]
    force: bool,
    /// Tell of service tags that stand for other prefixes, and do not count it as drift.
    #[arg(long)]
    ignore_tag_churn: bool,
    /// Where nothing changed, write a certificate into this file; one that is there is not overwritten.
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
    /// Exit with 3 where there is drift, with 4 where that is not known.
    #[arg(long)]
    pub exit_code: bool,
}

/// What the caller did already, and where to leave the rest.
#[derive(Debug, Default)]
pub(super) struct StoredJudgement {
    /// Where the present state was kept.
    pub current: Option<PathBuf>,
    /// Where a certificate goes unless the user names a file.
    pub certificate: Option<PathBuf>,
    /// Who asks.
    pub who: Option<String>,
    /// The objections over which the comparison was forced.
    pub forced: Vec<String>,
    /// What else is worth a word.
    pub notes: Vec<String>,
}

impl Judging {
    /// Refuses a comparison that proves nothing, unless it is forced; returns the objections.
    pub(super) fn objections(&self, before: &Side, after: &Side) -> anyhow::Result<Vec<String>> {
        if let Some(noted) = self.baseline_sha256.filter(|noted| *noted != before.digest) {
            let error = anyhow::anyhow!("the baseline has the digest {}, not {noted}", before.digest);
            return Err(Hinted::new(error, "somebody replaced the baseline, or another one was noted").into());
        }
        // Before anything is kept: a certificate that could not be written would come too late.
        if let Some(file) = self.certificate.as_ref().filter(|file| file.exists()) {
            let error = anyhow::anyhow!("{} is there already", file.display());
            return Err(Hinted::new(error, "choose another name: nothing is overwritten").into());
        }
        let found = objections(before, after, self.change_window);
        if found.is_empty() || self.force {
            return Ok(found);
        }
        let hint = "take a baseline before the change begins, or compare all the same with --force, which the answer then tells";
        Err(Hinted::new(anyhow::anyhow!(flat(&found.join("; "))), hint).into())
    }

    /// Compares, leaves a certificate where nothing changed, and answers; returns the exit code.
    pub(super) fn judge(&self, before: &Side, after: &Side, kept: StoredJudgement) -> anyhow::Result<u8> {
        let options = Options { ignore_tag_churn: self.ignore_tag_churn };
        let found = before.compare(after, options);
        let file = self.certificate.clone().or(kept.certificate).filter(|_| found.status == Status::Clean);
        let certificate = file
            .map(|file| -> anyhow::Result<(PathBuf, Digest)> {
                let issue = Issue {
                    at: SystemClock.now(),
                    by: kept.who.clone(),
                    tool: TOOL.to_owned(),
                    window: self.change_window,
                    forced: kept.forced.clone(),
                    options,
                };
                let (text, _, digest) = Certificate::issue(&found, before, after, issue)?;
                written(&file, &text).map(|()| (file, digest))
            })
            .transpose()?;
        let mut notes = kept.notes;
        notes.extend(doubts(before, after, self.change_window));
        let page = Page {
            found: &found,
            before,
            after,
            current: kept.current.as_deref(),
            certificate: certificate.as_ref(),
            wanted: self.certificate.is_some(),
            forced: &kept.forced,
            notes: &notes,
        };
        if self.json {
            line(&document(&page)?.to_string())?
        } else {
            line(&text(&page))?
        }
        Ok(code(&found, self.exit_code))
    }
}

fn code(found: &Comparison, asked: bool) -> u8 {
    match found.status {
        Status::Drift if asked => 3,
        Status::Inconclusive if asked => 4,
        Status::Clean | Status::Drift | Status::Inconclusive => 0,
    }
}

fn document(page: &Page<'_>) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(page.found)?;
    let side = |side: &Side| {
        side.taken.as_ref().map(|taken| {
            json!({
                "session": taken.session.as_str(), "taken_at": taken.at.to_string(), "taken_by": taken.by, "scope": taken.scope,
                "is_baseline": taken.baseline,
            })
        })
    };
    let certificate =
        page.certificate.map(|(file, digest)| json!({ "file": file, "sha256": digest.to_string() }));
    if let Value::Object(map) = &mut value {
        map.insert("baseline".to_owned(), json!(side(page.before)));
        map.insert("current".to_owned(), json!(side(page.after)));
        map.insert("current_file".to_owned(), json!(page.current));
        map.insert("certificate".to_owned(), json!(certificate));
        map.insert("forced".to_owned(), json!(page.forced));
        map.insert("notes".to_owned(), json!(page.notes));
    }
    Ok(value)
}
