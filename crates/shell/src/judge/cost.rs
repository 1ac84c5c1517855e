//! The cost of a whole text: what every command of it allows itself, summed up.
//!
//! Goes in: the words of a command and the cost that its entry states. Comes out: seconds, connections, URLs and parts, or that the
//! command has no end. Never: a bound of one part taken for a bound of the text.

use super::allow::Time;
use crate::policy::{CostRule, Entry, Factor, Given, Refusal, Targets, ports, thousandths};

/// The longest text that runs without a question.
const MAX_BYTES: usize = 16 * 1024;
/// The most commands in a text, in its loops and in its scripts for guests.
pub(super) const MAX_PARTS: u64 = 64;
/// The most connections that a text does not name one by one.
const MAX_CONNECTIONS: u64 = 100;
/// The most addresses that `curl` asks in a text.
const MAX_URLS: u64 = 16;
/// The most milliseconds in guests.
const MAX_GUEST_MILLIS: u64 = 60_000;

/// What commands take together. Everything that is added saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cost {
    /// Commands.
    pub(super) parts: u64,
    /// Connections that the text does not name one by one.
    connections: u64,
    /// Connections that it does name, each with its host and its port.
    named: u64,
    /// Addresses for `curl`.
    urls: u64,
    /// How long guests are busy.
    guest_millis: u64,
}

impl Cost {
    /// Returns the cost of commands without a cost of their own.
    pub(super) fn of_parts(parts: u64) -> Self {
        Self { parts, ..Self::default() }
    }

    /// Adds up.
    pub(super) fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, cost| Self {
            parts: sum.parts.saturating_add(cost.parts),
            connections: sum.connections.saturating_add(cost.connections),
            named: sum.named.saturating_add(cost.named),
            urls: sum.urls.saturating_add(cost.urls),
            guest_millis: sum.guest_millis.saturating_add(cost.guest_millis),
        })
    }

    /// Returns the cost of a command that stands in a loop: the text names its connections together.
    pub(super) fn in_loop(self) -> Self {
        Self { connections: self.connections.saturating_add(self.named), named: 0, ..self }
    }

    /// Returns the cost of the same commands on several machines.
    pub(super) fn on_machines(self, count: u64) -> Self {
        if count < 2 {
            return self;
        }
        let all = self.in_loop();
        Self {
            parts: all.parts.saturating_mul(count),
            connections: all.connections.saturating_mul(count),
            named: 0,
            urls: all.urls.saturating_mul(count),
            guest_millis: all.guest_millis.saturating_mul(count),
        }
    }

    /// Refuses a text whose sums are beyond the bounds, and says the sum.
    pub(super) fn check(self, bytes: usize) -> Result<(), Refusal> {
        let seconds = self.guest_millis.div_ceil(1_000);
        let all = [
            (self.parts > MAX_PARTS, format!("the text has {} commands", grouped(self.parts)), "64"),
            (
                self.connections > MAX_CONNECTIONS,
                format!(
                    "the text makes {} connections that it does not name one by one",
                    grouped(self.connections)
                ),
                "100",
            ),
            (self.urls > MAX_URLS, format!("the text asks for {} URLs", grouped(self.urls)), "16"),
            (
                self.guest_millis > MAX_GUEST_MILLIS,
                format!("the text keeps guests busy for up to {} seconds", grouped(seconds)),
                "60",
            ),
            (
                bytes > MAX_BYTES,
                format!("the text has {} bytes", grouped(u64::try_from(bytes).unwrap_or(u64::MAX))),
                "16,384",
            ),
        ];
        all.into_iter().find(|(is_beyond, ..)| *is_beyond).map_or(Ok(()), |(_, what, most)| {
            Err(Refusal::new("sum", format!("{what}; up to {most} run without a question")))
        })
    }
}

