//! Per-frame counts.

use std::collections::BTreeMap;

use super::label::{ALL, Label, Labels};
use super::read::Frame;

/// Frames, bytes, times and labels.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    /// Frames.
    pub(super) packets: u64,
    /// Bytes on the wire.
    pub(super) bytes: u64,
    /// Frames of which less was captured than was there.
    pub(super) snapped: u64,
    /// The earliest time.
    pub(super) first: u64,
    /// The latest.
    pub(super) last: u64,
    /// Frames whose time lies before that of the frame before them.
    pub(super) back: u64,
    /// Frames with a link type that is not known.
    pub(super) unknown: BTreeMap<u16, u64>,
    labels: [u64; ALL.len()],
    /// The first frames with each label.
    frames: [[u64; MAX_EVIDENCE_FRAMES]; ALL.len()],
    previous: u64,
}

/// Maximum number of evidence frames of each.
const MAX_EVIDENCE_FRAMES: usize = 5;

impl Default for Counts {
    fn default() -> Self {
        Self {
            packets: 0,
            bytes: 0,
            snapped: 0,
            first: u64::MAX,
            last: 0,
            back: 0,
            unknown: BTreeMap::new(),
            labels: [0; ALL.len()],
            frames: [[0; MAX_EVIDENCE_FRAMES]; ALL.len()],
            previous: 0,
        }
    }
}

impl Counts {
    /// Counts a frame.
    pub(super) fn frame(&mut self, frame: &Frame<'_>) {
        self.packets += 1;
        self.bytes += frame.wire as u64;
        self.snapped += u64::from(frame.data.len() < frame.wire);
        self.first = self.first.min(frame.time);
        self.last = self.last.max(frame.time);
        self.back += u64::from(frame.time < self.previous);
        self.previous = frame.time;
    }

    /// Counts its labels.
    pub(super) fn labels(&mut self, labels: Labels, number: u64) {
        labels.each(|place| {
            let Some(count) = self.labels.get_mut(place) else {
                return;
            };
            if *count < MAX_EVIDENCE_FRAMES as u64
                && let Some(frames) = self.frames.get_mut(place)
                && let Some(free) = frames.iter_mut().find(|frame| **frame == 0)
            {
                *free = number;
            }
            *count += 1;
        });
    }

    /// Returns the first frames with a label.
    pub(super) fn first_frames(&self, label: Label) -> Vec<u64> {
        let frames = self.frames.get(label as usize).copied().unwrap_or_default();
        frames.into_iter().filter(|frame| *frame > 0).collect()
    }

    /// Counts a frame that cannot be looked into.
    pub(super) fn unknown_link(&mut self, link: u16) {
        *self.unknown.entry(link).or_default() += 1;
    }

    /// Returns how many frames have a label.
    pub(super) fn of(&self, label: Label) -> u64 {
        self.labels.get(label as usize).copied().unwrap_or(0)
    }
}
