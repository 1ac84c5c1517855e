//! How anybody can check that a report tells what was recorded.

use crate::report::amount::count;
use crate::report::markdown::{code, fence};
use crate::state::State;

/// Returns the section: both heads, and the commands that check them.
pub(super) fn integrity(state: &State) -> String {
    let (session, head) = (&state.session, &state.head);
    let verify = format!("ghost audit verify DATA/audit/{session}.jsonl");
    let (audit, verify) = match state.audit_head() {
        Some(audit) => (code(audit), format!("{verify} --head {audit}")),
        None => ("none in the ledger".to_owned(), verify),
    };
    let lines = [
        "## Integrity".to_owned(),
        String::new(),
        format!("- Ledger: {}, head {}", count(state.seq, "event"), code(&head.to_string())),
        format!("- Audit head behind the last command: {audit}"),
        String::new(),
        "This text follows from the ledger alone. To check both chains, with `DATA` as the data folder:"
            .to_owned(),
        String::new(),
        fence(&format!("{verify}\nghost sessions show {session}")),
    ];
    lines.join("\n")
}
