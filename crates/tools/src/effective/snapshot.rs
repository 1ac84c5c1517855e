//! `ghost effective snapshot`.

use clap::Args;
use serde_json::json;

use super::compare;
use super::given::EffectiveInput;
use super::judge::Judging;
use super::place::SnapshotFolder;
use super::text::{count, unread};
use crate::global::Global;
use crate::input::harmless;
use crate::print::line;
use ghost_base::{Digest, SessionId};
use ghost_inspect::effective::Which;

/// The arguments of `ghost effective snapshot`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost effective snapshot --vm-name web-1 -g prod --is-baseline --session-id before\n  az network nic show-effective-route-table -n web-nic -g prod -o json > routes.json\n  az network nic list-effective-nsg -n web-nic -g prod -o json > nsg.json\n  ghost effective snapshot --answers web-nic routes.json nsg.json --vm-name web-1 -g prod --is-baseline --session-id before\n  ghost effective snapshot --from bundle.json --json\n  ghost effective snapshot --from bundle.json --compare-baseline before --exit-code\n\nThe file is DATA/effective/S.json, of mode 0600, and never overwritten. Keep the digest that is printed somewhere else: whoever can write the file can also make another one. With --exit-code: 4 where a network interface could not be read, and with --compare-baseline as `compare`."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: EffectiveInput,
    /// Later states are to be compared with it; refused where nothing could be read completely.
    #[arg(long)]
    is_baseline: bool,
    /// Compare it with this baseline at once.
    #[arg(long, value_name = "S")]
    compare_baseline: Option<SessionId>,
    #[command(flatten)]
    judging: Judging,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let place = SnapshotFolder::find(global);
    if arguments.given.planned(&place, arguments.judging.json)? {
        return Ok(0);
    }
    if let Some(baseline) = &arguments.compare_baseline {
        return compare::with(&place, baseline, &arguments.given, arguments.is_baseline, &arguments.judging);
    }
    let (text, snapshot) = arguments.given.seal(&place, arguments.is_baseline)?;
    let path = place.keep(&snapshot.taken.session, &text)?;
    let errors = snapshot.nic_errors(Which::Current);
    if arguments.judging.json {
        let digest = |digest: Digest| digest.to_string();
        let output = json!({
            "session": snapshot.taken.session.as_str(), "file": path, "sha256": digest(snapshot.digest),
            "content_sha256": digest(snapshot.content), "raw_sha256": digest(snapshot.raw), "baseline": snapshot.taken.baseline,
            "taken_at": snapshot.taken.at.to_string(), "answers_at": snapshot.taken.answers_at.map(|at| at.to_string()), "taken_by": snapshot.taken.by, "scope": snapshot.taken.scope,
            "nics": snapshot.len(), "nic_errors": errors,
        });
        line(&output.to_string())?;
    } else {
        let what = if snapshot.taken.baseline { "baseline" } else { "snapshot" };
        let mut lines = vec![
            format!("{what} {} of {}", snapshot.taken.session, count(snapshot.len(), "network interface")),
            format!("  file    {}", path.display()),
            format!("  sha256  {}", snapshot.digest),
        ];
        if !errors.is_empty() {
            lines.push("\nNot read, so that a comparison with it cannot be CLEAN:".to_owned());
            lines.extend(unread(&errors, false));
        }
        line(&harmless(&lines.join("\n")))?;
    }
    Ok(if arguments.judging.exit_code && !errors.is_empty() { 4 } else { 0 })
}
