//! Why a service of the platform is kept from whom it needs, and why a gateway gets no answer of a server, as reasons say it.
//!
//! Goes in: who is kept from whom. Comes out: the words of a reason, and from such words what they say. Never: words that are read as
//! something else than they were written for. A session records the words alone; whoever says more about them later reads them here.

use std::fmt;

use super::needed::{Needed, NeededPeer};
use crate::nsg::Direction;

const ALL_PORTS: (u16, u16) = (0, u16::MAX);
const KEEPS: &str = " keeps ";
const FROM: &str = " from ";
const BASTION: &str = "the bastion host ";
/// How a reason ends, by the direction of what is denied.
const ENDS: [(Direction, &str); 2] = [
    (Direction::Inbound, ", which does not work without"),
    (Direction::Outbound, ", and it does not work without"),
];
const SO_THAT: &str = ", so that ";
const NO_ANSWER: &str = " gets no answer of ";

/// A service of the platform that stands in a subnet of a network, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlatformService {
    /// An application gateway.
    AppGateway(String),
    /// A bastion host.
    Bastion(String),
}

/// Whom a rule of its subnet's group keeps from a service that needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOut {
    /// What is kept from it.
    pub service: PlatformService,
    /// Who has to come, or has to be reached.
    pub peer: NeededPeer,
    /// Whether it has to come, or has to be reached.
    pub direction: Direction,
    /// From which port to which.
    pub ports: (u16, u16),
}

/// A server of which a gateway gets no answer, for a reason that was found on the path between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// By its name.
    pub gateway: String,
    /// By its address, or by its name.
    pub server: String,
}

impl KeptOut {
    pub(super) fn new(service: PlatformService, needed: &Needed) -> Self {
        Self { service, peer: needed.peer, direction: needed.direction, ports: needed.ports }
    }

    /// Says that a rule does it.
    pub(super) fn reason(&self, group: &str, rule: &str) -> String {
        let (whom, service) = (self.whom(), &self.service);
        let parts = match self.direction {
            Direction::Inbound => format!("{whom}{FROM}{service}"),
            Direction::Outbound => format!("{service}{FROM}{whom}"),
        };
        let end = ENDS.into_iter().find(|(own, _)| *own == self.direction).map_or("", |(_, end)| end);
        format!("the rule {rule} of {group}{KEEPS}{parts}{end}")
    }

    /// Reads what such a reason says; `None` where it is about something else.
    #[must_use]
    pub fn read(reason: &str) -> Option<Self> {
        let sentence = |(at, _): (usize, &str)| reason.get(at + KEEPS.len()..).and_then(Self::read_sentence);
        reason.match_indices(KEEPS).find_map(sentence)
    }

    fn read_sentence(sentence: &str) -> Option<Self> {
        let ended = |(direction, end)| Some((direction, sentence.split_once(end)?.0));
        let (direction, parts) = ENDS.into_iter().find_map(ended)?;
        let (first, second) = parts.split_once(FROM)?;
        let (whom, service) = match direction {
            Direction::Inbound => (first, second),
            Direction::Outbound => (second, first),
        };
        let (name, ports) = match whom.split_once(" on ") {
            Some((name, ports)) => (name, read_ports(ports)?),
            None => (whom, ALL_PORTS),
        };
        let peer = NeededPeer::ALL.into_iter().find(|peer| peer.words() == name)?;
        let service = match service.strip_prefix(BASTION) {
            Some(name) => PlatformService::Bastion(read_name(name)?),
            None => PlatformService::AppGateway(read_name(service)?),
        };
        Some(Self { service, peer, direction, ports })
    }

    /// Says who is kept out, or not reached: `GatewayManager on port 443`.
    #[must_use]
    pub fn whom(&self) -> String {
        let name = self.peer.words();
        match self.ports {
            ALL_PORTS => name.to_owned(),
            (first, last) if first == last => format!("{name} on port {first}"),
            (first, last) => format!("{name} on the ports {first}-{last}"),
        }
    }
}

impl fmt::Display for PlatformService {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppGateway(name) => out.write_str(name),
            Self::Bastion(name) => write!(out, "{BASTION}{name}"),
        }
    }
}

