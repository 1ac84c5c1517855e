//! What happens to packets between two machines.

use std::net::IpAddr;

use super::world::{Called, Capture, World};
use crate::lab::host::port::Dialed;
use crate::lab::host::stage::Protocol;

/// Answers a command that asks the network; nothing where it is none of those.
pub(in crate::lab::host) fn call(
    world: &mut World,
    machine: &str,
    argv: &[String],
    input: &str,
) -> Option<Called> {
    let _ = (world, machine, argv, input);
    None
}

/// Tries a connection.
pub(in crate::lab::host) fn dial(
    world: &mut World,
    machine: &str,
    to: IpAddr,
    protocol: Protocol,
    port: u16,
) -> Dialed {
    let _ = (world, machine, to, protocol, port);
    Dialed::Silent
}

/// Writes what a capture saw until now.
pub(in crate::lab::host) fn pcap(world: &mut World, capture: &Capture) -> Vec<u8> {
    let _ = (world, capture);
    Vec::new()
}
