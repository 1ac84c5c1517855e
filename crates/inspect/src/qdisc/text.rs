//! The text form of `tc`, line by line.

use super::filter::{Filter, Key};
use super::item::{Class, Items, Options, long_run_loss};
use super::sheet::Qdisc;
use super::unit::{bits_per_second, hexadecimal, milliseconds, percent};

/// What the lines below belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    Nothing,
    Qdisc,
    Class,
    Filter,
}

/// Reads one line; `below` is what the line before left open.
pub(super) fn line(items: &mut Items, text: &str, number: usize, below: Below) -> Below {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [] => return below,
        ["qdisc", kind, handle, rest @ ..] => {
            let qdisc = qdisc(items, kind, handle, rest, number);
            items.qdiscs.push(qdisc);
            items.options.push(options(rest));
            items.recognised = true;
            return Below::Qdisc;
        }
        ["class", kind, id, rest @ ..] => {
            items.classes.push(class(kind, id, rest, number));
            items.recognised = true;
            return Below::Class;
        }
        ["filter", rest @ ..] => {
            items.filters.push(filter(rest, number));
            items.recognised = true;
            return Below::Filter;
        }
        ["filters", "dev", device] => {
            items.filters_read.insert((*device).to_owned());
            items.recognised = true;
            return Below::Nothing;
        }
        _ => {}
    }
    let indented = text.starts_with([' ', '\t']);
    match below {
        Below::Qdisc if indented => statistics(items, &words),
        Below::Filter if indented => selector(items, &words),
        Below::Class if indented => {}
        Below::Nothing | Below::Qdisc | Below::Class | Below::Filter => {
            items.warn(number, format!("not understood: {}", clip(text)));
        }
    }
    below
}

fn qdisc(items: &mut Items, kind: &str, handle: &str, rest: &[&str], number: usize) -> Qdisc {
    let mut qdisc =
        Qdisc { discipline: kind.to_owned(), handle: Some(handle.to_owned()), ..Qdisc::default() };
    let mut words = rest.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "dev" => qdisc.dev = words.next().map(str::to_owned),
            "parent" => qdisc.parent = words.next().map(str::to_owned),
            "limit" => qdisc.limit = words.next().map(str::to_owned),
            "rate" if kind != "fq" => {
                qdisc.rate_bps = words.next().and_then(bits_per_second);
                if qdisc.rate_bps.is_none() {
                    qdisc.impairs = true;
                    items.warn(number, "a rate that cannot be read");
                }
            }
            "bandwidth" if kind == "cake" => qdisc.rate_bps = words.next().and_then(bits_per_second),
            "delay" if kind == "netem" => {
                qdisc.delay_ms = words.next().and_then(milliseconds);
                if qdisc.delay_ms.is_none() {
                    qdisc.impairs = true;
                    items.warn(number, "a delay that cannot be read");
                }
                qdisc.jitter_ms = words.next_if(|word| milliseconds(word).is_some()).and_then(milliseconds);
            }
            "loss" if kind == "netem" => match words.next() {
                Some("gemodel") => {
                    let mut share = |name: &str| {
                        words.next_if_eq(&name);
                        words.next_if(|word| percent(word).is_some()).and_then(percent)
                    };
                    let (p, r) = (share("p"), share("r"));
                    let (bad, good) = (share("1-h"), share("1-k"));
                    qdisc.loss_pct = Some(long_run_loss(
                        p.unwrap_or(0.0),
                        r.unwrap_or(100.0),
                        bad.unwrap_or(100.0),
                        good.unwrap_or(0.0),
                    ));
                }
                Some("state") => {
                    qdisc.impairs = true;
                    items.warn(number, "a loss model of four states: no single share describes it");
                    qdisc.is_open = true;
                }
                other => {
                    qdisc.loss_pct = other.and_then(percent);
                    if qdisc.loss_pct.is_none() {
                        qdisc.impairs = true;
                        items.warn(number, "a loss that cannot be read");
                    }
                }
            },
            "corrupt" | "duplicate" | "reorder" if kind == "netem" => {
                let share = words.next().and_then(percent);
                match word {
                    "corrupt" => qdisc.corrupt_pct = share,
                    "duplicate" => qdisc.duplicate_pct = share,
                    _ => qdisc.reorder_pct = share,
                }
                if share.is_none() {
                    qdisc.impairs = true;
                    items.warn(number, format!("what `{word}` says cannot be read"));
                }
            }
            "slot" if kind == "netem" => {
                qdisc.impairs = true;
                qdisc.is_open = true;
                items.warn(number, "packets wait for slots: no single delay describes it");
            }
            "maxrate" if kind == "fq" => {
                qdisc.impairs = true;
                let rate = words.next().unwrap_or_default();
                items.warn(number, format!("every flow for itself is limited to {rate}"));
            }
            _ => {}
        }
    }
    qdisc
}

