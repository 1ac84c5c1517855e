//! Reading a whole text: documents and lines one after another, then what follows from them.

use serde_json::Deserializer;

use super::filter::Act;
use super::item::Items;
use super::json::{Tree, document};
use super::sheet::{Qdisc, Read};
use super::text::{Below, line};
use super::tree::exempt;

/// The largest text that is read: a host with ten thousand devices prints a few megabytes.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// Reads what `tc qdisc show`, `tc class show` and `tc filter show` printed, one after another, as text or JSON.
///
/// # Errors
/// Fails where nothing of it is an answer of `tc`, or where a JSON document is cut off.
pub fn read(text: &str) -> Result<Read, ReadError> {
    Ok(conclude(items(text)?))
}

pub(super) fn items(text: &str) -> Result<Items, ReadError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ReadError::TooLarge { bytes: text.len(), limit: MAX_TEXT_BYTES });
    }
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let mut items = Items::default();
    let mut rest = text;
    let mut number = 1;
    let mut below = Below::Nothing;
    while !rest.is_empty() {
        let taken = if rest.trim_start().starts_with(['[', '{']) {
            let mut documents = Deserializer::from_str(rest).into_iter::<Tree>();
            let tree = documents.next().transpose().map_err(|error| ReadError::Json {
                line: number + error.line().saturating_sub(1),
                what: error.to_string(),
            })?;
            if let Some(tree) = tree {
                document(&mut items, &tree, number);
            }
            below = Below::Nothing;
            documents.byte_offset()
        } else {
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            below = line(&mut items, rest.get(..end).unwrap_or_default(), number, below);
            end
        };
        let (done, left) = rest.split_at_checked(taken.max(1)).unwrap_or((rest, ""));
        number += done.matches('\n').count();
        rest = left;
    }
    if items.recognised { Ok(items) } else { Err(ReadError::Foreign) }
}

fn conclude(mut items: Items) -> Read {
    let mut devices = items.qdiscs.clone();
    let mut unknown = Vec::new();
    for (qdisc, device) in items.qdiscs.iter().zip(&mut devices) {
        if qdisc.discipline == "htb" {
            device.rate_bps = rate_of_classes(&items, qdisc);
        }
        device.impairs |= impairs(device, has_classes(&items, qdisc));
        if device.discipline == "blackhole" {
            device.loss_pct = Some(100.0);
        }
        if !is_known(&device.discipline) {
            device.impairs = true;
            device.is_open = true;
            let what = format!("what a {} does to packets is not known", device.discipline);
            unknown.push((device.dev.clone(), what));
        }
        device.exempt = exempt(&items, qdisc);
    }
    for (dev, what) in unknown {
        items.warn(0, dev.map_or_else(|| what.clone(), |dev| format!("{dev}: {what}")));
    }
    let undecoded: Vec<_> = items
        .filters
        .iter()
        .filter(|filter| {
            filter.flowid.is_some() && !matches!(filter.kind.as_str(), "u32" | "flower" | "matchall")
        })
        .map(|filter| {
            (filter.line, format!("a filter of kind `{}`: what it chooses is not read", filter.kind))
        })
        .collect();
    for (line, what) in undecoded {
        items.warn(line, what);
    }
    items.tell_the_homeless();
    let gaps = gaps(&items, &devices);
    items.warnings.sort_by_key(|warning| warning.line);
    Read { impaired: devices.iter().any(|device| device.impairs), devices, warnings: items.warnings, gaps }
}

