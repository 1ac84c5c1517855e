//! All connections that are alive, up to a limit.

use super::ends::Ends;
use super::flow::Flow;
use crate::hash::Map;

/// How many connections are followed at a time. One more, and one that was silent for long is told of and forgotten.
pub const MOST_FLOWS: usize = 131_072;

/// Beyond so many connections little is remembered of what each has on its way.
const CROWD: usize = 8192;

/// Where a connection is kept; of no use once another one was begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u32);

/// The connections.
#[derive(Debug, Clone)]
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

    /// Returns the place of the connection between two ends, begun now where there is none.
    pub(crate) fn place(&mut self, ends: Ends, flipped: bool) -> Place {
        match self.places.get(&ends) {
            Some(place) => {
                let place = *place;
                // What is used again is kept longer than what was there once.
                if let Some(flow) = self.flows.get_mut(place as usize) {
                    flow.touched = true;
                }
                Place(place)
            }
            None => Place(self.begin(ends, flipped)),
        }
    }

    /// Returns the connection between two ends, where there is one.
    pub(crate) fn known(&mut self, ends: Ends) -> Option<&mut Flow> {
        self.places.get(&ends).and_then(|place| self.flows.get_mut(*place as usize))
    }

    /// Returns the connection at a place.
    pub(crate) fn at(&mut self, place: Place) -> Option<&mut Flow> {
        self.flows.get_mut(place.0 as usize)
    }

    /// Replaces the connection at a place by a new one between the same ends.
    pub(crate) fn anew(&mut self, place: Place) {
        if let Some(flow) = self.flows.get_mut(place.0 as usize) {
            let new = Flow::new(self.begun, flow.ends, flow.flipped);
            self.begun += 1;
            self.departed.push(std::mem::replace(flow, new));
        }
    }

    /// Returns connections that are over since the last call.
    pub(crate) fn departed(&mut self) -> Option<Flow> {
        self.departed.pop()
    }

    /// Says whether so many are followed that little can be remembered of each.
    pub(crate) fn crowded(&self) -> bool {
        self.flows.len() > CROWD
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
