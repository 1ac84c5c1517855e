//! Draws pictures for a chat: a canvas with a title and a legend, samples of a measurement, a path from top to bottom.
//!
//! Input: figures and words. Output: the bytes of a PNG file, the same for the same input on every machine: the font is built in. The crate
//! opens no file and uses no font of the system.
//!
//! ```
//! use ghost_plot::{Hop, HopStatus, hop_diagram};
//!
//! let hop = Hop { name: "web-1".to_owned(), what: "virtual machine".to_owned(), lines: vec![(HopStatus::Good, "listens on 443".to_owned())] };
//! let png = hop_diagram("web-1 is reached", "as of 12:00 UTC", &[hop])?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), ghost_plot::PlotError>(())
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod canvas;
mod hop_diagram;
mod png;
mod samples;
pub mod scale;

pub use hop_diagram::{Hop, HopStatus, hop_diagram};
pub use png::PlotError;
pub use samples::{Panel, samples};
