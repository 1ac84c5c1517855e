//! The JSON form of `tc`. A key may stand twice in one object, so a tree of our own keeps both.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::filter::{Filter, Key};
use super::item::{Class, Items, Options, long_run_loss};
use super::sheet::Qdisc;
use super::unit::hexadecimal;

/// A JSON value in which an object is a list of pairs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Truth(bool),
    Number(f64),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn pairs(&self) -> &[(String, Self)] {
        if let Self::Object(pairs) = self { pairs.as_slice() } else { &[] }
    }

    fn get(&self, name: &str) -> Option<&Self> {
        self.pairs().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.pairs().iter().filter(move |(key, _)| key == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Null | Self::Truth(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    fn number(&self, name: &str) -> Option<f64> {
        if let Self::Number(number) = self.get(name)? { Some(*number) } else { None }
    }

    fn count(&self, name: &str) -> Option<u64> {
        // A count of packets fits; what does not becomes the largest.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        self.number(name).map(|number| number as u64)
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Truth(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of 2^53 packets may be off by one")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of 2^53 packets may be off by one")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = from.next_element()? {
            list.push(value);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = from.next_entry()? {
            pairs.push(pair);
        }
        Ok(Tree::Object(pairs))
    }
}

/// Takes one document: a list of disciplines, classes or filters.
pub(super) fn document(items: &mut Items, tree: &Tree, line: usize) {
    let Tree::List(rows) = tree else {
        items.warn(line, "a JSON document that is no list");
        return;
    };
    items.recognised |= rows.is_empty();
    for (row, tree) in rows.iter().enumerate() {
        if tree.get("class").is_some() {
            items.classes.extend(class(tree, line));
            items.recognised = true;
        } else if tree.get("pref").is_some() {
            let filter = filter(tree, line);
            items.filters.push(filter);
            items.recognised = true;
        } else if let (Some(kind), Some(_)) = (tree.text("kind"), tree.get("handle")) {
            let qdisc = qdisc(items, tree, kind, line);
            items.qdiscs.push(qdisc);
            items.options.push(options(tree));
            items.recognised = true;
        } else if tree != &Tree::Object(Vec::new()) {
            items.warn(line, format!("row {} of a list is no qdisc, class or filter", row + 1));
        }
    }
}

fn qdisc(items: &mut Items, tree: &Tree, kind: String, line: usize) -> Qdisc {
    let nothing = Tree::Null;
    let options = tree.get("options").unwrap_or(&nothing);
    let share = |group: &str, name: &str| Some(options.get(group)?.number(name)? * 100.0);
    let mut qdisc = Qdisc {
        dev: tree.text("dev"),
        handle: tree.text("handle"),
        parent: tree.text("parent"),
        limit: options.text("limit"),
        drops: tree.count("drops"),
        overlimits: tree.count("overlimits"),
        ..Qdisc::default()
    };
    match kind.as_str() {
        "netem" => {
            let delay = options.get("delay").unwrap_or(&nothing);
            qdisc.delay_ms = delay.number("delay").map(|seconds| seconds * 1e3);
            qdisc.jitter_ms = delay.number("jitter").map(|seconds| seconds * 1e3);
            qdisc.loss_pct = share("loss-random", "loss");
            qdisc.corrupt_pct = share("corrupt", "corrupt");
            qdisc.duplicate_pct = share("duplicate", "duplicate");
            qdisc.reorder_pct = share("reorder", "reorder");
            qdisc.rate_bps =
                options.get("rate").and_then(|rate| rate.number("rate")).map(|bytes| bytes * 8.0);
            if options.get("loss-gemodel").is_some() {
                let share = |name, absent| share("loss-gemodel", name).unwrap_or(absent);
                qdisc.loss_pct = Some(long_run_loss(
                    share("p", 0.0),
                    share("r", 100.0),
                    share("1-h", 100.0),
                    share("1-k", 0.0),
                ));
            }
            if options.get("slot").is_some() {
                qdisc.impairs = true;
                qdisc.is_open = true;
                items.warn(line, "packets wait for slots: no single delay describes it");
            }
            if options.get("loss-state").is_some() {
                qdisc.impairs = true;
                qdisc.is_open = true;
                items.warn(line, "a loss model of four states: no single share describes it");
            }
        }
        "tbf" => qdisc.rate_bps = options.number("rate").map(|bytes| bytes * 8.0),
        "cake" => qdisc.rate_bps = options.number("bandwidth").map(|bytes| bytes * 8.0),
        _ => {}
    }
    qdisc.discipline = kind;
    qdisc
}

/// Reads what happens to packets that no filter chooses.
fn options(tree: &Tree) -> Options {
    let nothing = Tree::Null;
    let own = tree.get("options").unwrap_or(&nothing);
    let number = |name: &str| own.count(name).and_then(|number| u32::try_from(number).ok());
    let bands = match own.get("priomap") {
        Some(Tree::List(list)) => list.as_slice(),
        _ => &[],
    };
    let band = |tree: &Tree| match tree {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        Tree::Number(number) => Some(*number as u32),
        Tree::Null | Tree::Truth(_) | Tree::Text(_) | Tree::List(_) | Tree::Object(_) => None,
    };
    Options {
        bands: number("bands"),
        priomap: bands.iter().map_while(band).collect(),
        default: match own.get("default") {
            Some(Tree::Text(text)) => hexadecimal(text),
            _ => number("default"),
        },
    }
}

fn class(tree: &Tree, line: usize) -> Option<Class> {
    Some(Class {
        dev: tree.text("dev"),
        kind: tree.text("class")?,
        id: tree.text("handle")?,
        parent: tree.text("parent"),
        rate_bps: tree.number("rate").map(|bytes| bytes * 8.0),
        line,
    })
}

fn filter(tree: &Tree, line: usize) -> Filter {
    let nothing = Tree::Null;
    let options = tree.get("options").unwrap_or(&nothing);
    let mut filter = Filter {
        dev: tree.text("dev"),
        parent: tree.text("parent").unwrap_or_default(),
        protocol: tree.text("protocol").unwrap_or_else(|| "all".to_owned()),
        pref: tree.count("pref").and_then(|pref| pref.try_into().ok()).unwrap_or(u32::MAX),
        kind: tree.text("kind").unwrap_or_default(),
        flowid: options.text("flowid").or_else(|| options.text("classid")),
        line,
        whole: ["order", "keys", "handle", "match"].iter().any(|name| options.get(name).is_some()),
        ..Filter::default()
    };
    if let Some(Tree::List(actions)) = options.get("actions") {
        for action in actions {
            let control = action.get("control_action").and_then(|control| control.text("type"));
            match action.text("kind").as_deref() {
                Some("mirred")
                    if action.text("mirred_action").is_some_and(|word| word.contains("mirror")) =>
                {
                    filter.action("mirror", "");
                }
                kind => filter.action(kind.unwrap_or("an action"), control.as_deref().unwrap_or_default()),
            }
        }
    } else if options.get("actions").is_some() {
        filter.action("actions", "");
    }
    if options.get("police").is_some() {
        filter.action("police", "");
    }
    let is_plain = matches!(
        filter.kind.as_str(),
        "u32" | "flower" | "matchall" | "fw" | "basic" | "route" | "rsvp" | "flow"
    );
    if !is_plain && filter.is_whole() {
        let kind = filter.kind.clone();
        filter.action(&kind, "");
    }
    filter.stands_in(tree.text("chain").as_deref(), options.text("key_ht").as_deref());
    if let Some(link) = options.text("link") {
        filter.keys.push(Key::Other(format!("link {link}")));
    }
    for chosen in options.all("match") {
        let bits = |name| u32::from_str_radix(&chosen.text(name)?, 16).ok();
        let still = chosen.text("offmask").is_none_or(|mask| mask.is_empty());
        match (bits("value"), bits("mask"), chosen.number("off")) {
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            (Some(value), Some(mask), Some(at)) if still => filter.compare(value, mask, at as i64),
            _ => filter.keys.push(Key::Other("a comparison at a place that moves".to_owned())),
        }
    }
    if let Some(Tree::Object(keys)) = options.get("keys") {
        for (name, value) in keys {
            match value {
                Tree::Text(text) => filter.flower(name, text),
                Tree::Number(number) => filter.flower(name, &number.to_string()),
                Tree::Null | Tree::Truth(_) | Tree::List(_) | Tree::Object(_) => {
                    filter.keys.push(Key::Other(name.clone()));
                }
            }
        }
    }
    filter
}
