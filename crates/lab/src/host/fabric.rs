//! The network as the resource manager knows it, for whoever carries its packets.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

/// All machines, and the network between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fabric {
    pub machines: Vec<Machine>,
    /// The prefixes of service tags, as in `GET …/serviceTags`.
    pub tags: Value,
    /// Storage accounts and the networks that may reach them.
    pub accounts: Vec<Account>,
    /// The rules of load balancers.
    pub balancing: Vec<BalancerRule>,
    /// Private endpoints.
    pub endpoints: Vec<Endpoint>,
    /// Private zones of names.
    pub zones: Vec<Zone>,
    /// The firewalls of the platform.
    pub firewalls: Vec<Firewall>,
    /// What gateways lead to.
    pub sites: Vec<Site>,
    pub app_gateways: Vec<AppGateway>,
    pub bastions: Vec<Bastion>,
    pub clusters: Vec<Cluster>,
}

/// A virtual machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    pub name: String,
    /// Whether it runs.
    pub running: bool,
    /// Its interfaces; the first is `eth0`.
    pub nics: Vec<Nic>,
}

/// An interface of a machine, as the platform sees it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nic {
    /// Its name in the platform.
    pub name: String,
    /// Its hardware address, as in `00:0d:3a:1b:01:04`.
    pub mac: String,
    /// Its addresses, each with the length of its subnet's prefix.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Its public address.
    pub public: Option<IpAddr>,
    /// Its effective security rules, in the platform's form (`{"value": […]}`).
    pub rules: Value,
    /// Its effective routes, in the platform's form (`{"value": […]}`).
    pub routes: Value,
    /// Whether it forwards packets that are not its own.
    pub forwards: bool,
    /// The identifier of its network.
    pub network: String,
    /// The connected networks from which only their own packets are let in, and none that somebody forwards.
    pub unforwarded: Vec<Neighbor>,
    /// How it leaves to the internet.
    pub exit: Exit,
    /// The address by which it is seen outside, where that is its own or its NAT gateway's.
    pub seen: Option<IpAddr>,
    /// The name servers that it is given; the platform's where there are none.
    pub servers: Vec<IpAddr>,
    /// The identifier of the network whose gateway it uses.
    pub gateway: Option<String>,
}

/// How an interface leaves to the internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exit {
    /// Something gives it an address there.
    #[default]
    Open,
    /// The same, and it has too few ports: every other new connection finds none.
    Crowded,
    /// Nothing does.
    Closed,
}

/// A network that is connected with that of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Neighbor {
    /// Its identifier.
    pub network: String,
    /// Its addresses.
    pub space: Vec<IpNet>,
}

/// A rule of a load balancer: what comes to a port of its frontend goes on to one of its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalancerRule {
    /// The address of the frontend.
    pub frontend: IpAddr,
    /// The number of the protocol; all where there is none.
    pub protocol: Option<u8>,
    /// The port of the frontend; all where it is 0.
    pub port: u16,
    /// The port of the members; that of the packet where it is 0.
    pub backend_port: u16,
    /// Machines with their addresses, those that are in use.
    pub members: Vec<(String, IpAddr)>,
    /// The port at which members have to answer, and the path that they have to know.
    pub probe: Option<(u16, Option<String>)>,
    /// Where none answers all are taken to.
    pub takes_all: bool,
}

/// A private endpoint: an address inside for a service outside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Endpoint {
    pub address: Option<IpAddr>,
    /// The name of the resource that it leads to.
    pub service: String,
    /// The parts of the resource that it leads to, such as `blob`.
    pub groups: Vec<String>,
    /// Whether somebody let it in.
    pub approved: bool,
}

/// A private zone of names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Zone {
    pub name: String,
    /// The identifiers of the networks that see it, and whether what it does not know is asked outside.
    pub links: Vec<(String, bool)>,
    /// Addresses by the name of the record.
    pub records: BTreeMap<String, Vec<IpAddr>>,
}

