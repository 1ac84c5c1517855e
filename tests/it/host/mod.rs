//! `ghost host`: on this machine, without rights, with snapshots; and in namespaces of the real kernel, fault by fault.
//!
//! `GHOST_LONG=1` puts every fault and every look-alike into a network, and combinations of them; else a seeded few.
//! `GHOST_TEST_SEED` repeats a run, `GHOST_TEST_WITHOUT=netns` runs without.

mod again;
mod asked;
mod capture;
mod dhcp;
mod engines;
mod injected;
mod machine;
mod many;
mod net;
mod sshd;
