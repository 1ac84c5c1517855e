//! `ghost pcap compare`.

use std::fs::File;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::source::{name, opened, piped, refused, stem, written};
use ghost_pcap::{Comparison, Error, compare, comparison_markdown};
use ghost_tools::print::harmless;
use ghost_tools::print::{Hinted, line};

/// The answer is bad news.
const BAD_NEWS: u8 = 3;

/// The arguments of `ghost pcap compare`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The time before, or the source side.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Now, or the destination side.
    #[arg(value_name = "B")]
    b: PathBuf,
    /// What the two are: the text is about that; the document always holds both.
    #[arg(long, value_enum, default_value = "temporal")]
    mode: Mode,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Print every conversation, direction and change rather than those with most trouble.
    #[arg(long)]
    full: bool,
    /// Also write the comparison into a folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 3 where the second capture has a kind of finding that the first has not, or, between endpoints, not all arrived.
    #[arg(long)]
    exit_code: bool,
}

/// What two captures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Two times: what became worse, better, new or gone.
    Temporal,
    /// Two ends of a path, captured at the same time: what was lost, delayed or rewritten between them.
    Endpoints,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (a, b) = (&arguments.a, &arguments.b);
    let pair = compared(arguments)?;
    let text = harmless(&comparison_markdown(&pair, (&name(a), &name(b)), arguments.mode == Mode::Endpoints));
    if let Some(folder) = &arguments.out {
        written(folder, &format!("{}_vs_{}_comparison.md", stem(a), stem(b)), &text)?;
    }
    line(&if arguments.json { serde_json::to_string(&pair)? } else { text.trim_end().to_owned() })?;
    let lost = arguments.mode == Mode::Endpoints && pair.packets.only_a > 0;
    Ok(if arguments.exit_code && (lost || !pair.new.is_empty()) { BAD_NEWS } else { 0 })
}

fn compared(arguments: &Arguments) -> anyhow::Result<Comparison> {
    let files = [&arguments.a, &arguments.b];
    for file in files {
        if piped(file) || !opened(file)?.metadata()?.is_file() {
            let error = anyhow::anyhow!("{} cannot be compared: each capture is read twice", name(file));
            return Err(Hinted::new(error, "write it into a file first").into());
        }
    }
    let [a, b] = files;
    let which = |place: usize| if place == 0 { a } else { b };
    let open = |place: usize| File::open(which(place)).map_err(Error::Read);
    compare(open, arguments.full)
        .map_err(|(place, error)| refused(error, &which(place).display().to_string()))
}
