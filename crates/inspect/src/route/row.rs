//! One effective route.

use std::sync::Arc;

use ipnet::IpNet;

/// Who put a route into the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A user-defined route.
    User,
    /// BGP, through the virtual network gateway.
    Gateway,
    /// The platform.
    System,
    /// Anybody else, as the table says it.
    Other(String),
}

impl Source {
    /// Reads a source in any letters.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "user" => Self::User,
            "virtualnetworkgateway" => Self::Gateway,
            "default" => Self::System,
            _ => Self::Other(text.to_owned()),
        }
    }

    /// Returns the place among routes of equal length; the lowest wins.
    #[must_use]
    pub const fn rank(&self) -> u8 {
        match self {
            Self::User => 0,
            Self::Gateway => 1,
            Self::System => 2,
            Self::Other(_) => 3,
        }
    }

    /// Returns the platform's word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::User => "User",
            Self::Gateway => "VirtualNetworkGateway",
            Self::System => "Default",
            Self::Other(text) => text,
        }
    }
}

/// Where a route sends a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// Nowhere.
    None,
    /// An appliance at an address.
    Appliance,
    /// The virtual network itself.
    Local,
    /// A peered virtual network, of this region or another.
    Peering,
    /// A service of the platform for which the subnet has an endpoint.
    ServiceEndpoint,
    /// The virtual network gateway.
    Gateway,
    /// Anything else, the Internet among it.
    Other,
}

impl Hop {
    /// Reads the type of a next hop in any letters.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "none" => Self::None,
            "virtualappliance" => Self::Appliance,
            // What leads to a private endpoint of the network, or of a peered one, leads straight there.
            "vnetlocal" | "interfaceendpoint" => Self::Local,
            // A network manager connects the networks of a group without peerings.
            "vnetpeering" | "vnetglobalpeering" | "globalvnetpeering" | "connectedgroup" => Self::Peering,
            "virtualnetworkserviceendpoint" => Self::ServiceEndpoint,
            "virtualnetworkgateway" => Self::Gateway,
            _ => Self::Other,
        }
    }
}

/// Whether a route is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It competes.
    Active,
    /// It does not.
    Invalid,
    /// It does not either; the table says another word or none.
    Other(String),
}

impl State {
    /// Reads a state in any letters.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "active" => Self::Active,
            "invalid" => Self::Invalid,
            _ => Self::Other(text.to_owned()),
        }
    }

    /// Returns the platform's word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Active => "Active",
            Self::Invalid => "Invalid",
            Self::Other(text) => text,
        }
    }
}

/// What all prefixes of one row of the table share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The row's number in the document, from one.
    pub number: usize,
    /// Who put it there.
    pub source: Source,
    /// The kind of its next hop.
    pub hop: Hop,
    /// The kind of its next hop as the table says it.
    pub hop_type: String,
    /// The addresses of its next hops; several share the load.
    pub hop_ips: Vec<String>,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Whether it is in use.
    pub state: State,
}

/// One prefix of an effective route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The destinations that it carries.
    pub prefix: IpNet,
    /// The service tag that stands in its place, where the prefix comes from one.
    pub tag: Option<Arc<str>>,
    /// What it shares with the other prefixes of its row.
    pub row: Arc<Row>,
}

impl Route {
    /// Tells whether it competes.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.row.state == State::Active
    }

    /// Tells whether the platform prefers it to BGP, however specific that is.
    #[must_use]
    pub fn beats_bgp(&self) -> bool {
        self.row.source == Source::System
            && matches!(self.row.hop, Hop::Local | Hop::Peering | Hop::ServiceEndpoint)
    }

    /// Returns the place among active routes of equal length; the lowest wins.
    ///
    /// A service endpoint cannot be overridden by the same prefix, and a prefix that is written out goes before one of a tag.
    #[must_use]
    pub fn rank(&self) -> (u8, bool) {
        if self.row.source == Source::System && self.row.hop == Hop::ServiceEndpoint {
            return (0, false);
        }
        (self.row.source.rank() + 1, self.tag.is_some())
    }
}
