//! All conversations that are alive, up to a limit.

use super::flow::Flow;
use crate::hash::Map;
use crate::protocol::stats::PacketContext;
use crate::tcp::EndpointPair;

/// How many conversations are followed at a time. One more, and one that was silent for long is listed and forgotten.
const MAX_FLOWS: usize = 32_768;

/// The conversations.
#[derive(Debug, Clone, Default)]
pub(in crate::protocol) struct Table {
    places: Map<EndpointPair, u32>,
    flows: Vec<Flow>,
    hand: usize,
}

impl Table {
    /// Takes a datagram; returns its conversation, and one that had to go.
    pub(in crate::protocol) fn take(
        &mut self,
        at: PacketContext,
        wire: usize,
    ) -> (Option<&mut Flow>, Option<Flow>) {
        let mut gone = None;
        let place = match self.places.get(&at.ends) {
            Some(place) => *place as usize,
            None => {
                let flow = Flow::new(at.ends, at.flipped, at.frame, at.time);
                let place = if self.flows.len() < MAX_FLOWS {
                    self.flows.push(flow);
                    self.flows.len() - 1
                } else {
                    let (place, old) = self.replace_idle(flow);
                    gone = Some(old);
                    place
                };
                self.places.insert(at.ends, place as u32);
                place
            }
        };
        let flow = self.flows.get_mut(place);
        if let Some(flow) = flow {
            // What is used again is kept longer than what was there once.
            flow.touched = flow.used();
            flow.take(at.flipped, wire, at.time);
            return (Some(flow), gone);
        }
        (None, gone)
    }

    /// Returns what is left.
    pub(in crate::protocol) fn into_flows(self) -> Vec<Flow> {
        self.flows
    }

    /// Goes round for a conversation that was silent since the last time the hand passed it.
    fn replace_idle(&mut self, mut flow: Flow) -> (usize, Flow) {
        loop {
            self.hand = (self.hand + 1) % self.flows.len().max(1);
            if let Some(old) = self.flows.get_mut(self.hand) {
                if std::mem::take(&mut old.touched) {
                    continue;
                }
                std::mem::swap(old, &mut flow);
            }
            self.places.remove(&flow.ends);
            return (self.hand, flow);
        }
    }
}
