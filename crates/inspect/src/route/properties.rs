//! What holds for every table.

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::*;

/// A route as an oracle sees it.
#[derive(Debug, Clone)]
struct Plain {
    prefix: &'static str,
    source: &'static str,
    hop: &'static str,
    state: &'static str,
}

const PREFIXES: [&str; 16] = [
    "0.0.0.0/0",
    "0.0.0.0/1",
    "128.0.0.0/1",
    "10.0.0.0/8",
    "10.0.0.0/9",
    "10.128.0.0/9",
    "10.0.0.0/16",
    "10.0.1.0/24",
    "10.0.1.4/32",
    "::/0",
    "fd00::/8",
    "fd00::/64",
    "fd00::/65",
    "fd00:0:0:0:8000::/65",
    "fd00::1/128",
    "ff00::/8",
];

fn any_route() -> impl Strategy<Value = Plain> {
    let sources = vec!["User", "VirtualNetworkGateway", "Default", "Elsewhere"];
    let hops = vec![
        "VnetLocal",
        "VNetPeering",
        "VirtualNetworkServiceEndpoint",
        "None",
        "Internet",
        "VirtualAppliance",
    ];
    let states = vec!["Active", "Active", "Active", "Invalid"];
    (select(PREFIXES.to_vec()), select(sources), select(hops), select(states))
        .prop_map(|(prefix, source, hop, state)| Plain { prefix, source, hop, state })
}

/// Addresses at the edges of the prefixes, and elsewhere.
fn any_address() -> impl Strategy<Value = IpAddr> {
    let edges = [
        "10.0.1.4",
        "10.0.1.5",
        "10.0.1.255",
        "10.0.2.0",
        "10.127.255.255",
        "10.128.0.0",
        "9.255.255.255",
        "0.0.0.0",
        "127.255.255.255",
        "128.0.0.0",
        "255.255.255.255",
        "fd00::",
        "fd00::1",
        "fd00::7fff:ffff:ffff:ffff",
        "fd00::8000:0:0:0",
        "fd00:0:0:1::",
        "fe00::",
        "ffff::",
        "::",
    ];
    prop_oneof![
        select(edges.to_vec()).prop_map(|text| text.parse().unwrap()),
        any::<u32>().prop_map(|bits| IpAddr::from(bits.to_be_bytes())),
        any::<u128>().prop_map(|bits| IpAddr::from(bits.to_be_bytes())),
    ]
}

fn read(routes: &[Plain]) -> Table {
    let rows: Vec<Value> = routes.iter().map(|route| {
        json!({"addressPrefix": [route.prefix], "source": route.source, "nextHopType": route.hop, "state": route.state})
    }).collect();
    Table::parse(&json!({ "value": rows }).to_string(), None).unwrap()
}

/// The platform's selection as its documentation tells it, row by row.
fn oracle(routes: &[Plain], to: IpAddr) -> Vec<usize> {
    let length = |route: &Plain| route.prefix.split_once('/').unwrap().1.parse::<u8>().unwrap();
    let holds = |route: &Plain| route.prefix.parse::<ipnet::IpNet>().unwrap().contains(&to);
    let own = ["VnetLocal", "VNetPeering", "VirtualNetworkServiceEndpoint"];
    let mut left: Vec<usize> =
        (0..routes.len()).filter(|at| routes[*at].state == "Active" && holds(&routes[*at])).collect();
    if left.iter().any(|at| routes[*at].source == "Default" && own.contains(&routes[*at].hop)) {
        left.retain(|at| routes[*at].source != "VirtualNetworkGateway");
    }
    let longest = left.iter().map(|at| length(&routes[*at])).max();
    left.retain(|at| Some(length(&routes[*at])) == longest);
    let tier = |route: &Plain| match (route.source, route.hop) {
        ("Default", "VirtualNetworkServiceEndpoint") => 0,
        ("User", _) => 1,
        ("VirtualNetworkGateway", _) => 2,
        ("Default", _) => 3,
        _ => 4,
    };
    let best = left.iter().map(|at| tier(&routes[*at])).min();
    left.retain(|at| Some(tier(&routes[*at])) == best);
    left
}

