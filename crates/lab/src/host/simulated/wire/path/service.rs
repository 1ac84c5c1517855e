//! A service of the platform that calls a machine from a card of its own: there, the return path, and who listens.

use std::net::IpAddr;

use super::location::Location;
use super::walk::{Datagram, DropPoint, PathDirection, carry_on, walk};
use crate::host::fabric::Nic;
use crate::host::simulated::world::World;
use crate::host::stage::{Behavior, Protocol};
use ghost_inspect::netfilter::State;

/// The port from which services call.
const SOURCE_PORT: u16 = 51_000;

/// What a service gets of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServiceCall {
    /// The packet does not get to a machine; whether the service is notified of that.
    Lost { is_notified: bool },
    /// It gets there, and nothing comes back.
    Unanswered,
    /// Nobody listens.
    Refused,
    /// Somebody does, so many nanoseconds away.
    Open { machine: String, took: u64 },
}

/// Opens a connection from a card that a service has in a network.
pub(super) fn call(
    world: &mut World,
    (name, nic, own): (&str, &Nic, IpAddr),
    to: IpAddr,
    port: u16,
) -> ServiceCall {
    let question = Datagram {
        from: None,
        src: (own, SOURCE_PORT),
        dst: (to, port),
        protocol: 6,
        flags: Some(2),
        icmp: None,
        state: State::New,
        refusal: false,
    };
    let mut there = PathDirection::default();
    carry_on(world, name, nic.clone(), &question, &mut there);
    let machine = match (&there.fall, &there.arrives) {
        (None, Some(Location::Machine { name, .. })) => name.clone(),
        (fall, _) => {
            let is_notified = matches!(fall, Some(DropPoint::Receiver(how)) if how.is_notified());
            return ServiceCall::Lost { is_notified };
        }
    };
    let answer = Datagram {
        from: Some(machine.clone()),
        src: question.dst,
        dst: question.src,
        flags: Some(18),
        state: State::Established,
        ..question
    };
    let back = walk(world, &answer);
    match world.listener(&machine, Protocol::Tcp, port) {
        _ if !back.whole() => ServiceCall::Unanswered,
        Some(Behavior::Answers) => ServiceCall::Open { machine, took: there.base + back.base },
        Some(Behavior::Silent) => ServiceCall::Unanswered,
        None => ServiceCall::Refused,
    }
}
