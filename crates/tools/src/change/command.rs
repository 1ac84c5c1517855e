//! The arguments, and one forecast.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::estate::Source;
use super::show;
use crate::global::Global;
use crate::input::text;
use crate::print::{Hinted, line};
use crate::setup::Setup;
use ghost_inspect::forecast::{
    CommandError, Edit, Forecast, Irrelevant, Plan, PlanError, Scope, command, forecast, terraform, what_if,
};
use ghost_inspect::path::Bundle;

/// No plan is larger.
const MAX_PLAN_BYTES: usize = 64 << 20;

/// The version of the document.
const FORMAT: u32 = 1;

/// The arguments of `ghost change`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Reviews a plan of Terraform's, or a what-if of the resource manager's.
    Review(Review),
    /// Says what one command would do.
    Forecast(Single),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  terraform show -json plan.out | ghost change review -\n  ghost change review plan.json --bundle estate/\n  ghost change review plan.json -g prod --from web-1 --to db-1:5432\n  az deployment group what-if -g prod -f main.bicep --no-pretty-print -o json | ghost change review - --bundle estate/\n\nIt compares every flow between the machines, and from the internet, before and after the plan. Nothing is carried out. Without --bundle and -g the estate is what the plan itself knows; the inside of the machines is not in it.\nExit code 3 where something that passed is cut or something opens to the internet; with --exit-code also 4 where something could not be judged."
)]
struct Review {
    /// What `terraform show -json PLAN` or `az deployment … what-if --no-pretty-print -o json` printed; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost change forecast 'az network nsg rule delete -g prod --nsg-name db-nsg -n allow-web' --bundle estate/\n  ghost change forecast 'az network route-table route create -g prod --route-table-name rt -n all --address-prefix 0.0.0.0/0 --next-hop-type None' -g prod\n  ghost change forecast \"az vm run-command invoke -g prod -n db-1 --command-id RunShellScript --scripts 'iptables -I INPUT 1 -p tcp --dport 5432 -j DROP'\" --bundle estate/ --json\n\nNothing is carried out. Exit code 3 where something that passed is cut or something opens to the internet; with --exit-code also 4 where something could not be judged."
)]
struct Single {
    /// The command, as it would be typed.
    #[arg(value_name = "COMMAND")]
    command: String,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Output {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 4 where something could not be judged.
    #[arg(long)]
    exit_code: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    format: u32,
    verdict: &'static str,
    changes: Vec<String>,
    not_judged: &'a [String],
    irrelevant: &'a [Irrelevant],
    #[serde(flatten)]
    forecast: &'a Forecast,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let setup = Setup::new(global)?;
    match &arguments.command {
        Sub::Review(review) => {
            let plan = plan(&review.file)?;
            let read = review.source.read(&setup)?;
            let bundle = read.as_ref().unwrap_or(&plan.before);
            say(bundle, &plan, &review.source, &review.output)
        }
        Sub::Forecast(single) => {
            let Some(bundle) = single.source.read(&setup)? else {
                let error = anyhow::anyhow!("nothing is named to judge on");
                return Err(Hinted::new(error, "name -g GROUP to read the cloud, or --bundle PATH").into());
            };
            let edits = edits(&single.command, &bundle, &setup)?;
            let plan = Plan { edits, ..Plan::default() };
            say(&bundle, &plan, &single.source, &single.output)
        }
    }
}

/// Reads a plan of either kind.
fn plan(path: &Path) -> anyhow::Result<Plan> {
    let text = text(path, MAX_PLAN_BYTES)?;
    let read = match terraform(&text) {
        Err(PlanError::Foreign(_)) => what_if(&text),
        read => read,
    };
    read.map_err(|error| {
        let hint = if matches!(error, PlanError::Json(_)) {
            "a plan file of Terraform's is binary: give what `terraform show -json PLAN` prints"
        } else {
            "give what `terraform show -json PLAN` or `az deployment group what-if --no-pretty-print -o json` prints"
        };
        Hinted::new(error, hint).into()
    })
}

/// Reads a command as edits.
fn edits(text: &str, bundle: &Bundle, setup: &Setup) -> anyhow::Result<Vec<Edit>> {
    let ruling = setup.policy()?.classify(text);
    let Some(words) = ruling.argv else {
        let error = anyhow::anyhow!("the command needs a shell, so nobody can say what it does");
        return Err(Hinted::new(error, "give one command without pipes, variables and redirections").into());
    };
    command(&words, bundle).map_err(|error| {
        let hint = if matches!(error, CommandError::Foreign) {
            "commands of `az network`, `az vm start|stop|deallocate`, and `iptables`, `nft`, `tc` through `az vm run-command` or `ssh` are known"
        } else {
            "name what the command leaves open"
        };
        Hinted::new(error, hint).into()
    })
}

fn say(bundle: &Bundle, plan: &Plan, source: &Source, output: &Output) -> anyhow::Result<u8> {
    let Plan { edits, ignored, irrelevant, .. } = plan;
    let scope = Scope { named: source.flows(bundle)?, ..Scope::default() };
    let found = forecast(bundle, edits, &scope);
    let is_uncompared = found.compared == 0 && edits.iter().any(Edit::needs_flows);
    let is_open = found.is_open() || !ignored.is_empty() || is_uncompared;
    let verdict = match (found.is_bad(), is_open) {
        (true, _) => "HARMFUL",
        (false, true) => "INDETERMINATE",
        (false, false) => "HARMLESS",
    };
    if output.json {
        let changes = edits.iter().map(ToString::to_string).collect();
        let document =
            Document { format: FORMAT, verdict, changes, not_judged: ignored, irrelevant, forecast: &found };
        line(&serde_json::to_string(&document)?)?;
    } else {
        show::page(verdict, &found, plan).print()?;
    }
    Ok(match verdict {
        "HARMFUL" => 3,
        "INDETERMINATE" if output.exit_code => 4,
        _ => 0,
    })
}
