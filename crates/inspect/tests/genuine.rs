//! Shapes in which the platform and its tools print resources, each with what it means: goes in the documents below
//! `tests/fixtures/genuine`, comes out the verdict about one flow. Never: a document that somebody else wrote; names and addresses are our own.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test says what is wrong by failing"
)]

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use serde_json::{Map, Value, json};

use ghost_inspect::path::{Bundle, Estate, Flow, Protocol};

/// Stands for anybody outside.
const INTERNET: &str = "203.0.113.10";

fn read(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/genuine");
    let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// What a guest with an address answers: no rules, no shaping, and who listens.
fn guest(own: &Value) -> Value {
    let address = own["address"].as_str().unwrap();
    let also = own["also"].as_str().map(|also| format!(" {also}/24")).unwrap_or_default();
    let mut sockets = "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n".to_owned();
    for end in own["listens"].as_array().into_iter().flatten() {
        sockets.push_str(&format!("LISTEN 0 128 {} 0.0.0.0:*\n", end.as_str().unwrap()));
    }
    let save = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";
    json!({
        "filters": {"iptables-save": save, "ip6tables-save": save, "nft": {"nftables": []}},
        "shaping": "qdisc mq 0: dev eth0 root\n", "routes": "default via 10.0.0.1 dev eth0 proto dhcp\n",
        "addresses": format!("lo UNKNOWN 127.0.0.1/8\neth0 UP {address}/24{also}\n"),
        "settings": format!("net.ipv4.ip_forward = {}\n", own["forwards"].as_u64().unwrap_or(0)),
        "tcp": sockets, "udp": "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n",
    })
}

fn merge(into: &mut Map<String, Value>, more: Option<&Value>) {
    for (name, value) in more.and_then(Value::as_object).into_iter().flatten() {
        into.insert(name.clone(), value.clone());
    }
}

/// Sets a value at a place of a document, or takes it out.
fn change(cloud: &mut Map<String, Value>, place: &str, value: Option<&Value>) {
    let (document, pointer) = place.split_once('/').unwrap_or((place, ""));
    let Some((folder, last)) = pointer.rsplit_once('/').or((!pointer.is_empty()).then_some(("", pointer)))
    else {
        match value {
            Some(value) => cloud.insert(document.to_owned(), value.clone()),
            None => cloud.remove(document),
        };
        return;
    };
    let whole = cloud.get_mut(document).unwrap_or_else(|| panic!("no document {document}"));
    let folder = if folder.is_empty() { String::new() } else { format!("/{folder}") };
    let parent = whole.pointer_mut(&folder).unwrap_or_else(|| panic!("nothing at {place}"));
    match (parent, value) {
        (Value::Array(all), Some(value)) if last == "-" => all.push(value.clone()),
        (Value::Array(all), Some(value)) => all[last.parse::<usize>().unwrap()] = value.clone(),
        (Value::Array(all), None) => drop(all.remove(last.parse::<usize>().unwrap())),
        (Value::Object(map), Some(value)) => drop(map.insert(last.to_owned(), value.clone())),
        (Value::Object(map), None) => assert!(map.remove(last).is_some(), "nothing at {place}"),
        (other, _) => panic!("{place} is in {other}"),
    }
}

/// Nests what `az` flattens, as REST prints it.
fn nested(row: &Value) -> Value {
    const OUTSIDE: [&str; 8] = ["id", "name", "type", "etag", "location", "tags", "sku", "zones"];
    let Value::Object(map) = row else { return row.clone() };
    let (outer, inner): (Vec<_>, Vec<_>) = map
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .partition(|(name, _)| OUTSIDE.contains(&name.as_str()));
    let mut found: Map<String, Value> = outer.into_iter().collect();
    let inner = inner.into_iter().map(|(name, value)| match value {
        Value::Array(all) if all.iter().all(|one| one["name"].is_string()) => {
            (name, Value::Array(all.iter().map(nested).collect()))
        }
        other => (name, other),
    });
    found.insert("properties".to_owned(), Value::Object(inner.collect()));
    Value::Object(found)
}

fn bundle(base: &Value, file: &Value, shape: &Value) -> Bundle {
    let mut cloud = Map::new();
    [base.get("cloud"), file.get("cloud"), shape.get("cloud")]
        .into_iter()
        .for_each(|own| merge(&mut cloud, own));
    for (place, value) in shape["set"].as_object().into_iter().flatten() {
        change(&mut cloud, place, Some(value));
    }
    for place in shape["without"].as_array().into_iter().flatten() {
        change(&mut cloud, place.as_str().unwrap(), None);
    }
    for name in shape["as_rest"].as_array().into_iter().flatten() {
        let rows = cloud.get_mut(name.as_str().unwrap()).unwrap();
        *rows = rows.as_array().unwrap().iter().map(nested).collect();
    }
    for (name, from, to) in shape["written"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| (one[0].as_str().unwrap(), one[1].as_str().unwrap(), one[2].as_str().unwrap()))
    {
        let text = cloud[name].to_string();
        assert!(text.contains(from), "{name} has no {from}");
        cloud.insert(name.to_owned(), serde_json::from_str(&text.replace(from, to)).unwrap());
    }
    let mut nics = Map::new();
    [base.get("nics"), file.get("nics"), shape.get("nics")].into_iter().for_each(|own| merge(&mut nics, own));
    let mut guests = Map::new();
    for own in [base, file, shape] {
        for (name, value) in own["guests"].as_object().into_iter().flatten() {
            guests.insert(name.clone(), guest(value));
        }
    }
    Bundle::parse(&json!({"format": 1, "cloud": cloud, "nics": nics, "guests": guests}).to_string()).unwrap()
}

/// Returns the address of an end, and the machine where it is named as one.
fn end<'a>(estate: &Estate, place: &'a str) -> (IpAddr, Option<&'a str>) {
    if let Ok(address) = place.parse() {
        return (address, None);
    }
    if place == "internet" {
        return (INTERNET.parse().unwrap(), None);
    }
    let own = estate.addresses_of(place).first().map(|address| (*address, Some(place)));
    let front = || Some((*estate.frontend_addresses(place).first()?, None));
    own.or_else(front).unwrap_or_else(|| panic!("nobody is called {place}"))
}

