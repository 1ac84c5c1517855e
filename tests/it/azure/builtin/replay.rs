//! The built-in `az` against the recordings of the real one: the same requests, the same output, the same exit code.

use std::collections::BTreeMap;
use std::path::Path;

use ghost_lab::az::{MemoryEnvironment, az};
use ghost_lab::azure::{Answer, Body, Request};
use serde_json::Value;

use super::compare::compared;
use super::stage::{now, pattern, profile, recorded, words};
use crate::azure::recording::{every, read};

/// The other end: gives the recorded answers one after the other, and notes what differs from the recorded requests.
struct Replay {
    exchanges: Vec<Value>,
    at: usize,
    wrong: Vec<String>,
}

impl Replay {
    fn answer(&mut self, request: &Request) -> Answer {
        let line = format!("{} {}{}", request.verb.name(), request.base, request.path);
        let next = self.exchanges.get(self.at);
        // The identity's tokens are recorded only where they are the point.
        if request.path == "/msi/token" && next.is_none_or(|next| next["request"]["plane"] != "imds") {
            let reported = serde_json::json!({"access_token": "a.b.c", "expires_on": "1748860000", "token_type": "Bearer"});
            return Answer::json(200, reported);
        }
        let Some(next) = next.cloned() else {
            self.wrong.push(format!("asked more: {line}"));
            return Answer::empty(500);
        };
        self.at += 1;
        self.compare(&next["request"], request, &line);
        answer(&next["response"])
    }

    fn compare(&mut self, reported: &Value, request: &Request, line: &str) {
        let path = reported["path"].as_str().unwrap();
        if reported["method"] != request.verb.name() || path != request.path {
            self.wrong.push(format!("{line}\n    recorded: {} {path}", reported["method"]));
        }
        let own = |(name, _): &(String, String)| name != "api-version";
        let asked: BTreeMap<String, String> =
            request.query.iter().filter(|pair| own(pair)).cloned().collect();
        let pairs = reported["query"].as_object().into_iter().flatten();
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
            Some(reported) if reported.starts_with("Bearer ") => "bearer",
            Some(_) => "shared-key",
        };
        if reported["auth"] != auth {
            self.wrong.push(format!("{line}: {auth} instead of {}", reported["auth"]));
        }
        if let Some(host) = reported["host"].as_str()
            && !request.base.ends_with(host)
        {
            self.wrong.push(format!("{line}: not at {host}"));
        }
        for (name, value) in reported["headers"].as_object().into_iter().flatten() {
            let same = request.header(name) == value.as_str();
            if !same && !matches!(name.as_str(), "metadata") {
                self.wrong.push(format!("{line}: {name}: {:?} instead of {value}", request.header(name)));
            }
        }
        let body = &reported["body"];
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

fn answer(reported: &Value) -> Answer {
    let mut headers: Vec<(String, String)> = reported["headers"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    headers.push(("x-ms-request-id".to_owned(), "00000000-0000-4000-8000-00000000b10b".to_owned()));
    headers.push(("date".to_owned(), "Mon, 02 Jun 2025 09:31:00 GMT".to_owned()));
    let recorded_body = &reported["body"];
    let body = if recorded_body.is_null() {
        Body::Empty
    } else if let Some(text) = recorded_body.as_str() {
        Body::Text("text/plain", text.to_owned())
    } else if let Some(bytes) = recorded_body["bytes"].as_u64() {
        Body::Bytes(pattern(bytes))
    } else if recorded_body["base64"].is_string() {
        Body::Bytes(Vec::new())
    } else {
        Body::Json(recorded_body.clone())
    };
    Answer { status: u16::try_from(reported["status"].as_u64().unwrap()).unwrap(), headers, body }
}

/// Plays a recording; returns what differs.
fn play(place: &Path, file: &str) -> Vec<String> {
    let name = file.trim_end_matches(".json");
    let recorded = recorded(&place.join(file));
    let estate = read(&place.join("_estate.json"));
    let mut profile = profile(name, &estate);
    let mut replay =
        Replay { exchanges: recorded["exchanges"].as_array().unwrap().clone(), at: 0, wrong: Vec::new() };
    let mut wire = |request: Request| replay.answer(&request);
    let mut within = MemoryEnvironment::new(&mut wire, now());
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

#[test]
fn every_recording_is_asked_and_printed_as_it_was() {
    every(play);
}
