//! One end of a TCP connection: what it sent, what it has, how much it dares.

/// The longest wait for an acknowledgement; nanoseconds.
const MAX_RETRANSMIT_NANOS: u64 = 120_000_000_000;
/// The shortest.
const MIN_RETRANSMIT_NANOS: u64 = 200_000_000;
/// Segments at once in the beginning.
const FIRST: u64 = 10;
/// Bytes that a receiver takes at once.
const WINDOW: u64 = 3_000_000;

/// One end.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// Bytes of a segment.
    pub(super) most: u64,
    /// The first number that nobody acknowledged.
    pub(super) una: u64,
    /// The next number to send.
    pub(super) next: u64,
    /// The end of all that was ever sent.
    pub(super) highest: u64,
    /// Bytes that the program wrote.
    pub(super) written: u64,
    /// Whether the program is done.
    pub(super) closing: bool,
    /// Bytes in flight that are allowed.
    pub(super) window: u64,
    threshold: u64,
    /// How long an acknowledgement is waited for.
    pub(super) patience: u64,
    round: Option<(u64, u64)>,
    /// How often it waited in vain.
    pub(super) tries: u32,
    /// Acknowledgements that said nothing new.
    pub(super) repeats: u32,
    /// Until where a loss is being repaired, and up to where it was repeated.
    pub(super) repair: Option<(u64, u64)>,
    /// What the other end has beyond gaps.
    pub(super) sacked: Vec<(u64, u64)>,
    /// A number and when it was sent, to learn how long a round takes.
    pub(super) probe: Option<(u64, u64)>,
    /// Which alarm counts.
    pub(super) alarm: u64,
    /// The next number that it waits for.
    pub(super) wants: u64,
    /// What came beyond gaps.
    pub(super) beyond: Vec<(u64, u64)>,
    /// The end of what the other one sends, once it is known.
    pub(super) last: Option<u64>,
    /// Segments that it did not acknowledge yet.
    pub(super) owes: u32,
    /// Which reminder to acknowledge counts.
    pub(super) reminder: u64,
    /// The other end's clock.
    pub(super) peer_clock: u64,
}

impl Endpoint {
    pub(super) fn new(most: u64) -> Self {
        Self {
            most,
            una: 0,
            next: 0,
            highest: 0,
            written: 0,
            closing: false,
            window: FIRST * most,
            threshold: WINDOW,
            patience: 1_000_000_000,
            round: None,
            tries: 0,
            repeats: 0,
            repair: None,
            sacked: Vec::new(),
            probe: None,
            alarm: 0,
            wants: 0,
            beyond: Vec::new(),
            last: None,
            owes: 0,
            reminder: 0,
            peer_clock: 0,
        }
    }

    /// The end of what there is to send.
    pub(super) fn end(&self) -> u64 {
        1 + self.written + u64::from(self.closing)
    }

    /// Chooses what to send next: a number, its bytes, and whether the end is in it.
    pub(super) fn choose(&mut self) -> Option<(u64, u32, bool)> {
        while let Some((_, end)) = self.sacked.iter().find(|(begin, end)| (*begin..*end).contains(&self.next))
        {
            self.next = *end;
        }
        let in_flight = self.next.saturating_sub(self.una).saturating_sub(self.beyond_gaps());
        if self.next >= self.end() || in_flight >= self.window.min(WINDOW) {
            return None;
        }
        Some(self.segment(self.next))
    }

    fn beyond_gaps(&self) -> u64 {
        self.sacked.iter().filter(|(begin, _)| *begin < self.next).map(|(begin, end)| end - begin).sum()
    }

    /// Returns the segment that begins at a sequence number.
    pub(super) fn segment(&self, from: u64) -> (u64, u32, bool) {
        let data_end = 1 + self.written;
        let gap = self.sacked.iter().map(|(begin, _)| *begin).filter(|begin| *begin > from).min();
        let stop = gap.unwrap_or(data_end).min(data_end);
        let bytes = stop.saturating_sub(from).min(self.most);
        (from, u32::try_from(bytes).unwrap_or(0), bytes == 0)
    }

