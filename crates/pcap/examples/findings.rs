//! Prints the findings of a capture file.
//!
//! `cargo run -p ghost-pcap --example findings -- capture.pcap`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::fs::File;

use ghost_pcap::{Analyzer, Scope, frames};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: findings FILE")?;
    let mut analyzer = Analyzer::new(Scope::default());
    let ending = frames(File::open(path)?, |frame| {
        analyzer.feed(frame);
    })?;
    let summary = analyzer.finish(&ending);
    println!("{} packets", summary.file.packets);
    println!("{}", serde_json::to_string_pretty(&summary.findings)?);
    Ok(())
}
