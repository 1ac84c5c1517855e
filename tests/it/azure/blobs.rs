//! Blob storage answers as the recordings do, to tokens and to keys.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ghost_agent::lab::azure::{Answer, BlobRole, Body, Cloud, Request, Verb};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::recorded::{body, cloud, essential, fault, now, read, recordings, request};

const ACCOUNT: &str = "nwlogs080613";
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
fn key(cloud: &mut Cloud) -> String {
    let place = format!("{GROUP}/Microsoft.Storage/storageAccounts/{ACCOUNT}/listKeys");
    let (answer, _) = cloud.answer(&ask(Verb::Post, &place, &[], &[], b""), now());
    body(&answer)["keys"][0]["value"].as_str().unwrap().to_owned()
}

fn mac(key: &str, text: &str) -> String {
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

fn bearer(mut request: Request, token: &str) -> Request {
    request.headers.insert("authorization".to_owned(), format!("Bearer {token}"));
    request
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let found = answer.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

fn size(answer: &Answer) -> usize {
    match &answer.body {
        Body::Bytes(bytes) => bytes.len(),
        other => panic!("{other:?}"),
    }
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
fn rules(cloud: &mut Cloud, rules: Value) -> Answer {
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
        let told = &exchange["response"];
        let line = format!("{name} {} {}", asked.verb.name(), asked.path);
        if told["status"] != answer.status {
            wrong.push(format!("{line}: {} instead of {}: {}", answer.status, told["status"], body(&answer)));
            continue;
        }
        for (name, value) in told["headers"].as_object().unwrap() {
            let ours = header(&answer, name);
            if ours.is_none()
                || (!["ETag", "Last-Modified", "x-ms-creation-time"].contains(&name.as_str())
                    && ours != value.as_str())
            {
                wrong.push(format!("{line}: {name}: {ours:?} instead of {value}"));
            }
        }
        let same = match (&told["body"], &answer.body) {
            (Value::Null, Body::Bytes(bytes)) => bytes.is_empty(),
            (Value::Null, body) => *body == Body::Empty,
            (Value::String(text), Body::Text(_, ours)) => drawn(text) == drawn(ours),
            (theirs, Body::Bytes(bytes)) => theirs["bytes"] == bytes.len(),
            (theirs, _) => essential(theirs) == essential(&body(&answer)),
        };
        if !same {
            wrong.push(format!("{line}:\n  {}\n  {}", body(&answer), told["body"]));
        }
    }
    (asked, wrong)
}

#[test]
fn recordings_of_blob_storage_are_answered_as_they_were() {
    let Some(place) = recordings() else { return };
    let mut names: Vec<String> = std::fs::read_dir(&place)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name.ends_with(".json") && !name.starts_with('_'));
    names.sort();
    let played: Vec<(usize, Vec<String>)> = names.iter().map(|name| play(&place, name)).collect();
    let wrong: Vec<String> = played.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    let asked: usize = played.iter().map(|(asked, _)| asked).sum();
    assert!(wrong.is_empty() && asked > 20, "{asked} asked\n{}", wrong.join("\n"));
}

/// A cloud in which somebody is signed in.
struct Lab {
    cloud: Cloud,
    token: String,
}

impl Lab {
    fn new() -> Self {
        let mut cloud = Cloud::usual().unwrap();
        let token = token(&mut cloud);
        Self { cloud, token }
    }

    fn ask(
        &mut self,
        verb: Verb,
        path: &str,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let request = bearer(ask(verb, path, query, headers, body), &self.token);
        self.cloud.blob(Some(ACCOUNT), &request, now())
    }

    fn put(&mut self, path: &str, body: &[u8]) -> Answer {
        self.ask(Verb::Put, path, &[], &[("x-ms-blob-type", "BlockBlob")], body)
    }

    #[track_caller]
    fn refused(&mut self, answer: &Answer, status: u16, code: &str) {
        assert_eq!((answer.status, header(answer, "x-ms-error-code")), (status, Some(code)), "{answer:?}");
    }
}

#[test]
fn a_blob_is_read_in_parts_and_by_its_tag() {
    let mut lab = Lab::new();
    let put = lab.put("/pktcaptures/x", b"0123456789");
    let tag = header(&put, "ETag").unwrap().to_owned();
    let part =
        lab.ask(Verb::Get, "/pktcaptures/x", &[], &[("x-ms-range", "bytes=4-100"), ("if-match", &tag)], b"");
    assert_eq!((part.status, header(&part, "Content-Range")), (206, Some("bytes 4-9/10")));
    assert_eq!(part.body, Body::Bytes(b"456789".to_vec()));
    let changed = lab.ask(Verb::Get, "/pktcaptures/x", &[], &[("if-match", "\"0x1\"")], b"");
    lab.refused(&changed, 412, "ConditionNotMet");
    let same = lab.ask(Verb::Get, "/pktcaptures/x", &[], &[("if-none-match", &tag)], b"");
    assert_eq!((same.status, same.body.clone()), (304, Body::Empty));
    let beyond = lab.ask(Verb::Get, "/pktcaptures/x", &[], &[("x-ms-range", "bytes=10-")], b"");
    lab.refused(&beyond, 416, "InvalidRange");
    for bad in ["bytes=-3", "bytes=5-4", "items=1-2", "bytes=a-b", "bytes=99999999999999999999-"] {
        let answer = lab.ask(Verb::Get, "/pktcaptures/x", &[], &[("x-ms-range", bad)], b"");
        lab.refused(&answer, 400, "InvalidHeaderValue");
    }
}

#[test]
fn blocks_become_a_blob_in_the_order_of_their_list() {
    let mut lab = Lab::new();
    for (id, bytes) in [("MDE=", b"one"), ("MDI=", b"two")] {
        let put = lab.ask(Verb::Put, "/pktcaptures/b", &[("comp", "block"), ("blockid", id)], &[], bytes);
        assert_eq!(put.status, 201);
    }
    let list =
        b"<?xml version='1.0'?><BlockList><Latest>MDI=</Latest><Uncommitted>MDE=</Uncommitted></BlockList>";
    let done = lab.ask(Verb::Put, "/pktcaptures/b", &[("comp", "blocklist")], &[], list);
    assert_eq!(done.status, 201, "{done:?}");
    assert_eq!(lab.ask(Verb::Get, "/pktcaptures/b", &[], &[], b"").body, Body::Bytes(b"twoone".to_vec()));
    let again = b"<BlockList><Committed>MDE=</Committed></BlockList>";
    assert_eq!(lab.ask(Verb::Put, "/pktcaptures/b", &[("comp", "blocklist")], &[], again).status, 201);
    assert_eq!(lab.ask(Verb::Get, "/pktcaptures/b", &[], &[], b"").body, Body::Bytes(b"one".to_vec()));
    let gone = lab.ask(
        Verb::Put,
        "/pktcaptures/b",
        &[("comp", "blocklist")],
        &[],
        b"<BlockList><Latest>MDI=</Latest></BlockList>",
    );
    lab.refused(&gone, 400, "InvalidBlockList");
    for bad in
        [&b""[..], b"<BlockList>", b"<BlockList><Latest>", b"\xff", b"<BlockList><X>MDI=</X></BlockList>"]
    {
        let answer = lab.ask(Verb::Put, "/pktcaptures/b", &[("comp", "blocklist")], &[], bad);
        lab.refused(&answer, 400, "InvalidXmlDocument");
    }
}

#[test]
fn a_list_goes_on_where_its_marker_says() {
    let mut lab = Lab::new();
    assert_eq!(lab.ask(Verb::Put, "/many", &[("restype", "container")], &[], b"").status, 201);
    let names = ["a/1", "a/2", "b&c", "d\u{1}"];
    names.iter().for_each(|name| {
        let path = format!(
            "/many/{}",
            percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC)
        );
        assert_eq!(lab.put(&path, b"").status, 201);
    });
    let list = |lab: &mut Lab, more: &[(&str, &str)]| {
        let query = [&[("restype", "container"), ("comp", "list")], more].concat();
        match lab.ask(Verb::Get, "/many", &query, &[], b"").body {
            Body::Text(_, text) => text,
            other => panic!("{other:?}"),
        }
    };
    let first = list(&mut lab, &[("maxresults", "2")]);
    assert!(
        first.contains("<Name>a/2</Name>") && first.contains("<NextMarker>b&amp;c</NextMarker>"),
        "{first}"
    );
    let rest = list(&mut lab, &[("marker", "b&c")]);
    assert!(
        rest.contains("<Name>b&amp;c</Name>") && rest.contains("<Name Encoded=\"true\">d%01</Name>"),
        "{rest}"
    );
    assert!(rest.contains("<NextMarker />") && !rest.contains("a/1"), "{rest}");
    let folders = list(&mut lab, &[("delimiter", "/")]);
    assert_eq!(folders.matches("<BlobPrefix>").count(), 1, "{folders}");
}