/// A firewall of the platform.
#[derive(Debug, Clone, PartialEq)]
pub struct Firewall {
    /// The address to which routes lead.
    pub address: IpAddr,
    /// What stands for it in its network.
    pub nic: Nic,
    /// Its rules, in the order in which they are asked.
    pub rules: Vec<FirewallRule>,
}

/// A site behind a gateway, by one of the connections that lead there.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The identifier of the network that has the gateway.
    pub network: String,
    /// What stands for the gateway where packets come in.
    pub gateway: Nic,
    /// The addresses to which the connection leads.
    pub prefixes: Vec<IpNet>,
    pub is_up: bool,
    pub hosts: Vec<SiteHost>,
}

/// Somebody at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteHost {
    pub address: IpAddr,
    /// The TCP ports that answer.
    pub ports: Vec<u16>,
}

/// An application gateway: it ends connections, and asks servers by others.
#[derive(Debug, Clone, PartialEq)]
pub struct AppGateway {
    pub name: String,
    /// The address from which it asks.
    pub address: IpAddr,
    /// What stands for it in its subnet.
    pub nic: Nic,
    pub is_running: bool,
    /// It cannot say how its servers are, whatever they answer.
    pub says_nothing: bool,
    pub listeners: Vec<AppListener>,
    pub targets: Vec<AppTarget>,
}

/// A bastion host: it makes connections to machines for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Bastion {
    pub name: String,
    /// The address from which it calls.
    pub address: IpAddr,
    /// What stands for it in its subnet.
    pub nic: Nic,
    /// Whether people come by a public address.
    pub has_public: bool,
    /// Whether it calls addresses that no machine of the platform has.
    pub ip_connect: bool,
}

/// The API server of a Kubernetes cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Its names, in small letters.
    pub names: Vec<String>,
    /// Its address outside; nothing where it is private.
    pub public: Option<IpAddr>,
    pub is_running: bool,
    /// Who may call it; anybody where there are none.
    pub ranges: Vec<IpNet>,
}

/// Where an application gateway takes connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppListener {
    pub frontend: IpAddr,
    pub port: u16,
    pub is_secure: bool,
    /// The chain of its certificate, as it is shown.
    pub end: Option<String>,
    /// How paths begin, and the place of the target to which they lead; the first is for all others.
    pub paths: Vec<(Option<String>, usize)>,
}

/// A pool of servers, and how they are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppTarget {
    pub pool: String,
    pub settings: String,
    pub port: u16,
    pub is_secure: bool,
    pub probe: AppProbe,
    pub servers: Vec<AppServer>,
}

/// How a server is asked whether it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppProbe {
    pub port: u16,
    pub path: String,
    /// From the first to the last status that counts.
    pub codes: Vec<(u16, u16)>,
}

/// A server behind an application gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppServer {
    /// As its pool has it.
    pub written: String,
    pub address: Option<IpAddr>,
    pub is_draining: bool,
    /// What is wrong with its certificate.
    pub trouble: Option<ServerTrouble>,
}

/// What is wrong with the certificate of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTrouble {
    /// It is for another name.
    Name,
    /// Nobody who is trusted signed it.
    Untrusted,
    Expired,
}

/// What an application gateway says of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerHealth {
    pub pool: String,
    pub settings: String,
    /// Empty where the pool has none.
    pub server: String,
    pub state: &'static str,
    pub log: String,
}

/// A rule of a firewall of the platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirewallRule {
    pub denies: bool,
    /// From the first to the last address.
    pub sources: Vec<(IpAddr, IpAddr)>,
    pub destinations: Vec<(IpAddr, IpAddr)>,
    /// Numbers of protocols; all where there is none.
    pub protocols: Vec<u8>,
    /// From the first to the last port.
    pub ports: Vec<(u16, u16)>,
}

/// A storage account.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Account {
    pub name: String,
    /// Machines whose requests are let in by its network rules.
    pub lets_in: Vec<String>,
}
