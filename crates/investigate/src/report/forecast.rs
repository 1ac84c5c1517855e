//! What becomes of the flows in question with a change, as far as it was tried on what was read.

use crate::judged::judged;
use crate::state::State;

/// Returns what a change does to flows; `None` where none of the remedies that were tried is this change.
///
/// A remedy was judged on the documents of the session: the flow itself, and those beside it.
#[must_use]
pub fn forecast(state: &State, commands: &[&str]) -> Option<String> {
    let (_, judged) = judged(state)?;
    let worded: Vec<String> = judged
        .remedies
        .iter()
        .filter(|remedy| {
            let core = |line: &String| line.trim_start_matches("sudo ").trim().to_owned();
            let mut wanted = remedy.commands.iter().map(core).filter(|line| !line.is_empty()).peekable();
            wanted.peek().is_some() && wanted.all(|line| commands.iter().any(|asked| asked.contains(&line)))
        })
        .map(|remedy| remedy.effect.trim().trim_end_matches('.').to_owned())
        .collect();
    (!worded.is_empty()).then(|| format!("{}. Judged on what was read, not tried", worded.join("; ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judged::TOOL;
    use crate::report::tests::Ledger;

    #[test]
    fn a_change_that_was_tried_on_what_was_read_says_what_becomes_of_the_flow() {
        let mut ledger = Ledger::open("x");
        ledger.calls(0, "c1", TOOL);
        let remedy = json!({"fault": "guest_firewall_drop", "object": "netfilter/db-1/filter/INPUT/tcp/5001",
            "what": "", "look": "", "commands": ["sudo iptables -D INPUT 1"], "risk": "",
            "effect": "web-1 → db-1 tcp/5001 passes; nothing else changes"});
        let content = json!({"status": "completed", "facts": {"flows": [], "remedies": [remedy]}});
        ledger.json("returned", json!({"call": "c1", "tool": TOOL, "content": content.to_string()}));
        let state = ledger.state();
        let wrapped = "az vm run-command invoke -n db-1 --scripts 'iptables -D INPUT 1'";
        assert_eq!(
            forecast(&state, &[wrapped]).unwrap(),
            "web-1 → db-1 tcp/5001 passes; nothing else changes. Judged on what was read, not tried"
        );
        assert_eq!(forecast(&state, &["iptables -F"]), None);
    }
}
