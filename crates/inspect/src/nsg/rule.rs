//! Security rules, and the gates at which they stand.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use super::peers::Peers;
use super::rule_index::RuleIndex;
use crate::net::{AddressSet, Platform, Ranges};

/// The direction of a packet, seen from the network interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the interface.
    Inbound,
    /// Away from it.
    Outbound,
}

impl Direction {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::Inbound, Self::Outbound];

    /// Reads a direction in any letters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "inbound" => Some(Self::Inbound),
            "outbound" => Some(Self::Outbound),
            _ => None,
        }
    }

    /// Returns the gates in the order in which a packet meets them.
    #[must_use]
    pub const fn gates(self) -> [Gate; 4] {
        match self {
            Self::Inbound => [Gate::Manager, Gate::Subnet, Gate::Nic, Gate::Unknown],
            Self::Outbound => [Gate::Manager, Gate::Nic, Gate::Subnet, Gate::Unknown],
        }
    }
}

/// Where rules stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// Before both: the rules of the Virtual Network Manager.
    Manager,
    /// At the subnet.
    Subnet,
    /// At the network interface.
    Nic,
    /// The document does not say.
    Unknown,
}

impl Gate {
    /// Returns the word of the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manager => "manager",
            Self::Subnet => "subnet",
            Self::Nic => "nic",
            Self::Unknown => "unknown",
        }
    }

    /// Tells whether only one group can stand there: an interface has one, and so has its subnet.
    pub(super) const fn is_alone(self) -> bool {
        match self {
            Self::Subnet | Self::Nic => true,
            Self::Manager | Self::Unknown => false,
        }
    }
}

/// What a rule does with a packet that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Access {
    /// Lets it through this gate.
    Allow,
    /// Drops it.
    Deny,
    /// Lets it through every gate; only the Virtual Network Manager has such rules.
    AlwaysAllow,
}

impl Access {
    /// Reads an access in any letters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "allow" => Some(Self::Allow),
            "deny" => Some(Self::Deny),
            "alwaysallow" => Some(Self::AlwaysAllow),
            _ => None,
        }
    }
}

/// A set of protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Protocols(u8);

impl Protocols {
    /// The set with TCP alone.
    pub const TCP: Self = Self(1);
    /// The set with UDP alone.
    pub const UDP: Self = Self(2);
    /// The set with ICMP alone, of both versions.
    pub const ICMP: Self = Self(4);
    /// The protocols that have ports.
    pub const WITH_PORTS: Self = Self(1 | 2);
    /// Every protocol.
    pub const ALL: Self = Self(63);

    /// The protocols that have a name, and it.
    const NAMES: [(Self, &'static str); 6] = [
        (Self::TCP, "tcp"),
        (Self::UDP, "udp"),
        (Self::ICMP, "icmp"),
        (Self(8), "esp"),
        (Self(16), "ah"),
        (Self(32), "other"),
    ];

    /// Reads a protocol in any letters, by its name or its number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "*" | "all" | "any" => Some(Self::ALL),
            "6" => Some(Self::TCP),
            "17" => Some(Self::UDP),
            "1" | "58" | "icmpv6" => Some(Self::ICMP),
            "50" => Some(Self(8)),
            "51" => Some(Self(16)),
            _ => {
                Self::NAMES.iter().find(|(_, name)| *name == text && text != "other").map(|(found, _)| *found)
            }
        }
    }

    /// Returns what is in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns what is in this set and not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Tells whether there is no member.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the names of the members.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        if self == Self::ALL {
            return vec!["any"];
        }
        Self::NAMES.iter().filter(|(one, _)| !self.and(*one).is_empty()).map(|(_, name)| *name).collect()
    }
}

/// The ports that one side of a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports {
    /// The ports that are certainly meant.
    pub known: Ranges,
    /// What could not be read, so that any port may be meant.
    pub open: Option<String>,
}

impl Ports {
    /// Every port.
    #[must_use]
    pub fn all() -> Self {
        Self { known: Ranges::one(0, u128::from(u16::MAX)), open: None }
    }
}

/// One security rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name, without the prefix that tells defaults from others.
    pub name: String,
    /// Its priority; the lowest goes first, and one without may stand anywhere.
    pub priority: Option<u32>,
    /// Whether the platform put it there.
    pub is_default: bool,
    /// Its direction; one without may apply to both.
    pub direction: Option<Direction>,
    /// What it does; one without may do either.
    pub access: Option<Access>,
    /// The protocols; none where they could not be read, so that any may be meant.
    pub protocols: Option<Protocols>,
    /// Where packets come from.
    pub source: Peers,
    /// Where they go.
    pub destination: Peers,
    /// The ports from which packets come.
    pub source_ports: Ports,
    /// The ports to which packets go.
    pub destination_ports: Ports,
}

