//! The load balancers of a resource group with their public addresses, as `az` printed them.

use ghost_base::Timestamp;
use ghost_inspect::path::{Cloud, Reading};

use crate::operation::{CommandOutcome, CommandRequest, Next, Operation, ReadOperation};
use crate::{ResourceGroup, line};

/// Reads the lists of what takes connections for others. One that cannot be read is kept as such.
#[derive(Debug)]
pub struct FrontendOperation {
    place: ResourceGroup,
    reading: ReadOperation,
    balancers: Option<Reading>,
    publics: Option<Reading>,
}

impl FrontendOperation {
    /// Begins.
    #[must_use]
    pub fn new(place: &ResourceGroup) -> Self {
        let what = format!("list the load balancers of {}", place.group);
        Self {
            reading: ReadOperation::new(
                CommandRequest::line(line::load_balancers(place), what),
                format!("listing the load balancers of {}", place.group),
            ),
            place: place.clone(),
            balancers: None,
            publics: None,
        }
    }

    /// Puts what was read into the documents of an estate.
    pub fn into_cloud(found: (Reading, Reading), cloud: &mut Cloud) {
        let (balancers, publics) = found;
        cloud.load_balancers = Some(balancers);
        cloud.public_addresses = Some(publics);
    }
}

impl Operation for FrontendOperation {
    type Result = (Reading, Reading);

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match (&self.balancers, &self.publics) {
            (Some(balancers), Some(publics)) => Next::Over((balancers.clone(), publics.clone())),
            (Some(_) | None, _) => {
                let nothing = || Reading::Failed { error: "it was not read".to_owned() };
                self.reading.next(now).map(|_| (nothing(), nothing()))
            }
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        let Next::Over(read) = self.reading.next(now) else { return };
        let reading = read.map_or_else(|issue| Reading::Failed { error: issue.text }, Reading::Text);
        if self.balancers.is_some() {
            self.publics = Some(reading);
            return;
        }
        self.balancers = Some(reading);
        let what = format!("list the public addresses of {}", self.place.group);
        self.reading = ReadOperation::new(
            CommandRequest::line(line::public_addresses(&self.place), what),
            format!("listing the public addresses of {}", self.place.group),
        );
    }
}
