//! What goes on until somebody stops it.

use super::allow::Time;
use super::harm::has_option;
use crate::policy::{Entry, Given, Refusal};

/// Refuses what follows, and in a guest what repeats, unless `timeout` ends it.
pub(super) fn check(entry: &Entry, given: &Given<'_>, arguments: &[&str], time: Time) -> Result<(), Refusal> {
    // Where a grammar takes any word it sorted no options.
    let has = |options: &[String]| {
        options.iter().any(|option| given.has(option))
            || (given.options.is_empty() && !options.is_empty() && has_option(arguments, options))
    };
    let guest = &entry.guest;
    if time.guest && has(&guest.never) {
        return Err(Refusal::new(
            "option",
            format!("`{}` has no place in a guest", guest.never.join("`, `")),
        ));
    }
    let goes_on =
        has(&entry.follows) || (time.guest && (guest.always || has(&guest.repeats)) && !has(&guest.ends));
    if goes_on && !time.bounded {
        return Err(Refusal::new("endless", "it goes on until it is stopped: put `timeout` before it"));
    }
    Ok(())
}
