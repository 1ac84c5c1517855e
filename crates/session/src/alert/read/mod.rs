//! One reader a sender.

mod alertmanager;
mod azure_monitor;
mod build;
mod generic;
mod pagerduty;
mod sender;

pub use sender::read;
