//! Every command, with odd values and odd answers: it always ends, and says why.

use ghost_lab::azure::{Answer, Body};
use serde_json::{Value, json};

use super::line::run;

/// Returns every command with a line that has all that it needs.
fn lines() -> Vec<Vec<String>> {
    let help = |words: &[&str]| {
        let printed = run(&[words, &["--help"]].concat(), &Answer::empty(200));
        assert_eq!((printed.err.as_str(), printed.exit), ("", 0));
        String::from_utf8(printed.out).unwrap()
    };
    let listed = help(&[]);
    let commands =
        listed.lines().filter_map(|line| line.strip_prefix("    az ")).map(|line| line.split(' ').collect());
    commands
        .map(|words: Vec<&str>| {
            let reported = help(&words);
            let needed = reported.lines().filter(|line| line.ends_with("[Required]"));
            let options = needed.flat_map(|line| {
                let name = line.split_whitespace().find(|word| word.starts_with("--")).unwrap();
                let value = if line.contains("NUMBER") { "7" } else { "VALUE" };
                [name.to_owned(), value.to_owned()]
            });
            words.iter().map(|word| (*word).to_owned()).chain(options).collect()
        })
        .collect()
}

/// Runs all lines with a value in place of the word for one.
fn all(lines: &[Vec<String>], value: &str, answer: &Answer) {
    for line in lines {
        let line: Vec<&str> = line.iter().map(|word| if word == "VALUE" { value } else { word }).collect();
        let printed = run(&line, answer);
        let reported = printed.exit == 0 || printed.err.lines().any(|line| line.starts_with("ERROR: "));
        assert!(reported, "{line:?}: {printed:?}");
        assert!(printed.exit <= 3, "{line:?}: {printed:?}");
    }
}

#[test]
fn there_are_many_commands() {
    assert!(lines().len() > 80, "{}", lines().len());
}

#[test]
fn odd_documents_break_no_command() {
    let lines = lines();
    let deep = (0..60).fold(json!(1), |inner, _| json!({"properties": {"value": [inner]}}));
    let id = "/subscriptions/s/resourceGroups/g/providers/P/t/n";
    let odd: [Value; 9] = [
        json!(null),
        json!([]),
        json!("x"),
        json!(7),
        json!({"value": 7}),
        json!({"value": [null, 7, "x", {}]}),
        json!({"properties": [], "value": [{"id": id, "location": "x", "properties": 5, "name": "x"}], "id": 5}),
        json!({"properties": {"networkAcls": 5, "ipConfigurations": "x", "serviceEndpoints": 7}, "location": [], "name": {}}),
        deep,
    ];
    for document in odd {
        all(&lines, "x", &Answer::json(200, document));
    }
}

#[test]
fn odd_bodies_and_refusals_break_no_command() {
    let lines = lines();
    let bodies = [
        Body::Empty,
        Body::Bytes(vec![0xff, 0xfe, 0]),
        Body::Text("text/html", "<html>&lt;".to_owned()),
        Body::Text("application/json", "{not json".to_owned()),
        Body::Json(json!({"error": 7})),
        Body::Json(json!({"error": {"code": 5, "message": null, "details": [7, {}]}})),
    ];
    for body in bodies {
        for status in [200, 204, 206, 302, 401, 404, 416, 429, 500, 999] {
            all(
                &lines,
                "x",
                &Answer {
                    status,
                    headers: vec![("retry-after".to_owned(), "x".to_owned())],
                    body: body.clone(),
                },
            );
        }
    }
}

#[test]
fn odd_values_break_no_command() {
    let lines = lines();
    let long = "x".repeat(100_000);
    for value in [
        "",
        " ",
        "..",
        "/",
        "//",
        "@",
        "@nope",
        "a/b?c#d%00",
        "ü日本\u{202e}\0\n",
        "[]",
        "null",
        "{",
        "-",
        "{--name}",
        &long,
    ] {
        all(&lines, value, &Answer::json(404, json!({"error": {"code": "NotFound", "message": "no"}})));
    }
}
