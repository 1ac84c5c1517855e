//! Cases that nobody wrote: faults, and what a person would say about them, drawn from a seed.
//!
//! Goes in: a seed and a number. Comes out: the text of a case file on the usual estate, always the same. Never: a clock, a fault code
//! in what the person says, a fault that hides another one which is then expected.
//!
//! `rng` draws; `place` is where faults can be; `kind` says which faults bear each other; `fault` writes one with what it does;
//! `symptom` is what people say; `case` puts it together.

mod case;
mod fault;
mod kind;
mod place;
mod rng;
mod symptom;
#[cfg(test)]
mod tests;

pub use case::random;
pub(in crate::case) use rng::Rng;
