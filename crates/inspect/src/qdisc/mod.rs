//! What traffic shaping does to a host's packets: `tc -s qdisc show`, with classes and filters, text or JSON.
//!
//! Goes in: what `tc` printed. Comes out: one fact sheet per queueing discipline, what is exempt from it, and every line that
//! could not be read. Never: a clock, a file, a process, a guess: a filter that is not understood exempts nothing and is reported.
//!
//! ```
//! let read = ghost_inspect::qdisc::read("qdisc netem 1: dev eth0 root limit 1000 delay 100ms loss 5%\n")?;
//! assert!(read.impaired);
//! assert_eq!(read.devices[0].loss_pct, Some(5.0));
//! # Ok::<(), ghost_inspect::qdisc::ReadError>(())
//! ```

mod action;
mod filter;
mod hit;
mod item;
mod json;
mod land;
mod read;
mod sheet;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod unit;

pub use action::{Acted, Side, act};
pub use hit::{Flow, Hit, hit};
pub use read::{MAX_TEXT_BYTES, ReadError, read};
pub use sheet::{Qdisc, Read, Warning};
