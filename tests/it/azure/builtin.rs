//! The built-in `az` against the recordings of the real one: the same requests, the same output, the same exit code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ghost_agent::base::Timestamp;
use ghost_agent::lab::az::{Printed, Profile, Within, az};
use ghost_agent::lab::azure::{Answer, Body, Request, Verb};
use serde_json::Value;

fn recordings() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/az");
    place.is_dir().then_some(place)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What stands in the recordings for what differs from run to run, and what stands for it here.
const PLACES: [(&str, &str); 9] = [
    ("{{ARM}}", "https://localhost:8443"),
    ("{{ARM_HOST}}", "localhost:8443"),
    ("{{IMDS}}", "http://127.0.0.1:8444"),
    ("{{BLOBS}}", "https://localhost:8445"),
    ("{{BLOBS_HOST}}", "localhost:8445"),
    ("{{BLOB}}", "http://127.0.0.1:8446"),
    ("{{BLOB_HOST}}", "127.0.0.1:8446"),
    ("{{KEY}}", "S2V5IG9mIG5vYm9keSBhdCBhbGwsIHVzZWQgaW4gdGVzdHMu"),
    ("{{SECRET}}", "not-a-secret"),
];

fn placed(text: &str) -> String {
    PLACES.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn recorded(path: &Path) -> Value {
    serde_json::from_str(&placed(&String::from_utf8(std::fs::read(path).unwrap()).unwrap())).unwrap()
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

fn now() -> Timestamp {
    "2025-06-02T09:31:00.000Z".parse().unwrap()
}

/// Who runs the command of a recording.
fn profile(name: &str, estate: &Value) -> Profile {
    let mut profile =
        Profile::lab("https://localhost:8443", "http://127.0.0.1:8444/msi/token", &estate["subscription"]);
    let blank =
        name == "cloud-register" || name.starts_with("err-not-logged-in") || name.starts_with("login-");
    let principal = name == "err-token-secret-expired";
    let mut files: BTreeMap<&str, String> = profile.files().into_iter().collect();
    if blank {
        files.remove("azureProfile.json");
    }
    if name == "cloud-register" {
        files.clear();
    }
    if principal {
        let mut told: Value = serde_json::from_str(&files["azureProfile.json"]).unwrap();
        let app = &estate["principal"]["appId"];
        told["subscriptions"][0]["user"] = serde_json::json!({"name": app, "type": "servicePrincipal"});
        files.insert("azureProfile.json", told.to_string());
        let secret = serde_json::json!([{"client_id": app, "client_secret": "s", "tenant": "t"}]);
        files.insert("service_principal_entries.json", secret.to_string());
    }
    let variables = [("IDENTITY_ENDPOINT", "http://127.0.0.1:8444/msi/token"), ("IDENTITY_HEADER", "x")];
    let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    profile = Profile::read(variables, |name| files.get(name).cloned());
    profile
}

/// The other end: gives the recorded answers one after the other, and notes what differs from the recorded requests.
struct Replay {
    exchanges: Vec<Value>,
    at: usize,
    wrong: Vec<String>,
    token: Option<Answer>,
}

impl Replay {
    fn answer(&mut self, request: &Request) -> Answer {
        let line = format!("{} {}{}", request.verb.name(), request.base, request.path);
        let next = self.exchanges.get(self.at);
        // The identity's tokens are recorded only where they are the point.
        if request.path == "/msi/token" && next.is_none_or(|next| next["request"]["plane"] != "imds") {
            let told = serde_json::json!({"access_token": "a.b.c", "expires_on": "1748860000", "token_type": "Bearer"});
            return self.token.clone().unwrap_or_else(|| Answer::json(200, told));
        }
        let Some(next) = next.cloned() else {
            self.wrong.push(format!("asked more: {line}"));
            return Answer::empty(500);
        };
        self.at += 1;
        self.compare(&next["request"], request, &line);
        answer(&next["response"])
    }

    fn compare(&mut self, told: &Value, request: &Request, line: &str) {
        let path = told["path"].as_str().unwrap();
        if told["method"] != request.verb.name() || path != request.path {
            self.wrong.push(format!("{line}\n    recorded: {} {path}", told["method"]));
        }
        let own = |(name, _): &(String, String)| name != "api-version";
        let asked: BTreeMap<String, String> =
            request.query.iter().filter(|pair| own(pair)).cloned().collect();
        let pairs = told["query"].as_object().into_iter().flatten();
        let pairs = pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).filter(own);
        let recorded: BTreeMap<String, String> = pairs.collect();
        let timed = |query: &BTreeMap<String, String>| {
            let words = query.get("$filter").map(|filter| {
                filter
                    .split(' ')
                    .filter(|word| !word.contains("T0") && !word.contains("{{TIME}}"))
                    .collect::<String>()
            });
            let mut query = query.clone();
            query.extend(words.map(|words| ("$filter".to_owned(), words)));
            query
        };
        if timed(&asked) != timed(&recorded) {
            self.wrong.push(format!("{line}: query {asked:?}\n    recorded: {recorded:?}"));
        }
        let auth = match request.header("authorization") {
            None if request.query.iter().any(|(name, _)| name == "sig") => "sas",
            None => "none",
            Some(told) if told.starts_with("Bearer ") => "bearer",
            Some(_) => "shared-key",
        };
        if told["auth"] != auth {
            self.wrong.push(format!("{line}: {auth} instead of {}", told["auth"]));
        }
        if let Some(host) = told["host"].as_str()
            && !request.base.ends_with(host)
        {
            self.wrong.push(format!("{line}: not at {host}"));
        }
        for (name, value) in told["headers"].as_object().into_iter().flatten() {
            let same = request.header(name) == value.as_str();
            if !same && !matches!(name.as_str(), "metadata") {
                self.wrong.push(format!("{line}: {name}: {:?} instead of {value}", request.header(name)));
            }
        }
        let body = &told["body"];
        let fits = match (body["bytes"].as_u64(), body["form"].as_str()) {
            (Some(bytes), _) => request.body.len() as u64 == bytes,
            (_, Some(_)) => request.body.starts_with(b"grant_type=client_credentials&client_id="),
            (None, None) if body.is_null() => request.body.is_empty(),
            (None, None) => serde_json::from_slice::<Value>(&request.body).ok().as_ref() == Some(body),
        };
        if !fits {
            let sent = String::from_utf8_lossy(&request.body).chars().take(900).collect::<String>();
            self.wrong.push(format!("{line}: body {sent}\n    recorded: {body}"));
        }
    }
}

fn answer(told: &Value) -> Answer {
    let mut headers: Vec<(String, String)> = told["headers"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    headers.push(("x-ms-request-id".to_owned(), "00000000-0000-4000-8000-00000000b10b".to_owned()));
    headers.push(("date".to_owned(), "Mon, 02 Jun 2025 09:31:00 GMT".to_owned()));
    let body = match &told["body"] {
        Value::Null => Body::Empty,
        Value::String(text) => Body::Text("text/plain", text.clone()),
        other => match (other["bytes"].as_u64(), other["base64"].as_str()) {
            (Some(bytes), _) => Body::Bytes(pattern(bytes)),
            (_, Some(_)) => Body::Bytes(Vec::new()),
            (None, None) => Body::Json(other.clone()),
        },
    };
    Answer { status: u16::try_from(told["status"].as_u64().unwrap()).unwrap(), headers, body }
}

fn pattern(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

/// Plays a recording; returns what differs.
fn play(place: &Path, name: &str) -> Vec<String> {
    let recorded = recorded(&place.join(format!("{name}.json")));
    let estate = read(&place.join("_estate.json"));
    let mut profile = profile(name, &estate);
    let mut replay = Replay {
        exchanges: recorded["exchanges"].as_array().unwrap().clone(),
        at: 0,
        wrong: Vec::new(),
        token: None,
    };
    let mut wire = |request: Request| replay.answer(&request);
    let mut within = Within::new(&mut wire, now());
    for step in recorded["setup"].as_array().unwrap() {
        if let Some(file) = step["file"].as_str() {
            within.files.insert(file.to_owned(), pattern(step["bytes"].as_u64().unwrap()));
        }
    }
    let printed = az(&mut within, &mut profile, &words(&recorded["argv"])[1..]);
    let mut wrong = compared(&recorded, &printed);
    wrong.append(&mut replay.wrong);
    if replay.at < replay.exchanges.len() {
        wrong.push(format!("asked less: {}", replay.exchanges[replay.at]["request"]));
    }
    wrong
}

/// Returns how output differs from what was recorded.
fn compared(recorded: &Value, printed: &Printed) -> Vec<String> {
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

fn names(place: &Path) -> Vec<String> {
    let files =
        std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files
        .filter(|name| !name.starts_with('_'))
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names
}

#[test]
fn every_recording_is_asked_and_printed_as_it_was() {
    let Some(place) = recordings() else { return };
    let names = names(&place);
    assert!(names.len() > 190, "{} recordings", names.len());
    let mut failed = Vec::new();
    for name in &names {
        let wrong = play(&place, name);
        if !wrong.is_empty() {
            failed.push(format!("== {name}\n  {}", wrong.join("\n  ")));
        }
    }
    let cut = |text: &String| text.chars().take(1_500).collect::<String>();
    assert!(
        failed.is_empty(),
        "{} of {}\n{}",
        failed.len(),
        names.len(),
        failed.iter().map(cut).collect::<Vec<_>>().join("\n")
    );
}
