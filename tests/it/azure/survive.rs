//! Whatever is asked: no panic, nothing of the kind 5xx, lists are lists.

use ghost_lab::azure::{Body, Cloud, Verb};
use serde_json::{Value, json};

use super::blobs::ask;
use super::recorded::{body, now};
use crate::random::{Random, is_long, seed};

const VERBS: [Verb; 6] = [Verb::Get, Verb::Head, Verb::Put, Verb::Patch, Verb::Post, Verb::Delete];

/// Draws a path: parts of real ones, and parts that are none.
fn path(ids: &[String], random: &mut Random) -> String {
    const WORDS: [&str; 34] = [
        "subscriptions",
        "00000000-0000-0000-0000-000000000001",
        "resourceGroups",
        "nw-forensics-rg",
        "providers",
        "Microsoft.Network",
        "Microsoft.Compute",
        "Microsoft.Storage",
        "Microsoft.Insights",
        "Microsoft.Nothing",
        "networkInterfaces",
        "virtualNetworks",
        "subnets",
        "routes",
        "securityRules",
        "virtualNetworkPeerings",
        "packetCaptures",
        "queryStatus",
        "stop",
        "effectiveRouteTable",
        "effectiveNetworkSecurityGroups",
        "nextHop",
        "ipFlowVerify",
        "connectivityCheck",
        "topology",
        "runCommand",
        "listKeys",
        "regenerateKey",
        "locations",
        "operations",
        "serviceTags",
        "%ff%00",
        "..",
        "a b",
    ];
    let mut path = if random.below(4) > 0 { random.pick::<String>(ids).clone() } else { String::new() };
    for _ in 0..random.below(4) {
        path += "/";
        path += random.pick::<&str>(&WORDS);
    }
    if random.below(20) == 0 { format!("{path}//") } else { path }
}

/// Draws a document: real ones that are damaged, and nonsense.
fn document(documents: &[Value], random: &mut Random) -> Vec<u8> {
    let nonsense = [
        json!(null),
        json!([]),
        json!(7),
        json!("x"),
        json!({}),
        json!([{}]),
        json!({"id": 7, "name": []}),
        json!(-1),
        json!(1e300),
    ];
    let mut found = random.pick::<Value>(documents).clone();
    for _ in 0..random.below(4) {
        damage(&mut found, &nonsense, random);
    }
    let text = found.to_string().into_bytes();
    match random.below(8) {
        0 => Vec::new(),
        1 => text[..random.below(text.len())].to_vec(),
        2 => random.pick::<Value>(&nonsense).to_string().into_bytes(),
        _ => text,
    }
}

/// Replaces something somewhere inside.
fn damage(value: &mut Value, nonsense: &[Value], random: &mut Random) {
    let deeper = random.below(5) > 0;
    match value {
        Value::Object(map) if deeper && !map.is_empty() => {
            let at = random.below(map.len());
            damage(map.values_mut().nth(at).unwrap(), nonsense, random);
        }
        Value::Array(list) if deeper && !list.is_empty() => {
            let at = random.below(list.len());
            damage(&mut list[at], nonsense, random);
        }
        other => *other = random.pick::<Value>(nonsense).clone(),
    }
}

