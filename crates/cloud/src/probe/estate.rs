//! The documents of a resource group that decide over flows, as `az` printed them.

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Reading};

use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};
use crate::{ResourceGroup, line};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Machines,
    Interfaces,
    Networks,
    SecurityGroups,
    RouteTables,
}

const ALL: [List; 5] =
    [List::Machines, List::Interfaces, List::Networks, List::SecurityGroups, List::RouteTables];

/// Reads the lists of a resource group. One that cannot be read is kept as such; without any it fails.
#[derive(Debug)]
pub struct EstateOperation {
    place: ResourceGroup,
    at: usize,
    reading: ReadOperation,
    found: Cloud,
    read: usize,
    first: Option<Issue>,
}

impl EstateOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup) -> Self {
        Self {
            reading: request(place, List::Machines),
            place: place.clone(),
            at: 0,
            found: Cloud::default(),
            read: 0,
            first: None,
        }
    }
}

fn request(place: &ResourceGroup, list: List) -> ReadOperation {
    ReadOperation::new(order(place, list), format!("listing the {} of {}", list.word(), place.group))
}

impl List {
    const fn word(self) -> &'static str {
        match self {
            Self::Machines => "machines",
            Self::Interfaces => "interfaces",
            Self::Networks => "networks",
            Self::SecurityGroups => "security groups",
            Self::RouteTables => "route tables",
        }
    }
}

fn order(place: &ResourceGroup, list: List) -> CommandRequest {
    let line = match list {
        List::Machines => line::machines(place),
        List::Interfaces => line::interfaces(place),
        List::Networks => line::networks(place),
        List::SecurityGroups => line::security_groups(place),
        List::RouteTables => line::route_tables(place),
    };
    CommandRequest::line(line, format!("list the {} of {}", list.word(), place.group))
}

impl Operation for EstateOperation {
    type Result = Result<Cloud, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        if self.at < ALL.len() {
            return self.reading.next(now).map(|_| Ok(self.found.clone()));
        }
        match &self.first {
            Some(issue) if self.read == 0 => Next::Over(Err(issue.clone())),
            Some(_) | None => Next::Over(Ok(self.found.clone())),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let (Next::Over(read), Some(list)) = (self.reading.next(now), ALL.get(self.at)) else { return };
        let reading = match read {
            Ok(text) => {
                self.read += 1;
                Reading::Text(text)
            }
            Err(issue) => {
                let error = issue.text.clone();
                self.first.get_or_insert(issue);
                Reading::Failed { error }
            }
        };
        let document = match list {
            List::Machines => &mut self.found.machines,
            List::Interfaces => &mut self.found.interfaces,
            List::Networks => &mut self.found.networks,
            List::SecurityGroups => &mut self.found.groups,
            List::RouteTables => &mut self.found.route_tables,
        };
        *document = Some(reading);
        self.at += 1;
        if let Some(list) = ALL.get(self.at) {
            self.reading = request(&self.place, *list);
        }
    }

    fn ahead(&self) -> Vec<CommandRequest> {
        ALL.iter().skip(self.at + 1).map(|list| order(&self.place, *list)).collect()
    }
}
