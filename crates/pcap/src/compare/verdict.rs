//! The verdict on one conversation.

use serde::Serialize;

use super::transit::Transit;

/// A conversation that one place saw and the other did not counts from so many packets on.
pub(super) const MIN_PACKETS: u64 = 3;
/// Nine of ten packets wait no longer than this, in nanoseconds, where nothing is slow.
const SLOW_TRANSIT: u64 = 50_000_000;
/// An answer may take so long, in nanoseconds.
const ANSWER_TIMEOUT: u64 = 1_000_000_000;

/// What became of a conversation. Near is the place next to who asks, far the one next to who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationVerdict {
    /// Packets leave the near place and none reaches the far one.
    LostThere,
    /// It is answered, and no answer comes back to the near place.
    AnswerLost,
    /// A reset arrives that the other end never sent.
    ResetBetween,
    /// Packets reach the far place, and nobody answers.
    NoAnswer,
    /// It is refused, and the refusal arrives.
    Refused,
    /// Some packets are lost.
    PartialLoss,
    /// One direction takes a path that does not pass one of the places.
    OtherPath,
    /// Packets arrive, and wait on the path.
    Delayed,
    /// Everything arrives.
    Clean,
    /// Too few packets, or at times when only one place captured.
    NotJudged,
    /// Nothing says that it has to pass both places.
    Elsewhere,
}

impl ConversationVerdict {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LostThere => "lost_there",
            Self::AnswerLost => "answer_lost",
            Self::ResetBetween => "reset_between",
            Self::NoAnswer => "no_answer",
            Self::Refused => "refused",
            Self::PartialLoss => "partial_loss",
            Self::OtherPath => "other_way",
            Self::Delayed => "delayed",
            Self::Clean => "clean",
            Self::NotJudged => "not_judged",
            Self::Elsewhere => "elsewhere",
        }
    }

    /// Tells whether the conversation tells something of the path between both places.
    #[must_use]
    pub fn judged(self) -> bool {
        !matches!(self, Self::NotJudged | Self::Elsewhere)
    }
}

/// What is known of a conversation besides its packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConversationContext {
    /// Whoever is asked answers, as a rule.
    pub(super) answers: bool,
    /// It has to pass both places.
    pub(super) passes: bool,
    /// The end of the time that both cover, by the clock of A.
    pub(super) end: u64,
    /// The least round trip between the places, in nanoseconds.
    pub(super) round: u64,
}

/// Judges a conversation by its forward path and its return path.
pub(super) fn judge(case: ConversationContext, there: &Transit, back: &Transit) -> ConversationVerdict {
    let any = there.arrived + back.arrived > 0;
    if !any && !case.passes {
        return ConversationVerdict::Elsewhere;
    }
    let judged = there.sent + back.sent;
    if judged == 0 || (!any && judged < MIN_PACKETS) {
        return ConversationVerdict::NotJudged;
    }
    if any && there.turns.resets_unseen + back.turns.resets_unseen > 0 {
        return ConversationVerdict::ResetBetween;
    }
    let all_there = there.sent >= MIN_PACKETS && there.arrived == 0;
    if all_there && back.unseen == 0 {
        return ConversationVerdict::LostThere;
    }
    if there.arrived > 0 && back.sent == 0 && back.outside == 0 {
        let waited = there.arrived > 1 || there.last.saturating_add(ANSWER_TIMEOUT) <= case.end;
        if back.unseen > 0 {
            return ConversationVerdict::OtherPath;
        } else if case.answers && waited && there.lost * 2 <= there.sent {
            return ConversationVerdict::NoAnswer;
        }
    }
    if back.sent > 0 && back.arrived == 0 && back.lost > 0 {
        return if there.turns.acknowledging > 0 {
            ConversationVerdict::OtherPath
        } else {
            ConversationVerdict::AnswerLost
        };
    }
    let refused = back.turns.resets > 0 && back.turns.syns == 0 && there.turns.acknowledging == 0;
    if refused && there.turns.syns > 0 {
        ConversationVerdict::Refused
    } else if all_there {
        ConversationVerdict::OtherPath
    } else if there.lost + back.lost > 0 {
        ConversationVerdict::PartialLoss
    } else if waits(there, case.round) || waits(back, case.round) {
        ConversationVerdict::Delayed
    } else {
        ConversationVerdict::Clean
    }
}

/// Tells whether packets wait on the path: longer than the path itself takes, and longer than people notice.
fn waits(trip: &Transit, round: u64) -> bool {
    let (Some(least), Some(most)) = (trip.delays.first(), percentile(&trip.delays, 90)) else {
        return false;
    };
    let waited = most.saturating_sub(*least).max(0) as u64;
    trip.delays.len() as u64 >= MIN_PACKETS && waited >= SLOW_TRANSIT && waited >= round
}

/// Returns the value of a sorted list that so many percent do not exceed.
pub(super) fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let wanted = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(wanted - 1).copied()
}
