//! Which class of a discipline takes a packet: its filters first, then its own rule for what no filter takes.

use super::filter::Filter;
use super::hit::{Flow, chooses};
use super::item::Items;
use super::sheet::Qdisc;

/// Where a packet comes to, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Landing {
    /// In this class, by its minor number.
    Class(u32, String),
    /// Past all classes.
    Past(String),
    /// It is not known.
    Unknown(String),
}

/// The priorities that a packet can have; what nobody set depends on its type of service.
const PRIORITIES: u32 = 16;

/// The deepest tree of classes.
const MAX_CLASS_DEPTH: usize = 16;

/// Says which class below a discipline takes a packet.
pub(super) fn land(items: &Items, above: &Qdisc, flow: &Flow) -> Landing {
    if goes_on_whole(above) {
        return Landing::Class(1, "everything that comes there goes on".to_owned());
    }
    match above.discipline.as_str() {
        "prio" | "ets" => bands(items, above, flow),
        "htb" | "hfsc" | "drr" | "qfq" => classes(items, above, flow),
        kind => Landing::Unknown(format!("how `{kind}` chooses is not known")),
    }
}

/// Whether there is one place below, and everything goes there.
pub(super) fn goes_on_whole(above: &Qdisc) -> bool {
    matches!(above.discipline.as_str(), "tbf" | "netem" | "red" | "sfb" | "etf" | "cbs")
}

/// What the filters of one place say.
enum Filtered {
    /// A filter takes it, and names a class, or none.
    By(Option<u32>, String),
    Nothing,
    Unknown(String),
}

fn filtered(items: &Items, above: &Qdisc, parent: &str, flow: &Flow) -> Filtered {
    let mut filters: Vec<(&Filter, bool)> = items
        .filters
        .iter()
        .filter(|filter| filter.is_whole() && same_id(&filter.parent, parent))
        .filter_map(|filter| match items.belongs(filter, above) {
            Some(true) => Some((filter, true)),
            Some(false) => None,
            None => Some((filter, false)),
        })
        .collect();
    filters.sort_by_key(|(filter, _)| filter.pref);
    for (filter, certain) in filters {
        let named = format!("the filter of line {}", filter.line);
        match chooses(filter, flow) {
            Some(false) => {}
            _ if !certain => {
                return Filtered::Unknown(format!("{named} does not say to which device it belongs"));
            }
            None => return Filtered::Unknown(format!("whether {named} chooses it")),
            Some(true) if filter.acts => {
                return Filtered::Unknown(format!("what the action beside {named} makes of it"));
            }
            Some(true) => {
                return Filtered::By(filter.flowid.as_deref().and_then(split).map(|(_, minor)| minor), named);
            }
        }
    }
    Filtered::Nothing
}

/// Bands: a filter names one, else the priority of the packet does.
fn bands(items: &Items, above: &Qdisc, flow: &Flow) -> Landing {
    let handle = above.handle.as_deref().unwrap_or_default();
    let first = || match items.options(above).and_then(|own| own.priomap.first().copied()) {
        Some(band) => Landing::Class(band + 1, "it names no band, so that of priority 0".to_owned()),
        None => {
            Landing::Unknown("the filter names no band, and the map of priorities is not known".to_owned())
        }
    };
    let bands = items.options(above).and_then(|own| own.bands);
    match filtered(items, above, handle, flow) {
        Filtered::By(Some(minor), why) if minor > 0 && bands.is_none_or(|bands| minor <= bands) => {
            Landing::Class(minor, why)
        }
        Filtered::By(..) => first(),
        Filtered::Unknown(why) => Landing::Unknown(why),
        Filtered::Nothing => by_priority(items, above, flow),
    }
}

fn by_priority(items: &Items, above: &Qdisc, flow: &Flow) -> Landing {
    let Some(own) = items.options(above).filter(|own| !own.priomap.is_empty()) else {
        return Landing::Unknown("no filter decides, and the map of priorities is not known".to_owned());
    };
    let band = |priority: u32| {
        let at = usize::try_from(priority % PRIORITIES).unwrap_or_default();
        own.priomap.get(at).or(own.priomap.last()).copied().unwrap_or_default()
    };
    if let Some(priority) = flow.priority {
        let why = format!("no filter chooses it, and priority {priority} has this band");
        return Landing::Class(band(priority) + 1, why);
    }
    let plain = band(0);
    if (0..PRIORITIES).all(|priority| band(priority) == plain) {
        return Landing::Class(
            plain + 1,
            "no filter chooses it, and every priority has this band".to_owned(),
        );
    }
    let handle = above.handle.as_deref().unwrap_or_default();
    Landing::Unknown(format!(
        "no filter chooses it: its priority does; plain traffic, of priority 0, goes to {handle}{:x}",
        plain + 1
    ))
}

/// Classes: filters lead down the tree, and what none takes goes to the default.
fn classes(items: &Items, above: &Qdisc, flow: &Flow) -> Landing {
    let handle = above.handle.as_deref().unwrap_or_default();
    let major = handle.trim_end_matches(':');
    let mut at = handle.to_owned();
    for _ in 0..MAX_CLASS_DEPTH {
        match filtered(items, above, &at, flow) {
            Filtered::By(Some(minor), why) if minor > 0 => {
                let id = format!("{major}:{minor:x}");
                if !items.is_inner(above, &id) {
                    return Landing::Class(minor, why);
                }
                // Such a class asks its own filters.
                at = id;
            }
            Filtered::By(_, why) => return Landing::Unknown(format!("{why} names no class")),
            Filtered::Unknown(why) => return Landing::Unknown(why),
            Filtered::Nothing => return default(items, above, major),
        }
    }
    Landing::Unknown("its filters lead deeper than any kernel has classes".to_owned())
}

fn default(items: &Items, above: &Qdisc, major: &str) -> Landing {
    let past = |why: &str| Landing::Past(format!("no filter chooses it, and {why}"));
    let kind = above.discipline.as_str();
    // What htb does not know goes out as it is; the others drop it.
    let lost = if kind == "htb" { "it goes out past all classes" } else { "what has no class is dropped" };
    if matches!(kind, "drr" | "qfq") {
        return past(lost);
    }
    let Some(minor) = items.options(above).map(|own| own.default.unwrap_or(0)) else {
        return Landing::Unknown("no filter chooses it, and the default class is not known".to_owned());
    };
    let id = format!("{major}:{minor:x}");
    let known = items.has_class(above, &id);
    match (minor, known) {
        (0, _) => past(&format!("there is no default class: {lost}")),
        (_, Some(false)) => past(&format!("the default class {id} is not there: {lost}")),
        _ if items.is_inner(above, &id) => {
            past(&format!("the default class {id} has classes below it: {lost}"))
        }
        _ => Landing::Class(minor, format!("no filter chooses it, and {id} is the default class")),
    }
}

/// Reads `1:a0`: major and minor are hexadecimal, and either can be missing.
pub(super) fn split(id: &str) -> Option<(Option<u32>, u32)> {
    let (major, minor) = id.split_once(':')?;
    let number = |text: &str| u32::from_str_radix(text, 16).ok();
    let major = if major.is_empty() { None } else { Some(number(major)?) };
    Some((major, if minor.is_empty() { 0 } else { number(minor)? }))
}

/// Whether two texts name the same class or discipline.
pub(super) fn same_id(one: &str, other: &str) -> bool {
    one == other || split(one).is_some_and(|own| Some(own) == split(other))
}
