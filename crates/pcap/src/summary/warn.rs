//! What could not be read, or was left out.

use crate::analyze::Pass;
use crate::read::Ending;

/// Warns of what limits the account.
pub(super) fn warn(
    warnings: &mut Vec<String>,
    pass: &Pass,
    ending: &Ending,
    (evicted, (given_up, unpaired)): (u64, (u64, u64)),
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
    if pass.flows.vantage.one_direction {
        warnings.push(format!(
            "{} of {} connections show one direction alone: losses and answers cannot be judged here",
            pass.flows.vantage.one_way, pass.flows.streams
        ));
    }
    let vantage = &pass.flows.vantage;
    if vantage.mirrored {
        warnings.push(format!(
            "{} TCP packets are there twice: rates and findings leave the copies out, the counts of labels do not",
            vantage.copies
        ));
    }
    if vantage.two_vlans > 0 {
        warnings.push(format!(
            "{} connections were seen in two VLANs: only the packets of the first are judged",
            vantage.two_vlans
        ));
    }
    if pass.flows.left_out > 0 {
        warnings.push(format!(
            "{} connections were not put to their service or hosts for want of room",
            pass.flows.left_out
        ));
    }
    if pass.unlisted > 0 {
        warnings.push(format!("{} more frames have the label; --full lists them all", pass.unlisted));
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
    let rooms = [
        ("fragmented packets", unpaired),
        ("complaints", pass.icmp.left_out),
        ("pings", pass.icmp.echo.left_out),
        ("packets that ran out of hops", pass.icmp.traces.left_out),
        ("errors about packet sizes", pass.icmp.limits.left_out),
        ("errors about connections", pass.icmp.quoted.left_out),
        ("packets in a circle", pass.circles.left_out),
        ("messages of name servers", pass.dns.left_out),
        ("odd names, and messages of those who ask for names", pass.dns.clients.left_out),
        ("questions below domains", pass.dns.parents.left_out),
        ("packets about addresses", pass.arp.left_out + pass.ndp.left_out),
        ("frames to groups", pass.storms.left_out),
    ];
    let full: Vec<String> =
        rooms.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}")).collect();
    if !full.is_empty() {
        warnings.push(format!("for want of room only counted, not told apart: {}", full.join(", ")));
    }
}
