//! What could not be read, or was left out.

use crate::pcap::analyze::Pass;
use crate::pcap::flow::State;
use crate::pcap::read::Ending;

/// So many connections at least say something about where the capture was taken.
const FEW_STREAMS: u64 = 3;

/// Warns of what limits the account.
pub(super) fn warn(
    warnings: &mut Vec<String>,
    pass: &Pass,
    ending: &Ending,
    (evicted, given_up): (u64, u64),
) {
    let counts = &pass.counts;
    if ending.cut_off && ending.warnings.is_empty() {
        warnings.push("the file ends within a record; everything before was read".to_owned());
    }
    if ending.dropped > 0 {
        warnings.push(format!("the capturing side dropped {} packets: gaps may be its own", ending.dropped));
    }
    for (link, frames) in counts.unknown.iter().take(5) {
        warnings.push(format!("link type {link} is not looked into: {frames} frames were only counted"));
    }
    if counts.snapped > 0 {
        warnings.push(format!("{} packets were captured in part", counts.snapped));
    }
    if counts.back > 0 {
        warnings.push(format!("the time goes back {} times: rates and delays may be wrong", counts.back));
    }
    let one_way = pass.flows.states.get(&State::OneWay).copied().unwrap_or(0);
    if one_way >= FEW_STREAMS && one_way * 5 >= pass.flows.streams * 4 {
        warnings.push(format!(
            "{one_way} of {} connections show one direction alone: losses and answers cannot be judged here",
            pass.flows.streams
        ));
    }
    if evicted > 0 {
        warnings.push(format!(
            "{evicted} connections were told of early for want of room; those that went on count as new ones"
        ));
    }
    let not_told = pass.talk.not_told();
    if not_told > 0 {
        warnings.push(format!("what {not_told} connections or messages said is left out for want of room"));
    }
    if given_up > 0 {
        warnings.push(format!("{given_up} fragmented packets were given up for want of room"));
    }
}
