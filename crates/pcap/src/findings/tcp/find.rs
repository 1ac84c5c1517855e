//! The rules about connections, and the order in which they look.

use super::{carry, cut, hold, open, seen};
use crate::analyze::Pass;
use crate::findings::find::Found;
use crate::findings::rule::Rule;

/// The rules of this kind.
pub(in crate::findings) const RULES: [Rule; 15] = [
    open::SYN_UNANSWERED,
    open::FILTERED,
    open::NO_WAY,
    open::REFUSED,
    open::SYN_ACK_UNANSWERED,
    cut::RESET_FOREIGN,
    carry::LARGE_LOST,
    hold::PEER_GONE,
    carry::RETRANSMISSION,
    carry::BACKOFF,
    hold::ZERO_WINDOW,
    carry::NEEDLESS,
    carry::WINDOW_LIMITED,
    seen::NOT_CAPTURED,
    seen::MIRRORED,
];

/// Finds what is wrong.
pub(in crate::findings) fn find(found: &mut Found, pass: &Pass) {
    open::find(found, pass);
    cut::find(found, pass);
    carry::find(found, pass);
    hold::find(found, pass);
    seen::find(found, pass);
}
