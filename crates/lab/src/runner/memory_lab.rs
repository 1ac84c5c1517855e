//! A lab in memory, with a clock of its own.

use std::sync::Arc;

use crate::LabClock;
use crate::azure::{Cloud, Description, EstateError};
use crate::control::Lab;
use crate::host::Simulated;
use ghost_base::{Clock, ManualClock, SystemClock, Timestamp};

/// When a lab in memory begins, in milliseconds: 2025-06-02T09:31:00Z, the time of the estate in the use cases.
pub const START: i64 = 1_748_856_660_000;

/// The account that captures are written to. The one of the estate is what a case may be about.
pub const CAPTURES_ACCOUNT: &str = "ghostcaptures01";

pub const CAPTURES_CONTAINER: &str = "captures";

/// Why there is no lab.
#[derive(Debug, thiserror::Error)]
pub enum MemoryLabError {
    /// The estate is broken.
    #[error("the estate of the lab is broken")]
    Estate(#[from] EstateError),
    /// This machine gives no random bytes.
    #[error("making the lab's tokens")]
    Random(#[from] std::io::Error),
}

/// Makes a lab of the use cases' estate and an account for captures. What its machines draw follows from the seed; its clock stands
/// unless somebody lets it pass.
///
/// # Errors
/// Fails where this machine gives no random bytes.
pub fn memory_lab(seed: u64) -> Result<Arc<Lab>, MemoryLabError> {
    by(seed, Arc::new(ManualClock::new(Timestamp::from_millis(START))))
}

/// Makes the same lab by the clock of this machine, for programs that know no other one.
///
/// # Errors
/// Fails where this machine gives no random bytes.
pub fn memory_lab_now(seed: u64) -> Result<Arc<Lab>, MemoryLabError> {
    by(seed, Arc::new(SystemClock))
}

fn by(seed: u64, own: Arc<dyn Clock>) -> Result<Arc<Lab>, MemoryLabError> {
    let (clock, began) = (LabClock::new(Arc::clone(&own)), own.now());
    let standing = (CAPTURES_ACCOUNT, CAPTURES_CONTAINER);
    let cloud = Cloud::with_account(Description::usual()?, standing, began)?;
    let host = Arc::new(Simulated::new(cloud.fabric(), seed, clock.clone()));
    Ok(Lab::new(cloud, host, clock, Vec::new())?)
}
