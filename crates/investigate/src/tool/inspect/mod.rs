//! Inspectors: tools that only read, and name the faults that their reads support.
//!
//! Goes in: the name of a machine or an account, and what the cloud and the guest print. Comes out: suspects with the words that show
//! them, plain facts, and the document as data. Never: a change; a suspect without a record; a name of the outside outside its fence
//! unless it is one word.

mod argument;
mod bastion_flows;
mod changes;
mod cluster;
mod cluster_flows;
mod complaint_flows;
mod drift;
mod estate_places;
mod estate_reader;
mod felt;
mod filter;
mod gateway_flows;
mod host;
mod inspector;
mod inventory;
mod nsg;
mod object;
mod packet;
mod path;
mod qdisc;
mod remedy;
mod route;
mod sentence;
mod spoken;
mod storage;
mod topology;

pub(super) use inspector::inspectors;
pub use remedy::flow_remedies;

#[cfg(test)]
mod tests;
