//! What a name says about the value behind it.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::redact::value::is_secret;
use crate::redact::word::words;

/// How sure a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// The value must look random: `key`, `auth`, `FOO_KEY`.
    Faint,
    /// The value must not look like a plain word or a small number: `pass`, `primaryKey`.
    Likely,
    /// Any value but a path: `PWD` is the working directory as well.
    NoPath,
    /// Any value that is one.
    Certain,
}

/// What the value behind a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    /// What to call it.
    pub(super) category: &'static str,
    /// How sure the name is.
    pub(super) strength: Strength,
}

impl Meaning {
    /// Returns what to call a value, if it can be the secret that the name promises.
    pub(super) fn of(self, value: &str) -> Option<&'static str> {
        is_secret(value, self.strength, self.category).then_some(self.category)
    }
}

/// Words after the secret one that make the value a fact *about* a secret: its name, age, place or rules.
static ABOUT: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "interval period delay seconds through name names id ids type types url urls uri uris endpoint endpoints path paths file files filename dir \
     directory ref refs reference version versions policy policies length len size count expiry expires \
     expiration expire expired ttl age lifetime timeout min max enabled disabled required authentication \
     algorithm algorithms alg mgmt management flags flag mode method methods status state changed last \
     date time at created updated vault source format hint prompt field label rotation rotated scope \
     scopes bucket issuer audience provider manager store permissions usage bits index idx user username \
     server host thumbprint fingerprint protection strength complexity attempts retries retry reset stdin \
     env var header param parameter identity used limit limits rate burst needed valid invalid present \
     exists check verified generation generator class handler backend driver access less exchange \
     exchanges request requests response operator service tags creation profile credentials rotate \
     validity in on properties column columns section errors error failures failed cache pattern regex \
     curve agreement vaults nullable description comment duration accessor renewable"
        .split(' ')
        .collect()
});

/// Words before the secret one that make it something else.
static OTHERWISE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "public max min num has is total prompt completion disable enable allow next continuation skip page paging \
     sync delta cancellation cancel unexpected no host empty permit forgot force"
        .split(' ')
        .collect()
});

/// What stands before `key` when the two together are a secret, by what to call it.
const KEYS: &[(&str, &[&str])] = &[
    ("api_key", &["api", "subscription"]),
    (
        "access_key",
        &[
            "secret",
            "access",
            "master",
            "signing",
            "encryption",
            "decryption",
            "authorization",
            "auth",
            "session",
            "function",
            "functions",
            "admin",
            "service",
            "license",
            "instrumentation",
            "hmac",
            "aes",
            "webhook",
            "workspace",
            "registration",
            "symmetric",
        ],
    ),
    ("storage_key", &["account", "storage"]),
    ("shared_key", &["shared", "preshared", "sas", "wep", "fastopen"]),
    ("private_key", &["private", "client", "ssh"]),
];

/// What stands before `key` when it is an ordinary identifier.
static PLAIN_KEYS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "public partition sort foreign row routing cache hash host rss hot object idempotency correlation \
     socket websocket message index lookup temp dns config dedup group map composite unique range"
        .split(' ')
        .collect()
});

/// Reads a name; `None` where it promises no secret.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (0..words.len())
        .rev()
        .find_map(|at| {
            let (before, rest) = words.split_at(at);
            let (noun, after) = rest.split_first()?;
            Some((noun_meaning(before, noun, after.is_empty())?, before, after))
        })
        .filter(|(_, before, after)| {
            !after.iter().any(|word| ABOUT.contains(word))
                && !before.last().is_some_and(|word| OTHERWISE.contains(word))
        })
        .map(|(meaning, _, _)| meaning)
}

