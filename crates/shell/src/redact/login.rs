//! Credentials in protocols and in the settings of devices: FTP, POP3, IMAP, SNMP, IKE.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::name::Strength;
use crate::redact::reader::{PatternMatch, Reader, Rule, pattern, rule};
use crate::redact::value::{is_generated, is_secret};

/// Places of credentials; the group is the credential.
pub(super) static RULES: [Rule; 8] = [
    // What a client says, as tshark, `curl -v` and logs show it.
    rule!(
        "password",
        ["pass"],
        r"(?m)(?:Request:|Request arg:|^C:|^[<>*]|->|=>|\bFTP\b[^\r\n]{0,80}?:|\]:?)[ \t]{1,8}PASS[ \t]+([^\s]+)",
        credential
    ),
    rule!(
        "password",
        ["login"],
        r"(?m)(?:^|[<>:][ \t])[A-Za-z]{0,4}[0-9]{1,6}[ \t]LOGIN[ \t]\S+[ \t]([^\s]+)",
        credential
    ),
    rule!(
        "password",
        ["plain"],
        r"(?m)(?:^|[<>:][ \t])AUTH[ \t]+PLAIN[ \t]+([A-Za-z0-9+/=]{8,})",
        credential
    ),
    // SNMP.
    rule!(
        "community",
        ["community", "sink", "com2sec"],
        r#"(?mi)^[ \t>+]*(?:set[ \t]+)?(?:snmp(?:-server)?[ \t]+community|r[ow]community6?|trapcommunity|trap2?sink[ \t]+\S+|informsink[ \t]+\S+|com2sec6?[ \t]+(?:-Cn[ \t]+\S+[ \t]+)?\S+[ \t]+\S+)[ \t]+["']?([^\s"']+)"#,
        credential
    ),
    rule!(
        "community",
        ["community"],
        r#"(?mi)(?:\bsnmp[^\r\n]{0,60}?|^[ \t]*(?:v[12]c?[ \t]+)?)\bcommunity(?:[ _-]?(?:string|name))?["']?[ \t]*(?::|=|is\b|[ \t]string[ \t])[ \t]*["']?([^\s"',;]+)"#,
        credential
    ),
    rule!(
        "community",
        ["snmp-server"],
        r"(?mi)^[ \t]*snmp-server[ \t]+host[ \t]+\S+[ \t]+(?:(?:traps|informs)[ \t]+)?(?:version[ \t]+(?:1|2c)[ \t]+)?([^\s]+)",
        credential
    ),
    // Keys of IKE and of the protocols of routers.
    rule!(
        "shared_key",
        ["shared-", "psk", "isakmp", "md5"],
        r#"(?mi)(?:^|[ \t])(?:pre-shared-(?:key|secret)|preshared-key|psk-secret|wpa-psk|isakmp[ \t]+key|authentication[ \t]+md5)[ \t]+(?:(?:address|hostname)[ \t]+\S+(?:[ \t]+[0-9.]+)?[ \t]+key[ \t]+)?(?:ascii-text|ascii|hexadecimal|hex|local|remote|key-string)?[ \t]*(?:[0-9][ \t]+)?["']?([^\s"';]+)"#,
        credential
    ),
    Rule::Walk(orders),
];

/// A password on a line of its own behind `PASS`: what stands around it decides.
static PASS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^[ \t]*PASS[ \t]+([^\s]+)[ \t]*\r?$"));

/// A conversation in which `PASS` is an order.
static TALK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?mi)^[ \t]*USER[ \t]+\S+[ \t]*\r?$|^[ \t]*(?:220|230|331|530|\+OK)[ -]|\bftp\b|\bpop3?\b|\birc\b",
    )
});

/// Communities of BGP, and words that stand behind `community` in a route map.
static ROUTES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:[0-9]+(?::[0-9]+)*|no-export|no-advertise|local-as|internet|additive|none|rt:.*|soo:.*|large:.*)$",
    )
});

/// Hides a credential that is none of the communities of routes.
fn credential(reader: &mut Reader<'_>, place: &PatternMatch<'_>) {
    let value = place.text(1);
    let is_route = place.category == "community" && ROUTES.is_match(&value.to_ascii_lowercase());
    if !is_route && is_secret(value, Strength::NoPath, "password") {
        reader.hide(place.range(1), place.category);
    }
}

/// Hides what stands behind `PASS` on lines of its own.
fn orders(reader: &mut Reader<'_>) {
    if !reader.text.contains("PASS") {
        return;
    }
    let talks = TALK.is_match(reader.text);
    reader.each("password", &PASS, |reader, place| {
        let secret = place.text(1);
        // Runs of tests print the same word before the name of a file or of a test.
        let named = secret.contains(['/', '_', '(']) || secret.starts_with("Test");
        if talks || (!named && is_generated(secret)) {
            credential(reader, place);
        }
    });
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
    fn what_a_client_says_to_log_in_is_hidden() {
        check("USER ana\r\nPASS sesame\r\n", &["sesame"]);
        check("FTP 72 Request: PASS sesame", &["sesame"]);
        check("> PASS sesame\r\n< 230 ok", &["sesame"]);
        check("a1 LOGIN ana sesame", &["sesame"]);
    }

    #[test]
    fn communities_of_devices_are_hidden_and_those_of_routes_are_not() {
        check("snmp-server community c0re RO", &["c0re"]);
        check("rocommunity6 c0re default", &["c0re"]);
        check("com2sec local 10.0.0.0/8 c0re", &["c0re"]);
        check("    community: c0re", &["c0re"]);
        check("snmp-server host 10.0.0.9 version 2c c0re", &["c0re"]);
        check(" set community 65000:100 additive\n      Community: 65001:100 no-export\n", &[]);
        check("ip community-list 1 permit 65000:1", &[]);
    }

    #[test]
    fn keys_of_ike_are_hidden_wherever_they_stand() {
        check(" pre-shared-key c1sco", &["c1sco"]);
        check(" ikev2 local-authentication pre-shared-key 0 c1sco", &["c1sco"]);
        check("  pre-shared-key address 10.0.0.1 255.255.255.255 key 6 c1sco", &["c1sco"]);
        check("set security ike policy p pre-shared-key ascii-text \"$9$abc\"", &["$9$abc"]);
        check(" authentication pre-share\n group 14", &[]);
    }

    #[test]
    fn results_of_tests_stay() {
        for text in [
            "PASS src/app.test.js",
            "PASS TestToken",
            "PASS: 5 FAIL: 0",
            "--- PASS: TestToken (0.00s)",
            "PASS",
        ] {
            check(text, &[]);
        }
    }
}
