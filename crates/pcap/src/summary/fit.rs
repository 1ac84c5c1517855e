//! Limits the size of a summary, and adds the warnings about what was not read or left out.

use std::collections::BTreeMap;

use super::facts::Summary;
use super::protocols;
use crate::analyze::Pass;
use crate::read::ReadSummary;

/// How many keys of a map are reported, the most frequent ones; nobody's network has more types of ICMP.
const MAX_MAP_KEYS: usize = 24;
/// How many link types.
const MAX_LINK_TYPES: usize = 16;
/// How many limits.
const MAX_WARNINGS: usize = 12;
/// How many letters of a title, a filter or a limit.
const MAX_WARNING_LEN: usize = 400;
/// How many entries stay in a list even where that makes the account longer; of findings in any case.
pub(super) const MIN_ENTRIES: usize = 4;
/// How many claimants of an address.
const MAX_CLAIMANTS: usize = 4;

/// Cuts maps and lists whose keys come from a capture, and says so.
pub(super) fn maps(summary: &mut Summary) {
    let cut =
        [&mut summary.icmp.types, &mut summary.icmp.types_v6].into_iter().map(most_frequent).sum::<usize>();
    if cut > 0 {
        summary.warnings.push(format!("{cut} rarer types of ICMP were left out; --full has them"));
    }
    if summary.file.linktypes.len() > MAX_LINK_TYPES {
        let cut = summary.file.linktypes.len() - MAX_LINK_TYPES;
        summary.file.linktypes.truncate(MAX_LINK_TYPES);
        summary.warnings.push(format!("{cut} more link types were left out; --full has them"));
    }
    if summary.warnings.len() > MAX_WARNINGS {
        let cut = summary.warnings.len() - MAX_WARNINGS;
        summary.warnings.truncate(MAX_WARNINGS);
        summary.warnings.push(format!("{cut} more limits were left out; --full has them"));
    }
    summary.warnings.iter_mut().for_each(clip);
    for finding in &mut summary.findings {
        clip(&mut finding.title);
        // Half a filter shows something else: rather none than that.
        if finding.evidence.filter.len() > 2 * MAX_WARNING_LEN {
            finding.evidence.filter = finding
                .evidence
                .frames
                .first()
                .map_or_else(String::new, |frame| format!("frame.number == {frame}"));
        }
    }
    for conflict in &mut summary.arp.conflicts {
        conflict.macs.truncate(MAX_CLAIMANTS);
        conflict.frames.truncate(MAX_CLAIMANTS);
    }
}

/// Takes the last entry of the first list that has more than so many.
pub(super) fn shorten(summary: &mut Summary, keep: usize) -> bool {
    fn cut<T>(list: &mut Vec<T>, keep: usize) -> bool {
        list.len() > keep && list.pop().is_some()
    }
    cut(&mut summary.tcp.flows, keep)
        || cut(&mut summary.udp.flows, keep)
        || protocols::shorten(summary, keep)
        || cut(&mut summary.icmp.unreachable, keep)
        || cut(&mut summary.icmp.echo, keep)
        || cut(&mut summary.icmp.path_mtu, keep)
        || cut(&mut summary.icmp.redirects, keep)
        || cut(&mut summary.icmp.traces, keep)
        || cut(&mut summary.arp.conflicts, keep)
        || summary.ndp.as_mut().is_some_and(|ndp| cut(&mut ndp.conflicts, keep))
        || cut(&mut summary.dns.suspicious, keep)
        || cut(&mut summary.dns.servers, keep)
        || cut(&mut summary.findings, keep.max(MIN_ENTRIES))
}

/// Keeps the most frequent keys and returns how many went.
fn most_frequent(map: &mut BTreeMap<String, u64>) -> usize {
    let before = map.len();
    if before > MAX_MAP_KEYS {
        let mut counts: Vec<u64> = map.values().copied().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let least = counts.get(MAX_MAP_KEYS - 1).copied().unwrap_or(0);
        map.retain(|_, count| *count >= least);
        // Of equally frequent ones the first stay.
        while map.len() > MAX_MAP_KEYS {
            let last = map.iter().rev().find(|(_, count)| **count == least).map(|(key, _)| key.clone());
            match last.and_then(|key| map.remove(&key)) {
                Some(_) => {}
                None => break,
            }
        }
    }
    before - map.len()
}

fn clip(text: &mut String) {
    if let Some((at, _)) = text.char_indices().nth(MAX_WARNING_LEN) {
        text.truncate(at);
        text.push('…');
    }
}

/// Warns of what limits the account.
pub(super) fn warn(
    warnings: &mut Vec<String>,
    pass: &Pass,
    ending: &ReadSummary,
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
            pass.flows.vantage.unidirectional, pass.flows.streams
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
            "{evicted} connections were listed early for want of room; those that went on count as new ones"
        ));
    }
    let left_out = pass.protocols.left_out();
    if left_out > 0 {
        warnings.push(format!("what {left_out} connections or messages said is left out for want of room"));
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
        ("packets in a circle", pass.routing_loops.left_out),
        ("messages of name servers", pass.dns.left_out),
        ("odd names, and messages of those who ask for names", pass.dns.clients.left_out),
        ("questions below domains", pass.dns.parents.left_out),
        ("packets about addresses", pass.arp.left_out + pass.ndp.left_out),
        ("frames to groups", pass.storms.left_out),
    ];
    let full: Vec<String> =
        rooms.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}")).collect();
    if !full.is_empty() {
        warnings.push(format!("for want of room only counted, not distinguished: {}", full.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_keys_stay() {
        let mut map: BTreeMap<String, u64> = (0..1000).map(|key| (format!("{key:04}"), key / 10)).collect();
        assert_eq!(most_frequent(&mut map), 1000 - MAX_MAP_KEYS);
        assert_eq!(map.len(), MAX_MAP_KEYS);
        assert!(map.contains_key("0999") && map.contains_key("0990") && !map.contains_key("0900"));
    }

    #[test]
    fn equally_frequent_ones_do_not_fill_the_account() {
        let mut map: BTreeMap<String, u64> = (0..70_000).map(|key| (format!("{key:05}"), 1)).collect();
        most_frequent(&mut map);
        assert_eq!(map.len(), MAX_MAP_KEYS);
        assert!(map.contains_key("00000"));
    }
}