proptest! {
    /// Selection agrees with the oracle; what is chosen, beaten and idle is every route that contains the address.
    #[test]
    fn selection_agrees_with_a_slow_oracle(routes in vec(any_route(), 1..24), to in any_address()) {
        let table = read(&routes);
        let expected = oracle(&routes, to);
        let mut chosen: Vec<usize> = table.choose(to).best().map(|route| route.row.number - 1).collect();
        chosen.sort_unstable();
        prop_assert_eq!(&chosen, &expected);
        let found = table.select(to);
        let result = match expected.len() { 0 => Outcome::NoRoute, 1 => Outcome::Winner, _ => Outcome::Tied };
        prop_assert_eq!(found.result, result);
        prop_assert_eq!(found.winner.map(|winner| winner.row - 1), (expected.len() == 1).then(|| expected[0]));
        let mut reported: Vec<usize> = found.trace.iter().map(|step| step.route.row - 1).collect();
        reported.sort_unstable();
        let contains = |at: &usize| routes[*at].prefix.parse::<ipnet::IpNet>().unwrap().contains(&to);
        prop_assert_eq!(reported, (0..routes.len()).filter(contains).collect::<Vec<_>>());
    }

    /// The index finds what looking at every row finds, the longest prefix first.
    #[test]
    fn the_index_agrees_with_a_slow_search(routes in vec((any::<u32>(), 0u8..=32), 1..60), bits in any::<u32>(), near in any::<bool>()) {
        let rows: Vec<Value> = routes.iter().map(|(bits, length)| {
            json!({"addressPrefix": format!("{}/{length}", std::net::Ipv4Addr::from_bits(*bits)), "source": "User", "state": "Active", "nextHopType": "Internet"})
        }).collect();
        let table = Table::parse(&json!(rows).to_string(), None).unwrap();
        let to = IpAddr::from((if near { routes[0].0 ^ (bits & 0xff) } else { bits }).to_be_bytes());
        let mut slow: Vec<_> = table.routes().iter().filter(|route| route.prefix.contains(&to)).collect();
        slow.sort_by_key(|route| std::cmp::Reverse(route.prefix.prefix_len()));
        prop_assert_eq!(table.containing(to).collect::<Vec<_>>(), slow);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}", bytes in vec(any::<u8>(), 0..200)) {
        drop(Table::parse(&text, None));
        drop(Table::parse(&String::from_utf8_lossy(&bytes), None));
    }

    /// Neither a broken document nor fields of other kinds make it panic; what is left answers.
    #[test]
    fn no_broken_document_makes_the_reader_panic(
        routes in vec(any_route(), 1..4), at in any::<prop::sample::Index>(), byte in any::<u8>(), odd in select(vec![
            json!(null), json!(7), json!(-1.5), json!({}), json!([[]]), json!("a,,b"), json!([["10.0.0.0/8", {"a": 1}], 5]), json!("\u{0}"),
        ]), field in select(vec!["addressPrefix", "source", "state", "nextHopType", "nextHopIpAddress", "name"]),
    ) {
        let mut row = json!({"addressPrefix": [routes[0].prefix], "source": "User", "nextHopType": "None", "state": "Active"});
        row[field] = odd;
        if let Ok(table) = Table::parse(&json!({"value": [row, {"addressPrefix": "10.0.0.0/8"}]}).to_string(), None) {
            drop(serde_json::to_string(&table.select("10.0.1.4".parse().unwrap())).unwrap());
            drop(serde_json::to_string(&table.audit(None)).unwrap());
        }
        let mut bytes = json!(routes.iter().map(|route| json!({"addressPrefix": route.prefix, "source": route.source})).collect::<Vec<_>>()).to_string().into_bytes();
        *at.get_mut(&mut bytes) = byte;
        drop(Table::parse(&String::from_utf8_lossy(&bytes), None));
    }

    #[test]
    fn a_cut_table_is_an_error(routes in vec(any_route(), 1..4), at in any::<prop::sample::Index>()) {
        let rows: Vec<Value> = routes.iter().map(|route| json!({"addressPrefix": [route.prefix], "source": route.source})).collect();
        let text = json!({ "value": rows }).to_string();
        prop_assert!(Table::parse(&text[..at.index(text.len())], None).is_err());
    }
}
