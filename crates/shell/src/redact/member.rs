//! What the members of a JSON object say about each other.

use std::borrow::Cow;
use std::ops::Range;

use crate::redact::cloud::is_guid;
use crate::redact::decode::Decoded;
use crate::redact::header;
use crate::redact::name::{Meaning, Strength, cloud_id, meaning};
use crate::redact::span::{Form, Span, is_placeholder};
use crate::redact::value::is_random;

/// A value of a JSON document, as far as it matters here.
#[derive(Debug, Clone)]
pub(super) enum Leaf<'a> {
    /// A string: its raw bytes and where they stand.
    Text(&'a str, Range<usize>),
    /// A number.
    Number(&'a str, Range<usize>),
    /// An object, an array, `true`, `false` or `null`.
    Other,
}

/// A name with its value.
#[derive(Debug)]
pub(super) struct Member<'a> {
    /// The decoded name.
    pub(super) name: Cow<'a, str>,
    pub(super) value: Leaf<'a>,
}

/// What the name around a value says about everything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Context {
    /// Nothing.
    #[default]
    Open,
    /// It is one secret: `"adminPassword": {"type": "String", "value": "x"}`.
    One(Meaning),
    /// It is a collection of secrets under names of their own: `"functionKeys": {"default": "x"}`.
    All(&'static str),
}

/// Names that hold the secret itself where the object around them says that it is one.
const VALUES: &[&str] =
    &["value", "plaintext", "current", "default", "defaultvalue", "text", "secrettext", "payload", "data"];

/// Collections whose every value is a secret.
const COLLECTIONS: &[&str] = &[
    "functionkeys",
    "systemkeys",
    "hostkeys",
    "protectedsettings",
    "stringdata",
    "adminkeys",
    "authkeys",
    "connectionstrings",
];

/// Reads what a name says about the values inside the one behind it.
pub(super) fn context(name: &str, around: Context) -> Context {
    let lower = name.to_ascii_lowercase();
    if COLLECTIONS.contains(&lower.as_str()) {
        return Context::All("access_key");
    }
    match meaning(name) {
        Some(meaning) if meaning.strength == Strength::Certain => Context::One(meaning),
        Some(_) | None => match around {
            Context::All(category) => Context::All(category),
            Context::Open | Context::One(_) => Context::Open,
        },
    }
}

