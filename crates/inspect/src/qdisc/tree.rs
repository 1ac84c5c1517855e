//! Which disciplines hang below which, and which filters lead around one.

use super::filter::Filter;
use super::item::Items;
use super::sheet::Qdisc;

/// The filters of one ancestor of a discipline, in the order in which the kernel asks them.
pub(super) struct Fork<'a> {
    /// The class of that ancestor through which packets reach the discipline.
    pub(super) towards: &'a str,
    pub(super) filters: Vec<&'a Filter>,
}

/// Returns the forks above a discipline, the nearest first.
pub(super) fn forks<'a>(items: &'a Items, qdisc: &'a Qdisc) -> Vec<Fork<'a>> {
    let mut forks = Vec::new();
    let mut at = qdisc;
    // A tree of this kernel is at most eight deep; a text may claim anything.
    for _ in 0..16 {
        let Some(towards) = at.parent.as_deref() else { break };
        let Some((major, _)) = towards.split_once(':') else { break };
        let above = items.qdiscs.iter().find(|above| {
            above.dev == at.dev
                && !std::ptr::eq(*above, at)
                && !major.is_empty()
                && above.handle.as_deref().and_then(|handle| handle.strip_suffix(':')) == Some(major)
        });
        let Some(above) = above else { break };
        let same_device =
            |filter: &&Filter| filter.dev == above.dev || filter.dev.is_none() && sole_device(items, above);
        let mut filters: Vec<&Filter> = items
            .filters
            .iter()
            .filter(|filter| Some(filter.parent.as_str()) == above.handle.as_deref())
            .filter(same_device)
            .filter(|filter| filter.flowid.is_some())
            .collect();
        filters.sort_by_key(|filter| filter.pref);
        forks.push(Fork { towards, filters });
        at = above;
    }
    forks
}

/// Whether a filter that does not name its device (`tc filter show dev X`) can only belong to this one's.
fn sole_device(items: &Items, above: &Qdisc) -> bool {
    items.qdiscs.iter().all(|other| other.dev == above.dev || other.handle != above.handle)
}

/// Returns what is led around a discipline, in words.
pub(super) fn exempt(items: &Items, qdisc: &Qdisc) -> Vec<String> {
    let mut names = Vec::new();
    for fork in forks(items, qdisc) {
        for (at, filter) in fork.filters.iter().enumerate() {
            let around = filter.flowid.as_deref() != Some(fork.towards);
            let earlier = fork.filters.iter().take(at);
            let taken = earlier
                .filter(|earlier| earlier.flowid.as_deref() == Some(fork.towards))
                .any(|earlier| earlier.covers(filter));
            if around && !taken {
                for name in filter.names() {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
    }
    names
}
