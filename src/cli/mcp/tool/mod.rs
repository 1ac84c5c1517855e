//! The tools, a file each, and the table of them.

mod approval_status;
mod audit_verify;
mod capture_plan;
mod capture_start;
mod classify_command;
mod cloud;
mod definition;
mod effective_compare;
mod investigate;
mod meter_run;
mod netfilter_walk;
mod nsg_verdict;
mod path;
mod pcap_analyze;
mod pcap_compare;
mod route_select;
mod run_command;
mod session_report;
mod table;

pub(super) use definition::{Definition, Work};
pub(super) use table::ALL;