#[test]
fn nothing_that_is_asked_breaks_the_cloud() {
    let mut random = Random::new(seed("nothing_that_is_asked_breaks_the_cloud"));
    let mut cloud = Cloud::usual().unwrap();
    cloud.guests(true);
    let mut documents = cloud.documents();
    let places: Vec<String> = documents.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    let machine = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Compute/virtualMachines/tf-dest-vm";
    documents.push(json!({"targetResourceId": machine, "sourceIPAddress": "10.0.1.5", "destinationIPAddress": "8.8.8.8"}));
    documents.push(
        json!({"targetResourceId": machine, "direction": "Inbound", "protocol": "Tcp", "localPort": "80",
        "remotePort": "*", "localIPAddress": "10.0.1.5", "remoteIPAddress": "1.2.3.4"}),
    );
    documents
        .push(json!({"source": {"resourceId": machine}, "destination": {"address": "10.0.1.4", "port": 80}}));
    documents.push(json!({"properties": {"target": machine, "storageLocation": {"filePath": "/x.cap"}}}));
    documents.push(json!({"properties": {"remoteVirtualNetwork": {"id": places[2]}}}));
    let mut ids = places;
    ids.extend(["", "/subscriptions", "/metadata/endpoints", "/msi/token", "/tenants"].map(str::to_owned));
    let (mut good, mut refused) = (0, 0);
    for _ in 0..if is_long() { 60_000 } else { 3_000 } {
        let verb = *random.pick(&VERBS);
        let path = path(&ids, &mut random);
        let query = [
            ("$filter", "a eq 'b' and eventTimestamp ge x"),
            ("$expand", "instanceView"),
            ("$skiptoken", "99999999999999999999"),
        ];
        let query = &query[..random.below(4)];
        let headers = [("if-match", "W/\"x\""), ("authorization", "Bearer x.y.z")];
        let headers = if random.below(9) == 0 { &headers[..1 + random.below(2)] } else { &[] };
        let sent = document(&documents, &mut random);
        let (answer, _) = cloud.answer(&ask(verb, &path, query, headers, &sent), now());
        let line = || format!("{} {path} {}", verb.name(), String::from_utf8_lossy(&sent));
        assert!((200..500).contains(&answer.status), "{}: {answer:?}", line());
        if answer.status >= 400 {
            refused += 1;
            let reported = body(&answer);
            let coded = reported["error"]["code"].is_string() && reported["error"]["message"].is_string();
            assert!(coded || verb == Verb::Head, "{}: {answer:?}", line());
        } else {
            good += 1;
            if let (Body::Json(reported), true) = (&answer.body, verb == Verb::Get) {
                let listed = reported.get("value").is_none_or(|value| value.is_array() || value.is_object());
                assert!(listed, "{}: {reported}", line());
            }
        }
        drop(cloud.fabric());
        if random.below(200) == 0 {
            cloud = Cloud::usual().unwrap();
        }
    }
    assert!(good > 100 && refused > 100, "{good} {refused}");
}

