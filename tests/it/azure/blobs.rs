//! Blob storage answers as the recordings do, to tokens and to keys.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ghost_lab::azure::{Answer, Body, Cloud, Request, Verb};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::recorded::{body, cloud, essential, fault, now, request};
use super::recording::{names, read, recordings};

pub(super) const ACCOUNT: &str = "nwlogs080613";
const GROUP: &str =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers";

pub(super) fn ask(
    verb: Verb,
    path: &str,
    query: &[(&str, &str)],
    headers: &[(&str, &str)],
    body: &[u8],
) -> Request {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Request {
        verb,
        base: "https://localhost:1".to_owned(),
        path: path.to_owned(),
        query: query.iter().map(owned).collect(),
        headers: headers.iter().map(owned).collect::<BTreeMap<_, _>>(),
        body: body.to_vec(),
    }
}

/// Signs in.
pub(super) fn token(cloud: &mut Cloud) -> String {
    let (answer, _) = cloud.answer(&ask(Verb::Get, "/msi/token", &[("resource", "x")], &[], b""), now());
    body(&answer)["access_token"].as_str().unwrap().to_owned()
}

/// Returns the first key of the account.
pub(super) fn key(cloud: &mut Cloud) -> String {
    let place = format!("{GROUP}/Microsoft.Storage/storageAccounts/{ACCOUNT}/listKeys");
    let (answer, _) = cloud.answer(&ask(Verb::Post, &place, &[], &[], b""), now());
    body(&answer)["keys"][0]["value"].as_str().unwrap().to_owned()
}

pub(super) fn mac(key: &str, text: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(key).unwrap()).unwrap();
    STANDARD.encode(mac.chain_update(text).finalize().into_bytes())
}

/// Signs a request with a key, as the clients do.
fn signed(mut request: Request, key: &str) -> Request {
    request.headers.insert("x-ms-date".to_owned(), "Mon, 02 Jun 2025 09:31:00 GMT".to_owned());
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    let length = header("content-length");
    let plain = [header("content-type"), header("if-match"), header("if-none-match")];
    let own: String = request
        .headers
        .iter()
        .filter(|(name, _)| name.starts_with("x-ms-"))
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let mut query = request.query.clone();
    query.sort();
    let query: String = query.iter().map(|(name, value)| format!("\n{name}:{value}")).collect();
    let text = format!(
        "{}\n\n\n{}\n\n{}\n\n\n{}\n{}\n\n\n{own}/{ACCOUNT}{}{query}",
        request.verb.name(),
        if length == "0" { "" } else { &length },
        plain[0],
        plain[1],
        plain[2],
        request.path
    );
    let value = format!("SharedKey {ACCOUNT}:{}", mac(key, &text));
    request.headers.insert("authorization".to_owned(), value);
    request
}

pub(super) fn bearer(mut request: Request, token: &str) -> Request {
    request.headers.insert("authorization".to_owned(), format!("Bearer {token}"));
    request
}

pub(super) fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let found = answer.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

/// Takes out what is drawn anew.
fn drawn(text: &str) -> String {
    let pattern = regex::Regex::new(
        r"RequestId:[0-9a-f-]+|Time:[^<]+|<Etag>[^<]*</Etag>|<(Creation-Time|Last-Modified)>[^<]*</|\x{feff}",
    );
    pattern.unwrap().replace_all(text, "").into_owned()
}

/// Does what a recording does before it begins.
fn prepare(cloud: &mut Cloud, steps: &Value) {
    let mut length = 0;
    for step in steps.as_array().unwrap() {
        if let Some(bytes) = step["bytes"].as_u64() {
            length = bytes;
        } else if step["fault"].is_object() {
            cloud.faults().add(fault(&step["fault"]));
        } else if let Some(words) = step["az"].as_array() {
            let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
            if words[..3] == ["storage", "blob", "upload"] {
                let name = words[words.iter().position(|word| *word == "--name").unwrap() + 1];
                let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
                let token = token(cloud);
                let kind = [("x-ms-blob-type", "BlockBlob")];
                let put = ask(Verb::Put, &format!("/pktcaptures/{name}"), &[], &kind, &bytes);
                assert_eq!(cloud.blob(Some(ACCOUNT), &bearer(put, &token), now()).status, 201);
            } else {
                assert_eq!(words[..3], ["storage", "account", "update"]);
                rules(cloud, json!({"defaultAction": "Deny", "bypass": "AzureServices"}));
            }
        }
    }
}

