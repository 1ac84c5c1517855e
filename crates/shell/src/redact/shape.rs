//! Tokens that anyone knows by their shape, whatever stands beside them.

use crate::redact::reader::{PatternMatch, Reader, Rule, groups, rule};

/// Tokens, and the keys of accounts: 64 bytes in base64.
pub(super) static RULES: [Rule; 2] = [
    Rule::Walk(tokens),
    rule!("storage_key", ["=="], r"(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{86}==)", account_key),
];

/// The shapes, each long enough that ordinary text does not have it.
pub(super) static TOKENS: [Rule; 10] = [
    // Header, payload and signature; the tail may be cut off at any place.
    rule!(
        "jwt",
        ["eyj"],
        r"(?-u)\beyJ(?:[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){1,4}|(?:hbG|0eX|raW|lbm|4NX|jdH)[A-Za-z0-9_-]{2,}|[A-Za-z0-9_-]{60,})"
    ),
    rule!(
        "vendor_token",
        LONG,
        concat!(
            r"(?-u)\b(?:xox[a-z](?:\.xox[a-z])?-[0-9A-Za-z-]{6,}|xapp-[0-9]-[0-9A-Za-z-]{6,}",
            r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}",
            r"|gl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|soat|oas|ffct)-[A-Za-z0-9_.-]{16,}",
            r"|A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}\b|AIza[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_.-]{10,}|GOCSPX-[A-Za-z0-9_-]{20,}",
            r"|1//0[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{32,}|rubygems_[a-f0-9]{32,}",
            r"|sk-(?:ant|proj|or|svcacct|admin|lf|live|test)-[A-Za-z0-9_-]{8,}|sk-[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}",
            r"|(?:gsk|nvapi|xai|pplx|fw|r8|tgp_v1)[_-][A-Za-z0-9_-]{30,}|[srp]k_(?:live|test)_[A-Za-z0-9]{10,}",
            r"|whsec_[A-Za-z0-9+/=]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[0-9a-f]{32}\b|SK[0-9a-f]{32}\b",
            r"|[0-9a-f]{32}-us[0-9]{1,2}\b|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}",
            r"|d(?:op|oo|or)_v1_[a-f0-9]{40,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}|dapi[0-9a-f]{32}|hv[sbr]\.[A-Za-z0-9_-]{20,}",
            r"|gl(?:sa|c)_[A-Za-z0-9_=]{20,}|lin_api_[A-Za-z0-9]{20,}|ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}",
            r"|ATATT3[A-Za-z0-9_=-]{20,}|dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9._-]{20,}|tskey-[a-z]+-[A-Za-z0-9-]{12,}",
            r"|PMAK-[a-f0-9-]{32,}|NRAK-[A-Z0-9]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{40,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{20,}",
            r"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|sbp_[a-f0-9]{40}|EAA[A-Za-z0-9]{60,}|oy2[a-z0-9]{43}\b|fm[12]_[A-Za-z0-9+/=_-]{40,}",
            r"|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}",
            r"|sl\.[A-Za-z0-9_-]{100,}|lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}|phc_[A-Za-z0-9]{40,}|sntry[su]_[A-Za-z0-9+/=_-]{40,})",
        )
    ),
    rule!(
        "vendor_token",
        ["hooks.slack.com", "webhook.office.com", "outlook.office.com", "discord"],
        concat!(
            r"(?i)(?:hooks\.slack\.com/(?:services|workflows|triggers)/|webhook\.office\.com/webhookb2/|outlook\.office\.com/webhook/",
            r"|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/)([A-Za-z0-9_/@%-]{8,})",
        )
    ),
    // The token of a bot stands in the path, right behind `bot`.
    rule!(
        "vendor_token",
        ["api.telegram.org"],
        r"(?i)api\.telegram\.org(?::443)?(?:/|%2F)(?:file(?:/|%2F))?bot([0-9]{6,12}(?::|%3A)[A-Za-z0-9_-]{20,})"
    ),
    // Azure DevOps: 84 characters with its mark, and the 52 of base32 before it. Pulumi. Vault before `hvs.`.
    rule!(
        "vendor_token",
        LONG,
        concat!(
            r"(?:^|[^A-Za-z0-9])([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}|[a-z2-7]{52})(?:[^A-Za-z0-9=]|$)",
            r"|\b(pul-[0-9a-f]{32,})|(?:^|[^A-Za-z0-9_.)\]])([sbr]\.[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{5,6})?)(?:[^A-Za-z0-9_(.]|\.?\s|\.?$)",
        )
    ),
    // A client secret of the directory: three characters, a digit, `Q~`, and the rest.
    rule!(
        "client_secret",
        ["q~"],
        r"(?:^|[^A-Za-z0-9_.~-])([A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{28,40})"
    ),
    // Keys that carry the mark of the service which made them.
    rule!(
        "access_key",
        ["aiot", "+asb", "+aeh", "+arm", "azfu", "azse", "+acr", "azca", "jqqj9"],
        concat!(
            r"(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{33}(?:AIoT|\+(?:ASb|AEh|ARm))[A-Za-z0-9+/]{6}=",
            r"|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==|[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}",
            r"|[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9]{5}|[A-Za-z0-9]{33}AzCa[A-P][A-Za-z0-9]{5}=|[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27})",
        )
    ),
    // The first line of a private key in base64, and a whole key file in base64.
    rule!("private_key", ["b3blbnnzac1rzxktdje"], r"(?-u)\b(b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]*)"),
    rule!(
        "private_key",
        ["ls0tls1crudjti"],
        r"(?-u)\b(LS0tLS1CRUdJTi(?:BSU0EgUFJJVk|BQUklWQVRF|BFQyBQUklW|BPUEVOU1NI|BFTkNSWVBU|BEU0EgUFJJ|BQR1AgUFJJ)[A-Za-z0-9+/=]*)"
    ),
    rule!(
        "access_key",
        ["code=", "key=", "signature=", "credential="],
        r"(?i)[?&](?:code|key|signature|access_key|x-amz-signature|x-goog-signature|x-amz-credential)=([A-Za-z0-9+/_~%=-]{20,})"
    ),
];