#[test]
fn nothing_that_is_asked_breaks_the_storage() {
    let mut random = Random::new(seed("nothing_that_is_asked_breaks_the_storage"));
    let mut cloud = Cloud::usual().unwrap();
    let (answer, _) = cloud.answer(&ask(Verb::Get, "/msi/token", &[("resource", "x")], &[], b""), now());
    let bearer = format!("Bearer {}", body(&answer)["access_token"].as_str().unwrap());
    const WORDS: [&str; 9] =
        ["", "/", "pktcaptures", "older.cap", "%2f%ff", "nwlogs080613", "$root", "New", "abc"];
    const FIELDS: [(&str, &str); 14] = [
        ("restype", "container"),
        ("restype", "account"),
        ("restype", "service"),
        ("comp", "list"),
        ("comp", "block"),
        ("comp", "blocklist"),
        ("comp", "metadata"),
        ("comp", "properties"),
        ("comp", "tier"),
        ("blockid", "AAAA"),
        ("maxresults", "-1"),
        ("marker", "x"),
        ("sig", "x"),
        ("ss", "b"),
    ];
    const HEADERS: [(&str, &str); 12] = [
        ("x-ms-blob-type", "BlockBlob"),
        ("x-ms-blob-type", "PageBlob"),
        ("x-ms-range", "bytes=0-18446744073709551615"),
        ("range", "bytes=9-"),
        ("if-match", "*"),
        ("if-none-match", "*"),
        ("if-modified-since", "yesterday"),
        ("x-ms-meta-a", "\u{e9}"),
        ("content-md5", "x"),
        ("x-ms-access-tier", "Hot"),
        ("authorization", "SharedKey nwlogs080613:AAAA"),
        ("x-ms-date", ""),
    ];
    let (mut good, mut refused) = (0, 0);
    for _ in 0..if is_long() { 200_000 } else { 20_000 } {
        let drawn: String =
            (0..random.below(4)).map(|_| format!("/{}", random.pick::<&str>(&WORDS))).collect();
        let plain = ["/pktcaptures", "/pktcaptures/older.cap", "/pktcaptures/new", ""];
        let path = if random.below(3) > 0 { (*random.pick(&plain)).to_owned() } else { drawn };
        let query: Vec<(&str, &str)> = (0..random.below(4)).map(|_| *random.pick(&FIELDS)).collect();
        let mut headers: Vec<(&str, &str)> = (0..random.below(3)).map(|_| *random.pick(&HEADERS)).collect();
        if random.below(8) > 0 {
            headers.push(("authorization", &bearer));
        }
        let account = random.pick(&[
            Some("nwlogs080613"),
            Some("NWLOGS080613"),
            Some("nwlogs080613"),
            Some("other"),
            None,
        ]);
        let verb = *random.pick(&VERBS);
        let sent: &[u8] = random.pick::<&[u8]>(&[
            b"",
            b"<BlockList><Latest>AAAA</Latest></BlockList>",
            b"\xff\x00",
            b"abc",
        ]);
        let answer = cloud.blob(*account, &ask(verb, &path, &query, &headers, sent), now());
        let line = || format!("{} {path} {query:?} {headers:?}", verb.name());
        assert!((200..500).contains(&answer.status), "{}: {answer:?}", line());
        if answer.status >= 400 {
            refused += 1;
            assert!(answer.headers.iter().any(|(name, _)| name == "x-ms-error-code"), "{}", line());
        } else {
            good += 1;
        }
    }
    assert!(good > 100 && refused > 500, "{good} {refused}");
}

#[test]
fn a_collection_that_nobody_models_is_empty_and_a_resource_is_not_there() {
    let mut cloud = Cloud::usual().unwrap();
    let group =
        "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers";
    for kind in [
        "Microsoft.Network/loadBalancers",
        "Microsoft.Network/privateEndpoints",
        "Microsoft.Sql/servers",
        "Microsoft.X/y",
    ] {
        let (list, _) = cloud.answer(&ask(Verb::Get, &format!("{group}/{kind}"), &[], &[], b""), now());
        assert_eq!((list.status, body(&list)), (200, json!({"value": []})), "{kind}");
        let (one, _) = cloud.answer(&ask(Verb::Get, &format!("{group}/{kind}/z"), &[], &[], b""), now());
        assert_eq!((one.status, &body(&one)["error"]["code"]), (404, &json!("ResourceNotFound")), "{kind}");
    }
    let subscription = "/subscriptions/00000000-0000-0000-0000-000000000001";
    let mut get = |path: &str| {
        let (answer, _) = cloud.answer(&ask(Verb::Get, path, &[], &[], b""), now());
        (answer.status, body(&answer))
    };
    for path in [
        &format!("{subscription}/tagNames"),
        &format!("{subscription}/resourceGroups/nw-forensics-rg/things"),
        "/providers/Microsoft.Management/managementGroups",
        "/v1.0/users",
    ] {
        assert_eq!(get(path), (200, json!({"value": []})), "{path}");
        assert_eq!(get(&format!("{path}/z")).0, 404, "{path}");
    }
    let (status, reported) = get(&format!("{subscription}/providers"));
    assert!(status == 200 && reported["value"].as_array().is_some_and(|all| all.len() > 3), "{reported}");
    let register = format!("{subscription}/providers/Microsoft.Sql/register");
    let (answer, _) = cloud.answer(&ask(Verb::Post, &register, &[], &[], b""), now());
    assert_eq!((answer.status, &body(&answer)["registrationState"]), (200, &json!("Registered")));
}
