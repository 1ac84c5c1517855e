//! The PCAP engine: as a command, against tshark, and against bytes that nobody sends.

mod capture;
mod command;
mod differential;
mod evidence;
mod healthy;
mod hostile;
mod packet;
mod story;
mod talk;
mod tshark;
