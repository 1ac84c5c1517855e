//! The tools, in the order in which they are listed.

use super::definition::Definition;
use super::{
    approval_status, audit_verify, capture_plan, capture_start, classify_command, effective_compare,
    investigate, meter_run, netfilter_walk, nsg_verdict, path, pcap_analyze, pcap_compare, route_select,
    run_command, session_report,
};

/// Every tool.
pub(in crate::cli::mcp) const ALL: [Definition; 16] = [
    classify_command::TOOL,
    run_command::TOOL,
    approval_status::TOOL,
    path::TOOL,
    route_select::TOOL,
    nsg_verdict::TOOL,
    netfilter_walk::TOOL,
    effective_compare::TOOL,
    pcap_analyze::TOOL,
    pcap_compare::TOOL,
    capture_plan::TOOL,
    capture_start::TOOL,
    meter_run::TOOL,
    investigate::TOOL,
    session_report::TOOL,
    audit_verify::TOOL,
];
