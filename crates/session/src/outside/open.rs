//! What holds in the session of a request: where it is shown, who decides, for how long.

use ghost_investigate::Limits;
use ghost_investigate::event::{Opened, Origin, Outside};
use ghost_shell::{Scope, Surroundings};

use crate::opened_outside;

/// Where requests from outside are shown, and what holds there.
#[derive(Debug, Clone)]
pub struct OutsideRoom {
    /// Where a thread is opened for each; nothing where nobody can be asked.
    pub origin: Option<Origin>,
    /// Which part of the cloud may be touched.
    pub scope: Option<Scope>,
    /// How long an approval may take, and how many have to approve.
    pub limits: Limits,
    /// To which places commands may send something unasked.
    pub surroundings: Surroundings,
}

/// Opens the session of a request.
#[must_use]
pub fn opened(room: &OutsideRoom, outside: Outside, nonce: String) -> Opened {
    Opened {
        limits: room.limits,
        scope: room.scope.clone().filter(|scope| !scope.is_open()),
        hosts: Vec::new(),
        cloud_too: false,
        clusters: Vec::new(),
        surroundings: Some(room.surroundings.clone()),
        ..opened_outside(outside, room.origin.clone(), nonce)
    }
}
