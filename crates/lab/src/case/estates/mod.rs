//! Whole estates as people have them, with what they complain about and what is right to find.
//!
//! Goes in: a profile, a seed and a number. Comes out: a case file, the estate beside it, always the same. Never: a judge that the
//! investigation uses. What is right follows from a walk of its own, packet by packet, over what was drawn.
//!
//! The path: `tiers` and `hub` draw ordinary estates; `herring` strews what denies and concerns nobody; `cause` puts something into
//! it; `walk` (with `group` and `guest`) says what it comes to; `special`, `balancer`, `app_gateway`, `bastion`, `cluster`, `office`, `private` and `region` know complaints that are no
//! flow between two machines; `inside` draws clusters from within; `flow_log` and `subscription` change where evidence and networks lie; `words` writes what a person would; `write` makes files of it.

mod address;
mod app_gateway;
mod balancer;
mod bastion;
mod cause;
mod cluster;
mod draw;
mod estate;
mod flow_log;
mod group;
mod guest;
mod herring;
mod hub;
mod inside;
mod office;
mod private;
mod region;
mod special;
mod subscription;
mod tiers;
mod walk;
mod words;
mod write;

pub use draw::{DrawnCase, Profile, drawn};

#[cfg(test)]
mod tests;
