//! Keys in the files and listings of network programs, and the password hashes of a host.

use crate::redact::reader::{Rule, rule};

/// One rule per place.
pub(super) static RULES: [Rule; 21] = [
    // `wg show wg0 dump`: private key, public key, port, mark; then public key, preshared key, endpoint.
    rule!(
        "private_key",
        ["=\t"],
        r"(?m)^(?:\S{1,32}\t)?([A-Za-z0-9+/]{43}=)\t[A-Za-z0-9+/]{43}=\t[0-9]+\t(?:off|0x[0-9a-f]+)\r?$"
    ),
    rule!(
        "shared_key",
        ["=\t"],
        r"(?m)^(?:\S{1,32}\t)?[A-Za-z0-9+/]{43}=\t([A-Za-z0-9+/]{43}=)\t(?:\(none\)|\S+:[0-9]+)\t"
    ),
    // netplan's keys of WireGuard, and what systemd gives to a unit.
    rule!("private_key", ["private"], r#"(?m)^\s*-?\s*"?private"?:[ \t]*["']?([A-Za-z0-9+/]{43}=)"#),
    rule!(
        "secret",
        ["setcredential"],
        r"(?m)\bSetCredential(?:Encrypted)?=\s*[^\s:=]{1,255}:\s*(\S[^\r\n]*)"
    ),
    // SNMP's communities and users, keepalived, ppp.
    rule!(
        "password",
        ["community"],
        r#"(?m)^\s*(?:r[ow]community6?|trapcommunity|snmp-server community)[ \t]+["']?([^\s"']+)"#
    ),
    rule!(
        "password",
        ["com2sec"],
        r#"(?m)^\s*com2sec6?[ \t]+(?:-Cn[ \t]+\S+[ \t]+)?\S+[ \t]+\S+[ \t]+["']?([^\s"']+)"#
    ),
    rule!("password", ["auth_pass"], r#"(?m)^\s*auth_pass[ \t]+["']?([^\s"']+)"#),
    rule!(
        "password",
        ["*"],
        r#"(?m)^[ \t]*(?:"[^"\r\n]*"|\S+)[ \t]+(?:\*|"[^"\r\n]*")[ \t]+"([^"\r\n]+)"[ \t]+\*[ \t]*\r?$"#
    ),
    // `ip xfrm state`.
    rule!("shared_key", ["0x"], r"\b(?:auth|auth-trunc|enc|aead)\s+\S+\s+(0x[0-9A-Fa-f]{8,})"),
    // ipsec.secrets: `: PSK "..."`, `: EAP "..."`, and the passphrase behind a key file.
    rule!(
        "shared_key",
        ["psk", "eap", "xauth", "ntlm", "pin", "pss", "ppk"],
        r#"(?m)(?:^|[\s"]):[ \t]*(?:PSK|EAP|XAUTH|NTLM|PIN|PSS|PPK)[ \t]+(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'%\[]\S*))"#
    ),
    rule!(
        "password",
        ["rsa", "p12", "ecdsa", "pkcs8", "bliss"],
        r#"(?m)(?:^|\s):[ \t]*(?:RSA|ECDSA|P12|PKCS8|BLISS)[ \t]+[^\s"{]+[ \t]+"([^"\r\n]+)""#
    ),
    rule!(
        "private_key",
        ["exponent", "prime", "coefficient"],
        r"(?m)^[ \t]*(?:PrivateExponent|Prime[12]|Exponent[12]|Coefficient|privateExponent|prime[12]|exponent[12]|coefficient):[ \t]*(?:\r?\n)?((?:[ \t]*(?:0x[0-9A-Fa-f]{8,}|0s[A-Za-z0-9+/=]{8,}|(?:[0-9a-f]{2}:)+(?:[0-9a-f]{2})?|[A-Za-z0-9+/]{22,}={0,2})(?:\r?\n)?)+)"
    ),
    // Routers: BGP, OSPF, ISAKMP, RADIUS, SNMP.
    rule!("password", ["neighbor "], r"(?m)^\s*neighbor \S+ password (?:[0-9] )?(\S+)"),
    rule!(
        "password",
        [
            "authentication-key",
            "message-digest-key",
            "key-string",
            "isis password",
            "enable secret",
            "enable password",
            "ppp chap password"
        ],
        r"(?m)^\s*(?:ip ospf |isis |area \S+ )?(?:authentication-key|message-digest-key [0-9]+ md5|key-string|isis password|enable secret|enable password|ppp chap password) (?:[0-9] )?(\S+)"
    ),
    rule!(
        "shared_key",
        ["isakmp key", "server key", "key "],
        r"(?m)^\s*(?:crypto isakmp key|(?:tacacs|radius)-server key|key [0-9]) (?:[0-9] )?(\S{4,})"
    ),
    rule!(
        "password",
        ["username "],
        r"(?m)^\s*username \S+ (?:privilege [0-9]+ )?(?:password|secret) (?:[0-9] )?(\S+)"
    ),
    rule!("password", ["requirepass", "masterauth"], r"(?m)^\s*(?:requirepass|masterauth)\s+(\S+)"),
    rule!("shared_key", ["md5keys:"], r"\bmd5keys:\S+?=(\S+)"),
    // Hashes that say their kind: crypt(3), argon2, bcrypt, LDAP, Django, PostgreSQL, MySQL.
    rule!(
        "password_hash",
        ["$", "sha", "md5", "crypt", "pbkdf2", "argon2"],
        concat!(
            r"(\$(?:1|2[abxy]?|3|5|6|7|y|gy|md5|sha1|apr1|argon2(?:id?|d)|scrypt|pbkdf2[a-z0-9-]*|bcrypt-sha256|8|9)\$[A-Za-z0-9./=,+$-]*\$?[A-Za-z0-9./+]{8,}(?:\$[A-Za-z0-9./=,+-]*)*)",
            r"|(\$2[abxy]?\$[0-9]{2}\$[A-Za-z0-9./]{6,})|(\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PBKDF2[A-Z0-9-]*|ARGON2)\}[A-Za-z0-9+/=$.]{8,})",
            r"|\b(pbkdf2_sha(?:1|256|512)\$[0-9]+\$[^\s$]+\$[A-Za-z0-9+/=]+)|(SCRAM-SHA-(?:1|256)\$[0-9]+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=:]+)",
        )
    ),
    // A shadow line holds a hash of any kind between its name and its days.
    rule!(
        "password_hash",
        [":"],
        r"(?m)^[a-z_][a-z0-9_.-]{0,31}\$?:!{0,2}([./0-9A-Za-z$=,_+-]{13,}):[0-9]*:[0-9]*:[0-9]*:[0-9]*:[0-9]*:[0-9]*:"
    ),
    rule!("password_hash", [":::"], r"(?m)^[^\s:]{1,64}:[0-9]{1,10}:([0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}):::"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::reader;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        reader::check(&RULES, text, expected);
    }

    #[test]
    fn ipsec_and_routers_say_where_their_keys_stand() {
        check("10.0.0.1 10.0.0.2 : PSK \"a b\"", &["a b"]);
        check(": PSK 0sAbCd", &["0sAbCd"]);
        check("\tenc cbc(aes) 0x0123456789abcdef", &["0x0123456789abcdef"]);
        check(" neighbor 10.0.0.2 password s3cr3t", &["s3cr3t"]);
        check("ospf: PSK identity: None", &[]);
        let key = "QGYnoF7z6Z8Q2cE0l9oJm4Ww1r5tYh3uKx8bVn6sA2k=";
        check(&format!("      keys:\n        private: {key}\n"), &[key]);
        check("          public: QGYnoF7z6Z8Q2cE0l9oJm4Ww1r5tYh3uKx8bVn6sA2k=", &[]);
        check("SetCredential=db.password: a b", &["a b"]);
        check("LoadCredential=db:/etc/credstore/db", &[]);
        check("rocommunity s3cr3t 10.0.0.0/8", &["s3cr3t"]);
        check("com2sec local 10.0.0.0/8 s3cr3t", &["s3cr3t"]);
        check("    auth_pass s3cr3t", &["s3cr3t"]);
        check("\"ops\" * \"s3cr3t\" *", &["s3cr3t"]);
    }

    #[test]
    fn hashes_are_known_by_their_kind() {
        for hash in
            ["$6$saltsalt$hashhashhash", "$2b$12$abcdefghijklmnopqrstuv", "$y$j9T$abcdefgh$ijklmnopqrst"]
        {
            check(&format!("ops:{hash}:19000:0:99999:7:::"), &[hash]);
        }
        check("awk '{print $1$2}' $1$x", &[]);
        check("daemon:*:19000:0:99999:7:::", &[]);
    }
}