    /// Learns from an acknowledgement; tells whether it said something new.
    pub(super) fn acknowledged(&mut self, ack: u64, sacked: &[(u64, u64)], now: u64) -> bool {
        for (begin, end) in sacked {
            if *begin >= self.una && end > begin {
                insert(&mut self.sacked, (*begin, *end));
            }
        }
        if ack <= self.una {
            return false;
        }
        if let Some((number, sent)) = self.probe
            && ack >= number
        {
            self.learn(now.saturating_sub(sent));
            self.probe = None;
        }
        let bytes = ack - self.una;
        self.una = ack;
        self.next = self.next.max(ack);
        self.sacked.retain(|(_, end)| *end > ack);
        (self.repeats, self.tries) = (0, 0);
        match self.repair {
            Some((until, _)) if ack >= until => {
                self.repair = None;
                self.window = self.threshold;
            }
            Some(_) => {}
            None if self.window < self.threshold => self.window += bytes,
            None => self.window += (self.most * bytes / self.window.max(1)).max(1),
        }
        true
    }

    /// Learns how long a round takes.
    fn learn(&mut self, took: u64) {
        let (mean, swing) = match self.round {
            None => (took, took / 2),
            Some((mean, swing)) => ((7 * mean + took) / 8, (3 * swing + mean.abs_diff(took)) / 4),
        };
        self.round = Some((mean, swing));
        self.patience = self.usual();
    }

    fn usual(&self) -> u64 {
        self.round.map_or(1_000_000_000, |(mean, swing)| {
            (mean + (4 * swing).max(MIN_RETRANSMIT_NANOS)).min(MAX_RETRANSMIT_NANOS)
        })
    }

    /// How long to wait now.
    pub(super) fn wait(&self) -> u64 {
        self.patience.saturating_mul(1 << self.tries.min(10)).min(MAX_RETRANSMIT_NANOS)
    }

    /// Begins to repair a loss.
    pub(super) fn repairs(&mut self) {
        self.threshold = ((self.next - self.una) / 2).max(2 * self.most);
        self.window = self.threshold;
        self.repair = Some((self.next, self.una));
        self.probe = None;
    }

    /// The next hole that was not repeated yet.
    pub(super) fn hole(&mut self) -> Option<(u64, u32, bool)> {
        let (until, repeated) = self.repair?;
        let mut from = repeated.max(self.una);
        while let Some((_, end)) = self.sacked.iter().find(|(begin, end)| (*begin..*end).contains(&from)) {
            from = *end;
        }
        let highest = self.sacked.iter().map(|(_, end)| *end).max().unwrap_or(0);
        // Without a word about what came beyond, only the first hole is known.
        if from >= until || (from > self.una && from >= highest) {
            return None;
        }
        let segment = self.segment(from);
        self.repair = Some((until, from + u64::from(segment.1).max(1)));
        Some(segment)
    }

    /// Begins anew after a wait in vain.
    pub(super) fn waited(&mut self) {
        if self.tries == 0 {
            self.threshold = ((self.next - self.una) / 2).max(2 * self.most);
        }
        self.tries += 1;
        self.window = self.most;
        self.next = self.una;
        (self.repair, self.probe, self.repeats) = (None, None, 0);
    }

    /// Takes what came; tells whether it was what it waited for.
    pub(super) fn takes(&mut self, begin: u64, end: u64) -> bool {
        if begin > self.wants {
            insert(&mut self.beyond, (begin, end));
            return false;
        }
        let fresh = end > self.wants;
        self.wants = self.wants.max(end);
        while let Some((_, end)) = self.beyond.iter().find(|(begin, _)| *begin <= self.wants) {
            self.wants = self.wants.max(*end);
            let wants = self.wants;
            self.beyond.retain(|(_, end)| *end > wants);
        }
        fresh && self.beyond.is_empty()
    }
}

fn insert(ranges: &mut Vec<(u64, u64)>, (mut begin, mut end): (u64, u64)) {
    ranges.retain(|(low, high)| {
        let apart = *high < begin || *low > end;
        if !apart {
            (begin, end) = (begin.min(*low), end.max(*high));
        }
        apart
    });
    ranges.push((begin, end));
    ranges.sort_unstable();
}
