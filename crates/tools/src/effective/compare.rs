//! `ghost effective compare`.

use clap::Args;

use super::given::EffectiveInput;
use super::judge::{Judging, StoredJudgement};
use super::place::SnapshotFolder;
use crate::global::Global;
use ghost_base::SessionId;
use ghost_inspect::effective::Side;

/// The arguments of `ghost effective compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost effective compare --baseline before --vm-name web-1 -g prod\n  ghost effective compare --baseline before --from bundle.json --exit-code\n  ghost effective compare --baseline before --answers web-nic routes.json nsg.json --change-window 2026-01-31T22:00:00Z..2026-01-31T23:00:00Z\n\nThe present state is kept as a snapshot, too. A clean comparison leaves a certificate beside it, or in the file that --certificate names, for `ghost effective verify`. With --exit-code: 3 where something changed, 4 where that is undecided."
)]
pub(super) struct Arguments {
    /// The baseline: the name of a snapshot.
    #[arg(long, alias = "compare-baseline", value_name = "S")]
    baseline: SessionId,
    #[command(flatten)]
    given: EffectiveInput,
    /// Later states are to be compared with the present one.
    #[arg(long)]
    is_baseline: bool,
    #[command(flatten)]
    judging: Judging,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let place = SnapshotFolder::find(global);
    if arguments.given.planned(&place, arguments.judging.json)? {
        return Ok(0);
    }
    with(&place, &arguments.baseline, &arguments.given, arguments.is_baseline, &arguments.judging)
}

/// Seals the present state, compares it with a baseline, and keeps both it and what came of it.
pub(super) fn with(
    place: &SnapshotFolder,
    baseline: &SessionId,
    given: &EffectiveInput,
    is_baseline: bool,
    judging: &Judging,
) -> anyhow::Result<u8> {
    let before = place.load(baseline)?;
    let mut notes = Vec::new();
    if !before.taken.baseline {
        notes.push(format!("the snapshot {baseline} was not taken as a baseline"));
    }
    let (text, after) = given.seal(place, is_baseline)?;
    let session = after.taken.session.clone();
    let (before, after) = (Side::from(before), Side::from(after));
    let forced = judging.objections(&before, &after)?;
    let file = place.keep(&session, &text)?;
    let certificate = place.certificate(baseline, &session)?;
    let kept = StoredJudgement {
        current: Some(file),
        certificate: Some(certificate),
        who: place.who.clone(),
        forced,
        notes,
    };
    judging.judge(&before, &after, kept)
}