/// Reads one word of a name in the light of the words before it.
fn noun_meaning(before: &[&str], noun: &str, last: bool) -> Option<Meaning> {
    let alone = before.is_empty();
    let certain = |category| Some(Meaning { category, strength: Strength::Certain });
    let likely = |category| Some(Meaning { category, strength: Strength::Likely });
    let faint = |category| Some(Meaning { category, strength: Strength::Faint });
    match noun {
        "pwd" if alone => Some(Meaning { category: "password", strength: Strength::NoPath }),
        "password" | "passwords" | "passwd" | "passphrase" | "passcode" | "pwd" => certain("password"),
        "pass" | "pw" if alone => likely("password"),
        // `bridge-nf-pass-vlan-input-dev` lets something through.
        "pass" if !last => None,
        "pass" | "pw" => certain("password"),
        "secret" | "secrets" => certain("secret"),
        "psk" | "cak" => certain("shared_key"),
        "token" => certain("token"),
        "string" | "strings" if before.last().is_some_and(|word| matches!(*word, "connection" | "conn")) => {
            certain("connection_string")
        }
        "key" | "keys" => key_meaning(before, noun),
        "auth" | "credential" | "credentials" | "creds" | "signature" | "cred" => faint("credential"),
        _ => None,
    }
}

/// Reads `key` in the light of the words before it.
fn key_meaning(before: &[&str], noun: &str) -> Option<Meaning> {
    let Some(kind) = before.last() else {
        return (noun == "key").then_some(Meaning { category: "access_key", strength: Strength::Faint });
    };
    if PLAIN_KEYS.contains(kind) {
        return None;
    }
    // The keys of the plural are a list of secrets only where the list says whose.
    if let Some((category, _)) = KEYS.iter().find(|(_, kinds)| kinds.contains(kind)) {
        return Some(Meaning { category, strength: Strength::Certain });
    }
    let strength = if matches!(*kind, "primary" | "secondary") { Strength::Likely } else { Strength::Faint };
    (noun == "key").then_some(Meaning { category: "access_key", strength })
}

/// Tells whether a name is that of a subscription or tenant, and whether it says that the value is the identifier.
pub(super) fn cloud_id(name: &str) -> Option<(&'static str, bool)> {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [.., "subscription", "id" | "guid"] => Some(("subscription_id", true)),
        [.., "tenant", "id" | "guid"] => Some(("tenant_id", true)),
        [.., "subscription" | "subscriptions"] => Some(("subscription_id", false)),
        [.., "tenant" | "tenants"] | ["tid"] | [.., "directory", "id"] => Some(("tenant_id", false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<(&str, Strength)>) {
        assert_eq!(meaning(name).map(|found| (found.category, found.strength)), expected, "{name}");
    }

    #[test]
    fn names_of_secrets_are_known_in_any_writing() {
        for name in
            ["password", "DB_PASSWORD", "adminPassword", "PGPASSWORD", "password1", "MYSQL_PWD", "bindpw"]
        {
            check(name, Some(("password", Strength::Certain)));
        }
        check("sharedAccessKey", Some(("access_key", Strength::Certain)));
        check("net.ipv4.tcp_fastopen_key", Some(("shared_key", Strength::Certain)));
        check("client-key-data", Some(("private_key", Strength::Certain)));
        check("_authToken", Some(("token", Strength::Certain)));
        check("AZURE_STORAGE_CONNECTION_STRING", Some(("connection_string", Strength::Certain)));
    }

    #[test]
    fn facts_about_a_secret_are_not_secrets() {
        for name in [
            "keyVaultId",
            "keySource",
            "primaryEndpoints",
            "publicKey",
            "SharedAccessKeyName",
            "token_type",
            "tokens",
            "secretName",
            "disablePasswordAuthentication",
            "keyvaultSecretId",
            "psk-flags",
            "key-mgmt",
            "max_token",
            "passwordPolicy",
            "allowSharedKeyAccess",
            "NOPASSWD",
            "connectionStatus",
            "nextToken",
            "partitionKey",
        ] {
            check(name, None);
        }
    }

    #[test]
    fn a_key_of_unknown_kind_needs_a_random_value() {
        check("FOO_KEY", Some(("access_key", Strength::Faint)));
        check("primaryKey", Some(("access_key", Strength::Likely)));
    }
}
