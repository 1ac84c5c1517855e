//! Secrets in sentences: "the password is X", "password for ops: X", "use X as the token".

use crate::redact::name::Strength;
use crate::redact::reader::{PatternMatch, Reader, Rule, rule};
use crate::redact::value::{is_generated, is_secret};

/// The noun, what it is for, the verb, and the word behind.
pub(super) static RULES: [Rule; 1] = [rule!(
    sentence,
    ["pass", "pwd", "pin", "psk", "secret", "token", "key", "credential", "login"],
    r#"(?i)\b(passwords?|passwd|pwd|passphrase|passcode|pin|psk|secret|token|(?:api|access|account|storage|shared|pre-?shared)[ -]?key|credentials?|login)(?:[ \t]+(?:for|of|on|to)[ \t]+[^\s:]{1,64}(?:[ \t]+[^\s:]{1,64}){0,2}?)?(?:[ \t]+(?:is|are|was|will[ \t]+be|has[ \t]+been|became|now)(?:[ \t]+(?:now|still|just|simply|set[ \t]+to|changed[ \t]+to|reset[ \t]+to|equal[ \t]+to))?[ \t]*:?|[ \t]+(?:set|changed|reset)[ \t]+to|[ \t]*[:=])[ \t]+(["'`“«]?)([^\s"'`”»]+)"#
)];

/// Words that say something about a secret and are none.
const WORDS: &str = " weak strong short long longer shorter old new newer right good bad best safe secure unsafe insecure blank same identical \
     different temporary permanent stale fresh fine public private plain plaintext global local random easy hard simple complex \
     gone here there only always never often usually probably also about being used known shown kept sent held bound stored \
     visible correct wrong case-sensitive base64 hex utf-8 ascii alphanumeric bearer jwt one two three four more less at by \
     from with without this that these those it its my your our their his her all any some each every what which who how why \
     when where if then else likely already currently either neither part no-op needed both your-password changeit-later ";

/// Hides what a sentence gives away.
fn sentence(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    let (noun, word) = (place.text(1), place.range(3));
    let value = place.text(3).trim_end_matches(['.', ',', ';', ':', ')', '?', '…']);
    let range = word.start..word.start + value.len();
    let behind = reader.text.get(range.end..).unwrap_or_default();
    let ends =
        behind.trim_start_matches([' ', '\t', '"', '\'', '`']).starts_with(['\n', '\r', '.', ',', ';'])
            || behind.trim().is_empty();
    let is_password = noun.to_ascii_lowercase().starts_with("pass");
    let quoted = !place.text(2).is_empty();
    let certain = is_generated(value) || (quoted && is_password) || (is_password && ends && !speaks(value));
    if certain && !is_about(value) && is_secret(value, Strength::NoPath, "secret") {
        reader.hide(range, category(noun));
    }
}

/// Tells whether a word describes a secret.
fn speaks(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let ends =
        ["ed", "ing", "able", "ible", "ly", "ent", "ant", "ory"].iter().any(|end| lower.ends_with(end));
    ends || lower.len() < 4 || WORDS.contains(&format!(" {lower} "))
}

/// Tells whether a word is the form, the place or the length of a secret: `SHA256-hashed`, `8-character`, `kv1/secrets/x`.
fn is_about(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let forms =
        ["hashed", "encoded", "encrypted", "based", "only", "bit", "bits", "byte", "bytes", "protected"];
    forms.iter().any(|form| lower.ends_with(form))
        || lower.contains("character")
        || lower.contains("://")
        || WORDS.contains(&format!(" {lower} "))
}

/// Names what a noun stands for.
fn category(noun: &str) -> &'static str {
    let lower = noun.to_ascii_lowercase();
    match lower.as_str() {
        "token" => "token",
        "secret" => "secret",
        "psk" => "shared_key",
        _ if lower.starts_with("api") => "api_key",
        _ if lower.contains("key") => "access_key",
        _ => "password",
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
    fn a_sentence_gives_a_password_away() {
        check("The admin password is hunter2.", &["hunter2"]);
        check("the password is swordfish", &["swordfish"]);
        check("password for ops is 'open sesame'", &["open"]);
        check("Password has been reset to Winter2026!", &["Winter2026!"]);
        check("the API key is 9f8e7d6c5b4a", &["9f8e7d6c5b4a"]);
    }

    #[test]
    fn a_sentence_about_a_password_stays() {
        for text in [
            "password is required",
            "The password is expired, ask ana",
            "the password is at least 8 characters long",
            "the password is SHA256-hashed",
            "the token is a bucket",
            "the key is which rule drops",
            "secret is stored in vault",
            "the password was changed by ana",
            "password is weak",
            "the token is https://kv1.vault.azure.net/secrets/x",
        ] {
            check(text, &[]);
        }
    }
}
