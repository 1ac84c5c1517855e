//! `ghost lab cases`: what can be injected.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use ghost_lab::case::{CASES, Case, SERVICE_CASES, embedded, markdown};
use ghost_tools::input::text;
use ghost_tools::list::{ListForm, ListOutput};
use ghost_tools::print::{Hinted, line};

/// The arguments of `ghost lab cases`.
#[derive(Debug, Args)]
#[command(after_help = "Without a case it lists those that come with the program. No lab has to run.\n\n\
        Examples:\n  ghost lab cases\n  ghost lab cases j\n  ghost lab cases j --text > my-case.toml\n  ghost lab cases my-case.toml")]
pub(in crate::cli) struct Cases {
    /// A case that comes with the program, or a case file.
    #[arg(value_name = "CASE|FILE")]
    case: Option<String>,
    /// Print the file itself: something to begin with.
    #[arg(long, requires = "case", conflicts_with_all = ["json", "output"])]
    text: bool,
    /// Print the table of `demo/README.md`.
    #[arg(long, conflicts_with_all = ["case", "json", "output"])]
    markdown: bool,
    #[command(flatten)]
    output: ListOutput,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Cases) -> anyhow::Result<u8> {
    if arguments.markdown {
        line(markdown()?.trim_end())?;
        return Ok(0);
    }
    let form = arguments.output.form();
    let Some(named) = &arguments.case else {
        let cases: Result<Vec<Case>, _> =
            CASES.iter().chain(&SERVICE_CASES).map(|(_, text)| Case::read(text)).collect();
        let cases = cases?;
        if form == ListForm::Json {
            line(&json!(cases.iter().map(to_json).collect::<Vec<_>>()).to_string())?;
            return Ok(0);
        }
        let rows: Vec<Vec<String>> =
            cases.iter().map(|case| vec![case.id.to_string(), case.title.clone()]).collect();
        form.lines(&["CASE", "WHAT HAPPENS"], &rows).iter().try_for_each(|text| line(text))?;
        return Ok(0);
    };
    let file = match embedded(named) {
        Some(file) => file.to_owned(),
        None => text(Path::new(named), 1 << 20).map_err(|error| {
            Hinted::new(error, "`ghost lab cases` lists those that come with the program")
        })?,
    };
    let case = Case::read(&file).map_err(|problems| {
        let hint = problems.hint().to_owned();
        Hinted::new(anyhow::Error::new(problems).context(format!("reading {named}")), hint)
    })?;
    let text = if arguments.text {
        file.trim_end().to_owned()
    } else if form == ListForm::Json {
        to_json(&case).to_string()
    } else {
        shown(&case)
    };
    line(&text)?;
    Ok(0)
}

fn to_json(case: &Case) -> Value {
    let phases: Vec<Value> = case
        .phases
        .iter()
        .map(|phase| {
            json!({"prompt": phase.prompt, "expected": phase.expected, "may": phase.may, "outcome": phase.outcome, "fixes": phase.fixes})
        })
        .collect();
    json!({"id": case.id, "title": case.title, "phases": phases, "forbidden": case.forbidden, "notes": case.notes})
}

fn shown(case: &Case) -> String {
    let mut text = format!("{}: {}", case.id, case.title);
    for (at, phase) in case.phases.iter().enumerate() {
        let number = if case.phases.len() > 1 { format!(" {}", at + 1) } else { String::new() };
        text.push_str(&format!("\n\nPrompt{number}:\n  {}\nTo be found:", phase.prompt));
        if phase.expected.is_empty() {
            text.push_str("\n  nothing is wrong");
        }
        phase.expected.iter().for_each(|pair| text.push_str(&format!("\n  {pair}")));
        phase.may.iter().for_each(|pair| text.push_str(&format!("\n  {pair} (may be found)")));
    }
    text.push_str("\n\nSeen with:");
    case.seen.iter().for_each(|seen| text.push_str(&format!("\n  {}", seen.sight.command())));
    text.push_str("\n\nNobody may conclude that");
    case.forbidden.iter().for_each(|forbidden| text.push_str(&format!("\n  {}", forbidden.claim)));
    text.push_str(&format!("\n\nFor whoever shows it:\n  {}", case.notes.replace('\n', "\n  ")));
    text
}
