//! Machines that are network namespaces of this machine's kernel.
//!
//! Goes in: the fabric, a stage, scripts, captures; a folder for the journal. Comes out: what real programs print, captures of real
//! packets. Never: a namespace, process, file or setting that is not this lab's; a fault that is only played; something left behind
//! when the lab is closed, or when the next one begins after a crash.
//!
//! How it is wired. A machine is a namespace with one wire (veth) an interface, a router between them all is the fabric, and one more
//! namespace is everybody else: it has every address, answers echoes and listens on 80 and 443. No two machines share a wire, so that
//! the fabric sees also what stays in a subnet; it answers for every address with the platform's hardware address. Effective rules are
//! nftables in the fabric (what leaves an interface before translation, what goes to one after it; known connections pass); effective
//! routes are a routing table for each interface, where "nowhere", a dead appliance and an appliance that may not forward are a device
//! behind which nobody is. The wire server listens in the fabric; neither rules nor routes of users apply to it, as on the platform.
//!
//! What runs in a machine. Scripts go through the interpreter of `script`; what they call is checked (`operand`) and started by
//! `exec`. Listeners and traffic are sockets that threads of this process made inside (`inside`), so that no crash leaves one: `ss`
//! names them as the stage does. `iperf` and `qperf` speak protocols of their own and are started as such. Files belong to the machine's
//! memory, not to this machine's disk.
//!
//! Restoring. What a script changes is remembered as commands that succeeded. A machine that differs from how it was is made anew, the
//! commands are repeated, and the kernel's description (filters, qdiscs, routes, addresses) is compared with the one before. Counters
//! begin at nothing; open connections are gone; captures of such a machine end there.
//!
//! What is not as on the platform: a hop of the fabric takes one from the TTL; networks whose addresses overlap cannot both be there;
//! there is no virtual network gateway (its routes lead nowhere); storage and service endpoints are only "everybody else"; a
//! connection that a rule let in stays until it ends; a script's own file of rules is read, files below `/sys` are not; processes of
//! other machines are in `/proc`, which guests cannot read.
//!
//! What a kernel may lack. `Netns::lacks` says it. Without netem nothing can be delayed, lost, damaged, doubled or put out of turn:
//! `tc` fails with the kernel's own words, and nothing is put in its place, because a loss that `tc` does not show would be a fault
//! that nobody could find. Without prio, htb with classes that limit nothing stands in for it, and standard error says so. A second
//! station for an address cannot be made. Machines that ignore ICMP messages about large packets get those messages damaged.

mod background;
mod bpf;
mod capture;
mod dial;
mod dns;
mod gate;
mod guest;
mod host;
mod inside;
mod journal;
mod kernel;
mod lab;
mod name;
mod operand;
mod plan;
mod program;
mod routes;
mod service;
mod shell;
mod staged;
mod sweep;
mod traffic;
mod wire;

pub use host::Netns;
pub use sweep::sweep;

pub(in crate::host) use dns::answer as dns_answer;
pub(in crate::host) use inside::NamespaceThread;
pub(in crate::host) use journal::Journal;
pub(in crate::host) use lab::make;
pub(in crate::host) use name::{Namespace, Prefix};
pub(in crate::host) use operand::check;
pub(in crate::host) use program::{Program, failed, must};
pub(in crate::host) use service::{ListenerBehavior, fill_queue, serve, silent, tcp};
pub(in crate::host) use sweep::clear;
