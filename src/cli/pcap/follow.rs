//! `--follow`: a capture that is still being written. The only waiting of this subcommand.

use super::growing::{Got, Growing};
use ghost_pcap::{Analyzer, Error, FindingTracker, FindingUpdate, ReadSummary, Reader};

/// A look at the findings costs a copy of what is remembered: so many frames, or this part of all frames, come in between.
const FRAMES: u64 = 10_000;
const PART: u64 = 64;
const MIN_BYTES: u64 = 64;

/// Reads a capture as it grows, until it is over or nobody wants any more of it. `tell` gets what is new, and at which frame.
///
/// # Errors
/// Fails where it is no capture, or where telling fails.
pub(super) fn follow(
    source: &mut impl Growing,
    analyzer: &mut Analyzer,
    tell: &mut impl FnMut(u64, &FindingUpdate) -> anyhow::Result<()>,
) -> anyhow::Result<Result<ReadSummary, Error>> {
    let mut reader = Reader::new();
    let mut watch = FindingTracker::default();
    let (mut number, mut looked, mut quiet) = (0, 0, 0_u32);
    let mut over = false;
    loop {
        loop {
            match reader.frame() {
                Ok(Some(frame)) => {
                    number = frame.number;
                    analyzer.feed(&frame);
                }
                Ok(None) => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        if over {
            return Ok(Ok(reader.ending()));
        }
        // What grows all the time is looked at after enough frames, what rests when it rests.
        let fresh = number - looked;
        if fresh > 0 && (quiet > 1 || fresh >= (number / PART).clamp(MIN_BYTES, FRAMES)) {
            looked = number;
            for news in watch.updates(analyzer.findings()) {
                tell(number, &news)?;
            }
        }
        match source.more(reader.room()) {
            Ok(Got::Bytes(count)) => {
                quiet = 0;
                reader.filled(count);
            }
            Ok(Got::Nothing) if source.wait() => quiet = quiet.saturating_add(1),
            Ok(Got::Nothing | Got::Over) => {
                reader.no_more();
                over = true;
            }
            Ok(Got::Lost(why)) => {
                reader.broken(&why);
                over = true;
            }
            Err(error) => {
                reader.broken(&error.to_string());
                over = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;

    use super::*;
    use ghost_pcap::{FindingState, Scope};

    /// What happens to a file, one event after another; after each there is a wait.
    struct Script {
        events: VecDeque<Vec<u8>>,
        end: fn() -> Got,
        waited: usize,
    }

    impl Growing for Script {
        fn more(&mut self, room: &mut [u8]) -> io::Result<Got> {
            let Some(event) = self.events.front_mut() else {
                return Ok((self.end)());
            };
            let count = event.len().min(room.len());
            room[..count].copy_from_slice(&event[..count]);
            event.drain(..count);
            Ok(if count == 0 { Got::Nothing } else { Got::Bytes(count) })
        }

        fn wait(&mut self) -> bool {
            self.waited += 1;
            self.events.pop_front();
            !self.events.is_empty() || matches!((self.end)(), Got::Over | Got::Lost(_))
        }
    }

    const HEADER: [u8; 24] =
        [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];

    /// A SYN to a service, in so many seconds.
    fn syn(seconds: u8, port: u8) -> Vec<u8> {
        let mut record = vec![seconds, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 40, 0, 0, 0];
        record.extend([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        record.extend([0x9c, port, 0, 80, 0, 0, 0, 7, 0, 0, 0, 0, 0x50, 2, 1, 0, 0, 0, 0, 0]);
        record
    }

    type FindingChanges = Vec<(u64, FindingState, &'static str)>;

    fn followed(
        events: &[Vec<u8>],
        end: fn() -> Got,
    ) -> (Result<ReadSummary, Error>, FindingChanges, u64, usize) {
        let mut script = Script { events: events.iter().cloned().collect(), end, waited: 0 };
        let mut analyzer = Analyzer::new(Scope::default());
        let mut changes = Vec::new();
        let ending = follow(&mut script, &mut analyzer, &mut |frame, news| {
            changes.push((frame, news.state, news.finding.code));
            Ok(())
        });
        let ending = ending.unwrap();
        let packets = ending.as_ref().map_or(0, |ending| analyzer.finish(ending).file.packets);
        (ending, changes, packets, script.waited)
    }

    #[test]
    fn a_finding_is_reported_once_its_frames_are_there_and_not_again() {
        let all: Vec<u8> = (1..=3).flat_map(|second| syn(second, 1)).collect();
        let (first, second) = all.split_at(70);
        let much: Vec<u8> = (20..30).flat_map(|second| syn(second, 2)).collect();
        let events =
            [HEADER.to_vec(), first.to_vec(), vec![], second.to_vec(), vec![], vec![], much, vec![], vec![]];
        let (ending, changes, packets, _) = followed(&events, || Got::Over);
        assert!(!ending.unwrap().cut_off);
        assert_eq!(packets, 13);
        let unanswered = changes.iter().filter(|(_, _, code)| *code == "syn_unanswered").collect::<Vec<_>>();
        assert_eq!(
            unanswered,
            [&(3, FindingState::New, "syn_unanswered"), &(13, FindingState::Worse, "syn_unanswered")]
        );
    }

    #[test]
    fn an_empty_file_is_waited_for_and_a_half_written_record_is_cut_off_at_the_end() {
        let mut half = syn(1, 1);
        half.truncate(30);
        let events = [vec![], vec![], HEADER[..9].to_vec(), [&HEADER[9..], &half].concat()];
        let (ending, changes, packets, waited) = followed(&events, || Got::Nothing);
        assert!(ending.unwrap().cut_off);
        assert_eq!((changes.len(), packets, waited), (0, 0, 4));
    }

    #[test]
    fn a_replaced_file_is_reported_and_what_is_no_capture_is_refused() {
        let events = [HEADER.to_vec(), syn(1, 1)];
        let (ending, _, packets, _) =
            followed(&events, || Got::Lost("another file took its place".to_owned()));
        let ending = ending.unwrap();
        assert_eq!((packets, ending.cut_off), (1, true));
        assert!(ending.warnings[0].contains("another file took its place"), "{:?}", ending.warnings);
        let (ending, ..) = followed(&[b"GIF89a".to_vec()], || Got::Nothing);
        assert!(matches!(ending, Err(Error::NotACapture)));
        let (ending, ..) = followed(&[vec![0x1f, 0x8b, 8, 0]], || Got::Nothing);
        assert!(matches!(ending, Err(Error::StillPacked)));
    }
}
