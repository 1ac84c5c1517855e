//! The PCAP engine: as a command, against tshark, and against bytes that nobody sends.

mod capture;
mod command;
mod compare;
mod differential;
mod hostile;
mod talk;
mod tshark;
