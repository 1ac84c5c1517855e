//! The packets with which a walk begins.

use super::packet::{Hook, Packet, State};
use super::path::Path;
use crate::netfilter::logic::{Field, Names, Spans, address_number};

/// Returns the packets that a description means: one, or one per state where that is unknown.
pub(in crate::netfilter) fn starts(packet: &Packet, names: &Names) -> Vec<Path> {
    let (source, family) = address_number(packet.src);
    let (destination, _) = address_number(packet.dst);
    let base = Path::any()
        .with(Field::Family, Spans::one(family))
        .with(Field::Protocol, Spans::one(packet.protocol.into()))
        .with(Field::Source, Spans::one(source))
        .with(Field::Destination, Spans::one(destination));
    let maybe = |path: Path, field, value: Option<u128>| match value {
        Some(value) => path.with(field, Spans::one(value)),
        None => path,
    };
    let base = maybe(base, Field::Sport, packet.sport.map(u128::from));
    let base = maybe(base, Field::Dport, packet.dport.map(u128::from));
    let base = maybe(base, Field::IcmpType, packet.icmp_type.map(u128::from));
    let base = devices(base, packet, names);
    let states = match packet.state {
        Some(state) => vec![state],
        // Discovery of neighbors is tracked by nobody.
        None if packet.protocol == 58 && packet.icmp_type.is_some_and(|kind| (133..=137).contains(&kind)) => {
            vec![State::Untracked]
        }
        None => vec![State::New, State::Established, State::Related, State::Invalid],
    };
    let flags = packet.tcp_flags.map(u128::from).filter(|_| packet.protocol == 6);
    let start = |state| maybe(in_state(base.clone(), packet.protocol, state), Field::TcpFlags, flags);
    states.into_iter().map(start).map(|path| path.marked(packet.mark)).collect()
}

/// Returns every packet of a hook, one start per family, protocol and state.
pub(in crate::netfilter) fn every(hook: Hook, names: &Names) -> Vec<Path> {
    let mut all = Vec::new();
    for (family, icmp) in [(4, 1), (6, 58)] {
        let others = Spans::run(0, 255).subtract(&Spans::of([(6, 6), (17, 17), (icmp, icmp)]));
        for protocol in [Spans::one(6), Spans::one(17), Spans::one(icmp), others] {
            for state in [State::New, State::Established, State::Related, State::Invalid, State::Untracked] {
                let number = protocol.single().and_then(|number| u8::try_from(number).ok()).unwrap_or(255);
                let last = if family == 4 { u128::from(u32::MAX) } else { u128::MAX };
                let path = Path::any()
                    .with(Field::Family, Spans::one(family))
                    .with(Field::Protocol, protocol.clone())
                    .with(Field::Source, Spans::run(0, last))
                    .with(Field::Destination, Spans::run(0, last));
                all.push(in_state(any_device(path, hook, names), number, state));
            }
        }
    }
    all
}

fn in_state(path: Path, protocol: u8, state: State) -> Path {
    let path = path.with(Field::State, Spans::one(state.number()));
    if protocol != 6 {
        return path;
    }
    match state {
        // What begins a connection is a bare SYN; what belongs to one carries an ACK.
        State::New | State::Related => path.with(Field::TcpFlags, Spans::one(2)),
        State::Established => {
            let flags = (0..=255_u128).filter(|flags| flags & 16 != 0).map(|flags| (flags, flags));
            path.with(Field::TcpFlags, Spans::of(flags))
        }
        State::Invalid | State::Untracked => path,
    }
}

fn devices(path: Path, packet: &Packet, names: &Names) -> Path {
    let one = |name: &str| Spans::one(names.device(name));
    let path = any_device(path, packet.hook, names);
    let path = match &packet.input {
        Some(name) => path.with(Field::In, one(name)),
        None => path,
    };
    match &packet.output {
        Some(name) => path.with(Field::Out, one(name)),
        None => path,
    }
}

/// A packet that comes in has no output device yet; one that is sent has no input device.
fn any_device(path: Path, hook: Hook, names: &Names) -> Path {
    let last = names.devices().saturating_sub(1);
    let (none, some, any) = (Spans::one(0), Spans::run(1, last), Spans::run(0, last));
    let (input, output) = match hook {
        Hook::Prerouting | Hook::Input => (some, none),
        Hook::Forward => (some.clone(), some),
        Hook::Output => (none, some),
        Hook::Postrouting => (any, some),
    };
    path.with(Field::In, input).with(Field::Out, output)
}