/// Reads what happens to packets that no filter chooses.
fn options(rest: &[&str]) -> Options {
    let after = |name: &str| rest.iter().position(|word| *word == name).map(|at| rest.iter().skip(at + 1));
    let first = |name: &str| after(name).and_then(|mut words| words.next().copied());
    Options {
        bands: first("bands").and_then(|word| word.parse().ok()),
        priomap: after("priomap").into_iter().flatten().map_while(|word| word.parse().ok()).collect(),
        default: first("default").and_then(hexadecimal),
    }
}

fn class(kind: &str, id: &str, rest: &[&str], line: usize) -> Class {
    let after = |name: &str| {
        let at = rest.iter().position(|word| *word == name)?;
        rest.get(at + 1).copied()
    };
    Class {
        dev: after("dev").map(str::to_owned),
        kind: kind.to_owned(),
        id: id.to_owned(),
        parent: after("parent").map(str::to_owned),
        rate_bps: after("rate").and_then(bits_per_second),
        line,
    }
}

fn filter(rest: &[&str], line: usize) -> Filter {
    let mut filter = Filter { line, protocol: "all".to_owned(), ..Filter::default() };
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "dev" => filter.dev = words.next().map(str::to_owned),
            "parent" => words.next().unwrap_or_default().clone_into(&mut filter.parent),
            "protocol" => words.next().unwrap_or_default().clone_into(&mut filter.protocol),
            "pref" => {
                filter.pref = words.next().and_then(|word| word.parse().ok()).unwrap_or(u32::MAX);
                words.next().unwrap_or_default().clone_into(&mut filter.kind);
            }
            "flowid" | "*flowid" | "classid" | "*classid" => filter.flowid = words.next().map(str::to_owned),
            "handle" | "order" => filter.whole = words.next().is_some(),
            "chain" => filter.stands_in(words.next(), None),
            "link" => filter.keys.push(Key::Other(format!("link {}", words.next().unwrap_or_default()))),
            "key" => {
                words.next();
                filter.stands_in(None, words.next());
            }
            _ => {}
        }
    }
    if !matches!(
        filter.kind.as_str(),
        "u32" | "flower" | "matchall" | "fw" | "basic" | "route" | "rsvp" | "flow"
    ) && filter.is_whole()
    {
        let kind = filter.kind.clone();
        filter.action(&kind, "");
    }
    filter
}

fn statistics(items: &mut Items, words: &[&str]) {
    let Some(qdisc) = items.qdiscs.last_mut() else { return };
    let after = |name: &str| {
        let at = words.iter().position(|word| word.trim_start_matches('(') == name)?;
        words.get(at + 1)?.trim_end_matches([',', ')']).parse().ok()
    };
    if words.first() == Some(&"Sent") {
        qdisc.drops = after("dropped");
        qdisc.overlimits = after("overlimits");
    }
}

/// Returns what a packet meets behind an action, as in `gact action drop`.
fn after_action<'a>(words: &[&'a str]) -> &'a str {
    let at = words.iter().position(|word| *word == "action");
    at.and_then(|at| words.get(at + 1)).copied().unwrap_or_default()
}

fn selector(items: &mut Items, words: &[&str]) {
    let Some(filter) = items.filters.last_mut() else { return };
    // The description of an action ends at the next filter; several actions stand one after another.
    if filter.acts && !matches!(words, ["action", "order", ..]) {
        return;
    }
    match (filter.kind.as_str(), words) {
        (_, ["action", "order", _, kind, rest @ ..]) => {
            let has =
                |word: &str| rest.iter().any(|own| own.trim_matches(['(', ')']).eq_ignore_ascii_case(word));
            match *kind {
                "mirred" if has("mirror") => filter.action("mirror", ""),
                "mirred" => filter.action("mirred", rest.get(..5).unwrap_or(rest).join(" ").as_str()),
                // The rest of its words stand in the next line, or behind `action`.
                "gact" => filter.action("gact", after_action(rest)),
                kind => filter.action(kind, after_action(rest)),
            }
        }
        (_, ["police", ..]) => filter.action("police", ""),
        (_, ["action", ..]) => filter.action("action", words.get(1..).unwrap_or_default().join(" ").as_str()),
        // Counters.
        (_, [word, ..]) if word.starts_with('(') => {}
        ("u32", ["match", pair, "at", at, ..]) => {
            let bits = |text: &str| u32::from_str_radix(text, 16).ok();
            let read = pair
                .split_once('/')
                .and_then(|(value, mask)| Some((bits(value)?, bits(mask)?, at.parse().ok()?)));
            match read {
                Some((value, mask, at)) => filter.compare(value, mask, at),
                // `at nexthdr+0` and the like: a place that moves.
                None => filter.keys.push(Key::Other(words.join(" "))),
            }
        }
        ("u32", [..]) => filter.keys.push(Key::Other(words.join(" "))),
        ("flower", [name, value, ..]) => filter.flower(name, value),
        _ => {}
    }
}

fn clip(text: &str) -> String {
    text.trim().chars().take(80).collect()
}
