//! `ghost replay`: a recorded session decided once more, without a model and without a command.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::engine::{policy_for, site, tools};
use ghost_investigate::event::{Content, LedgerError, Recorded};
use ghost_investigate::replay::{ReplayInputs, Replayed, Wording, replay};
use ghost_investigate::report::plain;
use ghost_investigate::state::{FoldError, State};
use ghost_session::export::{Export, Unsound};
use ghost_tools::print::{Hinted, line};
use ghost_tools::sessions::read_export;
use ghost_tools::setup::Setup;

/// The record is not what follows from itself.
const DIVERGED: u8 = 3;

/// The arguments of `ghost replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost sessions export ghost-7k2f --out 7k2f.jsonl\n  ghost replay 7k2f.jsonl\n  ghost replay 7k2f.jsonl --json | jq .expected\n\nExit codes: 0 the same, 3 something else would have been done, 1 it cannot be read. It is decided under the policy and [model] site_prompt of today: a command whose verdict changed since is a divergence."
)]
pub(super) struct Arguments {
    /// The export of a session; `-` is standard input.
    #[arg(value_name = "EXPORT")]
    file: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let export = read_export(&arguments.file)?;
    let found = decide(&export, setup).with_context(|| format!("replaying {}", arguments.file.display()))?;
    let (document, text) = match &found {
        Ok((replayed, wording)) => (same(replayed, *wording), summary(replayed, *wording)),
        Err(found) => (
            json!({
                "same": false, "seq": found.seq, "kind": found.kind,
                "expected": found.expected, "recorded": found.recorded,
            }),
            plain(&format!(
                "NOT the same, event {} ({}): expected {}, recorded is {}",
                found.seq, found.kind, found.expected, found.recorded
            )),
        ),
    };
    line(&if arguments.json { document.to_string() } else { text })?;
    Ok(if found.is_ok() { 0 } else { DIVERGED })
}

/// Where a record first differs.
struct Divergence {
    seq: u64,
    kind: String,
    expected: String,
    recorded: String,
}

type Decided = Result<(Replayed, Wording), Divergence>;

fn decide(export: &Export, setup: &Setup) -> anyhow::Result<Decided> {
    let recorded = match export.verify() {
        Ok(recorded) => recorded,
        Err(Unsound::Ledger(error @ LedgerError::Newer { .. })) => return Err(error.into()),
        Err(unsound) => return Ok(Err(changed(export, &unsound))),
    };
    // What is gone, or was written by a later version, cannot be decided.
    if recorded.iter().any(|event| event.content == Content::Erased) {
        return Err(Hinted::new(FoldError::Erased, "the chain of its digests holds").into());
    }
    if let Some(foreign) = recorded.iter().find(|event| event.content == Content::Foreign) {
        return Err(FoldError::Foreign { seq: foreign.seq, kind: foreign.kind.clone() }.into());
    }
    let wording = wording(export, &recorded);
    // Nothing runs: the words that carried scripts then are taken as they stand in the record.
    let first = State::fold(&export.session, recorded.get(..1).unwrap_or_default()).ok();
    let hosts = first.map(|state| state.opened.hosts).unwrap_or_default();
    let (policy, tools, site) = (policy_for(setup, &hosts)?, tools(setup)?, site(setup)?);
    let source =
        ReplayInputs { policy: &policy, tools: &tools, evidence: export, site: site.as_deref(), wording };
    Ok(match replay(&export.session, &recorded, &source) {
        Ok(replayed) => Ok((replayed, wording)),
        Err(found) => Err(Divergence {
            seq: found.seq,
            kind: found.kind.clone(),
            expected: found.expected.clone(),
            recorded: found.recorded.clone(),
        }),
    })
}

/// Prompts and reports of another version read differently; what it did is compared all the same.
fn wording(export: &Export, recorded: &[Recorded]) -> Wording {
    let first = recorded.get(..1).unwrap_or_default();
    let state = State::fold(&export.session, first).ok();
    match state.is_some_and(|state| state.opened.version == env!("CARGO_PKG_VERSION")) {
        true => Wording::Same,
        false => Wording::Free,
    }
}

/// Says which event is not what was written.
fn changed(export: &Export, unsound: &Unsound) -> Divergence {
    let last = u64::try_from(export.ledger.len()).unwrap_or(u64::MAX);
    let seq = match unsound {
        Unsound::Ledger(
            LedgerError::Unreadable { seq, .. }
            | LedgerError::Newer { seq, .. }
            | LedgerError::Changed { seq, .. },
        ) => *seq,
        Unsound::Head { .. } | Unsound::Fold(_) => last,
        Unsound::Evidence { digest } | Unsound::Unnamed { digest } => {
            let named = digest.to_string();
            let at = export.ledger.iter().position(|line| line.contains(&named));
            at.and_then(|at| u64::try_from(at + 1).ok()).unwrap_or(last)
        }
    };
    Divergence {
        seq,
        kind: String::new(),
        expected: "the record as it was written".to_owned(),
        recorded: unsound.to_string(),
    }
}

fn same(replayed: &Replayed, wording: Wording) -> serde_json::Value {
    json!({
        "same": true, "events": replayed.events, "decided": replayed.decided,
        "state": replayed.standing, "outcome": replayed.outcome, "wording_compared": wording == Wording::Same,
    })
}

fn summary(replayed: &Replayed, wording: Wording) -> String {
    let words = match wording {
        Wording::Same => "",
        Wording::Free => "; another version wrote it, so the words of prompts and report were not compared",
    };
    format!("the same: {} events, {} of them decided once more{words}", replayed.events, replayed.decided)
}
