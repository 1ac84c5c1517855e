//! What a text says about an incident: names, addresses, ports, protocols, baselines, symptoms, whatever language stands around them.
//!
//! Goes in: the words of people. Comes out: what they name, in order. Never: a guess about a network that nobody has looked at; whether a
//! word is a machine is for the topology to say.

mod complaint;
mod left_behind;
mod named;
mod port;
mod symptom;
mod text;
mod token;

pub use complaint::{Complaint, sentences};
pub use left_behind::LeftBehind;
pub use named::names;
pub use symptom::Symptom;
pub use text::{Mention, Protocol, SymptomText, read};
