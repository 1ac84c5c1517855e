//! The kernel and `walk` judge the same packets: random rulesets are loaded into a network namespace, packets are sent
//! through it, and what became of each, with the counter of every rule, is compared with what `walk` says.
//!
//! 54 rulesets in the short run, 330 with `GHOST_LONG=1`; `GHOST_TEST_SEED` repeats a run, `GHOST_TEST_WITHOUT=iptables` or
//! `nft` runs without. The namespaces have no names: they end with the processes that hold them, whatever happens.
#![expect(clippy::indexing_slicing, reason = "a test that reads beyond the end of its own list should stop")]

mod compare;
mod legacy;
mod line;
mod native;
mod observe;
mod option;
mod place;
mod probe;
mod service;
mod wire;

use compare::{Backend, judge};
use place::{Place, skipped};

use crate::random::{Random, is_long, seed};

/// Tells why nothing was run.
#[expect(clippy::print_stdout, reason = "whoever runs it should see what was skipped")]
fn say(reason: &str) {
    println!("skipped: {reason}");
}

/// Runs some rulesets of one backend.
#[expect(
    clippy::print_stdout,
    reason = "whoever runs it should see what was skipped and how much was compared"
)]
fn run(backend: Backend) {
    if let Some(reason) = skipped() {
        return say(&reason);
    }
    let seed = seed(backend.name());
    let rulesets = if is_long() { 110 } else { 18 };
    let reported = Place::inside(move |place| {
        let mut random = Random::new(seed);
        (0..rulesets)
            .map(|number| judge(backend, number, &place, &mut random))
            .fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    });
    let (judged, open) = reported;
    println!("{}: {rulesets} rulesets, {judged} judgments, {open} of them open", backend.name());
    // Only a mark that rules of an earlier hook set leaves anything open.
    assert!(judged > rulesets * 12 && open * 10 < judged, "{judged} judgments, {open} open");
}

#[test]
fn iptables_legacy_does_what_walk_says() {
    run(Backend::Legacy);
}

#[test]
fn iptables_nft_does_what_walk_says() {
    run(Backend::Compatible);
}

#[test]
fn nft_does_what_walk_says() {
    run(Backend::Native);
}
