//! Packets that the capture missed or holds twice.

use crate::analyze::Pass;
use crate::findings::finding::FindingList;
use crate::findings::finding::{Rule, Severity};
use crate::flow::percent;
use crate::label::Label;

/// Something is missing from the capture.
pub(super) const NOT_CAPTURED: Rule = Rule {
    code: "tcp_gaps",
    severity: Severity::Info,
    at_least: 3,
    percent: 0.0,
    when: "so many gaps in what was captured were acknowledged by the other end",
    vantage: "The network carried them, the capture dropped them: a larger buffer or a shorter snap length helps. Gaps that a \
              repetition filled are losses of the network and are not counted here.",
};

/// The same packets twice.
pub(super) const MIRRORED: Rule = Rule {
    code: "tcp_mirrored",
    severity: Severity::Info,
    at_least: 3,
    percent: 1.0,
    when: "so many TCP packets, and so much of all, were there again within a millisecond, byte for byte",
    vantage: "The capture sees one path at two places, or the network doubles packets; rates and findings leave the copies out, \
              the counts of labels do not.",
};

/// Finds them.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    let vantage = &pass.flows.vantage;
    if NOT_CAPTURED.meets(vantage.not_captured, 0) && !vantage.one_direction {
        let title = format!(
            "the capture missed {} parts of streams ({} bytes) that were acknowledged",
            vantage.not_captured, vantage.not_captured_bytes
        );
        let mut frames = pass.counts.first_frames(Label::LostSegment);
        frames.extend(pass.counts.first_frames(Label::AckLostSegment));
        frames.sort_unstable();
        frames.dedup();
        frames.truncate(5);
        let filter = "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment".to_owned();
        let numbers = [
            ("gaps", vantage.not_captured as f64),
            ("bytes", vantage.not_captured_bytes as f64),
            ("lost_by_network", (vantage.lost_before + vantage.lost_after) as f64),
        ];
        found.add(&NOT_CAPTURED, title, &frames, filter, &numbers);
    }
    let all = pass.counts.of(Label::Tcp);
    if MIRRORED.meets(vantage.copies, all) {
        let part = percent(vantage.copies, all);
        let title = format!("{} TCP packets ({part} %) are in the capture twice", vantage.copies);
        let filter = "tcp.analysis.retransmission || tcp.analysis.duplicate_ack".to_owned();
        let numbers = [("copies", vantage.copies as f64), ("percent", part)];
        found.add(&MIRRORED, title, &pass.flows.copied, filter, &numbers);
    }
}
