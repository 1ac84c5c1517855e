//! What a capture shows, as a document in which a line can be found.

use std::error::Error;

use ghost_pcap::{Analyzer, Scope, frames};
use serde_json::{Value, json};

/// Says what a capture shows.
///
/// # Errors
/// Fails where it is no capture.
pub fn account(capture: &[u8]) -> Result<Value, Box<dyn Error + Send + Sync>> {
    let mut analyzer = Analyzer::new(Scope::default());
    let ending = frames(capture, |frame| {
        analyzer.feed(frame);
    })?;
    let found = serde_json::to_value(analyzer.finish(&ending))?;
    let part = |name: &str| found.get(name).cloned().unwrap_or_default();
    Ok(
        json!({"packets": found.pointer("/file/packets"), "counts": part("counts"), "findings": part("findings"),
        "flows": found.pointer("/tcp/flows"), "icmp": part("icmp"), "arp": part("arp"), "dns": part("dns")}),
    )
}
