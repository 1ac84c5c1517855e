//! `ghost netfilter inspect`: a running guest.

use clap::Args;

use super::command::code;
use super::keep::{Keep, put};
use super::text::WORDS;
use crate::global::Global;
use crate::guest::Guest;
use crate::live::gather;
use crate::print::line;
use crate::setup::Setup;
use crate::tone::tinted;
use ghost_base::SessionId;
use ghost_cloud::probe::GuestProbe;
use ghost_cloud::probe::firewall::WANTED;
use ghost_inspect::netfilter::{Bundle, Document, Host, Status, explain};

/// The guest, and what becomes of what is seen.
#[derive(Debug, Args)]
pub(super) struct Inspected {
    #[command(flatten)]
    guest: Guest,
    /// The name under which it is kept; else `fw_` and the time.
    #[arg(long, value_name = "S")]
    session_id: Option<SessionId>,
    /// Keep it; later snapshots are compared with this one.
    #[arg(long)]
    is_baseline: bool,
    /// Compare with the snapshot of this session, and keep this look, too.
    #[arg(long, value_name = "S")]
    compare_baseline: Option<SessionId>,
    /// Print every command that it would run, with its verdict, and run none.
    #[arg(long)]
    plan: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where anything differs from the baseline, with 4 where that is undecided or not all was read.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(asked: &Inspected, global: &Global) -> anyhow::Result<u8> {
    let setup = Setup::new(global)?;
    let reach = asked.guest.reach(&setup)?;
    let look = || {
        let gathering = GuestProbe::new(reach.clone(), &WANTED);
        gather(&setup, &reach, gathering, (asked.plan, asked.json), asked.session_id.as_ref())
    };
    let kept = asked.is_baseline || asked.compare_baseline.is_some() || asked.session_id.is_some();
    if asked.plan || !kept {
        return look()?.map_or(Ok(0), |bundle| show(&bundle, asked));
    }
    let keep = Keep {
        session: asked.session_id.as_ref(),
        scope: asked.guest.name(),
        is_baseline: asked.is_baseline,
        compare: asked.compare_baseline.as_ref(),
        json: asked.json,
        exit_code: asked.exit_code,
    };
    put(&keep, global, || look()?.ok_or_else(|| anyhow::anyhow!("nothing was gathered")))
}

/// Explains what was seen.
fn show(bundle: &Bundle, asked: &Inspected) -> anyhow::Result<u8> {
    let found = explain(&Document::Host(Box::new(Host::read(bundle))));
    line(&if asked.json { serde_json::to_string(&found)? } else { tinted(&found.to_string(), WORDS) })?;
    let unread = if found.unread.is_empty() { Status::Clean } else { Status::Inconclusive };
    Ok(code(asked.exit_code, unread))
}
