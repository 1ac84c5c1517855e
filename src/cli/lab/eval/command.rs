//! The arguments, and the loop over all cases.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::board::{board, summary, table_row};
use super::chosen::{Chosen, Draw, chosen};
use super::consent::Consent;
use super::row::Row;
use super::run::{Terms, case};
use crate::cli::investigate::{InvestigatorKind, investigator};
use crate::cli::lab::{Ending, Question, evaluate};
use ghost_base::private_dir;
use ghost_investigate::model::Model;
use ghost_investigate::playbook::Playbook;
use ghost_lab::case::Profile;
use ghost_tools::global::Global;
use ghost_tools::name::random;
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::setup::Setup;
use ghost_tools::wait::{drive, interrupted};

/// Cases are drawn so many at most.
const MAX_RUNS: u64 = 100_000;

/// The arguments of `ghost lab eval`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case is injected into a lab in this process and investigated as in `ghost investigate`: the same engine, the same \
        safety shell, the same tools. Nothing is started, nothing is reached, and the lab's clock replaces waiting. What was found is \
        compared with what is there, pair by pair; a case in phases has a line for each. With --az PATH that unmodified `az` is run in \
        the shell's sandbox; the lab answers it on a port of its own, by this machine's clock.\n\n\
        Exit code: 0 when it has run; with --exit-code 3 where something is wrong, 4 where the worst is an open question.\n\n\
        Examples:\n  ghost lab eval j\n  ghost lab eval --json | jq -r '.id + \" \" + (.f1|tostring)'\n  \
        ghost lab eval t --prompt 'apt hangs on tf-source-vm' --keep /tmp/t\n  \
        ghost lab eval --random 30 --seed 7 --approve random:7\n  \
        ghost lab eval --random 60 --profile mixed --scoreboard /tmp\n  ghost lab eval --scoreboard demo\n  \
        ghost lab eval a e --az /usr/bin/az\n  ghost lab eval j --az /usr/bin/az --native\n  ghost lab eval --net --seed 7\n  ghost lab eval --net --random 20 --seed 7"
)]
pub(in crate::cli) struct Arguments {
    /// Cases that come with the program (`ghost lab cases` lists them), case files, or folders of them; all that come with the program unless said.
    #[arg(value_name = "CASE|FILE|DIR")]
    cases: Vec<String>,
    /// All cases that come with the program.
    #[arg(long, conflicts_with = "cases")]
    all: bool,
    /// Draw so many cases: one to four faults each, a fifth of them healthy.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_RUNS))]
    random: Option<u64>,
    /// Begin with this number in place of 0: one drawn case is drawn again with `--random 1 --first NUMBER`.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "random")]
    first: u64,
    /// Draw whole estates with what people say about them: hardened, hub, unnamed, talk, or mixed.
    #[arg(long, value_name = "PROFILE", requires = "random")]
    profile: Option<Profile>,
    /// The seed from which cases are drawn, and everything that machines draw.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Ask this in place of the case's own words.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// What investigates; the playbook unless said.
    #[arg(long, value_enum)]
    brain: Option<InvestigatorKind>,
    /// The turns of the scripted investigator.
    #[arg(long, value_name = "FILE", required_if_eq("brain", "scripted"))]
    script: Option<PathBuf>,
    /// How questions are answered: all, none, or random:SEED.
    #[arg(long, alias = "approver", value_name = "all|none|random:SEED", default_value = "all")]
    approve: Consent,
    /// Who plays `az`: the built-in one, or the unmodified program at a path, to which the lab answers on a port.
    #[arg(long, value_name = "builtin|PATH", default_value = "builtin")]
    az: String,
    /// Read within this process what needs no `az`: the native reader answers, and the unmodified program of --az the rest.
    #[arg(long, requires = "az")]
    native: bool,
    /// Keep ledger, report and evidence of each case in this folder.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Write scoreboard.md and scoreboard.json into this folder.
    #[arg(long, value_name = "FOLDER")]
    scoreboard: Option<PathBuf>,
    /// Faults of small networks of real machines of this kernel (`ghost lab net faults`) in place of cases of the cloud: as root, in real time.
    #[arg(long, conflicts_with_all = ["profile", "prompt", "brain", "script", "keep", "scoreboard"])]
    net: bool,
    /// Print a line of JSON a case.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where something is wrong, with 4 where the worst is an open question.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    if arguments.net {
        let Arguments { cases, random, seed, json, .. } = arguments;
        let question = Question { names: cases, random: *random, seed: *seed, json: *json };
        return Ok(match evaluate(&Setup::new(global)?, &question)? {
            Ending::Wrong if arguments.exit_code => 3,
            Ending::Right | Ending::Wrong => 0,
            Ending::Interrupted => 130,
        });
    }
    let az = az(&arguments.az)?;
    if arguments.native && az.is_none() {
        let error = anyhow::anyhow!("the native reader asks a lab on a port, and the built-in az needs none");
        return Err(Hinted::new(error, "name an `az` with --az PATH").into());
    }
    let (seed, profile) = (arguments.seed, arguments.profile);
    let draw = arguments.random.map(|count| Draw { first: arguments.first, count, seed, profile });
    let mut cases = chosen(&arguments.cases, draw)?;
    if arguments.all && draw.is_some() {
        let mut all = chosen(&[], None)?;
        all.append(&mut cases);
        cases = all;
    }
    let setup = Setup::new(global)?;
    // Whoever has no home has a place for what goes away again.
    let place = match setup.data() {
        Ok(data) => data.join("eval"),
        Err(_) => std::env::temp_dir().join(format!("ghost-eval-{}", random::<6>()?)),
    };
    private_dir(&place).with_context(|| format!("making {}", place.display()))?;
    let make = |own: &Setup| -> anyhow::Result<Arc<dyn Model>> {
        match (arguments.brain, &arguments.script) {
            (None, None) => Ok(Arc::new(Playbook)),
            (named, script) => investigator(own, named, script.as_deref()),
        }
    };
    let terms = Terms {
        own: &setup,
        investigator: &make,
        consent: arguments.approve,
        prompt: arguments.prompt.as_deref(),
        keep: arguments.keep.as_deref(),
        az: az.as_deref(),
        native: arguments.native,
        place: &place,
        seed: arguments.seed,
    };
    let rows = drive(|| all(&cases, &terms, arguments.json))??;
    // Another call may still work there.
    drop(std::fs::remove_dir(&place));
    if !arguments.json {
        line(&summary(&rows))?;
    }
    if let Some(folder) = &arguments.scoreboard {
        let files = board(&rows, &arguments.approve.word(), folder)?;
        note(&format!("written: {files}"));
    }
    let wrong = rows.iter().filter(|row| !row.is_good());
    let open = wrong.clone().all(Row::is_open);
    Ok(match (arguments.exit_code, wrong.count(), open) {
        (false, _, _) | (true, 0, _) => 0,
        (true, _, true) => 4,
        (true, _, false) => 3,
    })
}

/// Returns the `az` that was named; nothing for the built-in one.
fn az(named: &str) -> anyhow::Result<Option<PathBuf>> {
    if named == "builtin" {
        return Ok(None);
    }
    let path = std::path::absolute(named).with_context(|| format!("finding {named}"))?;
    if !path.is_file() {
        let error = anyhow::anyhow!("there is no program {}", path.display());
        return Err(Hinted::new(error, "write `builtin`, or the path of an `az`").into());
    }
    Ok(Some(path))
}

async fn all(cases: &[Chosen], terms: &Terms<'_>, json: bool) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for chosen in cases {
        let done = tokio::select! {
            done = case(chosen, terms) => done?,
            () = interrupted() => return Err(anyhow::anyhow!("interrupted at {}", chosen.case.id)),
        };
        for row in done {
            line(&if json { serde_json::to_string(&row)? } else { table_row(&row) })?;
            rows.push(row);
        }
    }
    Ok(rows)
}
