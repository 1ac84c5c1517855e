//! Looking into a running guest.
//!
//! Goes in: what declared scripts print on a machine, a few kilobytes at a time. Comes out: documents for the pure crates, whole and
//! verified. Never: half a ruleset taken for a whole one, a text of the guest taken for a mark of ours.
//!
//! And beside it: the interfaces of a machine, what the platform's routes and rules come to there, what a resource group consists of.
//!
//! `firewall`, `qdisc` and `state` read what declared scripts gathered, `guest_probe` runs them; `payload` is how more comes over
//! than the platform carries at once. `interfaces`, `effective` and `topology` ask the cloud.

mod bastion;
mod cluster;
pub mod effective;
mod estate;
pub mod firewall;
mod firewalls;
mod flow_logs;
mod frontend;
mod gateways;
mod guest_probe;
mod health;
mod host;
mod host_capture;
mod inside;
mod interfaces;
mod names;
mod naming;
mod outbound;
mod page;
pub mod payload;
mod places;
mod power;
pub mod qdisc;
mod resource;
mod state;
mod subscriptions;
pub mod topology;
mod wanted;

pub use bastion::{bastions, keep_bastions};
pub use cluster::{clusters, keep_clusters};
pub use estate::EstateOperation;
pub use firewalls::FirewallOperation;
pub use flow_logs::{FlowLogOperation, FlowLogQuery};
pub use frontend::{FrontendOperation, HealthOperation};
pub use gateways::GatewayOperation;
pub use guest_probe::{GuestProbe, ProbeError, ProbeSpec};
pub use health::{PlatformHealth, PlatformHealthOperation};
pub use host::{HostProbe, HostQuestion};
pub use host_capture::{HostCapture, HostFilter, Packets};
pub use inside::ClusterOperation;
pub use interfaces::{Interface, Interfaces};
pub use names::{NAMES, NameAnswer, NameServer, RESOLVE};
pub use naming::NamingOperation;
pub use outbound::OutboundOperation;
pub use page::{PAGE, page_values};
pub use places::Places;
pub use power::{keep_power, power};
pub use state::{STATE, StateError};
pub use subscriptions::{
    FoundBy, FoundResource, ManagementGroup, Sought, SubscriptionRow, Subscriptions, SubscriptionsOperation,
};
pub use wanted::{Wanted, unread_guest, wanted, wants_events};
