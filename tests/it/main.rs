//! The integration tests, in one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[cfg(feature = "shell")]
mod audit_crash;
#[cfg(feature = "lab")]
mod azure;
#[cfg(all(feature = "shell", feature = "cli"))]
mod bench;
#[cfg(feature = "bot")]
mod bot;
#[cfg(feature = "bot")]
mod bot_manifest;
#[cfg(feature = "capture")]
mod capture;
#[cfg(feature = "lab")]
mod case;
#[cfg(feature = "cloud")]
mod cloud;
#[cfg(all(feature = "shell", feature = "cli"))]
mod command;
#[cfg(all(feature = "bot", feature = "cli", feature = "lab"))]
mod config_check;
#[cfg(feature = "bot")]
mod deploy;
#[cfg(all(feature = "cli", feature = "effective"))]
mod effective;
#[cfg(all(feature = "cli", feature = "lab", feature = "session"))]
mod evaluate;
#[cfg(all(feature = "cli", feature = "lab", feature = "session"))]
mod evaluate_az;
#[cfg(feature = "shell")]
mod fuzz;
#[cfg(feature = "shell")]
mod guest_script;
#[cfg(feature = "http")]
mod http;
#[cfg(all(feature = "cli", feature = "nsg", feature = "route"))]
mod inspect;
#[cfg(all(feature = "session", feature = "cli"))]
mod investigate;
#[cfg(all(feature = "lab", feature = "slack"))]
mod lab;
#[cfg(all(feature = "bot", feature = "cli", feature = "lab"))]
mod logging;
#[cfg(all(feature = "cli", feature = "lab", feature = "measure"))]
mod meter;
#[cfg(feature = "agent")]
mod model;
#[cfg(all(feature = "cli", feature = "netfilter"))]
mod netfilter;
#[cfg(feature = "netfilter")]
mod netfilter_kernel;
#[cfg(feature = "netfilter")]
mod netfilter_text;
#[cfg(feature = "lab")]
mod netns;
#[cfg(feature = "shell")]
mod on_call;
#[cfg(feature = "lab")]
mod page;
#[cfg(all(feature = "cli", feature = "pcap"))]
mod pcap;
#[cfg(feature = "probe")]
mod probe;
#[cfg(any(
    feature = "lab",
    feature = "shell",
    feature = "netfilter",
    all(feature = "cli", feature = "pcap")
))]
mod random;
#[cfg(feature = "shell")]
mod redact;
#[cfg(all(feature = "shell", feature = "cli"))]
mod sandbox;
#[cfg(feature = "session")]
mod session;
#[cfg(all(feature = "lab", feature = "slack"))]
mod slack;
#[cfg(feature = "store")]
mod store;
#[cfg(all(feature = "cli", feature = "shell"))]
mod terminal;
mod tidy;
#[cfg(feature = "shell")]
mod words;
#[cfg(feature = "bot")]
mod yaml;
