//! What a tool says of itself: derived from the commands that it starts, as the policy judges them.

use rmcp::model::ToolAnnotations;

use ghost_shell::{Impact, Policy, Ruling, Verdict};

/// What a tool starts.
#[derive(Clone, Copy)]
pub(super) enum Runs {
    /// Nothing: it reads files, and answers.
    Nothing,
    /// Commands of these kinds, whatever the names in them.
    Those(fn(&Policy) -> anyhow::Result<Vec<Ruling>>),
    /// Whatever is proposed and the gate admits.
    Anything,
}

/// Derives what a tool says of itself.
pub(super) fn annotations(title: &str, runs: Runs, policy: &Policy) -> anyhow::Result<ToolAnnotations> {
    let said = ToolAnnotations::with_title(title);
    let verdicts: Vec<(Verdict, Option<Impact>)> = match runs {
        // What starts nothing reaches nobody, and does the same again.
        Runs::Nothing => {
            return Ok(said.read_only(true).destructive(false).idempotent(true).open_world(false));
        }
        Runs::Those(commands) => {
            let judged = commands(policy)?.into_iter();
            judged.map(|ruling| (ruling.verdict, ruling.impact)).collect()
        }
        Runs::Anything => {
            let examples = policy.examples().iter();
            let judged = examples.map(|example| policy.classify(&example.command));
            judged.map(|ruling| (ruling.verdict, ruling.impact)).collect()
        }
    };
    // What is blocked never runs, so that it is nothing that a tool does.
    let asks = || verdicts.iter().filter(|(verdict, _)| *verdict == Verdict::Risky);
    let reads = asks().next().is_none();
    let harms = asks().any(|(_, impact)| *impact != Some(Impact::Measurement));
    Ok(said.read_only(reads).destructive(harms).idempotent(reads).open_world(true))
}
