//! Conversations without a connection: a question and its answer, an echo and its answer.

use super::link::Link;
use super::seen::{CapturedPacket, PacketKind, Transcript};
use crate::host::simulated::wire::chance::Chance;
use crate::host::simulated::wire::path::{DropResponse, End, Line};

/// An echo that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host::simulated::wire) struct Echo {
    pub(in crate::host::simulated::wire) id: u16,
    pub(in crate::host::simulated::wire) number: u16,
    /// Its bytes.
    pub(in crate::host::simulated::wire) size: u32,
}

/// Plays an echo.
pub(in crate::host::simulated::wire) fn echo(line: &Line, echo: Echo, seed: u64) -> Transcript {
    let what = |answers| PacketKind::Echo { answers, id: echo.id, number: echo.number, size: echo.size };
    exchange_packets(line, &what(false), Some(&what(true)), (echo.size + 28, echo.size + 28), 60_000, seed)
}

/// Plays a datagram and its answer.
pub(in crate::host::simulated::wire) fn exchange(
    line: &Line,
    request: Vec<u8>,
    answer: Option<Vec<u8>>,
    think: u64,
    seed: u64,
) -> Transcript {
    let size =
        |bytes: Option<&Vec<u8>>| bytes.map_or(28, |bytes| u32::try_from(bytes.len()).unwrap_or(60_000) + 28);
    let sizes = (size(Some(&request)), size(answer.as_ref()));
    exchange_packets(
        line,
        &PacketKind::Udp(request),
        answer.map(PacketKind::Udp).as_ref(),
        sizes,
        think,
        seed,
    )
}

fn exchange_packets(
    line: &Line,
    request: &PacketKind,
    answer: Option<&PacketKind>,
    (out, home): (u32, u32),
    think: u64,
    seed: u64,
) -> Transcript {
    let mut chance = Chance::new(seed);
    let narrow = line.narrow.map(|(narrow, _)| narrow);
    let chance_back = Chance::new(chance.next());
    let mut think_chance = Chance::new(chance.next());
    let (mut there, mut back) =
        (Link::new(&line.there, narrow, chance), Link::new(&line.back, narrow, chance_back));
    let mut transcript = Transcript::default();
    if there.own_refusal().is_some() {
        transcript.outcome.refused = Some(0);
        return transcript;
    }
    for sent in there.send(0, out) {
        let what = request.clone();
        let (near, far) = (Some(sent.left), sent.came);
        transcript.seen.push(CapturedPacket { near_sent: true, near, far, broken: sent.broken, what });
        let about = transcript.seen.len() - 1;
        if let (true, Some(narrow)) = (sent.too_large, narrow) {
            let mtu = u16::try_from(narrow).unwrap_or(0);
            let at = sent.left + 90_000;
            let what = PacketKind::Error { code: 4, mtu, about };
            transcript.seen.push(CapturedPacket {
                near_sent: false,
                near: Some(at),
                far: None,
                broken: false,
                what,
            });
            transcript.outcome.refused = transcript.outcome.refused.or(Some(at));
        }
        let Some(came) = sent.came.filter(|_| !sent.broken) else { continue };
        let refused = match (there.refusal(), line.end) {
            (Some(DropResponse::Unreachable(code)), _) => Some(code),
            (Some(DropResponse::Silent | DropResponse::Reset), _) | (None, End::Silent) => continue,
            (None, End::Refuses) => Some(3),
            (None, End::Answers) => None,
        };
        let (what, size, wait) = if let Some(code) = refused {
            (PacketKind::Error { code, mtu: 0, about }, 56 + 28, 15_000)
        } else {
            let Some(answer) = answer else { continue };
            let wait = think_chance.wait(90_000.0);
            (answer.clone(), home, think.saturating_add(whole(wait)))
        };
        for sent in back.send(came.saturating_add(wait), size) {
            let (near, far) = (sent.came, Some(sent.left));
            let what = what.clone();
            transcript.seen.push(CapturedPacket { near_sent: false, near, far, broken: sent.broken, what });
            let received = sent.came.filter(|_| sent.received);
            let result = &mut transcript.outcome;
            if refused.is_some() {
                result.refused = result.refused.or(received);
            } else {
                result.done = result.done.or(received);
            }
        }
    }
    transcript.counts = [there.count, back.count];
    transcript
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a wait is small and not negative"
)]
fn whole(time: f64) -> u64 {
    time as u64
}