impl Unanswered {
    /// Says so behind the reason for it.
    pub(super) fn behind(&self, reason: &str) -> String {
        format!("{reason}{SO_THAT}{}{NO_ANSWER}{}", self.gateway, self.server)
    }

    /// Reads what such a reason says; `None` where it is about something else.
    #[must_use]
    pub fn read(reason: &str) -> Option<Self> {
        let (before, server) = reason.rsplit_once(NO_ANSWER)?;
        let (_, gateway) = before.rsplit_once(SO_THAT)?;
        let server = server.split([' ', '(', ',', ';']).next().and_then(read_name)?;
        Some(Self { gateway: read_name(gateway)?, server })
    }
}

/// Names of the platform have no blanks.
fn read_name(text: &str) -> Option<String> {
    (!text.is_empty() && !text.contains(' ')).then(|| text.to_owned())
}

fn read_ports(text: &str) -> Option<(u16, u16)> {
    if let Some(port) = text.strip_prefix("port ") {
        let port = port.parse().ok()?;
        return Some((port, port));
    }
    let (first, last) = text.strip_prefix("the ports ")?.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = KeptOut> {
        let services =
            || [PlatformService::AppGateway("gw-1".to_owned()), PlatformService::Bastion("b.1_x".to_owned())];
        let ports = [ALL_PORTS, (443, 443), (65_200, 65_535)];
        let directions = [Direction::Inbound, Direction::Outbound];
        NeededPeer::ALL.into_iter().flat_map(move |peer| {
            services().into_iter().flat_map(move |service| {
                directions.into_iter().flat_map(move |direction| {
                    let service = service.clone();
                    ports.into_iter().map(move |ports| KeptOut {
                        service: service.clone(),
                        peer,
                        direction,
                        ports,
                    })
                })
            })
        })
    }

    #[test]
    fn what_a_reason_says_is_read_from_it() {
        for own in all() {
            let reason = own.reason("nsg-from", "DenyAll");
            assert_eq!(KeptOut::read(&reason).as_ref(), Some(&own), "{reason}");
            assert_eq!(KeptOut::read(&format!("b keeps a; {reason} (by web-1)")), Some(own));
        }
        let own = Unanswered { gateway: "gw-1".to_owned(), server: "10.0.1.4".to_owned() };
        let reason = own.behind("the rule r of g denies it, so that nothing comes");
        assert_eq!(Unanswered::read(&reason), Some(own.clone()), "{reason}");
        assert_eq!(Unanswered::read(&format!("{reason} (web-1)")), Some(own));
    }

    #[test]
    fn words_stand_as_they_were_written_before() {
        let mut own = KeptOut {
            service: PlatformService::Bastion("b".to_owned()),
            peer: NeededPeer::Users,
            direction: Direction::Inbound,
            ports: (443, 443),
        };
        assert_eq!(
            own.reason("g", "r"),
            "the rule r of g keeps its users on port 443 from the bastion host b, which does not work without"
        );
        (own.peer, own.direction) = (NeededPeer::Cloud, Direction::Outbound);
        assert_eq!(
            own.reason("g", "r"),
            "the rule r of g keeps the bastion host b from AzureCloud on port 443, and it does not work without"
        );
        own.service = PlatformService::AppGateway("gw".to_owned());
        (own.peer, own.direction, own.ports) = (NeededPeer::Manager, Direction::Inbound, (65_503, 65_534));
        assert_eq!(
            own.reason("g", "r"),
            "the rule r of g keeps GatewayManager on the ports 65503-65534 from gw, which does not work without"
        );
    }

    #[test]
    fn what_is_about_something_else_says_nothing() {
        for reason in [
            "",
            " keeps ",
            "the jail sshd keeps 10.0.0.4 out",
            "the rule r of g keeps everybody from gw, which does not work without",
            "the rule r of g keeps GatewayManager on port 99999 from gw, which does not work without",
            "the rule r of g keeps GatewayManager from , which does not work without",
            "r denies tcp/80, so that gw is slow",
            "gw gets no answer of 10.0.0.4",
            "r, so that gw gets no answer of ",
        ] {
            assert_eq!((KeptOut::read(reason), Unanswered::read(reason)), (None, None), "{reason}");
        }
    }
}
