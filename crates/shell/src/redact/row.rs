//! Rows that name their own secret, without a head: what `-o tsv` prints, boxes of two columns, settings without a sign.

use crate::redact::name::{Meaning, Strength, meaning};
use crate::redact::reader::{PatternMatch, Reader, Rule, rule};
use crate::redact::value::is_generated;

/// Rows whose shape says what they are, and rows of a name and a value.
pub(super) static RULES: [Rule; 5] = [
    // The key of an account behind its name.
    rule!(
        "storage_key",
        ["key", "primary", "secondary"],
        r#"(?m)(?:^|[\t |,"])(?i:key[12]|(?:primary|secondary)(?:[ _]?key)?)["]?[ \t]*[\t |,;][ \t]*(?:[|,"]?[ \t]*(?i:full|read|readwrite|write|all)["]?[ \t]*[\t |,;][ \t]*)?[|"]?[ \t]*([A-Za-z0-9+/]{43}=|[0-9A-Fa-f]{32})(?:[\s"|,;]|$)"#
    ),
    // Both keys of an account, and nothing else.
    rule!("access_key", ["\t"], r"(?m)^([0-9a-f]{32})\t([0-9a-f]{32})\r?$"),
    // The id of an access key, and the secret beside it.
    rule!(
        "access_key",
        ["akia", "asia"],
        r#"\b(?:AKIA|ASIA)[A-Z0-9]{12,16}["']?[ \t]*[,:;|\t ][ \t|]*["']?([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/=]|$)"#
    ),
    // A name and a value at the beginning of a line that a border, a tab or some blanks keep apart.
    rule!(
        pair,
        STEMS,
        r"(?m)^[ \t]*(?:[|│]|(?:set|add)[ \t])?[ \t]*([A-Za-z_][A-Za-z0-9_.-]{1,60}(?: [A-Za-z]{2,12}){0,2})[ \t]*(\t|[|│]| {1,40})[ \t]*([^\s|│]+)[ \t]*(?:[|│]?[ \t]*$|\r)"
    ),
    // A setting of an application as `-o tsv` prints it: its name, whether it belongs to a slot, its value.
    rule!(
        setting,
        ["\t"],
        r"(?m)^([A-Za-z_][A-Za-z0-9_.:-]{1,80})\t(?:(?i:true|false|none)?\t)?([^\t\r\n]+)\r?$"
    ),
];

/// Hides the value of a pair that is no heading and no sentence.
fn pair(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    let (name, value) = (place.text(1), place.text(3));
    let Some(said) = meaning(name) else { return };
    // Under `| password | user |` stands a ruler and below it a row: it is a head, and `grid` reads it.
    let mut below = reader.text.get(place.range(3).end..).unwrap_or_default().split('\n').skip(1);
    let ruler = below.next().map(str::trim).unwrap_or_default();
    let is_head = !ruler.is_empty()
        && ruler.bytes().all(|byte| b"|+-=: ".contains(&byte))
        && below.next().is_some_and(|row| row.contains('|'));
    let speaks = place.text(2) == " " && !is_setting(name, said);
    let is_value = is_generated(value) || value.len() >= 24 || is_directive(name);
    if !is_head && !speaks && is_value {
        reader.hide_secret(place.range(3), said);
    }
}

/// Hides the value of a setting.
fn setting(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    if let Some(said) = meaning(place.text(1)).filter(|said| said.strength >= Strength::NoPath)
        && !place.text(2).starts_with("http")
    {
        reader.hide_secret(place.range(2), said);
    }
}

/// Tells whether a name can only be that of a setting: prose does not write it.
fn is_setting(name: &str, said: Meaning) -> bool {
    let compound =
        name.contains(['_', '-', '.']) || name.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    said.strength == Strength::Certain && !name.contains(' ') && (compound || is_directive(name))
}

/// Tells whether a name is a directive whose value is a password, whatever its form.
fn is_directive(name: &str) -> bool {
    let known = ["bindpw", "rootpw", "olcrootpw", "requirepass", "masterauth", "auth_pass"];
    known.iter().any(|known| name.eq_ignore_ascii_case(known))
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
    fn a_row_names_its_own_secret() {
        check("DB_PASSWORD\tFalse\tsesame\nREGION\tFalse\twest\n", &["sesame"]);
        check("|  SecretAccessKey |  wJa9/x+AAbb  |\n|  UserName | ana1 |\n", &["wJa9/x+AAbb"]);
        check(
            "key1\tFULL\tZm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo=\n",
            &["Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo="],
        );
        check("uri ldap://h\nbindpw s3cr3t\n", &["s3cr3t"]);
        check(
            "0a1b2c3d4e5f60718293a4b5c6d7e8f9\tf9e8d7c6b5a4039281706f5e4d3c2b1a\n",
            &["0a1b2c3d4e5f60718293a4b5c6d7e8f9", "f9e8d7c6b5a4039281706f5e4d3c2b1a"],
        );
    }

    #[test]
    fn sentences_and_heads_stay() {
        for text in [
            "password authentication\n",
            "| password | description |\n|---|---|\n",
            "| token | string |\n",
            "password_policy strict9\n",
            "secret interval\n",
        ] {
            check(text, &[]);
        }
    }
}
