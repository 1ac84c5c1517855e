//! Everything that the model knows.

use std::collections::BTreeMap;

use super::guest::Guest;
use crate::base::Timestamp;
use crate::lab::host::fabric::Fabric;
use crate::lab::host::stage::Stage;

/// The machines, and what is between them.
#[derive(Debug, Clone)]
pub(in crate::lab::host) struct World {
    /// The lab's clock.
    pub(in crate::lab::host) now: Timestamp,
    /// From which all that is drawn follows.
    pub(in crate::lab::host) seed: u64,
    /// The network.
    pub(in crate::lab::host) fabric: Fabric,
    /// Services, traffic, oddities.
    pub(in crate::lab::host) stage: Stage,
    /// The machines, by name.
    pub(in crate::lab::host) guests: BTreeMap<String, Guest>,
}
