//! The table of open TCP streams, up to a limit.

use super::endpoints::EndpointPair;
use super::flow::Flow;
use crate::hash::Map;

/// How many connections are followed at a time. One more, and one that was silent for long is listed and forgotten.
pub const MAX_TCP_STREAMS: usize = 131_072;

/// Beyond so many connections little is remembered of what each has in transit.
const CROWDED_STREAMS: usize = 8192;

/// Where a connection is kept; of no use once another one was begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlowIndex(u32);

/// The connections.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    index: Map<EndpointPair, u32>,
    flows: Vec<Flow>,
    /// Flows that are over because their ports were used anew, or because there was no room.
    departed: Vec<Flow>,
    clock_hand: usize,
    started: u64,
    evicted: u64,
    most: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self::with_room(MAX_TCP_STREAMS)
    }
}

impl Table {
    /// Makes a table for so many connections.
    pub(crate) fn with_room(most: usize) -> Self {
        Self {
            index: Map::default(),
            flows: Vec::new(),
            departed: Vec::new(),
            clock_hand: 0,
            started: 0,
            evicted: 0,
            most: most.max(1),
        }
    }

    /// Returns the place of the connection between two ends, begun now where there is none.
    pub(crate) fn index_of(&mut self, ends: EndpointPair, flipped: bool) -> FlowIndex {
        match self.index.get(&ends) {
            Some(slot) => {
                let slot = *slot;
                // What is used again is kept longer than what was there once.
                if let Some(flow) = self.flows.get_mut(slot as usize) {
                    flow.touched = true;
                }
                FlowIndex(slot)
            }
            None => FlowIndex(self.begin(ends, flipped)),
        }
    }

    /// Returns the connection between two ends, where there is one.
    pub(crate) fn known(&mut self, ends: EndpointPair) -> Option<&mut Flow> {
        self.index.get(&ends).and_then(|slot| self.flows.get_mut(*slot as usize))
    }

    /// Returns the connection at a place.
    pub(crate) fn get_mut(&mut self, slot: FlowIndex) -> Option<&mut Flow> {
        self.flows.get_mut(slot.0 as usize)
    }

    /// Replaces the connection at a place by a new one between the same ends.
    pub(crate) fn replace(&mut self, slot: FlowIndex) {
        if let Some(flow) = self.flows.get_mut(slot.0 as usize) {
            let new = Flow::new(self.started, flow.ends, flow.flipped);
            self.started += 1;
            self.departed.push(std::mem::replace(flow, new));
        }
    }

    /// Returns connections that are over since the last call.
    pub(crate) fn departed(&mut self) -> Option<Flow> {
        self.departed.pop()
    }

    /// Tells whether so many are followed that little can be remembered of each.
    pub(crate) fn memory_limited(&self) -> bool {
        self.flows.len() > CROWDED_STREAMS
    }

    /// Returns how many were forgotten for want of room.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Returns what is left.
    pub(crate) fn into_flows(self) -> Vec<Flow> {
        self.flows
    }

    fn begin(&mut self, ends: EndpointPair, flipped: bool) -> u32 {
        let flow = Flow::new(self.started, ends, flipped);
        self.started += 1;
        let slot = if self.flows.len() < self.most {
            self.flows.push(flow);
            self.flows.len() - 1
        } else {
            self.replace_idle(flow)
        } as u32;
        self.index.insert(ends, slot);
        slot
    }

    /// Goes round once for a connection that was silent since the last time the hand passed it.
    fn replace_idle(&mut self, mut flow: Flow) -> usize {
        loop {
            self.clock_hand = (self.clock_hand + 1) % self.flows.len();
            if let Some(old) = self.flows.get_mut(self.clock_hand) {
                if std::mem::take(&mut old.touched) {
                    continue;
                }
                std::mem::swap(old, &mut flow);
            }
            self.index.remove(&flow.ends);
            self.departed.push(flow);
            self.evicted += 1;
            return self.clock_hand;
        }
    }
}
