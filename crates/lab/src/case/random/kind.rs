//! The faults that are drawn, and which of them bear each other.

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Kind {
    #[default]
    NsgInterface,
    NsgSubnet,
    NsgOut,
    NsgInternet,
    Exposure,
    RouteNone,
    RouteDead,
    RouteDetour,
    Egress,
    Endpoint,
    Storage,
    Loss,
    Delay,
    Corrupt,
    Duplicate,
    Reorder,
    Rate,
    Drop,
    Reject,
    DropOut,
    Echo,
    PolicyDrop,
    Ban,
    Docker,
    Native,
    Closed,
    Silent,
    Dns,
    Arp,
    Mtu,
    Asymmetric,
}

impl Kind {
    /// All that can stand beside others.
    pub(super) const ALL: [Self; 31] = [
        Self::NsgInterface,
        Self::NsgSubnet,
        Self::NsgOut,
        Self::NsgInternet,
        Self::Exposure,
        Self::RouteNone,
        Self::RouteDead,
        Self::RouteDetour,
        Self::Egress,
        Self::Endpoint,
        Self::Storage,
        Self::Loss,
        Self::Delay,
        Self::Corrupt,
        Self::Duplicate,
        Self::Reorder,
        Self::Rate,
        Self::Drop,
        Self::Reject,
        Self::DropOut,
        Self::Echo,
        Self::PolicyDrop,
        Self::Ban,
        Self::Docker,
        Self::Native,
        Self::Closed,
        Self::Silent,
        Self::Dns,
        Self::Arp,
        Self::Mtu,
        Self::Asymmetric,
    ];

    fn family(self) -> Family {
        match self {
            Self::NsgInterface
            | Self::NsgSubnet
            | Self::NsgOut
            | Self::Drop
            | Self::Reject
            | Self::DropOut
            | Self::Echo
            | Self::Native => Family::Service,
            Self::NsgInternet | Self::Egress => Family::Internet,
            Self::Exposure => Family::Alone,
            Self::RouteNone | Self::RouteDead | Self::RouteDetour => Family::Cut,
            Self::Endpoint | Self::Storage => Family::Storage,
            Self::Loss | Self::Delay | Self::Corrupt | Self::Duplicate | Self::Reorder | Self::Rate => {
                Family::Shape
            }
            Self::PolicyDrop => Family::Policy,
            Self::Ban => Family::Partner,
            Self::Docker => Family::Container,
            Self::Closed | Self::Silent | Self::Dns => Family::Wire,
            Self::Arp | Self::Mtu | Self::Asymmetric => Family::Path,
        }
    }

    /// Tells whether it is about how a machine sends.
    pub(super) fn is_shape(self) -> bool {
        self.family() == Family::Shape
    }

    /// Tells whether both can be there, so that each is still seen with what it does.
    pub(super) fn compatible_with(self, other: Self) -> bool {
        let (one, two) = (self.family(), other.family());
        let (first, second) = if one <= two { (one, two) } else { (two, one) };
        // The group of a subnet lets nobody in from outside: a partner would be shut out by it, too.
        if [self, other].contains(&Self::NsgSubnet) && [self, other].contains(&Self::Ban) {
            return false;
        }
        match (first, second) {
            (Family::Alone, _) | (_, Family::Alone) => false,
            (Family::Service, Family::Service) | (Family::Shape, Family::Shape) => self != other,
            // Each of the others once: a second one would be hidden, or would ask for the same document.
            (first, second) if first == second => false,
            (Family::Service, Family::Internet | Family::Storage | Family::Shape | Family::Partner) => true,
            (Family::Service, Family::Container | Family::Wire) => true,
            // Whoever loses everything between two machines sees nothing of what one port does.
            (Family::Service, Family::Cut | Family::Policy | Family::Path) => false,
            (Family::Internet, Family::Shape | Family::Container) => true,
            // The path to storage and to partners is a path to the Internet.
            (Family::Internet, _) => false,
            (Family::Cut, Family::Storage | Family::Partner | Family::Container) => true,
            (Family::Cut, _) => false,
            (Family::Storage, _) => true,
            (Family::Shape, Family::Container | Family::Partner) => true,
            (Family::Shape, _) => false,
            (Family::Policy, Family::Container) => true,
            (Family::Policy, _) => false,
            (Family::Partner, Family::Container | Family::Wire) => true,
            (Family::Partner, _) => false,
            (Family::Container, Family::Wire) => true,
            (Family::Container | Family::Wire | Family::Path, _) => false,
        }
    }
}

/// What a fault is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    /// One port between the machines.
    Service,
    /// Everything outside.
    Internet,
    /// Everything between the machines.
    Cut,
    /// An account.
    Storage,
    /// How fast, how well.
    Shape,
    /// Everything that comes into a machine.
    Policy,
    /// Somebody outside.
    Partner,
    Container,
    /// What only the wire shows.
    Wire,
    /// What only the wire shows, and what spoils other measurements.
    Path,
    /// A question of its own.
    Alone,
}
