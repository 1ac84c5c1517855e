//! The PCAP engine: as a command, against tshark, and against bytes that nobody sends.

mod capture;
mod command;
mod compare;
mod datagrams;
mod depth;
mod differential;
mod evidence;
mod filters;
mod follow;
mod healthy;
mod hostile;
mod mutate;
mod packet;
mod picture;
mod protocols;
mod report;
mod scenario;
mod spoken;
mod talk;
mod trouble;
mod tshark;
