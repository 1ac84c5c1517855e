//! The rules about connections, and the order in which they look.

use super::{capture_quality, open, stall, transfer};
use crate::analyze::Pass;
use crate::findings::finding::FindingList;
use crate::findings::finding::Rule;

/// The rules of this kind.
pub(in crate::findings) const RULES: [Rule; 15] = [
    open::SYN_UNANSWERED,
    open::FILTERED,
    open::NO_ROUTE,
    open::REFUSED,
    open::SYN_ACK_UNANSWERED,
    stall::RESET_FOREIGN,
    transfer::LARGE_LOST,
    stall::PEER_GONE,
    transfer::RETRANSMISSION,
    transfer::BACKOFF,
    stall::ZERO_WINDOW,
    transfer::NEEDLESS,
    transfer::WINDOW_LIMITED,
    capture_quality::NOT_CAPTURED,
    capture_quality::MIRRORED,
];

/// Finds what is wrong.
pub(in crate::findings) fn find(found: &mut FindingList, pass: &Pass) {
    open::find(found, pass);
    stall::find_foreign_resets(found, pass);
    transfer::find(found, pass);
    stall::find(found, pass);
    capture_quality::find(found, pass);
}
