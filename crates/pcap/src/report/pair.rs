//! A comparison as Markdown, for a thread.

use std::fmt::Write as _;

use super::{course, ends};
use crate::compare::{Pair, Side};

/// Writes a comparison for people; the packets come first where both ends of a way are compared.
#[must_use]
pub fn markdown_of_pair(pair: &Pair, (a, b): (&str, &str), ends_first: bool) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(&mut out, pair, (a, b), ends_first);
    out
}

fn write(out: &mut String, pair: &Pair, (a, b): (&str, &str), ends_first: bool) -> std::fmt::Result {
    let sentence = if ends_first { &pair.path.sentence } else { &pair.course.sentence };
    writeln!(out, "# {a} and {b}\n\n**{sentence}.**\n")?;
    let (role_a, role_b) = if ends_first { ("source side", "destination side") } else { ("before", "now") };
    writeln!(
        out,
        "| | capture | packets | bytes | seconds | packets/s | from |\n|---|---|---|---|---|---|---|"
    )?;
    side(out, ("A", role_a), a, &pair.a)?;
    side(out, ("B", role_b), b, &pair.b)?;
    if ends_first {
        ends::ends(out, pair)?;
        steps(out, &pair.path.next)?;
    } else {
        course::course(out, pair)?;
        steps(out, &pair.course.next)?;
    }
    if !pair.warnings.is_empty() {
        writeln!(out, "\n## Warnings\n")?;
    }
    pair.warnings.iter().try_for_each(|warning| writeln!(out, "- {warning}."))
}

fn side(out: &mut String, (letter, role): (&str, &str), name: &str, side: &Side) -> std::fmt::Result {
    let file = &side.file;
    let cut = if file.cut_off { ", cut off" } else { "" };
    let rate = if file.duration_s > 0.0 {
        format!("{:.1}", file.packets as f64 / file.duration_s)
    } else {
        "-".to_owned()
    };
    let from = file.first.as_deref().unwrap_or("-");
    writeln!(
        out,
        "| {letter} ({role}{cut}) | {name} | {} | {} | {:.3} | {rate} | {from} |",
        file.packets, file.bytes, file.duration_s
    )
}

fn steps(out: &mut String, next: &[String]) -> std::fmt::Result {
    if !next.is_empty() {
        writeln!(out, "\n## Next\n")?;
    }
    (1..).zip(next).try_for_each(|(number, step)| writeln!(out, "{number}. {step}."))
}