/// Hides the members of an object that are secrets by their own name or by what stands beside them.
pub(super) fn judge(members: &[Member<'_>], context: Context, found: &mut Vec<Span>) {
    let said = said(members, context);
    let account = is_account(members);
    for member in members {
        let lower = member.name.to_ascii_lowercase();
        match cloud_id(&member.name) {
            Some((category, says_id)) => {
                hide_if(&member.value, category, found, |value| is_guid(value) || (says_id && is_id(value)));
                continue;
            }
            None if account && lower == "id" => {
                hide_if(&member.value, "subscription_id", found, is_guid);
                continue;
            }
            None => {}
        }
        if let Some(said) = said
            && VALUES.contains(&lower.as_str())
        {
            secret(&member.value, said, found);
        } else if let Some(meaning) = meaning(&member.name) {
            secret(&member.value, meaning, found);
        } else if let Context::All(category) = context {
            if !matches!(lower.as_str(), "name" | "id" | "type" | "kind" | "enabled" | "version" | "port") {
                secret(&member.value, Meaning { category, strength: Strength::Certain }, found);
            }
        } else if lower == "authorization"
            || lower == "proxy-authorization"
            || lower == "cookie"
            || lower == "set-cookie"
        {
            credential(&member.value, &lower, found);
        }
    }
    pairs(members, found);
}

/// Hides the items of an array that stand under a secret name, or behind an option.
pub(super) fn judge_items(items: &[Leaf<'_>], context: Context, found: &mut Vec<Span>) {
    let mut option: Option<Meaning> = None;
    for item in items {
        match context {
            Context::One(meaning) => secret(item, meaning, found),
            Context::All(category) => secret(item, Meaning { category, strength: Strength::Certain }, found),
            Context::Open => {}
        }
        if let Some(meaning) = option.take() {
            secret(item, meaning, found);
        }
        if let Leaf::Text(raw, _) = item {
            option = raw.strip_prefix('-').filter(|name| !name.contains(['=', ' ', ':'])).and_then(meaning);
        }
    }
}

/// Reads what the other members say about `value`: its name, its kind, its place in a vault.
fn said(members: &[Member<'_>], context: Context) -> Option<Meaning> {
    if let Context::One(meaning) = context {
        return Some(meaning);
    }
    let secret = Some(Meaning { category: "secret", strength: Strength::Certain });
    members.iter().find_map(|member| {
        let name = member.name.to_ascii_lowercase();
        let Leaf::Text(raw, _) = &member.value else {
            // Terraform and ARM mark their outputs.
            return None;
        };
        let value = Decoded::of(raw).text;
        match name.as_str() {
            "keyname" => Some(Meaning { category: "storage_key", strength: Strength::Certain }),
            "secretname" | "passwordname" => secret,
            "name" | "key" | "displayname" | "header" | "variable" => {
                match value.to_ascii_lowercase().as_str() {
                    "authorization" | "proxy-authorization" | "cookie" | "set-cookie" => secret,
                    "key1" | "key2" | "primary" | "secondary" => {
                        Some(Meaning { category: "access_key", strength: Strength::Faint })
                    }
                    _ => meaning(&value),
                }
            }
            "type" | "kind" | "contenttype" | "secrettype" => {
                let lower = value.to_ascii_lowercase();
                let is_kind = [
                    "secret",
                    "password",
                    "securestring",
                    "secureobject",
                    "psk",
                    "sharedkey",
                    "apikey",
                    "accesskey",
                ];
                let last = lower.rsplit(['/', '.', ' ']).next().unwrap_or_default();
                is_kind
                    .iter()
                    .any(|kind| last == *kind || last.strip_suffix('s') == Some(kind))
                    .then_some(())
                    .and(secret)
            }
            "id" | "kid" | "uri" => {
                let lower = value.to_ascii_lowercase();
                (lower.contains("/secrets/")
                    || lower.ends_with("/sharedkey")
                    || lower.ends_with("/sharedkeys"))
                .then_some(())
                .and(secret)
            }
            _ => None,
        }
    })
}

/// Tells whether an object describes a subscription: its bare `id` is the subscription's.
fn is_account(members: &[Member<'_>]) -> bool {
    let has = |name: &str| members.iter().any(|member| member.name.eq_ignore_ascii_case(name));
    has("tenantId") && (has("environmentName") || has("state") || has("isDefault"))
        || has("subscriptionPolicies")
}

/// Hides what stands in pairs: the two keys of an account, the private parts of a web key.
fn pairs(members: &[Member<'_>], found: &mut Vec<Span>) {
    let has = |name: &str| members.iter().any(|member| member.name == name);
    let account = (has("key1") && has("key2")) || (has("primary") && has("secondary"));
    for member in members {
        let name = member.name.as_ref();
        if account && matches!(name, "key1" | "key2" | "primary" | "secondary") {
            hide_if(&member.value, "access_key", found, |value| {
                let hex = value.len() == 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
                hex || is_random(value)
            });
        }
        if has("kty") && matches!(name, "d" | "p" | "q" | "dp" | "dq" | "qi" | "k") {
            hide_if(&member.value, "private_key", found, |value| !is_placeholder(value));
        }
    }
}

/// Hides the credential of a header.
fn credential(value: &Leaf<'_>, name: &str, found: &mut Vec<Span>) {
    let Leaf::Text(raw, range) = value else { return };
    let decoded = Decoded::of(raw);
    let spans = header::credentials(name, &decoded.text, 0..decoded.text.len());
    found.extend(spans.into_iter().map(|span| decoded.raw(span).shifted(range.start)));
}

/// Hides a value if it can be the secret its name promises.
fn secret(value: &Leaf<'_>, meaning: Meaning, found: &mut Vec<Span>) {
    match value {
        Leaf::Text(..) => {
            hide_if(value, meaning.category, found, |value| meaning.of(value).is_some());
        }
        // A counter may be called token; a number that is a password has some digits.
        Leaf::Number(digits, range) => {
            if meaning.strength == Strength::Certain && meaning.category != "token" && digits.len() >= 4 {
                found.push(Span { range: range.clone(), category: meaning.category, form: Form::Quoted(0) });
            }
        }
        Leaf::Other => {}
    }
}

/// Hides a string that passes a test; the test sees it without escapes.
fn hide_if(value: &Leaf<'_>, category: &'static str, found: &mut Vec<Span>, test: impl Fn(&str) -> bool) {
    if let Leaf::Text(raw, range) = value
        && test(&Decoded::of(raw).text)
    {
        found.push(Span::new(range.clone(), category));
    }
}

/// Tells whether a value can be an identifier at all, where the name says that it is one.
fn is_id(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && value.bytes().any(|byte| byte.is_ascii_digit())
}
