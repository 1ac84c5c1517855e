//! The subcommands of `ghost sessions`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::{list, search, show, transfer, usage};
use crate::list::ListOutput;
use crate::print::Hinted;
use crate::setup::Setup;
use crate::wait::drive;
use ghost_base::SessionId;
use ghost_store::Store;

/// The arguments of `ghost sessions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost sessions list\n  ghost sessions show ghost-7k2f --report > rca.md\n  ghost sessions export ghost-7k2f --out 7k2f.jsonl\n  ghost sessions import 7k2f.jsonl --data-dir /srv/ghost\n  ghost sessions delete ghost-7k2f"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Lists all sessions, a line each.
    #[command(
        after_help = "Examples:\n  ghost sessions list\n  ghost sessions list -o markdown\n  ghost sessions list --json | jq -r '.[] | select(.state == \"waiting\") | .id'"
    )]
    List {
        #[command(flatten)]
        output: ListOutput,
    },
    /// Finds sessions that were about something, by the names of objects, the codes of faults and words; the best first.
    #[command(
        after_help = "Examples:\n  ghost sessions search web-1\n  ghost sessions search nsg/web-nsg/deny-5432\n  ghost sessions search nsg_deny --json | jq -r '.[].id'"
    )]
    Search {
        /// Names, codes or words.
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        output: ListOutput,
    },
    /// Tells what happened in a session, or prints one of its reports.
    #[command(
        after_help = "Examples:\n  ghost sessions show ghost-7k2f\n  ghost sessions show ghost-7k2f --report > rca.md\n  ghost sessions show ghost-7k2f --json | jq '.events[] | select(.kind == \"done\").body.output'"
    )]
    Show(show::Arguments),
    /// Adds up what sessions used, and how long people waited.
    #[command(
        after_help = "Examples:\n  ghost sessions usage\n  ghost sessions usage --since 24h --by day\n  ghost sessions usage --json | jq '.total.tokens'\n\nThe last four columns are times: half of all within the first number, nine of ten within the second."
    )]
    Usage(usage::Arguments),
    /// Writes a session with its evidence and its audit as JSON lines that stand by themselves.
    #[command(
        after_help = "Examples:\n  ghost sessions export ghost-7k2f --out 7k2f.jsonl\n  ghost sessions export ghost-7k2f | gzip > 7k2f.jsonl.gz"
    )]
    Export {
        /// The session.
        session: SessionId,
        /// Where to; standard output unless said.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Puts an exported session where it is not yet.
    #[command(
        after_help = "Examples:\n  ghost sessions import 7k2f.jsonl\n  zcat 7k2f.jsonl.gz | ghost sessions import -"
    )]
    Import {
        /// The export; `-` is standard input.
        file: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Deletes what a session holds; the chain of its digests stays, and so does its audit.
    #[command(
        after_help = "Examples:\n  ghost sessions delete ghost-7k2f\n  ghost sessions delete ghost-7k2f --force"
    )]
    Delete {
        /// The session.
        session: SessionId,
        /// Delete it also from under an owner who drives it.
        #[arg(long)]
        force: bool,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Removes what is older than `[retention]` of the configuration says.
    #[command(after_help = "Examples:\n  ghost sessions sweep\n  ghost sessions sweep --json")]
    Sweep {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let work = async || match &arguments.command {
        Sub::List { output } => list::run(setup, output.form()).await,
        Sub::Search { words, output } => search::run(setup, &words.join(" "), output.form()).await,
        Sub::Usage(arguments) => usage::run(arguments, setup).await,
        Sub::Show(arguments) => show::run(arguments, setup).await,
        Sub::Export { session, out } => transfer::export(setup, session, out.as_deref()).await,
        Sub::Import { file, json } => transfer::import(setup, file, *json).await,
        Sub::Delete { session, force, json } => transfer::delete(setup, session, *force, *json).await,
        Sub::Sweep { json } => transfer::sweep(setup, *json).await,
    };
    drive(work)?.map(|()| 0)
}

/// Opens the store for a session that has to be there. A look makes no store.
pub async fn store_of(setup: &Setup, session: &SessionId) -> anyhow::Result<Arc<dyn Store>> {
    if setup.store_is_to_be_made() {
        return Err(missing(session));
    }
    setup.store().await
}

/// Says that there is no such session.
pub fn missing(session: &SessionId) -> anyhow::Error {
    let error = anyhow::Error::msg(format!("there is no session {session}"));
    Hinted::new(error, "`ghost sessions list` shows what there is").into()
}

/// Returns a path as text that a terminal only prints.
pub(super) fn shown(path: &Path) -> String {
    ghost_investigate::report::plain(&path.display().to_string())
}
