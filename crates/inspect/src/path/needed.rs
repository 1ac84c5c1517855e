//! What the platform needs on a subnet of its own, held against the group of that subnet.

use serde_json::Value;

use super::estate::is_private;
use crate::net::{Fields, parse_prefix};
use crate::nsg::Direction;

/// A rule of a group that keeps something from whom it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) rule: String,
    pub(super) needed: Needed,
}

/// Who has to come to a service of the platform, or whom it has to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeededPeer {
    /// Who manages the service.
    Manager,
    /// Who asks whether it is there.
    LoadBalancer,
    /// Whoever uses it from outside; a rule for some of them may be meant.
    Users,
    /// Other services of the platform.
    Cloud,
}

/// What has to pass the group of a subnet, by TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needed {
    pub(super) peer: NeededPeer,
    pub(super) direction: Direction,
    /// From which port to which.
    pub(super) ports: (u16, u16),
}

impl NeededPeer {
    pub(super) const ALL: [Self; 4] = [Self::Manager, Self::LoadBalancer, Self::Users, Self::Cloud];

    /// Returns how a reason names them.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Users => "its users",
            Self::Manager | Self::LoadBalancer | Self::Cloud => self.tag(),
        }
    }

    /// Returns how rules name them.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Manager => "GatewayManager",
            Self::LoadBalancer => "AzureLoadBalancer",
            Self::Users => "Internet",
            Self::Cloud => "AzureCloud",
        }
    }

    /// Tells whether a word of a rule means all of them.
    fn is_whole(self, word: &str) -> bool {
        let is = |own: &str| word.eq_ignore_ascii_case(own);
        let wider = match self {
            // These have addresses on the internet; whoever asks has none.
            Self::Manager | Self::Users | Self::Cloud => is("Internet"),
            Self::LoadBalancer => is("VirtualNetwork"),
        };
        ["*", "0.0.0.0/0", "any"].iter().any(|own| is(own)) || wider || is(self.tag())
    }

    /// Tells whether a word of a rule may mean some of them, so that a rule that lets these pass is no fault.
    fn is_part(self, word: &str) -> bool {
        let outside = |word: &str| parse_prefix(word).is_some_and(|prefix| !is_private(prefix.addr()));
        match self {
            Self::LoadBalancer | Self::Manager => false,
            Self::Users => outside(word),
            Self::Cloud => {
                let is_tag =
                    word.to_ascii_lowercase().starts_with("azure") && !Self::LoadBalancer.is_whole(word);
                is_tag || outside(word)
            }
        }
    }
}

/// Finds the rules of a group that keep out what is needed. Of a rule for some addresses or tags alone nobody knows whether these are
/// among them.
pub(super) fn closed(rules: &[Value], needed: &[Needed]) -> Vec<Closed> {
    needed.iter().filter_map(|one| keeps_out(rules, *one)).collect()
}

fn keeps_out(rules: &[Value], needed: Needed) -> Option<Closed> {
    let Needed { peer, direction, ports } = needed;
    let number = |rule: &&Value| rule.field("priority").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let (word, one, several) = match direction {
        Direction::Inbound => ("inbound", "sourceAddressPrefix", "sourceAddressPrefixes"),
        Direction::Outbound => ("outbound", "destinationAddressPrefix", "destinationAddressPrefixes"),
    };
    let is_own = |rule: &&Value| rule.text("direction").is_some_and(|own| own.eq_ignore_ascii_case(word));
    let mut own: Vec<&Value> = rules.iter().filter(is_own).collect();
    own.sort_by_key(number);
    for rule in own {
        let is_tcp = rule
            .text("protocol")
            .is_some_and(|word| ["*", "tcp", "all"].contains(&word.to_ascii_lowercase().as_str()));
        let peers = words(rule, one, several);
        let is_whole = peers.iter().any(|word| peer.is_whole(word));
        let is_part = peers.iter().any(|word| peer.is_part(word));
        if !is_tcp || !(is_whole || is_part) {
            continue;
        }
        let taken = words(rule, "destinationPortRange", "destinationPortRanges");
        let ranges: Vec<(u16, u16)> = taken.iter().filter_map(|word| range(word)).collect();
        let holds = ranges.iter().any(|(first, last)| *first <= ports.0 && ports.1 <= *last);
        let touches = ranges.iter().any(|(first, last)| *first <= ports.1 && ports.0 <= *last);
        let allows = rule.text("access").is_some_and(|word| word.eq_ignore_ascii_case("allow"));
        // Who asks whether it is there does so at any port: a rule for some ports alone keeps nobody out.
        let denies = if peer == NeededPeer::LoadBalancer { holds } else { touches };
        if allows && holds {
            return None;
        }
        if !allows && denies && is_whole {
            let name = rule.text("name").unwrap_or_default();
            let rule = name.rsplit('/').next().unwrap_or(name).to_owned();
            return Some(Closed { rule, needed });
        }
    }
    None
}

fn words(rule: &Value, one: &str, several: &str) -> Vec<String> {
    let list = rule.field(several).and_then(Value::as_array).into_iter().flatten();
    let all = list.filter_map(Value::as_str).chain(rule.text(one));
    all.map(str::to_owned).collect()
}

fn range(word: &str) -> Option<(u16, u16)> {
    if word == "*" {
        return Some((0, u16::MAX));
    }
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}
