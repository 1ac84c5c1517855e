//! Two captures side by side.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Serialize;

use super::assess::{CaptureLimits, assess};
use super::capture::{CaptureSide, Captures, MAX_PACKETS};
use super::change::{CaptureAccount, MetricChange, changes};
use super::change_summary::{ChangeSummary, change_summary};
use super::directions::{Direction, PacketCounts, directions};
use super::findings::{ComparedFinding, sorted};
use super::host::hosts;
use super::matching::PacketMatches;
use super::path::PathFacts;
use super::service::Services;
use crate::analyze::{Analyzer, Scope};
use crate::error::Error;
use crate::read::frames;
use crate::summary::{FileFacts, Summary};

/// How many directions are listed unless everything is asked for, and how many changes and findings of each kind.
const MAX_DIRECTIONS: usize = 24;
const MAX_CHANGES: usize = 30;
const MAX_FINDINGS: usize = 10;
/// How many bytes the answer has at most unless everything is asked for.
const MAX_JSON_LEN: usize = 23_500;
/// How many packets that are in both captures are no accident.
const MIN_COMMON_PERCENT: u64 = 20;

/// Two captures, and what they have in common.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The version of this form.
    pub version: u32,
    /// The first capture: the source side, or the time before.
    pub a: CaptureFacts,
    /// The second: the destination side, or now.
    pub b: CaptureFacts,
    /// IP packets, whenever they were captured.
    pub packets: PacketCounts,
    /// IP packets from one address to another.
    pub directions: Vec<Direction>,
    /// Read as two times: what became of the network.
    #[serde(rename = "course")]
    pub change_summary: ChangeSummary,
    /// Shares and times of both.
    pub changes: Vec<MetricChange>,
    /// Findings that only the second has.
    pub new: Vec<ComparedFinding>,
    /// Findings that only the first has.
    pub resolved: Vec<ComparedFinding>,
    /// Findings of both.
    pub persisting: Vec<ComparedFinding>,
    /// Read as two ends: what became of packets between them.
    pub path: PathFacts,
    /// What could not be read, or was left out.
    pub warnings: Vec<String>,
}

/// One of them.
#[derive(Debug, Clone, Serialize)]
pub struct CaptureFacts {
    /// What kind of file it is, and what was wrong with it.
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
) -> Result<Comparison, (usize, Error)> {
    let mut shortest = usize::MAX;
    let mut analyzed = |which: usize| -> Result<(Summary, Services), (usize, Error)> {
        // A list that is shortened for people would make things new or gone.
        let mut analyzer = Analyzer::new(Scope { full: true, ..Scope::default() }).with_services();
        let ending = open(which)
            .and_then(|source| frames(source, |frame| drop_labels(analyzer.feed(frame))))
            .map_err(|error| (which, error))?;
        shortest = shortest.min(analyzer.shortest());
        Ok(analyzer.finish_with_services(&ending))
    };
    let (a, b) = (analyzed(0)?, analyzed(1)?);
    let mut captures = Captures::new(shortest, MAX_PACKETS);
    for (place, which) in [(0, CaptureSide::A), (1, CaptureSide::B)] {
        open(place)
            .and_then(|source| frames(source, |frame| captures.take(which, frame)))
            .map_err(|error| (place, error))?;
    }
    let account = |(summary, services): (Summary, Services), which: CaptureSide| CaptureAccount {
        summary,
        services,
        hosts: hosts(&captures, which),
    };
    let (a, b) = (account(a, CaptureSide::A), account(b, CaptureSide::B));
    let (join, clock) = PacketMatches::new(&captures);
    let (packets, directions) = directions(&captures, &join);
    let dropped = (a.summary.file.dropped, b.summary.file.dropped);
    let mut path = assess(&captures, join, clock, CaptureLimits { dropped, bytes: shortest, full });
    let changes = changes(&a, &b);
    let findings = sorted(&a.summary.findings, &b.summary.findings);
    let mut change_summary = change_summary(&a, &b, &changes, (&findings.new, &findings.resolved));
    let mut warnings = warnings(&a.summary, &b.summary);
    remarks(&mut warnings, &captures, shortest);
    doubts(&packets, &mut path, &mut change_summary);
    let side = |summary: Summary| CaptureFacts { file: summary.file, counts: summary.counts };
    let mut pair = Comparison {
        version: 1,
        packets,
        directions,
        change_summary,
        changes,
        new: findings.new,
        resolved: findings.resolved,
        persisting: findings.persisting,
        path,
        warnings,
        a: side(a.summary),
        b: side(b.summary),
    };
    if !full {
        fit(&mut pair);
    }
    Ok(pair)
}

