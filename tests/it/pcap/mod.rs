//! The PCAP engine: as a command, against tshark, and against bytes that nobody sends.

mod capture;
mod command;
mod differential;
mod hostile;
#[cfg(feature = "plot")]
mod picture;
mod report;
mod talk;
mod tshark;
