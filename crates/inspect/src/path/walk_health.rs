//! What the platform says of itself, held against the objects of a flow.

use super::document::{Document, Known};
use super::estate::Machine;
use super::fault::{Cause, Fault, Object};
use super::health::State;
use super::hop::{Effect, Hop, Kind};
use super::walk::Walk;

/// The services that a machine and its interface need.
const MACHINES: [&str; 3] = ["Virtual Machines", "Virtual Network", "Network Infrastructure"];

/// The services that a hop needs, as events name them.
const fn services(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Balancer => &["Load Balancer"],
        Kind::ApplicationGateway => &["Application Gateway"],
        Kind::Bastion => &["Azure Bastion"],
        Kind::Cluster => &["Azure Kubernetes Service (AKS)"],
        Kind::Firewall => &["Azure Firewall"],
        Kind::Gateway => &["VPN Gateway", "ExpressRoute"],
        Kind::Endpoint => &["Azure Private Link"],
        Kind::Name => &["Azure DNS"],
        Kind::Egress => &["NAT Gateway"],
        Kind::Machine
        | Kind::GuestOutput
        | Kind::GuestRoute
        | Kind::Shaping
        | Kind::GroupOutbound
        | Kind::Route
        | Kind::Peering
        | Kind::GroupInbound
        | Kind::Forwarding
        | Kind::GuestForward
        | Kind::GuestInput
        | Kind::Listener
        | Kind::Platform
        | Kind::Outside => &[],
    }
}

impl Walk<'_> {
    /// Asks the platform whether it took a machine away that does not run, or into which nobody can look. True where it did.
    pub(super) fn taken_away(&mut self, machine: &Machine) -> bool {
        let document = Document::Availability { machine: machine.name.clone() };
        let hop = Hop::new(Kind::Platform, &machine.name);
        let known = match &self.asked.estate.availability {
            Known::Read(all) => all.iter().find(|own| own.machine.eq_ignore_ascii_case(&machine.name)),
            Known::Absent => None,
            // Whoever may not ask knows what the machine itself shows.
            Known::Failed(_) => return false,
        };
        let Some(known) = known else {
            self.push(hop.lacking(document, format!("why nobody can look into {}", machine.name)));
            return false;
        };
        let State::ByPlatform(event) = &known.state else { return false };
        let event = event.clone().unwrap_or_else(|| machine.name.clone());
        let cause = Cause::new(Fault::PlatformEvent, Object::Health { event });
        if self.is_gone(&cause) {
            return false;
        }
        let why = format!("the platform says that {} is not available: {}", machine.name, known.summary);
        self.push(hop.on(document).stopped(Effect::new(cause, why)));
        true
    }

    /// Holds the events of the platform against a flow that nothing else stops.
    pub(super) fn events(&mut self) {
        let estate = self.asked.estate;
        let Some(events) = estate.events.read().filter(|events| !events.is_empty()) else { return };
        if self.forward.iter().chain(&self.back).any(|hop| !hop.stops.is_empty()) {
            return;
        }
        let ends = [self.asked.flow.src, self.asked.flow.dst];
        let at = |address| estate.owners(address).iter().copied().chain(estate.public(address));
        let mut regions: Vec<&str> =
            ends.into_iter().flat_map(at).filter_map(|nic| estate.nic(nic)?.region.as_deref()).collect();
        regions.dedup();
        let passed = self.forward.iter().chain(&self.back).flat_map(|hop| services(hop.kind));
        let needed: Vec<&str> = MACHINES.iter().chain(passed).copied().collect();
        let mut found = Vec::new();
        for event in events {
            let Some((service, region)) = event.concerns(&needed, &regions) else { continue };
            let cause = Cause::new(Fault::PlatformEvent, Object::Health { event: event.id.clone() });
            if self.is_gone(&cause) {
                continue;
            }
            let since = event.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
            let why = format!("the platform has an event of {service} in {region}{since}: {}", event.title);
            found.push((region.to_owned(), Effect::new(cause, why)));
        }
        for (region, effect) in found {
            let mut hop = Hop::new(Kind::Platform, &region).on(Document::Events);
            hop.degrades.push(effect);
            self.forward.push(hop);
        }
    }
}
