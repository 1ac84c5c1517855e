//! The path of a packet from one machine to another, and back.
//!
//! Sender's firewall → shaping of its device → (the sender's capture) → rules of its interface → routes → what is odd between →
//! rules of the far interface → (the receiver's capture) → the receiver's firewall → whoever listens.

mod app_gateway;
mod balance;
mod bastion;
mod firewall;
mod gate;
mod internet;
mod line;
mod location;
mod name;
mod service;
mod site;
mod walk;

pub(in crate::host) use app_gateway::all_health;
pub(super) use app_gateway::{is_expired as app_is_expired, page_status as app_page_status};
pub(in crate::host) use bastion::session;
pub(super) use internet::{METADATA, PLATFORM};
pub(super) use line::{Call, End, Line, line};
pub(super) use location::{Location, exit, location, shares};
pub(super) use name::{NameLookup, Unresolved, ask, resolve};
pub(super) use walk::{DropPoint, DropResponse, PathDirection, nanos};
