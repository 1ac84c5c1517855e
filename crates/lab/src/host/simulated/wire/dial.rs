//! Whether a connection comes up.

use std::net::IpAddr;
use std::time::Duration;

use super::conversation::Echo;
use super::journal::Exchange;
use super::net::{Net, SECOND};
use super::path::{DropPoint, DropResponse};
use crate::host::port::ConnectOutcome;
use crate::host::simulated::world::World;
use crate::host::stage::Protocol;

/// How long a connection is waited for; nanoseconds.
const DIAL_TIMEOUT: u64 = 10 * SECOND;

/// What becomes of a first packet, whatever is lost by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum FirstPacket {
    /// Somebody answers.
    Open(Duration),
    /// Somebody refuses.
    Refused,
    /// Nobody says anything.
    Silent,
}

/// Tries a connection.
pub(in crate::host) fn dial(
    world: &mut World,
    machine: &str,
    to: IpAddr,
    protocol: Protocol,
    port: u16,
) -> ConnectOutcome {
    let mut net = Net::new(world, machine, "dial");
    let outcome = match protocol {
        Protocol::Tcp => {
            let outcome = net.tcp(to, port, Vec::new(), DIAL_TIMEOUT).1.outcome;
            (outcome.connected, outcome.refused)
        }
        Protocol::Udp | Protocol::Icmp => {
            let line = net.line(to, protocol, port);
            let act = if protocol == Protocol::Icmp {
                Exchange::Echo(Echo { id: 1, number: 1, size: 56 })
            } else {
                Exchange::Datagram { request: vec![0; 16], answer: Some(vec![0; 16]), think: 50_000 }
            };
            // What the machine itself drops ends in silence, and so does an error that may pass.
            let received = match line.there.fall {
                Some(DropPoint::Sender(how)) => {
                    protocol == Protocol::Icmp && how != DropResponse::Silent || how.is_notified()
                }
                Some(DropPoint::Receiver(how)) => protocol == Protocol::Icmp || how.is_notified(),
                Some(DropPoint::Between) | None => true,
            };
            let outcome = net.say(&line, act).outcome;
            (outcome.done, outcome.refused.filter(|_| received))
        }
    };
    match outcome {
        (Some(took), _) => ConnectOutcome::Open(Duration::from_nanos(took)),
        (None, Some(_)) => ConnectOutcome::Refused,
        (None, None) => ConnectOutcome::Silent,
    }
}

/// Tells whether an endpoint can be reached, without sending a packet and regardless of loss.
pub(in crate::host) fn reaches(
    world: &mut World,
    machine: &str,
    to: IpAddr,
    protocol: Protocol,
    port: u16,
) -> FirstPacket {
    let line = Net::new(world, machine, "reaches").line(to, protocol, port);
    if line.open() {
        return FirstPacket::Open(Duration::from_nanos(line.round()));
    }
    if line.refuses() { FirstPacket::Refused } else { FirstPacket::Silent }
}
