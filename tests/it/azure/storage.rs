//! Blob storage, fact by fact.

use ghost_lab::azure::{Answer, BlobRole, Body, Cloud, Verb};
use serde_json::json;

use super::blobs::{ACCOUNT, ask, bearer, header, key, mac, rules, token};
use super::recorded::now;

fn size(answer: &Answer) -> usize {
    match &answer.body {
        Body::Bytes(bytes) => bytes.len(),
        other => panic!("{other:?}"),
    }
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
