//! Resource groups beside the session's own, into which flows lead: their lists are read and joined with those of the first.

use super::argument::Guest;
use super::estate_reader::{EstateReader, MAX_CITED};
use super::inspector::Unfinished;
use crate::event::ObservationId;
use crate::tool::call_replay::CallReplay;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::{
    EstateOperation, FirewallOperation, FrontendOperation, GatewayOperation, NamingOperation,
    OutboundOperation, Wanted, bastions, clusters, keep_bastions, keep_clusters,
};
use ghost_cloud::{Name, ResourceGroup};
use ghost_inspect::path::{Cloud, Object, Place};

/// So many lists are read of a group first.
const LISTS: usize = 5;

impl EstateReader<'_> {
    /// Reads the lists of another resource group, and in it whatever was read of the first one.
    pub(super) fn open(&mut self, place: &Place, replay: &mut CallReplay<'_, '_>) -> Result<(), Unfinished> {
        let read = match self.places.request(&self.bundle.cloud, place) {
            Ok(group) => replay.run_or_reuse(&mut EstateOperation::new(&group))?.map(|cloud| (group, cloud)),
            Err(why) => Err(Issue::new(why)),
        };
        let opened = read.as_ref().ok().map(|(group, _)| group.clone());
        self.places.opened(place, read, &mut self.bundle.cloud);
        if let Some(group) = opened {
            let known = [
                Wanted::Frontends,
                Wanted::Bastions,
                Wanted::Clusters,
                Wanted::Firewalls,
                Wanted::Gateways,
                Wanted::Names,
                Wanted::Outbound,
            ];
            let read: Vec<&Wanted> = known.iter().filter(|one| self.read.contains_key(*one)).collect();
            for one in read {
                self.read_in(one, &group, replay)?;
            }
        }
        Ok(())
    }

    /// Reads lists of one kind in a resource group, beside those of others.
    pub(super) fn read_in(
        &mut self,
        one: &Wanted,
        group: &ResourceGroup,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<(), Unfinished> {
        let is_first = group == self.place;
        let mut found = Cloud::default();
        match one {
            Wanted::Frontends => {
                FrontendOperation::into_cloud(replay.run(&mut FrontendOperation::new(group))?, &mut found);
            }
            Wanted::Firewalls => {
                FirewallOperation::into_cloud(replay.run(&mut FirewallOperation::new(group))?, &mut found);
            }
            Wanted::Gateways => {
                GatewayOperation::into_cloud(replay.run(&mut GatewayOperation::new(group))?, &mut found);
            }
            Wanted::Names => {
                let mut operation =
                    if is_first { NamingOperation::new(group) } else { NamingOperation::beside(group) };
                NamingOperation::into_cloud(replay.run(&mut operation)?, &mut found);
            }
            Wanted::Outbound => {
                // Load balancers of all groups are counted with the first.
                let none = Cloud::default();
                let known = if is_first { &self.bundle.cloud } else { &none };
                let read = replay.run(&mut OutboundOperation::new(group, known))?;
                OutboundOperation::into_cloud(read, &mut found);
            }
            Wanted::Bastions => keep_bastions(replay.run(&mut bastions(group))?, &mut found),
            Wanted::Clusters => keep_clusters(replay.run(&mut clusters(group))?, &mut found),
            Wanted::Place(_)
            | Wanted::Health(_)
            | Wanted::Answers(..)
            | Wanted::Page(..)
            | Wanted::Power(_)
            | Wanted::Availability(_)
            | Wanted::Events
            | Wanted::FlowLogs(_)
            | Wanted::Routes(_)
            | Wanted::Rules(_)
            | Wanted::State(_) => {}
        }
        match is_first {
            true => self.bundle.cloud.replace(found),
            false => self.places.join(group, found, &mut self.bundle.cloud),
        }
        Ok(())
    }

    /// Returns a machine as it is asked; nothing where its name is none of the platform's.
    pub(super) fn guest(&self, machine: &str) -> Option<Guest> {
        let (place, name) = self.places.of_machine(&self.bundle.cloud, machine);
        Name::parse(&name).ok().map(|machine| Guest { machine, resource_group: Some(place), provider: None })
    }

    /// Returns the observations of the lists of another group in which an object is.
    pub(super) fn shown_beside(&self, object: &Object) -> Vec<ObservationId> {
        let place = self.bundle.cloud.place_of(object).map(Wanted::Place);
        let known = place.and_then(|place| self.read.get(&place)).into_iter().flatten();
        // Whatever was read there later is about something else.
        let lists: Vec<ObservationId> = known.take(LISTS).copied().collect();
        lists.into_iter().rev().take(MAX_CITED - 1).collect()
    }

    /// Returns how a command names the group of an object, where that is another one than the session's own.
    pub(super) fn group_words(&self, object: &Object) -> Option<String> {
        self.bundle.cloud.group_words(self.group(), self.bundle.cloud.place_of(object))
    }
}
