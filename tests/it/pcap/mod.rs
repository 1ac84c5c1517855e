//! The PCAP engine: as a command, against tshark, and against bytes that nobody sends.

mod capture;
mod command;
mod depth;
mod differential;
mod filters;
mod follow;
mod hostile;
mod mutate;
#[cfg(feature = "plot")]
mod picture;
mod report;
mod spoken;
mod talk;
mod trouble;
mod tshark;
