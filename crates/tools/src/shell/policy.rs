//! `ghost shell policy`.

use clap::{Args, Subcommand};
use serde::Serialize;

use super::import;
use crate::print::line;
use crate::setup::Setup;
use ghost_shell::{Policy, Verdict};

/// The arguments of `ghost shell policy`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  ghost shell policy\n  ghost shell policy curl\n  ghost shell policy --json | jq '.examples | length'\n  ghost shell policy --sample 20 --seed 7"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Sub>,
    /// Only what speaks of this program.
    program: Option<String>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Print this many commands made up from the grammars instead, one a line, to see what the policy lets through.
    #[arg(long, value_name = "N", conflicts_with_all = ["program", "json"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sample: Option<u32>,
    /// Where the made-up commands begin: the same number, the same commands.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "sample")]
    seed: u64,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Reads rules of others as a site policy, as far as they tighten, and lists every conflict.
    Import(import::Arguments),
}

/// One rule, for people and scripts.
#[derive(Debug, Serialize)]
struct Row {
    rule: String,
    verdict: Verdict,
    programs: Vec<String>,
    what: String,
    /// Where the options were looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    manual: Option<String>,
    examples: Vec<ShownRule>,
}

#[derive(Debug, Serialize)]
struct ShownRule {
    command: String,
    verdict: Verdict,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    if let Some(Sub::Import(arguments)) = &arguments.command {
        return import::run(arguments, setup);
    }
    let policy = setup.judged_policy()?;
    if let Some(count) = arguments.sample {
        return policy
            .sample(arguments.seed, usize::try_from(count)?)
            .iter()
            .try_for_each(|command| line(command))
            .map(|()| 0);
    }
    let mut rows = rows(&policy);
    if let Some(program) = &arguments.program {
        rows.retain(|row| row.programs.iter().any(|name| name == program));
        if rows.is_empty() && !arguments.json {
            line(&format!("Nothing speaks of `{program}`: it asks, whatever its arguments are."))?;
        }
    }
    if arguments.json {
        line(&serde_json::json!({ "digest": policy.digest().to_string(), "rules": rows }).to_string())?;
        return Ok(0);
    }
    for row in &rows {
        line(&format!("{:<8} {:<28} {}", row.verdict, row.rule, row.what))?;
        line(&format!("         {}", row.programs.join(" ")))?;
        if arguments.program.is_some() {
            if let Some(manual) = &row.manual {
                line(&format!("         options from {manual}"))?;
            }
            for example in &row.examples {
                line(&format!("           {:<8} {}", example.verdict, example.command.escape_debug()))?;
            }
        }
    }
    line(&format!(
        "\n{} rules, {} examples, digest {}",
        rows.len(),
        policy.examples().len(),
        policy.digest()
    ))?;
    Ok(0)
}

fn rows(policy: &Policy) -> Vec<Row> {
    policy
        .rules()
        .map(|rule| Row {
            examples: policy
                .examples()
                .iter()
                .filter(|example| example.entry == rule.id)
                .map(|example| ShownRule { command: example.command.clone(), verdict: example.verdict })
                .collect(),
            rule: rule.id,
            verdict: rule.verdict,
            programs: rule.programs,
            what: rule.what,
            manual: rule.manual,
        })
        .collect()
}
