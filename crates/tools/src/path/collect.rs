//! `ghost path collect`: a bundle of what is read now, for an answer offline and later.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::command::Spoken;
use super::live::LiveEstate;
use crate::guest;
use crate::live::Live;
use crate::print::{Hinted, line, note};
use crate::setup::Setup;
use ghost_inspect::path::LENGTHS;

/// The exit code for what could not be read.
const UNDECIDED: u8 = 4;

/// The arguments of `ghost path collect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost path collect -g prod --out estate/\n  ghost path collect -g prod --from web-1 --to db-1:5432 --out flow/\n\nWithout --from and --to every machine is read. Everything is read by commands that change nothing; the files hold addresses, rules and names of your network, so keep them as you keep those."
)]
pub(super) struct Arguments {
    /// The resource group.
    #[arg(long, short = 'g', value_name = "GROUP")]
    resource_group: String,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID")]
    subscription: Option<String>,
    /// Read only what decides over the flow from here.
    #[arg(long, value_name = "WHERE", requires = "to")]
    from: Option<String>,
    /// To here.
    #[arg(long, value_name = "WHERE[:PORT]", requires = "from")]
    to: Option<String>,
    /// The protocol.
    #[arg(long, value_enum, default_value_t = Spoken::Tcp)]
    protocol: Spoken,
    /// The folder, which has to be new or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON document: the folder and its files.
    #[arg(long)]
    json: bool,
    /// Exit with 4 where something could not be read.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let out = &arguments.out;
    let is_used = out.read_dir().is_ok_and(|mut files| files.next().is_some()) || out.is_file();
    if is_used {
        let error = anyhow::anyhow!("{} is there already and not empty", out.display());
        return Err(Hinted::new(error, "name a new folder: two bundles in one would be read as one").into());
    }
    let group = guest::place(&arguments.resource_group, arguments.subscription.as_deref())?;
    let mut live = LiveEstate::open(Live::open(setup, "path", None, None)?, group)?;
    match (&arguments.from, &arguments.to) {
        (Some(from), Some(to)) => {
            let flow = live.flow(from, to, arguments.protocol.into())?;
            live.read_for(&[flow])?;
        }
        (None, _) | (_, None) => live.read_all()?,
    }
    let files = live.bundle().to_files();
    for (name, text) in &files {
        let path = out.join(name);
        if let Some(folder) = path.parent() {
            ghost_base::private_dir(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        ghost_base::write_private_new(&path, text.as_bytes())
            .with_context(|| format!("writing {}", path.display()))?;
    }
    let documents = files.iter().map(|(name, _)| name).filter(|name| *name != LENGTHS);
    if arguments.json {
        let names: Vec<&String> = documents.collect();
        line(&json!({"format": 1, "out": out.display().to_string(), "documents": names}).to_string())?;
    } else {
        note(&format!("{} documents are in {}", documents.count(), out.display()));
    }
    Ok(if arguments.exit_code && live.unread() > 0 { UNDECIDED } else { 0 })
}
