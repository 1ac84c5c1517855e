//! `ghost route select`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::command::{Known, RouteInput, table};
use crate::global::Global;
use crate::page::{Cell, Page, Tone, few, plain};
use crate::print::line;
use ghost_inspect::route::{Entry, Outcome, Selection};

/// So many routes of a kind are shown to people.
pub(super) const SHOWN: usize = 20;

/// So many steps of a trace are.
const TRACED: usize = 200;

/// The arguments of `ghost route select`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost route select --table routes.json --to 10.1.2.3 --trace\n  az network nic show-effective-route-table -n web-nic -g prod -o json | ghost route select --table - --to 8.8.8.8\n  ghost route select --table a.json --to 10.1.0.4 --from 10.0.0.4 --return-table b.json --inventory nics.json\n  ghost route select --vm web-1 -g prod --to 10.1.2.3"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: RouteInput,
    /// The destination.
    #[arg(long, value_name = "IP")]
    to: IpAddr,
    /// The source: the destination of the return path.
    #[arg(long, value_name = "IP")]
    from: Option<IpAddr>,
    /// The other end's effective route table: says whether the return path is another one.
    #[arg(long, value_name = "FILE", requires = "from")]
    return_table: Option<PathBuf>,
    /// Show every route that contains the destination, and what became of it.
    #[arg(long)]
    trace: bool,
    /// Exit with 3 where there is no route or an anomaly, with 4 where the answer, or the return path, is INDETERMINATE.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let Some(Known { tags, inventory, routes }) = arguments.given.read(global)? else { return Ok(0) };
    let mut selection = routes.select_knowing(arguments.to, inventory.as_ref());
    let back = arguments.return_table.as_deref().map(|path| table(path, tags.as_ref())).transpose()?;
    if let (Some(back), Some(from)) = (&back, arguments.from) {
        routes.compare_return(&mut selection, arguments.to, back, from);
        selection.warnings.to_mut().extend(back.warnings().iter().cloned().map(|mut warning| {
            warning.what = format!("{} (of the return table)", warning.what);
            warning
        }));
    }
    selection.warnings.to_mut().extend(tags.iter().flat_map(|tags| tags.warnings().to_vec()));
    selection.warnings.to_mut().extend(inventory.iter().flat_map(|inventory| inventory.warnings().to_vec()));
    if arguments.given.json {
        line(&serde_json::to_string(&selection)?)?;
    } else {
        page(&selection, arguments).print()?;
    }
    Ok(match selection.result {
        _ if !arguments.exit_code => 0,
        Outcome::NoRoute => 3,
        Outcome::Indeterminate => 4,
        Outcome::Winner | Outcome::Tied if !selection.anomalies.is_empty() => 3,
        Outcome::Winner | Outcome::Tied if !selection.unresolved.is_empty() => 4,
        Outcome::Winner | Outcome::Tied => 0,
    })
}

/// Returns a route as the cells of a table.
pub(super) fn cells(entry: &Entry<'_>) -> Vec<Cell> {
    let hops = entry.next_hop_ips.join(", ");
    let hop = if hops.is_empty() {
        entry.next_hop_type.to_owned()
    } else {
        format!("{} {hops}", entry.next_hop_type)
    };
    let tag = entry.tag.map(|tag| format!("tag {tag}"));
    let name = [entry.name.map(str::to_owned), tag].into_iter().flatten().collect::<Vec<_>>().join(", ");
    vec![
        plain(entry.prefix.to_string()),
        plain(entry.source),
        plain(hop),
        (Tone::Faint, format!("row {}", entry.row)),
        (Tone::Faint, name),
    ]
}

fn page(selection: &Selection<'_>, arguments: &Arguments) -> Page {
    let (mut page, to) = (Page::for_output(), arguments.to);
    let result = selection.result.as_str();
    match (&selection.winner, selection.result) {
        (Some(winner), _) => {
            page.add(Tone::Good, result).add(Tone::Plain, &format!("  {to} goes by")).end();
            page.rows(&[cells(winner)]);
            let reason = selection.reason.map_or("", |reason| reason.sentence());
            page.add(Tone::Plain, &format!("  because {reason}")).end();
        }
        (None, Outcome::NoRoute) => {
            let rest = format!("  no route in use contains {to}: the packet is dropped");
            page.add(Tone::Bad, result).add(Tone::Plain, &rest).end();
        }
        (None, Outcome::Indeterminate) => {
            let rest = format!("  {to} may go by the service tag {}", few(&selection.unresolved, 5));
            page.add(Tone::Odd, result).add(Tone::Plain, &rest).end();
            let hint =
                "  resolve it: --tags with what `az network list-service-tags -l REGION -o json` prints";
            page.add(Tone::Plain, hint).end();
            // The first steps of the trace are what carries it otherwise.
            let best = selection.trace.iter().take_while(|step| step.what.starts_with("would"));
            let best: Vec<_> = best.map(|step| cells(&step.route)).collect();
            let otherwise =
                if best.is_empty() { "  otherwise nothing carries it" } else { "  otherwise it goes by" };
            page.add(Tone::Plain, otherwise).end();
            page.first(&best, SHOWN, Clone::clone);
        }
        (None, Outcome::Winner | Outcome::Tied) => {
            let rest = format!("  {} equal routes share the load to {to}", selection.tied.len());
            page.add(Tone::Odd, result).add(Tone::Plain, &rest).end();
            page.first(&selection.tied, SHOWN, cells);
        }
    }
    if !selection.warnings.is_empty() {
        let what = "  what could not be read is listed below, and was not considered";
        page.add(Tone::Odd, what).end();
    }
    let several = selection.winner.as_ref().map_or(0, |winner| winner.next_hop_ips.len());
    if several > 1 {
        page.add(Tone::Plain, &format!("  its {several} next hops share the load")).end();
    }
    if selection.result != Outcome::Indeterminate && !selection.unresolved.is_empty() {
        let names = few(&selection.unresolved, 5);
        page.add(Tone::Odd, &format!("  the return path is undecided: it may use {names}")).end();
    }
    for found in &selection.anomalies {
        page.add(Tone::Bad, &format!("  ! {}", found.code.as_str()));
        page.add(Tone::Plain, &format!("  {} (row {})", found.detail, found.row)).end();
    }
    let others = selection
        .trace
        .len()
        .saturating_sub(selection.tied.len().max(usize::from(selection.winner.is_some())));
    if arguments.trace {
        page.title(&format!("Every route that contains {to}, in the order in which they were weighed"));
        page.first(&selection.trace, TRACED, |step| [cells(&step.route), vec![plain(step.what)]].concat());
    } else if others > 0 {
        let text = format!("  {others} more contain it; --trace says what became of them");
        page.add(Tone::Faint, &text).end();
    }
    page.unread(&selection.warnings);
    page
}
