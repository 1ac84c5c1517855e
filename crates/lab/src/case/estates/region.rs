//! Complaints while the platform itself has an event: one that concerns the flow, or only such as concern nobody here.

use std::collections::BTreeSet;

use super::draw::{Tried, flow_slots, judged};
use super::walk::walk;
use super::words::{About, Seen, Slots, complaint};
use crate::case::model::Pair;
use crate::case::random::Rng;

/// What an event says: kind, status, service, region.
type Said = (&'static str, &'static str, &'static str, &'static str);

/// Events that concern somebody whose machines are in the region of the estates.
const HERE: [Said; 3] = [
    ("ServiceIssue", "Active", "Virtual Network", "East US"),
    ("ServiceIssue", "Active", "Virtual Machines", "East US"),
    ("PlannedMaintenance", "Active", "Network Infrastructure", "East US"),
];

/// Events that concern nobody there: advice, another region, another service, what is over.
const ELSEWHERE: [Said; 6] = [
    ("HealthAdvisory", "Active", "Virtual Network", "East US"),
    ("SecurityAdvisory", "Active", "Virtual Machines", "Global"),
    ("ServiceIssue", "Active", "Virtual Machines", "West Europe"),
    ("ServiceIssue", "Active", "Virtual Network", "East US 2"),
    ("ServiceIssue", "Active", "SQL Database", "East US"),
    ("ServiceIssue", "Resolved", "Virtual Network", "East US"),
];

/// All on the path is in order, and people see timeouts, or ask.
pub(super) fn region(tried: &mut Tried, healthy: bool, rng: &mut Rng) {
    let Some(flow) = tried.drawn.flows.get(rng.below(tried.drawn.flows.len())).cloned() else { return };
    if !walk(&tried.drawn.estate, &flow).is_fine() {
        return;
    }
    let mut slots = Slots::default();
    flow_slots(&mut slots, &tried.drawn, &flow, rng);
    let seen = if healthy {
        Seen::Doubt
    } else if rng.percent(50) {
        Seen::Timeout
    } else {
        Seen::Slow
    };
    let text = complaint(About::Flow(seen), &slots, rng);
    let mut own = judged(text, &[], &[], format!("events of the platform, healthy: {healthy}"));
    tried.more.push_str(&elsewhere("NO", rng));
    if !healthy {
        let id = format!("HERE-{}", 100 + rng.below(900));
        tried.more.push_str(&event(&id, rng.one(&HERE)));
        own.expected = BTreeSet::from([Pair::new("platform_event", format!("health/{id}"))]);
    }
    tried.complaints.push(own);
}

/// Writes some events that concern nobody.
pub(super) fn elsewhere(id: &str, rng: &mut Rng) -> String {
    (0..=rng.below(3)).map(|at| event(&format!("{id}-{at}"), rng.one(&ELSEWHERE))).collect()
}

fn event(id: &str, (kind, status, service, region): Said) -> String {
    format!(
        "[[change]]\nput = \"Microsoft.ResourceHealth/events/{id}\"\n\n[change.body]\n\n[change.body.properties]\n\
         eventType = \"{kind}\"\nstatus = \"{status}\"\ntitle = \"{service} in {region}\"\nimpactStartTime = \"2025-06-02T08:50:00Z\"\n\
         impact = [{{ impactedService = \"{service}\", impactedRegions = [{{ impactedRegion = \"{region}\", status = \"{status}\" }}] }}]\n\n"
    )
}
