//! The PCAP engine: as a command, against tshark, and against bytes that nobody sends.

mod capture;
mod command;
mod differential;
mod follow;
mod hostile;
mod mutate;
mod talk;
mod tshark;
