//! What is cut where a capture was made to be long to tell of.

use std::collections::BTreeMap;

use super::kind::Summary;
use super::talk;

/// So many keys of a map are told, the most frequent ones; nobody's network has more types of ICMP.
const KEYS: usize = 24;
/// So many link types.
const LINKS: usize = 16;
/// So many limits.
const WARNINGS: usize = 12;
/// So many letters of a title, a filter or a limit.
const LETTERS: usize = 400;
/// So many entries stay in a list even where that makes the account longer; of findings in any case.
pub(super) const FEWEST: usize = 4;
/// So many claimants of an address.
const CLAIMANTS: usize = 4;

/// Cuts maps and lists whose keys come from a capture, and says so.
pub(super) fn maps(summary: &mut Summary) {
    let cut =
        [&mut summary.icmp.types, &mut summary.icmp.types_v6].into_iter().map(most_frequent).sum::<usize>();
    if cut > 0 {
        summary.warnings.push(format!("{cut} rarer types of ICMP were left out; --full has them"));
    }
    if summary.file.linktypes.len() > LINKS {
        let cut = summary.file.linktypes.len() - LINKS;
        summary.file.linktypes.truncate(LINKS);
        summary.warnings.push(format!("{cut} more link types were left out; --full has them"));
    }
    if summary.warnings.len() > WARNINGS {
        let cut = summary.warnings.len() - WARNINGS;
        summary.warnings.truncate(WARNINGS);
        summary.warnings.push(format!("{cut} more limits were left out; --full has them"));
    }
    summary.warnings.iter_mut().for_each(clip);
    for finding in &mut summary.findings {
        clip(&mut finding.title);
        // Half a filter shows something else: rather none than that.
        if finding.evidence.filter.len() > 2 * LETTERS {
            finding.evidence.filter = finding
                .evidence
                .frames
                .first()
                .map_or_else(String::new, |frame| format!("frame.number == {frame}"));
        }
    }
    for conflict in &mut summary.arp.conflicts {
        conflict.macs.truncate(CLAIMANTS);
        conflict.frames.truncate(CLAIMANTS);
    }
}

/// Takes the last entry of the first list that has more than so many.
pub(super) fn shorten(summary: &mut Summary, keep: usize) -> bool {
    fn cut<T>(list: &mut Vec<T>, keep: usize) -> bool {
        list.len() > keep && list.pop().is_some()
    }
    cut(&mut summary.tcp.flows, keep)
        || cut(&mut summary.udp.flows, keep)
        || talk::shorten(summary, keep)
        || cut(&mut summary.icmp.unreachable, keep)
        || cut(&mut summary.icmp.echo, keep)
        || cut(&mut summary.icmp.path_mtu, keep)
        || cut(&mut summary.icmp.redirects, keep)
        || cut(&mut summary.icmp.traces, keep)
        || cut(&mut summary.arp.conflicts, keep)
        || summary.ndp.as_mut().is_some_and(|ndp| cut(&mut ndp.conflicts, keep))
        || cut(&mut summary.dns.suspicious, keep)
        || cut(&mut summary.dns.servers, keep)
        || cut(&mut summary.findings, keep.max(FEWEST))
}

/// Keeps the most frequent keys and returns how many went.
fn most_frequent(map: &mut BTreeMap<String, u64>) -> usize {
    let before = map.len();
    if before > KEYS {
        let mut counts: Vec<u64> = map.values().copied().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let least = counts.get(KEYS - 1).copied().unwrap_or(0);
        map.retain(|_, count| *count >= least);
        // Of equally frequent ones the first stay.
        while map.len() > KEYS {
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
    if let Some((at, _)) = text.char_indices().nth(LETTERS) {
        text.truncate(at);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_keys_stay() {
        let mut map: BTreeMap<String, u64> = (0..1000).map(|key| (format!("{key:04}"), key / 10)).collect();
        assert_eq!(most_frequent(&mut map), 1000 - KEYS);
        assert_eq!(map.len(), KEYS);
        assert!(map.contains_key("0999") && map.contains_key("0990") && !map.contains_key("0900"));
    }

    #[test]
    fn equally_frequent_ones_do_not_fill_the_account() {
        let mut map: BTreeMap<String, u64> = (0..70_000).map(|key| (format!("{key:05}"), 1)).collect();
        most_frequent(&mut map);
        assert_eq!(map.len(), KEYS);
        assert!(map.contains_key("00000"));
    }
}
