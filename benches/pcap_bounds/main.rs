//! What the PCAP engine never does, counted: allocate for a packet, panic, hang, take memory without end.
//!
//! `cargo test` runs it over 60,000 inputs, `GHOST_LONG=1` over 12 million; `GHOST_FUZZ_CORPUS=FOLDER` adds captures to start from.
#![expect(clippy::unwrap_used, reason = "what cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "its figures are what it is run for")]
#![expect(clippy::indexing_slicing, reason = "a wrong index should stop it")]

use std::alloc::System;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::damage::any_bytes_end_in_an_answer;
use crate::flood::floods_are_remembered_within_a_bound;
use crate::packet::nothing_is_allocated_for_a_packet;
use crate::random::is_long;
use cap::Cap;

mod damage;
mod flood;
#[path = "../../tests/it/pcap/mutate.rs"]
mod mutate;
mod packet;
#[path = "../../tests/it/random.rs"]
mod random;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

const MEGABYTE: usize = 1024 * 1024;
/// What all that is remembered may take, whatever comes: the bound that README states, and what a report takes.
const MOST: usize = 256 * MEGABYTE;
/// One input that takes longer hangs: each is smaller than 10 kB.
const PATIENCE: Duration = Duration::from_secs(60);

static ROUND: AtomicU64 = AtomicU64::new(0);

/// Says which input it was where something panics.
struct Told;

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("pcap_bounds: input {}", ROUND.load(Ordering::Relaxed));
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if std::env::args().any(|word| word == "--list")
        || words.iter().any(|word| !"pcap_bounds".contains(word.as_str()))
    {
        return;
    }
    HEAP.set_limit(1024 * MEGABYTE).unwrap();
    nothing_is_allocated_for_a_packet();
    floods_are_remembered_within_a_bound(if is_long() { 2_000_000 } else { 200_000 });
    let rounds = if is_long() { 12_000_000 } else { 60_000 };
    std::thread::spawn(watch);
    let _told = Told;
    let begun = Instant::now();
    let (files, packets) = any_bytes_end_in_an_answer(rounds);
    let peak = HEAP.max_allocated() / MEGABYTE;
    assert!(peak * MEGABYTE < MOST, "{peak} MB");
    println!(
        "pcap_bounds: {rounds} inputs ({files} files, {packets} packets) in {:.0} s, {peak} MB at most",
        begun.elapsed().as_secs_f64()
    );
}

/// Ends the run where one input takes for ever.
fn watch() {
    let mut before = u64::MAX;
    loop {
        std::thread::sleep(PATIENCE);
        let now = ROUND.load(Ordering::Relaxed);
        if now == before {
            println!("pcap_bounds: input {now} hangs");
            std::process::exit(1);
        }
        before = now;
    }
}