#[test]
fn network_rules_let_in_whom_they_name() {
    let mut lab = Lab::new();
    let read = |lab: &mut Lab| lab.ask(Verb::Get, "/pktcaptures/older.cap", &[], &[], b"");
    assert!(size(&read(&mut lab)) > 0);
    assert_eq!(
        rules(&mut lab.cloud, json!({"defaultAction": "Deny", "bypass": "AzureServices"})).status,
        200
    );
    let shut = read(&mut lab);
    lab.refused(&shut, 403, "AuthorizationFailure");
    let head = lab.ask(Verb::Head, "/pktcaptures/older.cap", &[], &[], b"");
    assert_eq!((head.status, head.body), (403, Body::Empty));
    let own = json!({"defaultAction": "Deny", "ipRules": [{"value": "198.51.100.0/24", "action": "Allow"}]});
    assert_eq!(rules(&mut lab.cloud, own).status, 200);
    assert_eq!(read(&mut lab).status, 200);
    for bad in [
        json!({"defaultAction": "Maybe"}),
        json!({"ipRules": [{"value": "10.0.0.1"}]}),
        json!({"ipRules": 7}),
        json!({"virtualNetworkRules": [{"id": "/nowhere"}]}),
    ] {
        assert_eq!(rules(&mut lab.cloud, bad).status, 400);
    }
}

