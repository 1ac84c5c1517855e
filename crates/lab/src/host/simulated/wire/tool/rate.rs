//! How much a path carries.
//!
//! One stream carries, by Padhye and others (1998), with a loss of `p`, a round of `R`, segments of `S` and a wait of `T`,
//! `S / (R·√(4p/3) + T·min(1, 3·√(3p/4))·p·(1 + 32p²))`, where `S` is eight segments, as kernels hand them over several at once;
//! never more than the window a round, nor its share of the least rate on the path. Lost acknowledgements count a tenth.
//! Two runs over a path that loses packets differ by a factor of e to the `σ·N`, where `σ` grows with the loss up to 0.45.

use crate::host::simulated::wire::chance::Chance;
use crate::host::simulated::wire::path::Line;

/// What a machine's size lets out; bits a second.
const SIZE: f64 = 1_000e6;
/// What comes from outside.
const OUTSIDE: f64 = 380e6;
/// What a machine says to itself.
const ITSELF: f64 = 21_000e6;
/// Bytes in flight at most.
const WINDOW: f64 = 3.0e6;
/// Headers of a frame around what it carries.
const HEADER_BYTES: f64 = 66.0;

/// Draws what every one of some streams carries on average; bits a second that arrive.
pub(super) fn streams(line: &Line, count: u64, seconds: f64, chance: &mut Chance) -> Vec<f64> {
    let narrow = line.narrow.map(|(mtu, heeded)| (f64::from(mtu), heeded));
    let own = f64::from(line.near.mtu.min(line.far.mtu));
    let mtu = match narrow {
        // Nothing large ever arrives.
        Some((mtu, false)) if mtu < own => return (0..count).map(|_| 0.0).collect(),
        Some((mtu, true)) => own.min(mtu),
        Some((_, false)) | None => own,
    };
    let segment = (mtu - 52.0).max(16.0);
    let share = segment / (segment + HEADER_BYTES);
    let size = if line.there.local {
        ITSELF
    } else if line.far.machine.is_some() {
        SIZE
    } else {
        OUTSIDE
    };
    let limited = line.there.rate().map(|(bits, burst)| float(bits) + float(burst) * 8.0 / seconds.max(0.1));
    // What is shaped is shaped exactly; what a size lets out is not.
    let most = match limited {
        Some(limited) if limited < size => limited * share * (1.0 + 0.003 * chance.bell().clamp(-2.0, 2.0)),
        Some(_) | None => size * share * (1.0 + 0.006 * chance.bell().clamp(-2.5, 2.5)),
    };
    let loss = (line.there.lost() + line.back.lost() * 0.1 + jitters(line)).clamp(0.0, 0.95);
    let round = (float(line.round()) / 1e9).max(20e-6);
    let width = (loss.max(line.back.lost() / 2.0) * 3.0).min(0.45);
    let run = (width * chance.bell()).exp();
    let one = alone(segment, loss, round) * 8.0;
    // A stream needs rounds until it knows how much it may send.
    let rounds = (WINDOW.min(most * round / 8.0) / (10.0 * segment)).max(1.0).log2();
    let ramp = (1.0 - 0.7 * rounds * round / seconds.max(0.1)).clamp(0.05, 1.0);
    let mut shares: Vec<f64> = (0..count)
        .map(|_| one * ramp * run * (width * 0.7 * chance.bell()).exp() * chance.between(0.93, 1.07))
        .collect();
    let sum: f64 = shares.iter().sum();
    if sum > most {
        shares.iter_mut().for_each(|share| *share *= most / sum);
    }
    shares
}

/// What one stream carries when it is alone; bytes a second.
fn alone(segment: f64, loss: f64, round: f64) -> f64 {
    let window = WINDOW / round;
    if loss <= 0.0 {
        return window;
    }
    let wait = round + 0.2;
    let rare = round * (4.0 * loss / 3.0).sqrt();
    let waits = wait * (3.0 * (0.75 * loss).sqrt()).min(1.0) * loss * (1.0 + 32.0 * loss * loss);
    (8.0 * segment / (rare + waits)).min(window)
}

/// Packets out of turn look like lost ones.
fn jitters(line: &Line) -> f64 {
    let own = line.there.own;
    let swings = if own.jitter.is_zero() { 0.0 } else { 0.001 };
    own.reorder * 0.02 + swings
}

#[expect(clippy::cast_precision_loss, reason = "rates and times are far below what is exact")]
fn float(number: u64) -> f64 {
    number as f64
}
