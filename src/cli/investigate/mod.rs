//! `ghost investigate`: an investigation in a terminal.
//!
//! Goes in: a symptom, words and answers of whoever sits there. Comes out: what happens while it happens, and the report.
//! Never: an approval that nobody typed behind the prompt; a session that cannot be resumed.

mod again;
#[cfg(feature = "lab")]
mod case;
mod clusters;
mod command;
mod hosts;
mod investigator;
pub(in crate::cli) mod line;
mod question;
mod reports;
mod screen;
mod words;

pub(in crate::cli) use clusters::{configured_clusters, with_nodes};
pub(in crate::cli) use command::{Arguments, run};
#[cfg(all(test, feature = "lab"))]
pub(in crate::cli) use hosts::session_host;
pub(in crate::cli) use hosts::{configured_hosts, knows_cloud, machines, recorded};
pub(in crate::cli) use investigator::{InvestigatorKind, investigator};
pub(in crate::cli) use investigator::{prices, ready};
pub(in crate::cli) use question::{QuestionOutcome, ask, rule};
pub(in crate::cli) use reports::Reports;
