//! `ghost shell bench`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::board::{Judges, table};
use super::corpus;
use super::execpolicy::Rules;
use super::lines::FirstWords;
use super::selection::Selection;
use crate::config::read_small;
use crate::print::{line, note};
use crate::setup::Setup;
use ghost_shell::{Verdict, visible};

/// The arguments of `ghost shell bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "A path is a folder of GTFOBins' pages, of tldr's pages, of Atomic Red Team's tests or of `.txt` files with a command a line, or one such file. Nothing of it runs.\n\nExamples:\n  ghost shell bench GTFOBins.github.io/_gtfobins tldr/pages/linux\n  ghost shell bench commands.txt --show risky\n  ghost shell bench tldr/pages --only read-only.txt --execpolicy default.rules --json"
)]
pub(crate) struct Arguments {
    /// Folders or files of commands.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Judge by these rules of Codex's execpolicy too; of several files all count.
    #[arg(long, value_name = "FILE")]
    execpolicy: Vec<PathBuf>,
    /// The list of first words to compare with: a word a line; the programs that the policy lets through, unless said.
    #[arg(long, value_name = "FILE")]
    first_words: Option<PathBuf>,
    /// Only these: `PAGE N …` for what should run at once, `PAGE N asks WHY` for what has to ask.
    #[arg(long, value_name = "FILE")]
    only: Option<PathBuf>,
    /// Print each command of this verdict instead, with where it stands and why.
    #[arg(long, value_name = "VERDICT", conflicts_with = "json")]
    show: Option<OutputFormat>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OutputFormat {
    Safe,
    Risky,
    Blocked,
}

impl OutputFormat {
    fn verdict(self) -> Verdict {
        match self {
            Self::Safe => Verdict::Safe,
            Self::Risky => Verdict::Risky,
            Self::Blocked => Verdict::Blocked,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let policy = setup.policy()?;
    let mut rules = Rules::default();
    for path in &arguments.execpolicy {
        rules.add(&given(path)?).with_context(|| format!("reading {}", path.display()))?;
    }
    let words = match &arguments.first_words {
        Some(path) => FirstWords::parse(&given(path)?),
        None => FirstWords::of(&policy),
    };
    let selection = arguments.only.as_deref().map(|path| Selection::parse(&given(path)?)).transpose()?;
    let judges = Judges {
        policy: &policy,
        rules: (!arguments.execpolicy.is_empty()).then_some(&rules),
        words: &words,
        selection: selection.as_ref(),
    };
    let mut rows = Vec::new();
    for path in &arguments.paths {
        let corpus = corpus::read(path)?;
        if let Some(first) = corpus.skipped.first() {
            let count = corpus.skipped.len();
            note(&format!("{}: passed over {count}, which have none of the formats: {first}…", corpus.name));
        }
        rows.push(judges.count(&corpus, |command, ruling| {
            if arguments.show.map(OutputFormat::verdict) != Some(ruling.verdict) {
                return Ok(());
            }
            let text = visible(&command.text).replace('\n', "\\n");
            line(&format!(
                "{} {}  {text}  ({}: {})",
                command.page, command.number, ruling.rule, ruling.reason
            ))
        })?);
    }
    if arguments.json {
        let answer = serde_json::json!({
            "policy": policy.digest().to_string(),
            "first_words": words.len(),
            "execpolicy_rules": judges.rules.map(Rules::len),
            "corpora": rows,
        });
        line(&answer.to_string())?;
    } else if arguments.show.is_none() {
        line(table(&rows).trim_end())?;
    }
    Ok(0)
}

fn given(path: &Path) -> anyhow::Result<String> {
    read_small(path).with_context(|| format!("reading {}", path.display()))
}
