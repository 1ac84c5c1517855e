//! An errand: something that takes several commands, and is asked after each of them what it wants next.
//!
//! Goes in: what came of its commands, and the present moment. Comes out: the next command, or the result. Never: an effect of its own.
//! Whoever has hands drives it: a terminal through the shell ([`Gate`], [`drive()`]), a session through its ledger.
//!
//! `reading` is the smallest errand, one command that reads, with patience where the platform asks for it.

mod answer;
mod drive;
mod gate;
mod port;
mod reading;
mod trouble;

pub use answer::Answer;
pub use drive::{Hands, drive};
pub use gate::Gate;
pub use port::{Carried, Errand, Next, Order};
pub use reading::Reading;
pub use trouble::{Patience, Setback, Trouble, printed};
