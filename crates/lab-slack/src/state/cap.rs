//! How much is kept: an app that runs away cannot take all memory.

use crate::state::model::Workspace;
use crate::state::session::key;

/// How much is kept before the oldest leaves, or a call is refused.
#[derive(Debug, Clone)]
pub(crate) struct Caps {
    /// Messages of one conversation; the oldest leave.
    pub(crate) in_one: usize,
    /// Messages of all conversations; the oldest of the fullest leave.
    pub(crate) messages: usize,
    /// Bytes of all messages; the oldest of the fullest leave.
    pub(crate) bytes: usize,
    /// Bytes of all files; what is more is refused.
    pub(crate) file_bytes: u64,
    /// Files; what is more is refused.
    pub(crate) files: usize,
    /// Conversations; what is more is refused.
    pub(crate) channels: usize,
    /// Triggers, and addresses for answers; the oldest leave.
    pub(crate) handles: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            in_one: 5_000,
            messages: 50_000,
            bytes: 128 << 20,
            file_bytes: 512 << 20,
            files: 20_000,
            channels: 1_000,
            handles: 5_000,
        }
    }
}

impl Workspace {
    /// Removes the oldest messages until the rest fits. No event is sent: it is not a deletion.
    pub(crate) fn make_room(&mut self) {
        while let Some(crowded) = self.crowded() {
            let Some(place) = self.channels.get_mut(&crowded) else { return };
            let Some(oldest) = place.messages.keys().next().cloned() else { return };
            drop(place.take(&oldest));
            self.sessions.remove(&key(&crowded, Some(&oldest)));
            for file in self.files.values_mut() {
                file.shares.retain(|(channel, ts, _)| *channel != crowded || *ts != oldest);
            }
        }
    }

    fn crowded(&self) -> Option<String> {
        let places = || self.channels.values();
        if let Some(place) = places().find(|place| place.messages.len() > self.caps.in_one) {
            return Some(place.id.clone());
        }
        let (messages, bytes) = places()
            .fold((0, 0), |(messages, bytes), place| (messages + place.messages.len(), bytes + place.weight));
        if messages > self.caps.messages {
            return places().max_by_key(|place| place.messages.len()).map(|place| place.id.clone());
        }
        let heaviest = places().max_by_key(|place| place.weight).filter(|_| bytes > self.caps.bytes);
        // The last message stays, however large it is.
        heaviest.filter(|place| place.messages.len() > 1).map(|place| place.id.clone())
    }

    /// Tells whether a file of so many bytes still fits.
    pub(crate) fn fits(&self, size: u64) -> bool {
        let kept: u64 = self.files.values().map(|file| file.size).sum();
        self.files.len() < self.caps.files && kept.saturating_add(size) <= self.caps.file_bytes
    }
}
