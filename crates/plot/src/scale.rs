//! Numbers as people read them on an axis.

/// A unit of time: its name, and how many nanoseconds it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    /// Its name in words.
    pub words: &'static str,
    nanos: f64,
}

const UNITS: [Unit; 5] = [
    Unit { name: "h", words: "hours", nanos: 3.6e12 },
    Unit { name: "min", words: "minutes", nanos: 6e10 },
    Unit { name: "s", words: "seconds", nanos: 1e9 },
    Unit { name: "ms", words: "milliseconds", nanos: 1e6 },
    Unit { name: "µs", words: "microseconds", nanos: 1e3 },
];

impl Unit {
    /// Returns the unit in which a span is at least a few.
    pub fn of(span: u64) -> Self {
        let [.., least] = UNITS;
        UNITS.into_iter().find(|unit| span as f64 >= 3.0 * unit.nanos).unwrap_or(least)
    }

    /// Returns a time in this unit.
    pub fn count(self, nanos: u64) -> f64 {
        nanos as f64 / self.nanos
    }
}

/// Returns a span with its unit, in two digits or so: `0.13 s`.
pub fn span(nanos: u64) -> String {
    let unit = UNITS.into_iter().find(|unit| nanos as f64 >= unit.nanos * 0.95);
    let [.., least] = UNITS;
    let unit = unit.unwrap_or(least);
    let count = unit.count(nanos);
    let digits = if count >= 10.0 {
        0
    } else if count >= 1.0 {
        1
    } else {
        2
    };
    format!("{} {}", trimmed(count, digits), unit.name)
}

/// Returns a number without zeros at its end.
pub fn trimmed(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns a place on an axis of time.
pub fn tick(number: &f64) -> String {
    trimmed(*number, 3)
}

/// Returns a count, short.
pub fn count(number: &f64) -> String {
    short(*number, [" G", " M", " k", ""])
}

/// Returns a count of bytes, short.
pub fn bytes(number: &f64) -> String {
    short(*number, [" GB", " MB", " kB", " B"])
}

/// Returns a number in the largest unit of which it has enough; a few thousands are read as they are.
fn short(number: f64, [billions, millions, thousands, ones]: [&str; 4]) -> String {
    let (scaled, suffix) = match number.abs() {
        large if large >= 1e9 => (number / 1e9, billions),
        large if large >= 1e6 => (number / 1e6, millions),
        large if large >= 1e4 => (number / 1e3, thousands),
        _ => (number, ones),
    };
    format!("{}{suffix}", trimmed(scaled, 2))
}

/// Returns milliseconds in the unit that suits them.
pub fn millis(number: &f64) -> String {
    let (scaled, suffix) = match *number {
        large if large >= 1000.0 => (large / 1000.0, " s"),
        small if small > 0.0 && small < 0.1 => (small * 1000.0, " µs"),
        usual => (usual, " ms"),
    };
    format!("{}{suffix}", trimmed(scaled, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_have_their_unit() {
        assert_eq!(span(134_217_728), "134 ms");
        assert_eq!(span(1_073_741_824), "1.1 s");
        assert_eq!(span(900), "0.9 µs");
        assert_eq!(count(&1500.0), "1500");
        assert_eq!(count(&15_000.0), "15 k");
        assert_eq!(bytes(&2_500_000.0), "2.5 MB");
        assert_eq!(millis(&0.05), "50 µs");
        assert_eq!(millis(&2500.0), "2.5 s");
        assert_eq!(Unit::of(4_000_000_000).name, "s");
        assert_eq!(Unit::of(2_000_000_000).name, "ms");
        assert_eq!(tick(&0.25), "0.25");
    }
}