fn flow(estate: &Estate, shape: &Value) -> Flow {
    let (from, caller) = end(estate, shape["from"].as_str().unwrap());
    let (to, port) = shape["to"].as_str().unwrap().rsplit_once(':').unwrap();
    let port = Some(port.parse::<u16>().unwrap());
    let protocol = shape["protocol"].as_str().map_or(Protocol::Tcp, |word| Protocol::parse(word).unwrap());
    if to.contains(char::is_alphabetic) && to.contains('.') {
        return estate
            .flow_to_name(from, to, protocol, port)
            .unwrap_or_else(|| panic!("nothing is known of {to}"));
    }
    let (to, called) = end(estate, to);
    let flow = Flow::new(from, to, protocol, port).unwrap();
    let flow = caller.map_or(flow.clone(), |caller| flow.from_machine(caller));
    called.map_or(flow.clone(), |called| flow.to_machine(called))
}

/// Judges every shape of a file, and returns what does not come out as it means.
fn wrong(file: &str) -> (usize, Vec<String>) {
    let (base, own) = (read("estate.json"), read(file));
    let mut found = Vec::new();
    let shapes = own["shapes"].as_array().unwrap();
    for shape in shapes {
        let estate = Estate::of(&bundle(&base, &own, shape));
        let judged = estate.judge(&flow(&estate, shape));
        let causes: Vec<String> =
            judged.causes().iter().map(|(_, effect)| effect.cause.to_string()).collect();
        let expected: Vec<&str> =
            shape["causes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let said = judged.fate.verdict();
        let is_right = shape["verdict"].as_str() == Some(said) && (expected.is_empty() || causes == expected);
        if !is_right {
            let why: Vec<String> =
                judged.missing().iter().map(|one| format!("{}: {}", one.what, one.why)).collect();
            found.push(format!(
                "{file}: {}\n  means {} {expected:?}\n  said  {said} {causes:?} ({})\n  lacks {why:?}",
                shape["name"].as_str().unwrap_or_default(),
                shape["verdict"],
                judged.fate
            ));
        }
        assert!(shape["means"].is_string(), "{file}: {}", shape["name"]);
    }
    (shapes.len(), found)
}

#[track_caller]
fn check(file: &str) {
    let (_, found) = wrong(file);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A test for each file of shapes.
macro_rules! shapes {
    ($($name:ident: $file:literal;)*) => {
        const FILES: &[&str] = &[$($file),*];
        $(#[test] fn $name() { check($file); })*
    };
}

shapes! {
    a_group_that_is_listed_twice_at_an_interface_is_one: "group-twice.json";
    a_public_load_balancer_is_called_from_inside_by_the_internet: "balancer-from-inside.json";
    ports_of_a_range_lead_to_members: "port-ranges.json";
    a_gateway_of_layer_four_is_read: "gateway-plain.json";
    a_listener_that_no_rule_takes_leads_nowhere: "gateway-listener.json";
    records_decide_where_a_name_of_a_private_endpoint_leads: "endpoint-names.json";
    nothing_comes_in_where_nothing_public_leads: "from-the-internet.json";
    a_public_address_is_found_by_its_id: "public-address.json";
    a_standard_address_without_a_group_is_closed: "public-sku.json";
    an_address_is_that_of_the_machine_that_was_named: "same-addresses.json";
    one_name_in_two_groups_is_two_resources: "same-names.json";
    policies_of_one_name_are_two_policies: "same-policies.json";
    a_rule_without_a_pool_says_so: "rule-without-pool.json";
    what_a_gateway_could_not_ask_is_not_down: "gateway-health.json";
    balancers_are_read_as_they_are_printed: "balancers.json";
    gateways_are_read_as_they_are_printed: "gateways.json";
    groups_are_read_as_they_are_printed: "groups.json";
    routes_are_read_as_they_are_printed: "routes.json";
    networks_are_read_as_they_are_printed: "networks.json";
    interfaces_are_read_as_they_are_printed: "interfaces.json";
    virtual_hubs_and_network_managers_are_read_as_they_are_printed: "hubs.json";
    firewalls_are_read_as_they_are_printed: "firewalls.json";
    documents_that_are_none_leave_it_open: "documents.json";
    a_field_that_is_new_leaves_open_what_passes_its_network: "unknown-fields.json";
    a_field_that_is_new_leaves_open_what_passes_its_resource: "unknown-fields-2.json";
}

#[test]
fn every_file_is_run_and_there_are_enough_shapes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/genuine");
    let mut there: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "estate.json")
        .collect();
    there.sort();
    let mut run: Vec<&str> = FILES.to_vec();
    run.sort_unstable();
    assert_eq!(there, run);
    let all: usize = FILES.iter().map(|file| read(file)["shapes"].as_array().unwrap().len()).sum();
    assert!(all >= 150, "{all} shapes");
}
