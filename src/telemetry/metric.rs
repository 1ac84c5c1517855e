//! The metrics as Prometheus reads them, taken apart again: one list of numbers, printed and sent.

use std::collections::BTreeMap;

use crate::http::{Described, Kind, TABLE};

/// A metric with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    pub(super) about: &'static Described,
    pub(super) points: Vec<Point>,
}

/// Numbers under the same labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) labels: Vec<(String, String)>,
    pub(super) number: Number,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    One(f64),
    /// The upper bounds but the last, which is infinite; how many are in each bucket; their sum.
    Buckets {
        bounds: Vec<f64>,
        counts: Vec<u64>,
        sum: f64,
    },
}

/// A histogram that is being read: what was counted up to each bound, and the sum.
#[derive(Default)]
struct Cumulative {
    up_to: Vec<(f64, u64)>,
    sum: f64,
}

/// Reads what `/metrics` prints. Lines about metrics that are not ours are left out.
pub(super) fn read(text: &str) -> Vec<Metric> {
    TABLE.iter().map(|about| Metric { about, points: points(text, about) }).collect()
}

fn points(text: &str, about: &Described) -> Vec<Point> {
    let samples = text.lines().filter(|line| !line.starts_with('#')).filter_map(Sample::of);
    match about.kind {
        Kind::Counter | Kind::Gauge => samples
            .filter(|sample| sample.name == about.name)
            .map(|sample| Point { labels: sample.labels, number: Number::One(sample.value) })
            .collect(),
        Kind::Histogram => histogram(samples, about.name),
    }
}

fn histogram<'a>(samples: impl Iterator<Item = Sample<'a>>, name: &str) -> Vec<Point> {
    let mut read: BTreeMap<Vec<(String, String)>, Cumulative> = BTreeMap::new();
    for mut sample in samples {
        match sample.name.strip_prefix(name) {
            Some("_bucket") => {
                let Some(at) = sample.labels.iter().position(|(label, _)| label == "le") else { continue };
                let (_, bound) = sample.labels.remove(at);
                let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap_or(f64::NAN) };
                read.entry(sample.labels).or_default().up_to.push((bound, whole(sample.value)));
            }
            Some("_sum") => read.entry(sample.labels).or_default().sum = sample.value,
            Some(_) | None => {}
        }
    }
    let point = |(labels, Cumulative { mut up_to, sum }): (_, Cumulative)| {
        up_to.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let before = std::iter::once(0).chain(up_to.iter().map(|(_, count)| *count));
        let counts =
            up_to.iter().zip(before).map(|((_, count), before)| count.saturating_sub(before)).collect();
        let bounds = up_to.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite()).collect();
        Point { labels, number: Number::Buckets { bounds, counts, sum } }
    };
    read.into_iter().map(point).collect()
}

/// Counts are printed as whole numbers.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is counted is whole and not negative"
)]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

/// One line of the text format.
struct Sample<'a> {
    name: &'a str,
    labels: Vec<(String, String)>,
    value: f64,
}

impl<'a> Sample<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (name, labels, rest) = match line.split_once('{') {
            Some((name, rest)) => {
                let (labels, rest) = labels(rest)?;
                (name, labels, rest)
            }
            None => {
                let (name, rest) = line.split_once(' ')?;
                (name, Vec::new(), rest)
            }
        };
        let value = rest.split_whitespace().next()?.parse().ok()?;
        Some(Self { name, labels, value })
    }
}

/// Reads `name="value",…}`, in which quotes, backslashes and line ends are escaped; returns what comes behind it.
fn labels(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(',');
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, behind) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = behind.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => match chars.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, char) => value.push(char),
            }
        };
        labels.push((name.to_owned(), value));
        rest = behind.get(end + 1..)?;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::http::{Answer, Judged, Measures};

    fn find<'a>(all: &'a [Metric], name: &str) -> &'a Metric {
        all.iter().find(|metric| metric.about.name == name).unwrap()
    }

    #[test]
    fn every_metric_that_is_printed_is_read_with_its_numbers() {
        let measures = Measures::new();
        measures.command(Judged::Safe);
        measures.command(Judged::Safe);
        measures.answered(Answer::Approved, Duration::from_secs(20));
        measures.answered(Answer::Approved, Duration::from_secs(5_000));
        let all = read(&measures.print());
        assert_eq!(all.len(), TABLE.len());
        let safe = vec![("verdict".to_owned(), "safe".to_owned())];
        let commands = &find(&all, "ghost_commands_total").points;
        assert!(commands.contains(&Point { labels: safe, number: Number::One(2.0) }), "{commands:?}");
        let waited = all.iter().find(|metric| {
            metric
                .points
                .iter()
                .any(|point| matches!(&point.number, Number::Buckets { sum, .. } if *sum > 5_000.0))
        });
        let Number::Buckets { bounds, counts, sum } = &waited.unwrap().points[0].number else { panic!() };
        assert_eq!((counts.len(), counts.iter().sum::<u64>(), *sum), (bounds.len() + 1, 2, 5_020.0));
        assert_eq!(counts.last(), Some(&1), "longer than every bound");
    }

    #[test]
    fn labels_may_hold_anything() {
        let (read, rest) = labels(r#"method="a\"b\\c\nd",outcome="ok"} 3"#).unwrap();
        let wanted = [("method", "a\"b\\c\nd"), ("outcome", "ok")];
        assert_eq!(read, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(rest, " 3");
        for cut in ["", "a", "a=\"", "a=\"b", "a=\"b\\", "a=\"b\""] {
            assert_eq!(labels(cut), None, "{cut}");
        }
    }
}
