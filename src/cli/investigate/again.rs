//! `ghost investigate --recheck`: what was broken, looked at once more.

use std::sync::Arc;

use ghost_base::SessionId;
use ghost_investigate::event::{HumanMessage, Instruction};
use ghost_investigate::model::Model;
use ghost_investigate::playbook::Playbook;
use ghost_investigate::recheck::{Refused, Verdict, possible, verdict};
use ghost_investigate::state::State;
use ghost_session::InboxMessage;
use ghost_store::Store;
use ghost_tools::name::random;
use ghost_tools::print::Hinted;

/// Nobody is asked; whoever would be, needs no key.
pub(super) fn nobody() -> Arc<dyn Model> {
    Arc::new(Playbook)
}

/// Puts it into the inbox that it is fixed, where there is a report to check again. A check that was paused goes on.
pub(super) async fn ask(
    store: &dyn Store,
    session: &SessionId,
    state: Option<&State>,
    who: String,
) -> anyhow::Result<()> {
    let refused = match state.map(possible) {
        Some(Ok(())) => {
            let said =
                HumanMessage { who, text: "fixed, check again".to_owned(), instruction: Instruction::Steer };
            let message = serde_json::to_string(&InboxMessage::Recheck(said))?;
            store.deliver(session, &random::<8>()?, &message).await?;
            return Ok(());
        }
        Some(Err(Refused::Running)) => return Ok(()),
        Some(Err(refused)) => refused,
        None => Refused::AtWork,
    };
    let (what, hint) = match refused {
        Refused::NothingFound => (
            "found no fault, so there is nothing that could be fixed",
            "`ghost investigate` with what is wrong now begins a new investigation".to_owned(),
        ),
        Refused::AtWork | Refused::Running => {
            ("has no report yet", format!("ghost investigate --resume {session}"))
        }
    };
    Err(Hinted::new(anyhow::anyhow!("session {session} {what}"), hint).into())
}

/// Returns the exit code for what a second look came to.
pub(super) fn code(state: &State) -> u8 {
    let rows =
        state.concluded.iter().flat_map(|(_, concluded)| concluded.recheck.clone()).collect::<Vec<_>>();
    match verdict(&rows) {
        Verdict::Fixed => 0,
        Verdict::Broken => 3,
        Verdict::Unclear => 4,
    }
}
