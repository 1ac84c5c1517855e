//! The report in Markdown.

mod arp_icmp;
mod comparison;
mod connections;
mod escape;
mod evidence;
mod markdown;
mod next;
mod number;
mod overview;
mod protocols;

pub use comparison::comparison_markdown;
pub use markdown::markdown;
#[cfg(feature = "plot")]
pub(super) use number::whole;