/// Writes a number with commas between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns what one command takes.
///
/// # Errors
/// Refuses a command that follows something without an end, one that has no end in a guest, and more ports than one scan may have.
pub(super) fn of_command(entry: &Entry, given: &Given<'_>, time: Time) -> Result<Cost, Refusal> {
    let rule = &entry.cost;
    let has = |options: &[String]| options.iter().any(|option| option == "*" || given.has(option));
    if time.guest && has(&rule.never) {
        return Err(Refusal::new("option", format!("`{}` has no place in a guest", rule.never.join("`, `"))));
    }
    let (listed, in_ranges) = targets(rule, given);
    let all = listed.saturating_add(in_ranges);
    if rule.targets == Targets::Ports && all > MAX_CONNECTIONS {
        return Err(Refusal::new("operand", format!("{} ports are a scan", grouped(all))));
    }
    let endless = || Refusal::new("endless", "it goes on until it is stopped: put `timeout` before it");
    if has(&entry.follows) && time.bound.is_none() {
        return Err(endless());
    }
    if has(&entry.watches) && time.bound.is_none_or(|millis| millis > MAX_GUEST_MILLIS) {
        let what = "it keeps the cluster at work until it is stopped: put `timeout 60` before it";
        return Err(Refusal::new("endless", what));
    }
    let guest_millis = match (time.guest, time.bound) {
        (false, _) => 0,
        (true, Some(bound)) => bound,
        (true, None) if has(&rule.endless) => return Err(endless()),
        (true, None) if !rule.repeats.is_empty() && !has(&rule.repeats) => 0,
        (true, None) => millis(rule, given, all).ok_or_else(endless)?,
    };
    Ok(Cost {
        parts: 1,
        connections: in_ranges,
        named: if entry.profile.opens_connections() { listed } else { 0 },
        urls: if rule.targets == Targets::Urls { all } else { 0 },
        guest_millis,
    })
}

/// Counts what a command connects to: what it lists, and what stands in ranges.
fn targets(rule: &CostRule, given: &Given<'_>) -> (u64, u64) {
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let operands = given.operands.iter().copied();
    match rule.targets {
        Targets::One => (1, 0),
        Targets::Ports => {
            operands.skip(1).filter_map(ports).fold((0, 0), |(listed, in_ranges), ports| match ports {
                1 => (listed + 1, in_ranges),
                many => (listed, in_ranges + count(many)),
            })
        }
        Targets::Urls => (count(operands.count() + given.values(&["--url"]).count()), 0),
        Targets::Operands => (count(operands.count()).max(1), 0),
        Targets::Questions => {
            let is_type = |word: &str| rule.types.iter().any(|known| known.eq_ignore_ascii_case(word));
            let asked = operands.filter(|word| !word.starts_with(['@', '+']) && !is_type(word));
            (count(asked.count() + given.values(&["-q", "-x"]).count()).max(1), 0)
        }
    }
}

/// Returns how long a command runs at most; `None` if it has no end.
fn millis(rule: &CostRule, given: &Given<'_>, targets: u64) -> Option<u64> {
    if rule.factors.is_empty() {
        return Some(0);
    }
    let mut product = 1_000_u64;
    for factor in &rule.factors {
        let value = factor_value(factor, given)?;
        product = match factor.divides {
            true => product.saturating_mul(1_000).div_ceil(value).div_ceil(1_000).saturating_mul(1_000),
            false => product.saturating_mul(value).div_ceil(1_000),
        };
    }
    let once = rule.once.iter().try_fold(0_u64, |sum, option| {
        Some(greatest(given, option, 0)?.map_or(sum, |value| sum.saturating_add(value)))
    })?;
    let total = product.saturating_add(once).saturating_mul(targets);
    rule.deadline.iter().try_fold(total, |total, option| {
        Some(greatest(given, option, 0)?.map_or(total, |value| total.max(value)))
    })
}

/// Returns a factor in thousandths; `None` for a value without an end.
fn factor_value(factor: &Factor, given: &Given<'_>) -> Option<u64> {
    if factor.is_numbers {
        return numbers(&given.operands);
    }
    let mut found: Option<u64> = None;
    for (option, more) in &factor.options {
        let value = greatest(given, option, *more)?;
        found = match (found, value) {
            (Some(known), Some(value)) if factor.divides => Some(known.min(value)),
            (known, value) => known.max(value),
        };
    }
    found.or(factor.default)
}

/// Returns the greatest value of an option, if the command gives it. The outer `None` means no end: zero turns the limit off in some
/// programs, and a value that is no number is not understood.
fn greatest(given: &Given<'_>, option: &str, more: u64) -> Option<Option<u64>> {
    let read = |value: &&str| {
        // `traceroute -w MAX,HERE,NEAR`.
        let first = value.split([',', '/']).next().unwrap_or_default();
        thousandths(first).filter(|value| *value > 0 || more > 0)
    };
    let values: Vec<&str> = given.factor_values(option).collect();
    let values = values.iter().map(read).collect::<Option<Vec<u64>>>()?;
    Some(values.into_iter().max().map(|value| value.saturating_add(more.saturating_mul(1_000))))
}

/// Multiplies an interval and a count, the last operands. Without both the program runs once; an interval alone has no end.
fn numbers(operands: &[&str]) -> Option<u64> {
    let trailing: Vec<u64> = operands.iter().rev().map_while(|word| thousandths(word)).collect();
    match trailing.as_slice() {
        [] => Some(0),
        [_] => None,
        all => Some(all.iter().fold(1_000_u64, |product, value| product.saturating_mul(*value) / 1_000)),
    }
}
