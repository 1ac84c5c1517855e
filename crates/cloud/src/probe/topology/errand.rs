//! The five lists, one after the other.

use super::document::{Topology, Unread};
use super::read::{ALL, List};
use crate::errand::{Answer, Errand, Next, Order, Reading, Trouble};
use crate::{Place, line};
use ghost_base::Timestamp;

/// Reads what a resource group consists of. A list that cannot be read does not hide the others; without any it fails.
#[derive(Debug)]
pub struct TopologyErrand {
    place: Place,
    at: usize,
    reading: Reading,
    found: Topology,
    first: Option<Trouble>,
}

impl TopologyErrand {
    /// Begins.
    #[must_use]
    pub fn new(place: &Place) -> Self {
        let found = Topology { group: place.group.to_string(), ..Topology::default() };
        Self { reading: reading(place, List::Machines), place: place.clone(), at: 0, found, first: None }
    }

    /// Returns everything that it asks for.
    #[must_use]
    pub fn foreseen(place: &Place) -> Vec<Order> {
        ALL.iter().map(|list| order(place, *list)).collect()
    }
}

fn reading(place: &Place, list: List) -> Reading {
    let what = list.word().replace('_', " ");
    Reading::new(order(place, list), format!("listing the {what} of {}", place.group))
}

fn order(place: &Place, list: List) -> Order {
    let line = match list {
        List::Machines => line::machines(place),
        List::Interfaces => line::interfaces(place),
        List::Networks => line::networks(place),
        List::SecurityGroups => line::security_groups(place),
        List::RouteTables => line::route_tables(place),
    };
    let what = list.word().replace('_', " ");
    Order::line(line, format!("list the {what} of {}", place.group))
}

impl Errand for TopologyErrand {
    type Result = Result<Topology, Trouble>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        if self.at < ALL.len() {
            return self.reading.next(now).map(|_| Ok(self.found.clone()));
        }
        match &self.first {
            Some(trouble) if self.found.unread.len() == ALL.len() => Next::Over(Err(trouble.clone())),
            Some(_) | None => Next::Over(Ok(self.found.clone())),
        }
    }

    fn heard(&mut self, answer: &Answer, now: Timestamp) {
        self.reading.heard(answer, now);
        let (Next::Over(read), Some(list)) = (self.reading.next(now), ALL.get(self.at)) else { return };
        if let Err(trouble) = read.and_then(|text| list.read(&text, &mut self.found)) {
            let (what, why) = (list.word().to_owned(), trouble.text.clone());
            self.found.unread.push(Unread { what, why });
            self.first.get_or_insert(trouble);
        }
        self.at += 1;
        if let Some(list) = ALL.get(self.at) {
            self.reading = reading(&self.place, *list);
        }
    }
}
