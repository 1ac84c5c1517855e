//! The PCAP engine: as a command, against tshark, and against bytes that nobody sends.

mod capture;
mod command;
mod datagrams;
mod differential;
mod hostile;
mod protocols;
mod talk;
mod tshark;
