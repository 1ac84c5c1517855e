//! Commands made up from the policy's own grammar, for reviewers and for the proof of the sandbox.
//!
//! Goes in: a seed. Comes out: command lines, the same for the same seed, most of which the policy calls SAFE. Never: a
//! verdict; what a grammar alone cannot say (`check`) is met halfway.

mod command;
mod rng;
mod value;
