//! Whether `ping` can work without privileges of its own.

use std::fs;

use rustix::process::{Gid, getegid, geteuid, getgroups};

/// Tells whether `ping` would need the capabilities of its file, which a sandboxed process cannot gain: this user is not
/// root, and the kernel gives its groups no echo sockets.
pub(super) fn needs_privileges() -> bool {
    if geteuid().is_root() {
        return false;
    }
    let range = fs::read_to_string("/proc/sys/net/ipv4/ping_group_range").unwrap_or_default();
    let groups = getgroups().unwrap_or_default();
    !covers(&range, groups.into_iter().chain([getegid()]).map(Gid::as_raw))
}

fn covers(range: &str, mut groups: impl Iterator<Item = u32>) -> bool {
    let mut bounds = range.split_ascii_whitespace().map(str::parse::<u32>);
    match (bounds.next(), bounds.next()) {
        (Some(Ok(first)), Some(Ok(last))) => groups.any(|group| (first..=last).contains(&group)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(range: &str, groups: &[u32], expected: bool) {
        assert_eq!(covers(range, groups.iter().copied()), expected, "{range:?} {groups:?}");
    }

    #[test]
    fn one_group_inside_the_range_is_enough() {
        check("0\t2147483647\n", &[1000], true);
        check("100\t200\n", &[1000, 200], true);
    }

    #[test]
    fn the_default_range_is_empty() {
        check("1\t0\n", &[0, 1, 1000], false);
    }

    #[test]
    fn an_unreadable_range_covers_nobody() {
        check("", &[0], false);
        check("0", &[0], false);
        check("a b", &[0], false);
    }
}
