//! `ghost lab eval --net`: faults of the catalogue in drawn networks, and how well they are named.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use super::command::named;
use ghost_base::private_dir;
use ghost_lab::host::HostError;
use ghost_lab::host::net::{
    Board, Draw, FAULTS, HEALTHY, Outcome, Spec, Trial, pick, run, take_service_name,
};
use ghost_tools::print::{line, note};
use ghost_tools::setup::Setup;
use ghost_tools::wait::{is_over, listen_for_end};

/// What is run.
pub(in crate::cli::lab) struct Question<'a> {
    /// Faults by name; none is all of them and all look-alikes.
    pub(in crate::cli::lab) names: &'a [String],
    /// So many combinations in their place.
    pub(in crate::cli::lab) random: Option<u64>,
    /// The seed of every draw.
    pub(in crate::cli::lab) seed: u64,
    /// A line of JSON a case.
    pub(in crate::cli::lab) json: bool,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::lab) enum Ending {
    /// What was said is right in all cases, nothing gave a fault away, and nothing was left.
    Right,
    Wrong,
    /// Somebody ended it before its last case; the network of the case that ran is gone, and its outcome does not count.
    Interrupted,
}

/// Runs the cases, one after the other.
pub(in crate::cli::lab) fn evaluate(setup: &Setup, question: &Question<'_>) -> anyhow::Result<Ending> {
    // From here on whoever ends it waits until the network of a case is gone.
    listen_for_end()?;
    let folder = setup.data()?.join("lab-net-eval");
    private_dir(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let ghost = std::env::current_exe().context("finding this program")?;
    take_service_name();
    let mut board = Board::default();
    let trials = trials(question)?;
    let mut left = trials.len();
    for trial in trials {
        let ran = run(&trial, &ghost, &folder);
        // Ctrl-C reaches the programs of the case, too: what came of it then says nothing.
        if is_over(Duration::ZERO)? {
            break;
        }
        left -= 1;
        match ran {
            Ok(outcome) => {
                if question.json {
                    line(&json!({"id": outcome.name, "topology": outcome.topology.as_str(), "seed": trial.seed, "f1": outcome.f1(),
                        "truth": outcome.truth, "said": outcome.said, "seconds": outcome.gathered_in.as_secs_f64(),
                        "traces": outcome.traces.iter().map(ToString::to_string).collect::<Vec<_>>(),
                        "restored": outcome.is_restored}).to_string())?;
                } else {
                    note(&format!("{:.2}  {}  {}", outcome.f1(), outcome.topology.as_str(), outcome.name));
                }
                board.outcomes.push(outcome);
            }
            Err(HostError::Lacking(why)) if !board.outcomes.is_empty() => {
                board.skipped.push((trial.name(), why))
            }
            // One network that does not come to be says nothing of the others.
            Err(error) if !board.outcomes.is_empty() => {
                note(&format!("failed  {}: {error}", trial.name()));
                board.failed.push((trial.name(), error.to_string()));
            }
            Err(error) => return Err(anyhow::Error::from(error).context(format!("running {}", trial.name()))),
        }
    }
    if question.json {
        let (healthy, named) = board.healthy();
        line(&json!({"mean_f1": board.mean(), "kinds": board.kinds(), "healthy": healthy, "healthy_named": named,
            "skipped": board.skipped.len(), "failed": board.failed.len()}).to_string())?;
    } else {
        line(board.to_string().trim_end())?;
    }
    if left > 0 {
        note(&format!("interrupted: {left} cases were not run to their end"));
        return Ok(Ending::Interrupted);
    }
    let is_right = board.failed.is_empty() && board.outcomes.iter().all(Outcome::is_right);
    Ok(if is_right { Ending::Right } else { Ending::Wrong })
}

fn trials(question: &Question<'_>) -> anyhow::Result<Vec<Trial>> {
    if let Some(count) = question.random {
        return Ok(pick(usize::try_from(count)?, question.seed));
    }
    let mut draw = Draw::new(question.seed);
    let specs: Vec<&Spec> = match question.names.is_empty() {
        true => FAULTS.iter().chain(HEALTHY).collect(),
        false => question.names.iter().map(|name| named(name)).collect::<anyhow::Result<_>>()?,
    };
    Ok(specs.into_iter().map(|spec| Trial { specs: vec![*spec], seed: draw.below(u64::MAX) }).collect())
}
