//! `ghost effective diff`.

use std::path::PathBuf;

use clap::Args;

use super::given::side;
use super::judge::{Judging, StoredJudgement};

/// The arguments of `ghost effective diff`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost effective diff before.json after.json\n  ghost effective diff ~/.local/state/ghost/effective/before.json bundle.json --json --exit-code\n\nA file is a snapshot, whose digests are checked, or a bundle {\"nics\":[{\"nic\":NAME,\"routes\":RAW,\"nsg\":RAW,\"error\":null}]}, where RAW is what `az network nic show-effective-route-table` and `list-effective-nsg` printed. With --exit-code: 3 where something changed, 4 where that is undecided."
)]
pub(super) struct Arguments {
    /// The earlier state; `-` is standard input.
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The later state; `-` is standard input.
    #[arg(value_name = "B")]
    after: PathBuf,
    #[command(flatten)]
    judging: Judging,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (before, after) = (side(&arguments.before)?, side(&arguments.after)?);
    let forced = arguments.judging.objections(&before, &after)?;
    arguments.judging.judge(&before, &after, StoredJudgement { forced, ..StoredJudgement::default() })
}