/// Replaces the network rules of the account.
pub(super) fn rules(cloud: &mut Cloud, rules: Value) -> Answer {
    let place = format!("{GROUP}/Microsoft.Storage/storageAccounts/{ACCOUNT}");
    let body = json!({"properties": {"networkAcls": rules}}).to_string();
    cloud.answer(&ask(Verb::Patch, &place, &[], &[], body.as_bytes()), now()).0
}

fn play(place: &Path, name: &str) -> (usize, Vec<String>) {
    let recorded = read(&place.join(name));
    let (mut asked, mut wrong) = (0, Vec::new());
    let exchanges = recorded["exchanges"].as_array().unwrap();
    if exchanges.iter().all(|exchange| exchange["request"]["plane"] != "blob") {
        return (0, wrong);
    }
    let mut cloud = cloud(place);
    prepare(&mut cloud, &recorded["setup"]);
    for exchange in exchanges.iter().filter(|exchange| exchange["request"]["plane"] == "blob") {
        asked += 1;
        let mut asked = request(&exchange["request"]);
        if let Some(bytes) = exchange["request"]["body"]["bytes"].as_u64() {
            asked.body = (0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect();
        }
        let asked = match exchange["request"]["auth"].as_str().unwrap() {
            "shared-key" if name.contains("bad-key") => signed(asked, "AAAA"),
            "shared-key" => {
                let key = key(&mut cloud);
                signed(asked, &key)
            }
            _ => {
                let token = token(&mut cloud);
                bearer(asked, &token)
            }
        };
        let host = exchange["request"]["host"].as_str().unwrap();
        let account = host.split_once(".blob.").map(|(account, _)| account);
        let answer = cloud.blob(account, &asked, now());
        let reported = &exchange["response"];
        let line = format!("{name} {} {}", asked.verb.name(), asked.path);
        if reported["status"] != answer.status {
            wrong.push(format!(
                "{line}: {} instead of {}: {}",
                answer.status,
                reported["status"],
                body(&answer)
            ));
            continue;
        }
        for (name, value) in reported["headers"].as_object().unwrap() {
            let ours = header(&answer, name);
            if ours.is_none()
                || (!["ETag", "Last-Modified", "x-ms-creation-time"].contains(&name.as_str())
                    && ours != value.as_str())
            {
                wrong.push(format!("{line}: {name}: {ours:?} instead of {value}"));
            }
        }
        let same = match (&reported["body"], &answer.body) {
            (Value::Null, Body::Bytes(bytes)) => bytes.is_empty(),
            (Value::Null, body) => *body == Body::Empty,
            (Value::String(text), Body::Text(_, ours)) => drawn(text) == drawn(ours),
            (theirs, Body::Bytes(bytes)) => theirs["bytes"] == bytes.len(),
            (theirs, _) => essential(theirs) == essential(&body(&answer)),
        };
        if !same {
            wrong.push(format!("{line}:\n  {}\n  {}", body(&answer), reported["body"]));
        }
    }
    (asked, wrong)
}

#[test]
fn recordings_of_blob_storage_are_answered_as_they_were() {
    let Some(place) = recordings() else { return };
    let played: Vec<(usize, Vec<String>)> = names(&place).iter().map(|name| play(&place, name)).collect();
    let wrong: Vec<String> = played.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    let asked: usize = played.iter().map(|(asked, _)| asked).sum();
    assert!(wrong.is_empty() && asked > 20, "{asked} asked\n{}", wrong.join("\n"));
}
