//! Facts about redaction as a whole, and its properties.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::redact;

/// Checks the whole result of one text.
#[track_caller]
fn check(text: &str, expected: &str) {
    let redacted = redact(text);
    assert_eq!(redacted.as_str(), expected);
    assert_eq!(redact(expected).as_str(), expected);
    assert_eq!(redact(expected).count(), 0);
}

#[test]
fn what_stands_around_a_secret_stays() {
    check("a password=x1, b", "a password=[redacted:password], b");
    check("{'password': 'x y', 'b': 1}", "{'password': '[redacted:password]', 'b': 1}");
    check("[db]\r\npwd = x1\r\nhost = h", "[db]\r\npwd = [redacted:password]\r\nhost = h");
    check(
        "curl -H \"X-Api-Key: k1\" 'http://h/?a=1&token=t1&b=2'",
        "curl -H \"X-Api-Key: [redacted:api_key]\" 'http://h/?a=1&token=[redacted:token]&b=2'",
    );
}

#[test]
fn json_is_replaced_where_it_stands() {
    check(
        "{ \"z\": 1,\n\t\"password\" :\"p\\\"q\" , \"a\":[ ] }",
        "{ \"z\": 1,\n\t\"password\" :\"[redacted:password]\" , \"a\":[ ] }",
    );
    check(r#"{"a":"{\"password\":4711}"}"#, r#"{"a":"{\"password\":\"[redacted:password]\"}"}"#);
}

#[test]
fn categories_are_sorted_and_named_once() {
    let redacted = redact("token=b1 password=a1 password=c1");
    assert_eq!((redacted.count(), redacted.categories()), (3, vec!["password", "token"]));
}

#[test]
fn a_placeholder_of_someone_else_hides_nothing_behind_it() {
    check("password=[redacted:password]hunter2", "password=[redacted:password]");
}

/// Texts that rules search for, in any order.
fn parts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "password",
            "token",
            "secret",
            "api_key",
            "authorization",
            "cookie",
            "Bearer ",
            "Basic ",
            "connectionString",
            "=",
            ":",
            ": ",
            " = ",
            "\"",
            "'",
            "\\\"",
            "\\",
            "\n",
            "\r\n",
            " ",
            ",",
            ";",
            "&",
            "[",
            "]",
            "{",
            "}",
            "{\"",
            "\": \"",
            "\"}",
            "[redacted:",
            "[redacted:password]",
            "-----BEGIN ",
            "-----END ",
            "PRIVATE KEY",
            "-----",
            "https://",
            "user:",
            "@host/",
            "?sig=",
            "eyJhbGciOi.",
            "$6$salt$",
            "subscription",
            "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
            "--password ",
            "<password>",
            "</",
            "|\n  ",
            "%26",
            "kind: Secret\n",
            "data:\n",
            "value: ",
            "name: ",
            "| ",
            "----- -----\n",
            "hunter2",
            "x1",
            "é",
            "😀",
            "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "cGFzc3dvcmQ9aHVudGVyMiBob3N0PWRi",
            "%3D",
            "%0A",
            "\u{1b}[31m",
            "\0",
            "t\0o\0k\0e\0n\0=\0x\x001\0",
            "\t",
            "name\ttoken\n",
            "Name  Value\n",
            "DB_PASSWORD\tFalse\t",
            "password is ",
            "PASS ",
            "community ",
            "q7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zpq7Zp\n",
        ])
        .prop_map(str::to_owned),
        ".{0,4}",
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Redacting twice is redacting once.
    #[test]
    fn a_redacted_text_is_settled(text in parts()) {
        let once = redact(&text);
        let twice = redact(once.as_str());
        prop_assert_eq!(twice.as_str(), once.as_str());
        prop_assert_eq!(twice.count(), 0);
        prop_assert_eq!(once.count() == 0, once.as_str() == text);
        prop_assert!(!once.categories().contains(&"unsettled"));
    }

    /// Whatever the strings hold, JSON stays JSON, and its other members stay what they were.
    #[test]
    fn json_stays_json(inner in parts(), key in parts(), secret in "[ -~é]{1,30}", pretty: bool) {
        let nested = json!({ "body": inner, "clientSecret": secret, "count": 7 }).to_string();
        let value = json!({ "a": 1, "log": inner, "key": { key: 2 }, "nested": nested, "password": 48_151_623, "z": [true, null] });
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let redacted = redact(&text);
        let read: Value = serde_json::from_str(redacted.as_str()).unwrap();
        prop_assert_eq!(&read["a"], &value["a"]);
        prop_assert_eq!(&read["z"], &value["z"]);
        prop_assert_eq!(&read["password"], "[redacted:password]");
        let nested: Result<Value, _> = serde_json::from_str(read["nested"].as_str().unwrap());
        prop_assert!(nested.is_ok(), "{} became {}", text, redacted.as_str());
        let nested = nested.unwrap();
        prop_assert_eq!(&nested["count"], 7);
    }

    /// A secret under its name is gone, however it is written.
    #[test]
    fn a_named_secret_is_hidden(secret in "[A-Za-z0-9+!][A-Za-z0-9+/!#%^*._-]{3,20}[0-9][A-Za-z]{3}", form in 0..14_usize) {
        let text = match form {
            0 => format!("db password={secret} host=h"),
            1 => format!("  admin_password: {secret}\n  host: h"),
            2 => format!("{{\"adminPassword\": \"{secret}\", \"host\": \"h\"}}"),
            3 => format!("tool --client-secret {secret} --host h"),
            4 => format!("DB_PASSWORD='{secret}' host=h"),
            5 => format!("log: {{\\\"password\\\":\\\"{secret}\\\",\\\"host\\\":1}}"),
            6 => format!("Authorization: Bearer {secret}\nhost: h"),
            7 => format!("<Password>{secret}</Password><host>h</host>"),
            8 => format!("Server=s;Pwd={secret};host=h"),
            9 => format!("db_password,host\n{secret},host-1\n"),
            10 => format!("host\tpassword\nhost-1\t{secret}\n"),
            11 => format!("Name         Value\n-----------  ------\nDB_PASSWORD  {secret}\nhost         h\n"),
            12 => format!("db_password\u{1b}[31m=\u{1b}[0m{secret} host=h"),
            _ => format!("DB_PASSWORD\tFalse\t{secret}\nhost\tFalse\th\n"),
        };
        let redacted = redact(&text);
        prop_assert!(!redacted.as_str().contains(&secret), "{}", redacted.as_str());
        prop_assert!(redacted.as_str().contains("host"));
    }
}
