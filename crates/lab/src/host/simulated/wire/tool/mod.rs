//! The programs that ask the network: what they print, how they end, how long they take.

mod amount;
mod call;
mod curl;
mod dig;
mod iperf;
mod nc;
mod option;
mod ping;
mod qperf;
mod rate;
mod report;
mod ssh;
#[cfg(test)]
mod tests;
mod timeout;
mod trace;
mod web;

pub(in crate::host) use call::call;
pub(in crate::host) use report::prints_to;
