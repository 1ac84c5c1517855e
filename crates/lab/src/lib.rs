//! What Ghost runs against where there is nothing real.
//!
//! Goes in: requests of programs that believe to speak with a service. Comes out: what that service would answer. Never: a
//! connection from another machine, a page of another origin that changes anything.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod az;
pub mod azure;
pub mod case;
mod clock;
pub mod control;
pub mod host;
pub mod kubernetes;
pub mod runner;

pub use clock::LabClock;
