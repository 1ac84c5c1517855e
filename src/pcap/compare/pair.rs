//! Two captures side by side.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Serialize;

use super::change::{Change, changes};
use super::join::{Direction, Join, Packets};
use crate::pcap::analyze::{Analyzer, Scope};
use crate::pcap::error::Error;
use crate::pcap::read::{Ending, frames};
use crate::pcap::summary::{FileFacts, Summary};

/// How many directions are told of unless everything is asked for.
const DIRECTIONS: usize = 50;

/// Two captures, and what they have in common.
#[derive(Debug, Clone, Serialize)]
pub struct Pair {
    /// The version of this form.
    pub version: u32,
    /// The first capture: the source side, or the time before.
    pub a: Side,
    /// The second: the destination side, or now.
    pub b: Side,
    /// IP packets.
    pub packets: Packets,
    /// IP packets from one address to another.
    pub directions: Vec<Direction>,
    /// Rates of both.
    pub changes: Vec<Change>,
    /// Codes of findings that only the second has.
    pub new: Vec<&'static str>,
    /// Codes of findings that only the first has.
    pub resolved: Vec<&'static str>,
    /// What could not be read, or was left out.
    pub warnings: Vec<String>,
}

/// One of them.
#[derive(Debug, Clone, Serialize)]
pub struct Side {
    /// The file.
    pub file: FileFacts,
    /// Frames with each label.
    pub counts: BTreeMap<&'static str, u64>,
}

/// Compares two captures, each of which is read twice: once to be analyzed, once to find its packets in the other one.
///
/// # Errors
/// Fails where one of them is no capture; says which, 0 or 1.
pub fn compare<R: Read>(
    mut open: impl FnMut(usize) -> Result<R, Error>,
    full: bool,
) -> Result<Pair, (usize, Error)> {
    let mut shortest = usize::MAX;
    let mut analyzed = |which: usize| -> Result<Summary, (usize, Error)> {
        let mut analyzer = Analyzer::new(Scope { full, ..Scope::default() });
        let ending: Ending = open(which)
            .and_then(|source| frames(source, |frame| drop_labels(analyzer.feed(frame))))
            .map_err(|error| (which, error))?;
        shortest = shortest.min(analyzer.shortest());
        Ok(analyzer.finish(&ending))
    };
    let (a, b) = (analyzed(0)?, analyzed(1)?);
    let mut join = Join::new(shortest);
    open(0).and_then(|source| frames(source, |frame| join.first(frame))).map_err(|error| (0, error))?;
    open(1).and_then(|source| frames(source, |frame| join.second(frame))).map_err(|error| (1, error))?;
    let (packets, mut directions, skipped) = join.finish();
    if !full {
        directions.truncate(DIRECTIONS);
    }
    let codes = |summary: &Summary| -> Vec<&'static str> {
        summary.findings.iter().map(|finding| finding.code).collect()
    };
    let only = |one: &Summary, other: &Summary| -> Vec<&'static str> {
        let mut found = codes(one);
        found.retain(|code| !codes(other).contains(code));
        found.dedup();
        found
    };
    let mut warnings: Vec<String> = a.warnings.iter().map(|warning| format!("a: {warning}")).collect();
    warnings.extend(b.warnings.iter().map(|warning| format!("b: {warning}")));
    if skipped > 0 {
        warnings.push(format!("{skipped} packets were left out of the comparison for want of room"));
    }
    Ok(Pair {
        version: 1,
        packets,
        directions,
        changes: changes(&a, &b),
        new: only(&b, &a),
        resolved: only(&a, &b),
        warnings,
        a: Side { file: a.file, counts: a.counts },
        b: Side { file: b.file, counts: b.counts },
    })
}

fn drop_labels(_labels: crate::pcap::label::Labels) {}