impl Rule {
    /// Returns a rule that stands for others of which nothing is known: it may match any packet, and do either.
    pub(super) fn unread(direction: Direction, priority: Option<u32>) -> Self {
        let anybody = || Peers { known: Arc::new(AddressSet::all()), ..Peers::default() };
        Self {
            name: "the rules behind it".to_owned(),
            priority,
            is_default: false,
            direction: Some(direction),
            access: None,
            protocols: Some(Protocols::ALL),
            source: anybody(),
            destination: Peers { platform: Platform::ALL.to_vec(), ..anybody() },
            source_ports: Ports::all(),
            destination_ports: Ports::all(),
        }
    }

    /// Tells whether the rule may apply to a direction.
    #[must_use]
    pub fn may_apply(&self, direction: Direction) -> bool {
        self.direction.is_none_or(|own| own == direction)
    }
}

/// The rules of one security group at one gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Where it stands.
    pub gate: Gate,
    /// The name of the group, where the document has one.
    pub name: Option<String>,
    /// Its rules in the order in which they are tried; what has no priority may stand before all others.
    pub rules: Vec<Rule>,
    /// The rules of each direction, ready for questions.
    sieves: [RuleIndex; 2],
    /// The places of rules that share their priority with one that does something else.
    rivals: HashSet<usize>,
}

impl Group {
    /// Puts rules in order and compiles them.
    #[must_use]
    pub fn new(gate: Gate, name: Option<String>, mut rules: Vec<Rule>) -> Self {
        rules.sort_by_key(|rule| rule.priority);
        let always = rules.iter_mut().filter(|rule| rule.access == Some(Access::AlwaysAllow));
        // A security group has no say over other gates.
        always.filter(|_| gate.is_alone()).for_each(|rule| rule.access = Some(Access::Allow));
        let sieves = Direction::ALL.map(|direction| RuleIndex::new(&rules, direction));
        let mut rivals = HashSet::new();
        let mut first = 0;
        for equals in rules.chunk_by(|a, b| a.priority.is_some() && a.priority == b.priority) {
            for direction in Direction::ALL {
                let mine = || equals.iter().zip(first..).filter(|(rule, _)| rule.may_apply(direction));
                let differ =
                    |rule: &Rule| mine().next().is_some_and(|(other, _)| other.access != rule.access);
                let unsure = mine().any(|(rule, _)| rule.access.is_none()) && mine().nth(1).is_some();
                if unsure || mine().any(|(rule, _)| differ(rule)) {
                    rivals.extend(mine().map(|(_, at)| at));
                }
            }
            first += equals.len();
        }
        Self { gate, name, rules, sieves, rivals }
    }

    /// Tells whether another rule has a rule's priority and does something else: nothing says which is tried first.
    pub(super) fn has_rivals(&self, at: usize) -> bool {
        !self.rivals.is_empty() && self.rivals.contains(&at)
    }

    /// Tells whether that is so of any rule.
    pub(super) fn has_any_rivals(&self) -> bool {
        !self.rivals.is_empty()
    }

    /// Names the first rules of which that is so.
    pub(super) fn rivalry(&self) -> Option<String> {
        let rule = self.rules.get(*self.rivals.iter().min()?)?;
        let equals = self.rules.iter().filter(|other| other.priority == rule.priority);
        let names: Vec<&str> = equals.take(3).map(|rule| rule.name.as_str()).collect();
        let group = self.name.as_deref().unwrap_or("a group without a name");
        let (names, priority) = (names.join(", "), rule.priority.unwrap_or_default());
        Some(format!(
            "in {group} the rules {names} have the same priority {priority}: nothing says which is tried first"
        ))
    }

    /// Tells whether nothing was read of what the group says about a direction.
    ///
    /// Every security group has the platform's rules; of the Virtual Network Manager any may be missing, but not all.
    pub(super) fn is_unread(&self, direction: Direction) -> bool {
        self.rule_index(direction).is_empty() && (self.gate != Gate::Manager || self.rules.is_empty())
    }

    /// Returns the rules of a direction, ready for questions.
    pub(super) const fn rule_index(&self, direction: Direction) -> &RuleIndex {
        let [inbound, outbound] = &self.sieves;
        match direction {
            Direction::Inbound => inbound,
            Direction::Outbound => outbound,
        }
    }
}
