//! What the platform says of itself. There is no command for it: `az rest` reads two addresses that the policy knows.

use super::text::Line;
use crate::name::{Name, ResourceGroup};

const VERSION: &str = "2022-10-01";

/// Lists the events of the platform that the subscription sees.
#[must_use]
pub fn platform_events(place: &ResourceGroup) -> Line {
    let url = format!(
        "/subscriptions/{{subscriptionId}}/providers/Microsoft.ResourceHealth/events?api-version={VERSION}"
    );
    read(url, place)
}

/// Shows how the platform sees a machine.
#[must_use]
pub fn availability(place: &ResourceGroup, machine: &Name) -> Line {
    let url = format!(
        "/subscriptions/{{subscriptionId}}/resourceGroups/{}/providers/Microsoft.Compute/virtualMachines/{machine}/providers/Microsoft.ResourceHealth/availabilityStatuses/current?api-version={VERSION}",
        place.group
    );
    read(url, place)
}

fn read(url: String, place: &ResourceGroup) -> Line {
    Line::read("rest").option("--method", "get").option("--url", url).pinned(place).json()
}
