//! `ghost lab inject|check`: a case in a lab that runs.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};

use super::place::{find, hinted, record};
use ghost_lab::case::{Case, embedded, names};
use ghost_tools::global::Global;
use ghost_tools::input::text;
use ghost_tools::print::{Hinted, line};
use ghost_tools::wait::drive;

/// The largest case file, and the largest estate beside one.
const MAX_CASE_BYTES: usize = 1 << 20;
const MAX_ESTATE_BYTES: usize = 64 << 20;

/// The arguments of `ghost lab inject`.
#[derive(Debug, Args)]
#[command(
    after_help = "A case that is injected already goes first; a later phase of it only takes away what was fixed. A step that fails takes back all \
        before it. `ghost lab reset` makes everything as it was before the injection.\n\n\
        Examples:\n  ghost lab cases\n  ghost lab inject j\n  ghost lab inject t --phase 2\n  ghost lab inject my-case.toml --json\n  ghost lab reset"
)]
pub(in crate::cli) struct Inject {
    /// A case that comes with the program (`ghost lab cases` lists them), or a case file.
    #[arg(value_name = "CASE|FILE")]
    case: String,
    /// The phase of a case that has several.
    #[arg(long, value_name = "N", default_value_t = 1)]
    phase: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// The arguments of `ghost lab check`.
#[derive(Debug, Args)]
#[command(
    after_help = "It checks everything that the case says how to see, with the commands that a person would use, and prints the result.\n\n\
        Examples:\n  ghost lab check\n  ghost lab check --json --exit-code"
)]
pub(in crate::cli) struct Check {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where something is not seen that should be, or is seen that should not be.
    #[arg(long)]
    exit_code: bool,
}

/// Injects a case.
pub(in crate::cli) fn run(arguments: &Inject, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    let path = record(lab, global)?;
    let order = order(&arguments.case, arguments.phase)?;
    let answer = drive(|| async {
        let remote = find(&path)?;
        remote.order("inject", &order).await.map_err(hinted)
    })??;
    if arguments.json {
        line(&answer.to_string())?;
        return Ok(0);
    }
    let word = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let count = |field: &str| answer.get(field).and_then(Value::as_u64).unwrap_or_default();
    let mut text = format!("{}: {}", word("id"), word("title"));
    if count("phases") > 1 {
        text.push_str(&format!(", phase {} of {}", count("phase"), count("phases")));
    }
    if let Some(before) = answer.get("before").and_then(Value::as_str) {
        text.push_str(&format!("\n  in place of {before}"));
    }
    for done in answer.get("done").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        text.push_str(&format!("\n  {done}"));
    }
    text.push_str(&format!("\n\nTry:\n  {}", word("prompt")));
    if !word("notes").is_empty() {
        text.push_str(&format!("\n\nFor whoever shows it:\n  {}", word("notes").replace('\n', "\n  ")));
    }
    text.push_str(
        "\n\n`ghost lab check` checks whether it can be seen; `ghost lab reset` restores everything.",
    );
    line(&text)?;
    Ok(0)
}

/// Reads the case, and the estate that it names, for the lab.
fn order(named: &str, phase: usize) -> anyhow::Result<Value> {
    let path = Path::new(named);
    let (case, folder) = match embedded(named) {
        Some(case) => (case.to_owned(), None),
        None if path.exists() || named.contains(['/', '.']) => {
            (text(path, MAX_CASE_BYTES)?, path.parent().map(Path::to_owned))
        }
        None => {
            let names: Vec<&str> = names().collect();
            let hint = format!("there is {}; or give a case file", names.join(", "));
            return Err(Hinted::new(anyhow::anyhow!("there is no case `{named}`"), hint).into());
        }
    };
    let read = Case::read(&case).map_err(|problems| {
        let hint = problems.hint().to_owned();
        Hinted::new(anyhow::Error::new(problems).context(format!("reading {named}")), hint)
    })?;
    let estate = match (&read.estate, folder) {
        (Some(file), Some(folder)) => {
            let path = folder.join(file);
            let estate: Value = serde_json::from_str(&text(&path, MAX_ESTATE_BYTES)?)
                .with_context(|| format!("reading the estate {}", path.display()))?;
            Some(estate)
        }
        (Some(_) | None, _) => None,
    };
    Ok(json!({"case": case, "estate": estate, "phase": phase}))
}

/// Checks whether what is injected can be seen.
pub(in crate::cli) fn check(arguments: &Check, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    let path = record(lab, global)?;
    let answer = drive(|| async {
        let remote = find(&path)?;
        remote.order("check", &Value::Null).await.map_err(hinted)
    })??;
    let seen = answer.get("seen").and_then(Value::as_array).cloned().unwrap_or_default();
    let flag = |seen: &Value, field: &str| seen.get(field).and_then(Value::as_bool).unwrap_or_default();
    let wrong = seen.iter().any(|seen| flag(seen, "seen") != flag(seen, "expected"));
    if arguments.json {
        line(&answer.to_string())?;
    } else {
        let word = |value: &Value, field: &str| {
            value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let mut text = format!("{}: {}", word(&answer, "case"), word(&answer, "title"));
        for seen in &seen {
            let state = match (flag(seen, "expected"), flag(seen, "seen")) {
                (true, true) => "seen      ",
                (true, false) => "NOT SEEN  ",
                (false, false) => "gone      ",
                (false, true) => "STILL SEEN",
            };
            text.push_str(&format!(
                "\n  {state}  {}\n              {}",
                word(seen, "command"),
                word(seen, "shows")
            ));
        }
        line(&text)?;
    }
    Ok(if arguments.exit_code && wrong { 3 } else { 0 })
}
