//! Whether the store answers. A file that is not there is not made: to check changes nothing.

use tokio::time::timeout;

use super::finding::{Finding, PATIENCE, State};
use ghost_store::StoreError;
use ghost_tools::print::Hinted;
use ghost_tools::setup::Setup;

const WHAT: &str = "store";

/// Tries the store.
pub(super) async fn check(setup: &Setup) -> Vec<Finding> {
    let name = match setup.store_name() {
        Ok(name) => name,
        Err(error) if setup.config.store.url.is_some() => {
            return vec![Finding::new(State::Problem, WHAT, format!("{error:#}"))];
        }
        // That there is no folder for it was said already.
        Err(_) => return Vec::new(),
    };
    if setup.store_is_to_be_made() {
        return vec![Finding::new(State::Ok, WHAT, format!("{name}: made when it is needed"))];
    }
    let trying = async {
        let store = setup.store().await?;
        anyhow::Ok((store.flag("freeze").await?, store.durability_gaps().await?))
    };
    let mut gaps = Vec::new();
    let finding = match timeout(PATIENCE, trying).await {
        Ok(Ok((None, found))) => {
            gaps = found;
            Finding::new(State::Ok, WHAT, format!("{name}: answers"))
        }
        Ok(Ok((Some(_), found))) => {
            gaps = found;
            Finding::new(State::Warning, WHAT, format!("{name}: answers, and everything is frozen"))
                .hint("`ghost audit journal` says who froze it, `/ghost thaw` lets it go on")
        }
        Ok(Err(error)) => {
            let in_use = matches!(Hinted::below(&error).downcast_ref(), Some(StoreError::InUse { .. }));
            let state = if in_use { State::Warning } else { State::Problem };
            let finding = Finding::new(state, WHAT, format!("{name}: {error:#}"));
            match error.downcast_ref::<Hinted>() {
                Some(hinted) => finding.hint(hinted.advice()),
                None => finding,
            }
        }
        Err(_) => {
            Finding::new(State::Problem, WHAT, format!("{name}: no answer within {} s", PATIENCE.as_secs()))
                .hint("is the address right, and does a firewall let it through?")
        }
    };
    let gaps = gaps.into_iter().map(|gap| Finding::new(State::Warning, WHAT, gap.to_string()));
    std::iter::once(finding).chain(gaps).collect()
}
