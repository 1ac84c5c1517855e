//! The command line: one file per subcommand.
//!
//! Goes in: arguments, standard input. Comes out: one document or a text on standard output, errors on standard error,
//! an exit code as in the contracts. Never: anything but that document on standard output under `--json`.

#[cfg(feature = "shell")]
mod audit;
#[cfg(feature = "bot")]
mod bot;
#[cfg(feature = "capture")]
mod capture;
mod config;
#[cfg(feature = "shell")]
mod consent;
#[cfg(all(feature = "bot", feature = "lab"))]
mod demo;
#[cfg(feature = "effective")]
mod effective;
#[cfg(feature = "probe")]
mod guest;
#[cfg(any(
    feature = "meter",
    feature = "netfilter",
    feature = "nsg",
    feature = "pcap",
    feature = "qdisc",
    feature = "route"
))]
mod harmless;
#[cfg(feature = "cloud")]
mod identity;
#[cfg(any(feature = "meter", feature = "netfilter", feature = "nsg", feature = "qdisc", feature = "route"))]
mod input;
#[cfg(feature = "session")]
mod investigate;
#[cfg(feature = "session")]
mod kitchen;
#[cfg(any(feature = "nsg", feature = "route"))]
mod knowledge;
#[cfg(feature = "lab")]
mod lab;
#[cfg(feature = "probe")]
mod live;
mod log;
#[cfg(feature = "meter")]
mod meter;
#[cfg(feature = "shell")]
mod name;
#[cfg(feature = "netfilter")]
mod netfilter;
#[cfg(feature = "nsg")]
mod nsg;
#[cfg(any(feature = "nsg", feature = "route"))]
mod page;
#[cfg(feature = "pcap")]
mod pcap;
mod print;
#[cfg(feature = "qdisc")]
mod qdisc;
#[cfg(feature = "session")]
mod replay;
mod root;
#[cfg(feature = "route")]
mod route;
#[cfg(feature = "session")]
mod sessions;
mod setup;
#[cfg(feature = "shell")]
mod shell;
#[cfg(any(feature = "netfilter", feature = "nsg", feature = "qdisc", feature = "route"))]
mod tone;
#[cfg(feature = "probe")]
mod topology;
#[cfg(any(feature = "lab", feature = "shell", feature = "store"))]
mod wait;
#[cfg(feature = "session")]
mod workshop;

pub use root::main;
