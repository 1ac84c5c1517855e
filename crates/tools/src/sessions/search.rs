//! `ghost sessions search`.

use serde::Serialize;

use super::list::all;
use crate::list::ListForm;
use crate::print::{line, note};
use crate::setup::Setup;
use ghost_base::SessionId;
use ghost_investigate::event::read;
use ghost_investigate::memory::{Cause, Fit, Memory, fit};
use ghost_investigate::report::Summary;
use ghost_investigate::state::State;
use ghost_store::Store;

/// A session that fits.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    summary: Summary,
    /// What it found.
    causes: Vec<Cause>,
    /// What was to be done first.
    fix: Option<String>,
    /// Whether that was verified.
    is_fixed: bool,
    #[serde(skip)]
    fit: Fit,
}

/// Runs the subcommand.
pub(super) async fn run(setup: &Setup, query: &str, form: ListForm) -> anyhow::Result<()> {
    let found = if setup.store_is_to_be_made() {
        Vec::new()
    } else {
        matching(setup.store().await?.as_ref(), query).await?
    };
    if form == ListForm::Json {
        return line(&serde_json::to_string(&found)?);
    }
    if found.is_empty() {
        note(
            "no session fits: a search takes machines, codes, objects, and words of a complaint or of a remedy",
        );
    }
    let row = |found: &Found| {
        let text = |text: &Option<String>| text.as_deref().unwrap_or("-").to_owned();
        let causes: Vec<String> =
            found.causes.iter().map(|cause| format!("{} {}", cause.code, cause.object)).collect();
        let causes = if causes.is_empty() { "-".to_owned() } else { causes.join("; ") };
        vec![found.summary.id.clone(), text(&found.summary.opened), causes, text(&found.summary.symptom)]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    form.lines(&["ID", "OPENED", "FOUND", "SYMPTOM"], &rows).iter().try_for_each(|text| line(text))
}

/// Returns the sessions that fit, the best first, and of those that fit as well the latest.
async fn matching(store: &dyn Store, query: &str) -> anyhow::Result<Vec<Found>> {
    let mut found = Vec::new();
    for summary in all(store).await? {
        let session: SessionId = summary.id.parse()?;
        let lines = store.read(&session, 0).await?;
        let recorded = read(&session, lines.iter().map(String::as_str)).unwrap_or_default();
        // What was erased, or is of a later version, has only its summary.
        let memory = State::fold(&session, &recorded).map(|state| Memory::of(&state)).unwrap_or_default();
        if let Some(fit) = fit(&summary, &memory, query) {
            let Memory { causes, fix, is_fixed } = memory;
            found.push(Found { summary, causes, fix, is_fixed, fit });
        }
    }
    found.sort_by(|one, other| (other.fit, &other.summary.opened).cmp(&(one.fit, &one.summary.opened)));
    Ok(found)
}
