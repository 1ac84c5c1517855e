//! What a server asks of the cloud beside the resource manager: blobs, the network that guests see, captures that begin and end.
//!
//! Until the blob service is there these say that nothing is.

use super::cloud::Cloud;
use super::estate::Description;
use super::request::{Answer, Body, Request};
use crate::base::Timestamp;
use crate::lab::host::{CaptureOrder, Fabric, HostError};

/// A capture that begins on a machine, or is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureTurn {
    /// It begins.
    Begin {
        /// Its identifier.
        name: String,
        /// What is captured.
        order: CaptureOrder,
    },
    /// It is over: somebody stopped it, removed it, or its time is over.
    End {
        /// Its identifier.
        name: String,
    },
}

impl Cloud {
    /// Answers a request to the blob service: of an account by its host name, or by the first part of the path.
    pub fn blob(&mut self, account: Option<&str>, request: &Request, now: Timestamp) -> Answer {
        let _ = (account, request, now);
        let text = "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>ResourceNotFound</Code><Message>The specified resource does not exist.</Message></Error>";
        Answer { status: 404, headers: Vec::new(), body: Body::Text("application/xml", text.to_owned()) }
            .with("x-ms-error-code", "ResourceNotFound")
    }

    /// Returns the network as guests see it.
    #[must_use]
    pub fn fabric(&self) -> Fabric {
        Fabric::default()
    }

    /// Returns which captures begin and which are over since this was last asked, in their order.
    pub fn capture_turns(&mut self, now: Timestamp) -> Vec<CaptureTurn> {
        let _ = now;
        Vec::new()
    }

    /// Takes what a machine captured: the file lies where the capture's storage location says, or its status tells what failed.
    pub fn store_capture(&mut self, name: &str, file: Result<Vec<u8>, HostError>, now: Timestamp) {
        let _ = (name, file, now);
    }
}

impl Cloud {
    /// Returns the description from which it was made.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.about
    }

    /// Returns the names of the virtual machines.
    #[must_use]
    pub fn machines(&self) -> Vec<String> {
        let found = self.estate.of("Microsoft.Compute/virtualMachines");
        found.filter_map(|machine| machine.get("name")?.as_str().map(str::to_owned)).collect()
    }

    /// No script that was only said to run runs on a machine any more.
    pub fn free(&mut self, machine: &str) {
        self.busy.retain(|name, operation| !(operation.is_empty() && name.eq_ignore_ascii_case(machine)));
    }
}
