//! What an audit tells about rules.

use serde::Serialize;

use super::rule::{Access, Direction, Gate, Group, Rule};

/// A rule and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleRef {
    /// Where the group stands: at the subnet, the interface or the network manager.
    pub gate: Gate,
    /// The network security group.
    pub nsg: Option<String>,
    /// The direction for which the rule is.
    pub direction: Option<Direction>,
    /// The name of the rule in its group.
    pub rule: String,
    /// The priority; the lowest number is tried first.
    pub priority: Option<u32>,
    /// What it does.
    pub access: Option<Access>,
}

impl RuleRef {
    pub(super) fn new(group: &Group, rule: &Rule) -> Self {
        Self {
            gate: group.gate,
            nsg: group.name.clone(),
            direction: rule.direction,
            rule: rule.name.clone(),
            priority: rule.priority,
            access: rule.access,
        }
    }
}

/// The rules of a gate in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ordered {
    /// Where the group stands: at the subnet, the interface or the network manager.
    pub gate: Gate,
    /// The network security group; none where no group stands there.
    pub nsg: Option<String>,
    /// The direction for which the rule is.
    pub direction: Direction,
    /// The rules in the order in which they are tried.
    pub rules: Vec<RuleRef>,
}

/// A rule that can never match, because earlier ones cover it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shadowed {
    /// The rule that the finding is about.
    #[serde(flatten)]
    pub rule: RuleRef,
    /// The rules that take its packets before it.
    pub by: Vec<String>,
    /// Whether they all do what it would have done.
    pub redundant: bool,
}

/// A rule that lets anybody reach a port for management.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exposure {
    /// The rule that the finding is about.
    #[serde(flatten)]
    pub rule: RuleRef,
    /// The management ports that it opens.
    pub ports: Vec<u16>,
    /// Whether it gets through the other gates too, as far as everything is resolved and judged.
    pub through: bool,
    /// The rules of the other gates that drop it, where it does not.
    pub dropped_by: Vec<RuleRef>,
}

/// A rule that allows what another gate drops altogether.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// The rule that the finding is about.
    #[serde(flatten)]
    pub rule: RuleRef,
    /// The rules that drop it; none where no rule there allows it.
    pub dropped_by: Vec<RuleRef>,
}
