//! All connections that are alive, up to a limit.

use super::ends::Ends;
use super::flow::Flow;
use crate::pcap::hash::Map;

/// How many connections are followed at a time. One more, and one that was silent for long is told of and forgotten.
pub const MOST_FLOWS: usize = 131_072;

/// The connections.
#[derive(Debug)]
pub(crate) struct Table {
    places: Map<Ends, u32>,
    flows: Vec<Flow>,
    /// Flows that are over because their ports were used anew, or because there was no room.
    departed: Vec<Flow>,
    hand: usize,
    begun: u64,
    evicted: u64,
    most: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self::with_room(MOST_FLOWS)
    }
}

impl Table {
    /// Makes a table for so many connections.
    pub(crate) fn with_room(most: usize) -> Self {
        Self {
            places: Map::default(),
            flows: Vec::new(),
            departed: Vec::new(),
            hand: 0,
            begun: 0,
            evicted: 0,
            most: most.max(1),
        }
    }

    /// Returns the connection between two ends, begun now where there is none.
    pub(crate) fn between(&mut self, ends: Ends, flipped: bool) -> Option<&mut Flow> {
        let place = match self.places.get(&ends) {
            Some(place) => *place,
            None => self.begin(ends, flipped),
        };
        let flow = self.flows.get_mut(place as usize)?;
        flow.touched = true;
        Some(flow)
    }

    /// Replaces the connection between two ends by a new one.
    pub(crate) fn anew(&mut self, ends: Ends, flipped: bool) -> Option<&mut Flow> {
        let place = *self.places.get(&ends)?;
        self.begun += 1;
        let flow = self.flows.get_mut(place as usize)?;
        let old = std::mem::replace(flow, Flow::new(self.begun - 1, ends, flipped));
        self.departed.push(old);
        Some(flow)
    }

    /// Returns connections that are over since the last call.
    pub(crate) fn departed(&mut self) -> Option<Flow> {
        self.departed.pop()
    }

    /// Returns how many were forgotten for want of room.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Returns what is left.
    pub(crate) fn into_flows(self) -> Vec<Flow> {
        self.flows
    }

    fn begin(&mut self, ends: Ends, flipped: bool) -> u32 {
        let flow = Flow::new(self.begun, ends, flipped);
        self.begun += 1;
        let place = if self.flows.len() < self.most {
            self.flows.push(flow);
            self.flows.len() - 1
        } else {
            self.replace_idle(flow)
        } as u32;
        self.places.insert(ends, place);
        place
    }

    /// Goes round once for a connection that was silent since the last time the hand passed it.
    fn replace_idle(&mut self, mut flow: Flow) -> usize {
        loop {
            self.hand = (self.hand + 1) % self.flows.len();
            if let Some(old) = self.flows.get_mut(self.hand) {
                if std::mem::take(&mut old.touched) {
                    continue;
                }
                std::mem::swap(old, &mut flow);
            }
            self.places.remove(&flow.ends);
            self.departed.push(flow);
            self.evicted += 1;
            return self.hand;
        }
    }
}