#[test]
fn rights_that_are_missing_are_missed() {
    let mut lab = Lab::new();
    lab.cloud.blob_role(BlobRole::Reader);
    assert_eq!(lab.ask(Verb::Get, "/pktcaptures/older.cap", &[], &[], b"").status, 200);
    let put = lab.put("/pktcaptures/x", b"");
    lab.refused(&put, 403, "AuthorizationPermissionMismatch");
    lab.cloud.blob_role(BlobRole::None);
    let read = lab.ask(Verb::Get, "/pktcaptures/older.cap", &[], &[], b"");
    lab.refused(&read, 403, "AuthorizationPermissionMismatch");
    let anybody =
        lab.cloud.blob(Some(ACCOUNT), &ask(Verb::Get, "/pktcaptures/older.cap", &[], &[], b""), now());
    lab.refused(&anybody, 401, "NoAuthenticationInformation");
    let late = bearer(ask(Verb::Get, "/pktcaptures/older.cap", &[], &[], b""), &lab.token);
    let late = lab.cloud.blob(Some(ACCOUNT), &late, now().plus(std::time::Duration::from_secs(90_000)));
    lab.refused(&late, 401, "InvalidAuthenticationInfo");
    let nobody = lab.cloud.blob(Some("azcliprod"), &ask(Verb::Get, "/cli/latest", &[], &[], b""), now());
    lab.refused(&nobody, 404, "ResourceNotFound");
}

#[test]
fn a_signed_address_opens_what_it_names_and_as_long_as_it_says() {
    let mut lab = Lab::new();
    let key = key(&mut lab.cloud);
    let (start, end, version) = ("", "2025-06-02T10:00:00Z", "2022-11-02");
    let text =
        format!("r\n{start}\n{end}\n/blob/{ACCOUNT}/pktcaptures/older.cap\n\n\n\n{version}\nb\n\n\n\n\n\n\n");
    let mac = mac(&key, &text);
    let query = [("sp", "r"), ("se", end), ("sv", version), ("sr", "b"), ("sig", mac.as_str())];
    let at = |lab: &mut Lab, verb: Verb, path: &str, moment| {
        lab.cloud.blob(
            Some(ACCOUNT),
            &ask(verb, path, &query, &[("x-ms-blob-type", "BlockBlob")], b""),
            moment,
        )
    };
    assert_eq!(at(&mut lab, Verb::Get, "/pktcaptures/older.cap", now()).status, 200);
    let write = at(&mut lab, Verb::Put, "/pktcaptures/older.cap", now());
    lab.refused(&write, 403, "AuthorizationPermissionMismatch");
    let other = at(&mut lab, Verb::Get, "/pktcaptures/newer.cap", now());
    lab.refused(&other, 403, "AuthenticationFailed");
    let late =
        at(&mut lab, Verb::Get, "/pktcaptures/older.cap", now().plus(std::time::Duration::from_secs(3_600)));
    lab.refused(&late, 403, "AuthenticationFailed");
}

#[test]
fn memory_is_bounded() {
    let mut lab = Lab::new();
    let large = vec![0; 200 << 20];
    assert_eq!(lab.put("/pktcaptures/1", &large).status, 201);
    assert_eq!(lab.put("/pktcaptures/2", &large).status, 201);
    let third = lab.put("/pktcaptures/3", &large);
    lab.refused(&third, 413, "RequestBodyTooLarge");
    assert_eq!(lab.put("/pktcaptures/2", &large).status, 201, "what it takes the place of is no longer held");
}
