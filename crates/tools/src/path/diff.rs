//! `ghost path diff`: which flows have another outcome.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::command::Spoken;
use super::{bundle, place};
use crate::page::{Page, Tone, plain};
use crate::print::{Hinted, line};
use ghost_inspect::path::{Estate, Judgement};

/// The version of the document.
const FORMAT: u32 = 1;

/// The arguments of `ghost path diff`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost path diff before/ after/ --from web-1 --to db-1:5432 --to db-1:22\n  ghost path diff before.json after.json --from internet --to web-1:443 --json\n\nWith several --from and --to each pair is judged. With --exit-code: 3 where an outcome differs, 4 where one is undecided."
)]
pub(super) struct Arguments {
    /// The bundle before.
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The bundle after.
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Who calls; repeatable.
    #[arg(long, value_name = "WHERE", required = true)]
    from: Vec<String>,
    /// Who is called, and on which port; repeatable.
    #[arg(long, value_name = "WHERE[:PORT]", required = true)]
    to: Vec<String>,
    /// The protocol.
    #[arg(long, value_enum, default_value_t = Spoken::Tcp)]
    protocol: Spoken,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where an outcome differs, with 4 where one is undecided.
    #[arg(long)]
    exit_code: bool,
}

/// One flow in both bundles.
struct Compared {
    flow: String,
    before: Judgement,
    after: Judgement,
}

impl Compared {
    fn differs(&self) -> bool {
        let verdicts = [&self.before, &self.after].map(|judged| judged.fate.verdict());
        verdicts[0] != verdicts[1]
    }

    fn is_open(&self) -> bool {
        [&self.before, &self.after].iter().any(|judged| judged.fate.verdict() == "INDETERMINATE")
    }

    /// Names what decides in each of the two.
    fn causes(judged: &Judgement) -> Vec<String> {
        judged.causes().into_iter().map(|(_, effect)| effect.cause.to_string()).collect()
    }
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if arguments.before.as_os_str() == "-" && arguments.after.as_os_str() == "-" {
        let error = anyhow::anyhow!("both bundles cannot be standard input");
        return Err(Hinted::new(error, "name a file or a folder for one of them").into());
    }
    let [before, after] = [&arguments.before, &arguments.after].map(|path| bundle::read(path));
    let (before, after) = (Estate::of(&before?), Estate::of(&after?));
    let mut all = Vec::new();
    for from in &arguments.from {
        for to in &arguments.to {
            let one = place::flow(&before, from, to, arguments.protocol.into())?;
            // A machine may have another address afterwards.
            let other = place::flow(&after, from, to, arguments.protocol.into())?;
            let flow = format!("{} from {from} to {to}", one.protocol);
            all.push(Compared { flow, before: before.judge(&one), after: after.judge(&other) });
        }
    }
    if arguments.json {
        let judgement = |judged: &Judgement| json!({ "verdict": judged.fate.verdict(), "fate": judged.fate.to_string(), "causes": Compared::causes(judged) });
        let flows: Vec<_> = all
            .iter()
            .map(|one| json!({ "flow": one.flow, "differs": one.differs(), "before": judgement(&one.before), "after": judgement(&one.after) }))
            .collect();
        line(&json!({ "format": FORMAT, "flows": flows }).to_string())?;
    } else {
        page(&all).print()?;
    }
    Ok(match arguments.exit_code {
        false => 0,
        true if all.iter().any(Compared::differs) => 3,
        true if all.iter().any(Compared::is_open) => 4,
        true => 0,
    })
}

fn page(all: &[Compared]) -> Page {
    let mut page = Page::for_output();
    let changed: Vec<&Compared> = all.iter().filter(|one| one.differs()).collect();
    if changed.is_empty() {
        page.add(Tone::Good, "SAME")
            .add(Tone::Plain, &format!("  {} of {} flows end as before", all.len(), all.len()))
            .end();
    } else {
        page.add(Tone::Bad, "DIFFERENT")
            .add(Tone::Plain, &format!("  {} of {} flows", changed.len(), all.len()))
            .end();
    }
    for one in changed {
        page.end().add(Tone::Strong, &one.flow).end();
        page.rows(&[("before", &one.before), ("after", &one.after)].map(|(when, judged)| {
            vec![plain(when), plain(judged.fate.verdict()), plain(Compared::causes(judged).join(", "))]
        }));
    }
    page
}
