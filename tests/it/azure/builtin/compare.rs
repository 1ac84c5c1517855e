//! What differs between what was printed and what was recorded.

use ghost_lab::az::CommandOutput;
use serde_json::Value;

/// Returns how output differs from what was recorded.
pub(super) fn compared(recorded: &Value, printed: &CommandOutput) -> Vec<String> {
    let mut wrong = Vec::new();
    let out = String::from_utf8_lossy(&printed.out).into_owned();
    match recorded["stdout_kind"].as_str().unwrap() {
        "json" => match serde_json::from_str::<Value>(&out) {
            Ok(ours) if same(&ours, &recorded["stdout"]) => {}
            Ok(ours) => wrong.push(differs(&ours, &recorded["stdout"])),
            Err(error) => wrong.push(format!("{error}: {out:?} instead of {}", recorded["stdout"])),
        },
        "text" if out != recorded["stdout"].as_str().unwrap() => {
            wrong.push(format!("{out:?}\n    instead of {}", recorded["stdout"]));
        }
        "none" if !out.is_empty() => wrong.push(format!("{out:?} instead of nothing")),
        _ => {}
    }
    if recorded["exit"] != printed.exit {
        wrong.push(format!("exit {} instead of {}", printed.exit, recorded["exit"]));
    }
    let (ours, theirs) = (said(&printed.err), said(recorded["stderr"].as_str().unwrap()));
    if ours != theirs {
        wrong.push(format!("{ours:?}\n    instead of {theirs:?}"));
    }
    wrong
}

/// Returns what matters of standard error: no examples that help draws, no places in programs, no blanks that a body has.
fn said(text: &str) -> String {
    let text = text.split("\n\nExamples from command's help").next().unwrap_or_default();
    let text = text.split("\nTraceback").next().unwrap_or_default();
    let text = text.split("\n\nhttps://aka.ms/cli_ref").next().unwrap_or_default();
    if text.contains("({") { text.split_whitespace().collect() } else { text.trim_end().to_owned() }
}

fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (_, Value::String(text)) if text.contains("{{TIME}}") => ours.is_string(),
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(name, value)| theirs.get(name).is_some_and(|other| same(value, other)))
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        _ => ours == theirs,
    }
}

/// Names the places where documents differ.
fn differs(ours: &Value, theirs: &Value) -> String {
    let mut found = Vec::new();
    walk("", ours, theirs, &mut found);
    found.truncate(12);
    found.join("\n    ")
}

fn walk(place: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                match right.get(name) {
                    Some(other) => walk(&format!("{place}/{name}"), value, other, found),
                    None => found.push(format!("{place}/{name} is too much: {value}")),
                }
            }
            let lacking = right.iter().filter(|(name, _)| !left.contains_key(*name));
            found.extend(lacking.map(|(name, value)| format!("{place}/{name} lacks: {value}")));
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (ours, theirs)) in left.iter().zip(right).enumerate() {
                walk(&format!("{place}/{at}"), ours, theirs, found);
            }
        }
        _ if !same(ours, theirs) => found.push(format!("{place}: {ours} instead of {theirs}")),
        _ => {}
    }
}
