//! The five lists, one after the other.

use super::document::{Topology, Unread};
use super::read::{ALL, List};
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};
use crate::{ResourceGroup, line};
use ghost_base::Timestamp;

/// Reads what a resource group consists of. A list that cannot be read does not hide the others; without any it fails.
#[derive(Debug)]
pub struct TopologyOperation {
    place: ResourceGroup,
    at: usize,
    reading: ReadOperation,
    found: Topology,
    first: Option<Issue>,
}

impl TopologyOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup) -> Self {
        let found = Topology { group: place.group.to_string(), ..Topology::default() };
        Self { reading: reading(place, List::Machines), place: place.clone(), at: 0, found, first: None }
    }

    /// Returns everything that it asks for.
    #[must_use]
    pub fn foreseen(place: &ResourceGroup) -> Vec<CommandRequest> {
        ALL.iter().map(|list| order(place, *list)).collect()
    }
}

fn reading(place: &ResourceGroup, list: List) -> ReadOperation {
    let what = list.word().replace('_', " ");
    ReadOperation::new(order(place, list), format!("listing the {what} of {}", place.group))
}

fn order(place: &ResourceGroup, list: List) -> CommandRequest {
    let line = match list {
        List::Machines => line::machines(place),
        List::Interfaces => line::interfaces(place),
        List::Networks => line::networks(place),
        List::SecurityGroups => line::security_groups(place),
        List::RouteTables => line::route_tables(place),
    };
    let what = list.word().replace('_', " ");
    CommandRequest::line(line, format!("list the {what} of {}", place.group))
}

impl Operation for TopologyOperation {
    type Result = Result<Topology, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        if self.at < ALL.len() {
            return self.reading.next(now).map(|_| Ok(self.found.clone()));
        }
        match &self.first {
            Some(trouble) if self.found.unread.len() == ALL.len() => Next::Over(Err(trouble.clone())),
            Some(_) | None => Next::Over(Ok(self.found.clone())),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
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

    fn ahead(&self) -> Vec<CommandRequest> {
        ALL.iter().skip(self.at + 1).map(|list| order(&self.place, *list)).collect()
    }
}
