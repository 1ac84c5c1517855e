//! Random conversations, label for label against tshark. `GHOST_LONG=1` makes 200 captures of it, else 40.

use ghost_pcap::{Analyzer, Label, Scope, frames};

use super::capture::pcap;
use super::{talk, tshark};
use crate::random::{Random, is_long, seed};

/// Full frames, and two lengths that cut options and headers.
const SNAPS: [usize; 6] = [65_535, 65_535, 65_535, 65_535, 60, 54];

fn ours(capture: &[u8], wanted: &[Label]) -> Vec<Vec<Label>> {
    let mut analyzer = Analyzer::new(Scope::default());
    let mut found = Vec::new();
    frames(capture, |frame| {
        let labels = analyzer.feed(frame);
        found.push(wanted.iter().copied().filter(|label| labels.has(*label)).collect());
    })
    .unwrap();
    found
}

#[test]
fn random_conversations_get_the_labels_that_tshark_gives() {
    let wanted = tshark::comparable();
    let mut random = Random::new(seed("pcap differential"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.pcap");
    let mut met = vec![0_usize; wanted.len()];
    for round in 0..if is_long() { 200 } else { 40 } {
        if wanted.is_empty() {
            return;
        }
        let capture = pcap(&talk::conversations(&mut random), *random.pick(&SNAPS));
        std::fs::write(&path, &capture).unwrap();
        let (found, expected) = (ours(&capture, &wanted), tshark::labels(&path, &wanted));
        assert_eq!(found.len(), expected.len(), "capture {round}");
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "capture {round}, frame {}", number + 1);
            for label in expected {
                *met.get_mut(wanted.iter().position(|known| known == label).unwrap()).unwrap() += 1;
            }
        }
    }
    // A label that never occurs proves nothing.
    let unmet: Vec<_> = wanted.iter().zip(&met).filter(|(_, count)| **count == 0).collect();
    assert!(unmet.is_empty(), "{unmet:?}");
}