/// What stands before 64 bytes that are no key to anything: a digest, or the public key of a zone.
const PUBLIC: &[&str] = &["512", "digest", "integrity", "checksum", "etag", "key 2", "public"];

/// Records of DNS whose data is public: signatures, keys, digests.
const SIGNED: [&str; 8] = ["RRSIG", "DNSKEY", "CDNSKEY", "TLSA", "SSHFP", "OPENPGPKEY", "ZONEMD", "IPSECKEY"];

/// How far before its data a record names its type.
const MAX_RECORD_TYPE_DISTANCE: usize = 400;

/// Hides what has the shape of a token and is one.
fn tokens(reader: &mut Reader<'_>) {
    let text = reader.text;
    let mut shaped = Reader::new(text);
    shaped.apply(&TOKENS);
    shaped.found.retain(|token| {
        let value = text.get(token.range.clone()).unwrap_or_default();
        !leads_to_a_page(before(text, token.range.start, 40)) && (!is_short(value) || is_mixed(value))
    });
    reader.found.append(&mut shaped.found);
}

/// Hides 64 bytes that are a key to something.
fn account_key(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    let near = before(reader.text, place.range(1).start, 24).to_ascii_lowercase();
    let record = before(reader.text, place.range(1).start, MAX_RECORD_TYPE_DISTANCE);
    if !PUBLIC.iter().any(|word| near.contains(word)) && !SIGNED.iter().any(|kind| record.contains(kind)) {
        groups(reader, place);
    }
}

/// Returns what stands right before a place.
fn before(text: &str, at: usize, length: usize) -> &str {
    text.get(text.floor_char_boundary(at.saturating_sub(length))..at).unwrap_or_default()
}

/// Tells whether the value behind is a mark of where a list goes on: it opens nothing.
fn leads_to_a_page(before: &str) -> bool {
    let name = before.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric() || letter == '=');
    let name = name.strip_suffix("%3D").or_else(|| name.strip_suffix("%3d")).unwrap_or(name);
    let lower = name.to_ascii_lowercase().replace(['_', '-'], "");
    ["skiptoken", "nexttoken", "pagetoken", "continuationtoken", "synctoken", "deltatoken", "nextmarker"]
        .iter()
        .any(|paging| lower.ends_with(paging))
}

/// Tells whether a token is one of those whose letters alone could be a name in a program.
fn is_short(value: &str) -> bool {
    value.get(1..2) == Some(".") || value.len() == 52
}

/// Tells whether a token has the digits that a name in a program has not.
fn is_mixed(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    digits >= if value.len() == 52 { 3 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, hides: bool) {
        let mut reader = Reader::new(text);
        reader.apply(&RULES);
        assert_eq!(!reader.found.is_empty(), hides, "{text}");
    }

    #[test]
    fn sixty_four_bytes_are_a_key_unless_they_say_otherwise() {
        let bytes = format!("{}xA==", "q7Zp".repeat(21));
        check(&format!("key1 {bytes}"), true);
        check(&format!("sha512-{bytes}"), false);
        check(&format!("IN DNSKEY 257 3 13 {bytes}"), false);
    }

    #[test]
    fn words_with_the_letters_of_a_token_stay() {
        for text in [
            "npm_config_cache=/x",
            "task-force-of-many-words-in-a-row",
            "disk-abcdefghijklmnopqrstuvwx",
            "eyJ",
        ] {
            check(text, false);
        }
    }
}
