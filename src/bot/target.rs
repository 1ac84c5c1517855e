//! What a symptom is about: the names of machines, networks and addresses in it.
//!
//! Two symptoms are about the same where they share a name. A name is a word of letters, digits, `.`, `-` and `_`, of three
//! characters or more, which has a digit beside letters or dots (`web-1`, `10.0.0.5`), an underline (`rg_prod`), two hyphens
//! (`tf-source-vm`) or dots between words (`db.internal`). Numbers alone, ports and times of the day name nothing. Upper and
//! lower case are one.

use std::collections::BTreeSet;

/// Words that look like names and are none.
const NO_NAMES: [&str; 8] = ["ipv4", "ipv6", "http2", "http3", "utf-8", "sha256", "layer4", "layer7"];

/// So many names are enough.
const MAX_NAMES: usize = 20;

pub(super) fn targets(text: &str) -> BTreeSet<String> {
    let inside = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_');
    let words = text.split(|char: char| !inside(char)).map(|word| word.trim_matches(['.', '-', '_']));
    words.filter(|word| is_name(word)).map(str::to_ascii_lowercase).take(MAX_NAMES).collect()
}

fn is_name(word: &str) -> bool {
    if word.len() < 3 || word.len() > 80 || NO_NAMES.iter().any(|none| none.eq_ignore_ascii_case(word)) {
        return false;
    }
    let has = |test: fn(char) -> bool| word.contains(test);
    let (digit, letter) = (has(|char| char.is_ascii_digit()), has(|char| char.is_ascii_alphabetic()));
    let dots = word.split('.').count();
    let address = !letter && digit && dots == 4;
    let numbered = letter && digit;
    let joined = letter && (word.contains('_') || word.matches('-').count() >= 2);
    let domain = letter && dots >= 2 && word.split('.').all(|part| part.len() >= 2);
    address || numbered || joined || domain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_stand() {
        for (text, names) in [
            ("iperf from tf-source-vm to TF-dest-vm:5001 hangs", vec!["tf-dest-vm", "tf-source-vm"]),
            ("(web-1) cannot reach 10.0.0.5:443/tcp.", vec!["10.0.0.5", "web-1"]),
            ("db.internal and rg_prod, since 09:31", vec!["db.internal", "rg_prod"]),
            ("the link is down, e.g. port 5001 over IPv4 since 2026-11-21", vec![]),
            ("a re-run of the on-call hand-over at 99.9 %", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(targets(text).into_iter().collect::<Vec<_>>(), names, "{text}");
        }
    }
}
