//! Names and values that stand apart: XML elements and attributes, environment lists and secrets of Kubernetes.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::name::{Meaning, Strength, meaning};
use crate::redact::reader::{PatternMatch, Reader, Rule, pattern, rule};

/// Names beside their values, and the blocks of Kubernetes.
pub(super) static RULES: [Rule; 4] = [
    // `<password>x</password>`.
    rule!(
        named,
        ["</"],
        r"<(?:[A-Za-z0-9]{1,16}:)?([A-Za-z][A-Za-z0-9_.-]{1,60})(?: [^<>]{0,120})?>([^<>\s][^<>]*)</"
    ),
    // `<add key="DbPassword" value="x"/>`.
    rule!(
        named,
        ["value="],
        r#"(?i)\b(?:key|name)=["']([A-Za-z][A-Za-z0-9_.: -]{1,80})["'][^<>"']{0,40}\svalue=["']([^"'\r\n]+)["']"#
    ),
    // `- name: DB_PASSWORD` with `value: x` on the next line.
    rule!(
        named,
        ["value:"],
        r#"\b(?:name|key): *["']?([A-Za-z_][A-Za-z0-9_.-]{1,80})["']? *\r?\n[ \t-]*value: *["']?([^"'\r\n]+)"#
    ),
    Rule::Walk(blocks),
];

/// The head of a block of secrets.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^( *)(?:data|stringData): *\r?$"));

/// What every value of such a block is.
const SECRET: Meaning = Meaning { category: "secret", strength: Strength::Certain };

/// One value of such a block.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^( *)[A-Za-z0-9_.-]+: *["']?([^"'\r\n]+)"#));

/// Hides a value whose name promises a secret.
fn named(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    if let Some(meaning) = meaning(place.text(1)) {
        let start = place.range(2).start;
        reader.hide_secret(start..start + place.text(2).trim_end().len(), meaning);
    }
}

/// Hides the values of every block in the documents that say they are secrets.
fn blocks(reader: &mut Reader<'_>) {
    if !reader.text.contains("kind: Secret") {
        return;
    }
    let mut start = 0;
    for document in reader.text.split_inclusive("\n---") {
        if document
            .lines()
            .any(|line| line.trim_end().trim_start_matches("- ").trim_start() == "kind: Secret")
        {
            for captures in BLOCK.captures_iter(document) {
                let (Some(head), Some(indent)) = (captures.get(0), captures.get(1)) else { continue };
                block(reader, start + head.end()..start + document.len(), indent.len());
            }
        }
        start += document.len();
    }
}

/// Hides the values of one block: of the lines that stand deeper than its head.
fn block(reader: &mut Reader<'_>, range: Range<usize>, indent: usize) {
    let mut at = range.start;
    for line in reader.text.get(range).unwrap_or_default().split_inclusive('\n') {
        if let Some(captures) = ENTRY.captures(line)
            && let (Some(space), Some(value)) = (captures.get(1), captures.get(2))
        {
            if space.len() <= indent {
                return;
            }
            let start = at + value.start();
            reader.hide_secret(start..start + value.as_str().trim_end().len(), SECRET);
        } else if !line.trim().is_empty() {
            return;
        }
        at += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::reader;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        reader::check(&RULES, text, expected);
    }

    #[test]
    fn a_value_is_found_where_its_name_stands_apart() {
        check("<user>ana</user><password>a b</password>", &["a b"]);
        check("<add key=\"DbPassword\" value=\"a b\"/>", &["a b"]);
        check("- name: DB_PASSWORD\n  value: hunter2\n- name: HOST\n  value: db", &["hunter2"]);
    }

    #[test]
    fn every_value_of_a_kubernetes_secret_is_one() {
        check(
            "kind: Secret\ndata:\n  user: YWRtaW4=\n  host: ZGI=\nmetadata:\n  name: db",
            &["YWRtaW4=", "ZGI="],
        );
        check("kind: ConfigMap\ndata:\n  host: db", &[]);
    }
}