fn drop_labels(_labels: crate::label::Labels) {}

fn warnings(a: &Summary, b: &Summary) -> Vec<String> {
    let named = |name: &'static str, summary: &Summary| -> Vec<String> {
        summary.warnings.iter().map(|warning| format!("{name}: {warning}")).collect()
    };
    let mut warnings = named("a", a);
    warnings.extend(named("b", b));
    warnings
}

/// Says what limits the comparison of packets.
fn remarks(warnings: &mut Vec<String>, captures: &Captures, bytes: usize) {
    for (name, capture) in [("a", &captures.a), ("b", &captures.b)] {
        if capture.skipped > 0 {
            warnings.push(format!(
                "{name}: {} packets behind the first {} were left out of the comparison for want of room",
                capture.skipped,
                capture.seen.len()
            ));
        }
    }
    if captures.pooled > 0 {
        warnings
            .push(format!("{} packets belong to more conversations than are distinguished", captures.pooled));
    }
    if bytes < 40 {
        warnings.push(format!(
            "packets were compared by {bytes} bytes behind their IP header: that is as much as both captures hold of each"
        ));
    }
}

/// Says what makes it doubtful that these are two ends of a path, or two times.
fn doubts(packets: &PacketCounts, path: &mut PathFacts, change_summary: &mut ChangeSummary) {
    let same = packets.both > 0 && packets.both == packets.a && packets.a == packets.b;
    if path.swapped {
        path.because.push(
            "conversations begin at B, which seems to be the source side: near and far are named accordingly"
                .to_owned(),
        );
    }
    if same && path.clock.round_trip_ms == Some(0.0) {
        path.because.push(
            "both captures hold the same packets at the same times: they may be copies of one".to_owned(),
        );
    }
    if packets.a > 0 && packets.b > 0 && packets.both == 0 && path.clock.packets == 0 {
        path.because.push(
            "no packet is in both captures: B does not lie on the path, or something between them makes new packets (a proxy)"
                .to_owned(),
        );
    }
    if packets.both >= MIN_COMMON_PERCENT && packets.both * 2 >= packets.a.min(packets.b) {
        change_summary.doubts.push(
            "most packets are in both captures: if they are two ends of one path, read them with --mode endpoints".to_owned(),
        );
    }
}

/// Shortens the answer to what a thread or a model takes in.
fn fit(pair: &mut Comparison) {
    pair.directions.truncate(MAX_DIRECTIONS);
    pair.changes.truncate(MAX_CHANGES);
    for list in [&mut pair.new, &mut pair.resolved, &mut pair.persisting] {
        list.truncate(MAX_FINDINGS);
    }
    pair.warnings.truncate(30);
    let mut left_out = 0;
    while serde_json::to_string(pair).is_ok_and(|text| text.len() > MAX_JSON_LEN) {
        let spare = |length: usize| length > 3;
        let shorter = if spare(pair.path.flows.len()) {
            pair.path.flows.pop().is_some()
        } else if spare(pair.persisting.len()) {
            pair.persisting.pop().is_some()
        } else if pair.changes.len() > 16 {
            pair.changes.pop().is_some()
        } else if pair.directions.len() > 8 {
            pair.directions.pop().is_some()
        } else if spare(pair.new.len().max(pair.resolved.len())) {
            let longer =
                if pair.new.len() > pair.resolved.len() { &mut pair.new } else { &mut pair.resolved };
            longer.pop().is_some()
        } else {
            spare(pair.warnings.len()) && pair.warnings.pop().is_some()
        };
        if !shorter {
            break;
        }
        left_out += 1;
    }
    if left_out > 0 {
        pair.warnings
            .push(format!("{left_out} entries of lists were left out to keep this short; --full has them"));
    }
}