/// Names what packets meet and no figure describes.
fn gaps(items: &Items, devices: &[Qdisc]) -> Vec<String> {
    let open = devices.iter().filter(|own| own.is_open);
    let mut found: Vec<String> = open
        .map(|own| {
            format!(
                "what the {} of {} does is not known",
                own.discipline,
                own.dev.as_deref().unwrap_or("a device")
            )
        })
        .collect();
    for device in devices.iter().filter(|own| matches!(own.discipline.as_str(), "clsact" | "ingress")) {
        let Some(name) = &device.dev else { continue };
        let has_filters = items
            .filters
            .iter()
            .any(|filter| filter.dev.as_ref() == Some(name) && filter.parent.starts_with("ffff:"));
        if !has_filters && !items.filters_read.contains(name) {
            found.push(format!("the filters of {name} were not read"));
        }
    }
    for filter in items.filters.iter().filter(|filter| filter.is_whole()) {
        let what = match &filter.act {
            None | Some(Act::Continues | Act::Passes) => continue,
            Some(Act::Drops) => "drops what it takes",
            Some(Act::Limits) => "limits what it takes",
            Some(Act::Other(_)) => "does something that is not known",
        };
        let device = filter.dev.as_deref().unwrap_or("a device");
        found.push(format!("the {} filter of line {} at {device} {what}", filter.kind, filter.line));
    }
    found
}

fn has_classes(items: &Items, qdisc: &Qdisc) -> bool {
    classes(items, qdisc).next().is_some()
}

fn classes<'a>(items: &'a Items, qdisc: &'a Qdisc) -> impl Iterator<Item = &'a super::item::Class> {
    items.classes.iter().filter(move |class| {
        class.kind == qdisc.discipline
            && (class.dev.is_none() || class.dev == qdisc.dev)
            && qdisc.handle.as_deref().is_some_and(|handle| class.id.starts_with(handle))
    })
}

/// What all classes together may send: that of the classes at the root, or of the largest where none is shown there.
fn rate_of_classes(items: &Items, qdisc: &Qdisc) -> Option<f64> {
    let roots: Vec<f64> = classes(items, qdisc)
        .filter(|class| class.parent.is_none() || class.parent == qdisc.handle)
        .filter_map(|class| class.rate_bps)
        .collect();
    if roots.is_empty() {
        return classes(items, qdisc).filter_map(|class| class.rate_bps).reduce(f64::max);
    }
    Some(roots.iter().sum())
}

/// Disciplines that are known: those that only order what waits, and those whose figures are read.
const DISCIPLINES: &[&str] = &[
    "noqueue",
    "pfifo_fast",
    "pfifo",
    "bfifo",
    "pfifo_head_drop",
    "fq_codel",
    "fq",
    "fq_pie",
    "codel",
    "pie",
    "sfq",
    "sfb",
    "red",
    "gred",
    "choke",
    "hhf",
    "skbprio",
    "dualpi2",
    "mq",
    "mqprio",
    "multiq",
    "prio",
    "ets",
    "drr",
    "qfq",
    "hfsc",
    "htb",
    "cbq",
    "cake",
    "netem",
    "tbf",
    "cbs",
    "taprio",
    "etf",
    "plug",
    "ingress",
    "clsact",
    "blackhole",
    "teql0",
];

fn is_known(discipline: &str) -> bool {
    DISCIPLINES.contains(&discipline)
}

fn impairs(qdisc: &Qdisc, has_classes: bool) -> bool {
    let some = |figure: Option<f64>| figure.is_some_and(|figure| figure > 0.0);
    match qdisc.discipline.as_str() {
        "netem" => [
            qdisc.delay_ms,
            qdisc.jitter_ms,
            qdisc.loss_pct,
            qdisc.corrupt_pct,
            qdisc.duplicate_pct,
            qdisc.reorder_pct,
            qdisc.rate_bps,
        ]
        .into_iter()
        .any(some),
        "tbf" | "blackhole" => true,
        "htb" | "hfsc" | "cbq" => has_classes,
        "cake" => some(qdisc.rate_bps),
        // Each has a schedule or a rate of its own, which is not read.
        "cbs" | "taprio" | "etf" | "plug" => true,
        _ => false,
    }
}

/// Why a text is no answer of `tc`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It is larger than anything that `tc` prints.
    #[error("it has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The most bytes that are read.
        limit: usize,
    },
    /// A JSON document ends early or is none.
    #[error("line {line}: this JSON cannot be read, or it was cut off: {what}")]
    Json {
        /// Where the document begins or fails.
        line: usize,
        /// What the reader says.
        what: String,
    },
    /// No line of it is a queueing discipline, a class or a filter.
    #[error("no line of it is a qdisc, a class or a filter as `tc` shows them")]
    Foreign,
}
