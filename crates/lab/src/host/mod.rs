//! The guests of the cloud: what machines are like inside, and what happens to packets between them.
//!
//! Goes in: the fabric as the resource manager knows it, a stage (services, traffic, oddities), scripts. Comes out: what scripts
//! print, captures, whether a connection comes up. Never: two backends that disagree about a ruleset, a program of this machine that
//! is not in `exec`'s table, a measurement that does not follow from the model.
//!
//! `port` is what both backends can do; `simulated` is a deterministic model, `netns` the kernel's own namespaces; `net` are small networks
//! of such namespaces without a cloud.

mod exec;
mod fabric;
pub mod net;
mod netns;
mod port;
mod script;
mod simulated;
mod stage;

pub use fabric::{
    Account, AppGateway, AppListener, AppProbe, AppServer, AppTarget, BalancerRule, Bastion, Cluster,
    Endpoint, Exit, Fabric, Firewall, FirewallRule, Machine, Neighbor, Nic, ServerHealth, ServerTrouble,
    Site, SiteHost, Zone,
};
pub use netns::{Netns, sweep};
pub use port::{
    CaptureFilter, CaptureOrder, ConnectOutcome, Host, HostError, Script, ScriptOutput, ScriptTransport,
};
pub use simulated::Simulated;
pub use stage::{Behavior, DnsFault, Oddity, Protocol, Service, Stage, TrafficFlow};
