//! Looking into a running guest.
//!
//! Goes in: what declared scripts print on a machine, a few kilobytes at a time. Comes out: documents for the pure rooms, whole and
//! verified. Never: half a ruleset taken for a whole one, a text of the guest taken for a mark of ours.
//!
//! `firewall` makes a bundle of what the declared script gathered;
//! `parcel` is how more comes over than the platform carries at once.

pub mod firewall;
pub mod parcel;
