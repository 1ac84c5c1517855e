//! Names and values that stand apart: XML elements and attributes, environment lists and secrets of Kubernetes.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::name::{Strength, meaning};
use crate::redact::rule::pattern;
use crate::redact::span::Span;
use crate::redact::value::is_secret;

/// `<password>x</password>`.
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"<(?:[A-Za-z0-9]{1,16}:)?([A-Za-z][A-Za-z0-9_.-]{1,60})(?: [^<>]{0,120})?>([^<>\s][^<>]*)</")
});

/// `<add key="DbPassword" value="x"/>`.
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b(?:key|name)=["']([A-Za-z][A-Za-z0-9_.: -]{1,80})["'][^<>"']{0,40}\svalue=["']([^"'\r\n]+)["']"#,
    )
});

/// `- name: DB_PASSWORD` with `value: x` on the next line.
static ENVIRONMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"\b(?:name|key): *["']?([A-Za-z_][A-Za-z0-9_.-]{1,80})["']? *\r?\n[ \t-]*value: *["']?([^"'\r\n]+)"#,
    )
});

/// The head of a block of secrets.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^( *)(?:data|stringData): *\r?$"));

/// One value of such a block.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^( *)[A-Za-z0-9_.-]+: *["']?([^"'\r\n]+)"#));

/// Finds the values whose name stands apart.
pub(super) fn find(text: &str, found: &mut Vec<Span>) {
    for pattern in [&ELEMENT, &ATTRIBUTE, &ENVIRONMENT] {
        for captures in pattern.captures_iter(text) {
            let (Some(name), Some(value)) = (captures.get(1), captures.get(2)) else { continue };
            if let Some(meaning) = meaning(name.as_str())
                && is_secret(value.as_str(), meaning.strength, meaning.category)
            {
                found.push(Span::new(
                    value.start()..value.start() + value.as_str().trim_end().len(),
                    meaning.category,
                ));
            }
        }
    }
    if text.contains("kind: Secret") {
        blocks(text, found);
    }
}

/// Finds the values of every block in the documents that say they are secrets.
fn blocks(text: &str, found: &mut Vec<Span>) {
    let mut start = 0;
    for document in text.split_inclusive("\n---") {
        if document
            .lines()
            .any(|line| line.trim_end().trim_start_matches("- ").trim_start() == "kind: Secret")
        {
            for captures in BLOCK.captures_iter(document) {
                let (Some(head), Some(indent)) = (captures.get(0), captures.get(1)) else { continue };
                block(document, head.end(), indent.len(), start, found);
            }
        }
        start += document.len();
    }
}

/// Finds the values of one block: the lines that stand deeper than its head.
fn block(document: &str, from: usize, indent: usize, shift: usize, found: &mut Vec<Span>) {
    let mut at = from;
    for line in document.get(from..).unwrap_or_default().split_inclusive('\n') {
        if let Some(captures) = ENTRY.captures(line)
            && let (Some(space), Some(value)) = (captures.get(1), captures.get(2))
        {
            if space.len() <= indent {
                return;
            }
            if is_secret(value.as_str(), Strength::Certain, "secret") {
                let start = shift + at + value.start();
                found.push(Span::new(start..start + value.as_str().trim_end().len(), "secret"));
            }
        } else if !line.trim().is_empty() {
            return;
        }
        at += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        find(text, &mut found);
        let hidden: Vec<&str> = found.iter().map(|span| &text[span.range.clone()]).collect();
        assert_eq!(hidden, expected, "{text}");
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
