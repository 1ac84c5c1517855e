//! `ghost sessions list`.

use crate::list::ListForm;
use crate::print::line;
use crate::setup::Setup;
use ghost_base::SessionId;
use ghost_investigate::event::read;
use ghost_investigate::report::Summary;
use ghost_store::Store;

/// How many names are asked for at once.
const PAGE: usize = 500;

/// Runs the subcommand.
pub(super) async fn run(setup: &Setup, form: ListForm) -> anyhow::Result<()> {
    let found =
        if setup.store_is_to_be_made() { Vec::new() } else { all(setup.store().await?.as_ref()).await? };
    if form == ListForm::Json {
        return line(&serde_json::to_string(&found)?);
    }
    let row = |summary: &Summary| {
        let outcome = summary.outcome.map_or("-", ghost_investigate::Outcome::as_str);
        let text = |text: &Option<String>| text.as_deref().unwrap_or("-").to_owned();
        vec![
            summary.id.clone(),
            summary.state.clone(),
            text(&summary.opened),
            outcome.to_owned(),
            text(&summary.symptom),
        ]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    form.lines(&["ID", "STATE", "OPENED", "OUTCOME", "SYMPTOM"], &rows).iter().try_for_each(|text| line(text))
}

pub(super) async fn all(store: &dyn Store) -> anyhow::Result<Vec<Summary>> {
    let mut found = Vec::new();
    for name in names(store).await? {
        found.extend(summary(store, &name).await?);
    }
    Ok(found)
}

/// Returns the names of all sessions.
pub(super) async fn names(store: &dyn Store) -> anyhow::Result<Vec<SessionId>> {
    let (mut found, mut after): (Vec<SessionId>, Option<SessionId>) = (Vec::new(), None);
    loop {
        let page = store.list(after.as_ref(), PAGE).await?;
        found.extend(page.iter().cloned());
        match page.last() {
            Some(last) if page.len() == PAGE => after = Some(last.clone()),
            Some(_) | None => return Ok(found),
        }
    }
}

/// Sums a session up; `None` where there is only a name. One that cannot be read is listed all the same.
pub async fn summary(store: &dyn Store, session: &SessionId) -> anyhow::Result<Option<Summary>> {
    let lines = store.read(session, 0).await?;
    if lines.is_empty() {
        return Ok(None);
    }
    let recorded = read(session, lines.iter().map(String::as_str)).unwrap_or_default();
    Ok(Some(Summary::of_recorded(session, &recorded)))
}
