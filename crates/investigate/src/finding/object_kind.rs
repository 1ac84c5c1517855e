//! What is at fault, and how it is named.

/// What kind of object is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A rule of a security group.
    NsgRule,
    /// A route of a route table.
    Route,
    /// A service endpoint of a subnet.
    SubnetEndpoint,
    StorageAccount,
    /// A rule in a guest's packet filter, by the traffic that it matches.
    GuestRule,
    /// A chain in a guest's packet filter.
    GuestChain,
    /// An address that a guest's ban program blocks.
    Ban,
    /// A device of a guest that shapes what it sends.
    Qdisc,
    /// The flow itself.
    Flow,
    NameServer,
    /// An address on a subnet.
    Host,
    /// What the platform applies to a machine.
    Baseline,
    /// A peering of a network, or two networks between which there is none.
    Peering,
    Machine,
    /// A probe, a pool or a rule of a load balancer.
    BalancerPart,
    /// A port of a frontend.
    BalancerPort,
    /// A member of a pool.
    BalancerMember,
    /// A port on which somebody has to listen.
    Listener,
    /// A rule of a firewall of the platform.
    FirewallRule,
    /// A port that no rule of a firewall of the platform lets through.
    FirewallPort,
    /// The name service of a firewall of the platform.
    FirewallNames,
    PrivateEndpoint,
    /// A record of a private zone of names, or a network that does or does not see the zone.
    Zone,
    /// The name servers of a network.
    NetworkServers,
    /// What a name server does about a zone.
    Forwarder,
    /// How the machines of a subnet leave to the internet.
    SubnetOutbound,
    NatGateway,
    /// What gives the machines behind it ports of a public address.
    SourceTranslation,
    /// A connection of a gateway.
    Connection,
    /// What a gateway knows of a site.
    LocalGateway,
    /// Whom a gateway learns routes from, or a prefix that it did not learn.
    GatewayRoutes,
    RouteTable,
    /// A circuit of an `ExpressRoute`.
    Circuit,
    CircuitPeering,
    AppGateway,
    /// A probe, a listener, a pool or the settings of an application gateway.
    AppGatewayPart,
    /// A server behind an application gateway.
    AppGatewayServer,
    /// A device of a machine.
    Device,
    /// The addresses of a device.
    Address,
    /// A neighbor entry of a machine.
    Neighbor,
    /// A routing rule of a machine.
    RoutingRule,
    /// A setting of a machine's kernel.
    Setting,
    /// A service that listens.
    Service,
    /// A unit of a machine's service manager.
    Unit,
    /// A session of BGP, or a network that is announced by it.
    Bgp,
    /// An event of the platform.
    Health,
    /// A Kubernetes cluster.
    Cluster,
    /// A policy of a Kubernetes cluster.
    NetworkPolicy,
    /// A service of a Kubernetes cluster.
    ClusterService,
    /// A service or a pod of a Kubernetes cluster.
    ClusterTarget,
    /// A bastion host.
    Bastion,
    /// A device on which OSPF speaks, or should.
    Ospf,
    /// What a machine asks for names.
    Resolver,
    /// A DHCP server, or what it gives.
    DhcpServer,
}

impl ObjectKind {
    /// Returns how such an object is named, a part in angle brackets standing for any text.
    #[must_use]
    pub const fn pattern(self) -> &'static str {
        match self {
            Self::NsgRule => "nsg/<nsg>/<rule>",
            Self::Route => "route/<table>/<route>",
            Self::SubnetEndpoint => "subnet/<vnet>/<subnet>/<service>",
            Self::StorageAccount => "storage/<account>",
            Self::GuestRule => "netfilter/<vm>/<table>/<chain>/<proto>/<port>",
            Self::GuestChain => "netfilter/<vm>/<table>/<chain>",
            Self::Ban => "netfilter/<vm>/<chain>/<ip>",
            Self::Qdisc => "qdisc/<vm>/<dev>",
            Self::Flow => "flow/<src>/<dst>/<proto>/<port>",
            Self::NameServer => "dns/<server>",
            Self::Host => "host/<ip>",
            Self::Baseline => "effective/<vm>",
            Self::Peering => "peering/<vnet>/<peering>",
            Self::Machine => "vm/<vm>",
            Self::BalancerPart => "lb/<lb>/<part>",
            Self::BalancerPort => "lb/<lb>/<frontend>/<proto>/<port>",
            Self::BalancerMember => "lb/<lb>/<pool>/<ip>",
            Self::Listener => "listener/<vm>/<proto>/<port>",
            Self::FirewallRule => "firewall/<firewall>/<collection>/<rule>",
            Self::FirewallPort => "firewall/<firewall>/<proto>/<port>",
            Self::FirewallNames => "firewall/<firewall>/dns",
            Self::PrivateEndpoint => "pe/<endpoint>",
            Self::Zone => "zone/<zone>/<part>",
            Self::NetworkServers => "vnet/<vnet>/dns",
            Self::Forwarder => "dns/<server>/<zone>",
            Self::SubnetOutbound => "subnet/<vnet>/<subnet>/outbound",
            Self::NatGateway => "natgateway/<name>",
            Self::SourceTranslation => "snat/<name>",
            Self::Connection => "vpn/<connection>",
            Self::LocalGateway => "localgateway/<name>",
            Self::GatewayRoutes => "bgp/<gateway>/<part>",
            Self::RouteTable => "routetable/<table>",
            Self::Circuit => "er/<circuit>",
            Self::CircuitPeering => "er/<circuit>/<peering>",
            Self::AppGateway => "appgw/<gateway>",
            Self::AppGatewayPart => "appgw/<gateway>/<part>",
            Self::AppGatewayServer => "appgw/<gateway>/<pool>/<server>",
            Self::Health => "health/<event>",
            Self::Cluster => "aks/<cluster>",
            Self::NetworkPolicy => "netpol/<cluster>/<namespace>/<policy>",
            Self::ClusterService => "service/<cluster>/<namespace>/<service>",
            Self::ClusterTarget => "<kind>/<cluster>/<namespace>/<name>",
            Self::Bastion => "bastion/<host>",
            Self::Device => "link/<host>/<dev>",
            Self::Address => "address/<host>/<dev>",
            Self::Neighbor => "neighbour/<host>/<ip>",
            Self::RoutingRule => "rule/<host>/<priority>",
            Self::Setting => "sysctl/<host>/<key>",
            Self::Service => "service/<host>/<proto>/<port>",
            Self::Unit => "service/<host>/<unit>",
            Self::Bgp => "bgp/<host>/<what>",
            Self::Ospf => "ospf/<host>/<dev>",
            Self::Resolver => "resolver/<host>/<what>",
            Self::DhcpServer => "dhcp/<server>",
        }
    }

    /// Tells whether an object is named as such an object is.
    #[must_use]
    pub fn matches(self, object: &str) -> bool {
        let (wanted, found): (Vec<&str>, Vec<&str>) =
            (self.pattern().split('/').collect(), object.split('/').collect());
        // A service or a prefix may hold a slash of its own; only the last part may.
        found.len() >= wanted.len()
            && found.iter().all(|part| !part.is_empty() && !part.contains(char::is_whitespace))
            && (found.len() == wanted.len() || wanted.last().is_some_and(|last| last.starts_with('<')))
            && wanted.iter().zip(&found).all(|(wanted, found)| wanted.starts_with('<') || wanted == found)
    }
}
