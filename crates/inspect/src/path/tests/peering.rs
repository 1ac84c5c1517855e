//! Peerings: what each of their settings does to a flow.

use serde_json::json;

use super::draft::{Draft, check};
use crate::path::{Change, Fate, remedies};

/// Two networks that are peered, with a caller and a server that listens on 5432.
fn pair() -> Draft {
    Draft::default()
        .network("shop", "10.1.0.0/16", &[("web", "10.1.1.0/24")])
        .network("data", "10.2.0.0/16", &[("db", "10.2.1.0/24")])
        .peered("shop", "data", "Connected")
        .machine("web", "10.1.1.4", "shop/web")
        .machine("db", "10.2.1.4", "data/db")
        .listens("db", "0.0.0.0:5432")
}

#[test]
fn a_side_that_lost_its_other_is_named_before_one_that_waits() {
    check(&pair().judge("web", "db", 5432), &["PASSES"]);
    let draft = pair().peering_with("shop", "data", "peeringState", json!("Initiated")).peering_with(
        "data",
        "shop",
        "peeringState",
        json!("Disconnected"),
    );
    check(&draft.judge("web", "db", 5432), &["BLOCKED", "peering_disconnected peering/data/data-to-shop"]);
    let one =
        pair().peering_with("shop", "data", "peeringState", json!("Initiated")).without_side("data", "shop");
    check(&one.judge("web", "db", 5432), &["BLOCKED", "peering_disconnected peering/shop/shop-to-data"]);
}

#[test]
fn networks_that_nobody_peered_are_named() {
    let draft = pair().without_side("data", "shop").without_side("shop", "data");
    check(&draft.judge("web", "db", 5432), &["BLOCKED", "peering_missing peering/data/shop"]);
}

#[test]
fn spokes_that_only_share_a_hub_are_distinguished_from_a_peering_that_is_missing() {
    let draft = pair()
        .without_side("data", "shop")
        .without_side("shop", "data")
        .network("hub", "10.9.0.0/16", &[("in", "10.9.0.0/24")])
        .peered("hub", "shop", "Connected")
        .peered("hub", "data", "Connected");
    let judged = draft.judge("web", "db", 5432);
    assert!(
        matches!(&judged.fate, Fate::NoPath(why) if why.contains("both are peered with hub")),
        "{judged:#?}"
    );
    assert!(judged.findings().iter().all(|cause| cause.fault.as_str() == "no_path"));
}

#[test]
fn a_peering_without_access_is_named_in_place_of_the_last_rule() {
    let rule = ("ssh", 200, "Inbound", "Allow", "Tcp", "*", "*", "22");
    let draft =
        pair().rule("data/db", rule).peering_with("data", "shop", "allowVirtualNetworkAccess", json!(false));
    check(&draft.judge("web", "db", 5432), &["BLOCKED", "peering_access_off peering/data/data-to-shop"]);
    // A rule that names the addresses lets them in all the same.
    let named = draft.rule("data/db", ("web", 210, "Inbound", "Allow", "Tcp", "10.1.1.0/24", "*", "5432"));
    check(&named.judge("web", "db", 5432), &["PASSES"]);
    // Without a group there is no rule that would deny.
    let open = pair().peering_with("data", "shop", "allowVirtualNetworkAccess", json!(false));
    check(&open.judge("web", "db", 5432), &["PASSES"]);
}

#[test]
fn a_deny_of_somebodys_own_is_not_laid_at_the_peering() {
    let draft = pair().rule("data/db", ("no", 200, "Inbound", "Deny", "*", "*", "*", "*")).peering_with(
        "data",
        "shop",
        "allowVirtualNetworkAccess",
        json!(false),
    );
    let found = draft.judge("web", "db", 5432).findings();
    assert!(found.iter().any(|cause| cause.to_string() == "nsg_deny nsg/db-nsg/no"), "{found:?}");
}

#[test]
fn addresses_that_came_later_are_not_known_until_both_sides_are_in_step() {
    let old = json!({"addressPrefixes": ["10.2.0.0/24"]});
    let draft = pair().peering_with("shop", "data", "remoteAddressSpace", old);
    check(&draft.judge("web", "db", 5432), &["BLOCKED", "peering_not_synced peering/shop/shop-to-data"]);
    // A prefix that nobody uses hurts nobody.
    let wide = json!({"addressPrefixes": ["10.2.0.0/16"]});
    check(
        &pair().peering_with("shop", "data", "remoteAddressSpace", wide).judge("web", "db", 5432),
        &["PASSES"],
    );
}

#[test]
fn what_an_appliance_forwards_needs_the_setting_and_nothing_else_does() {
    let draft = Draft::hub().refuses_forwarded("right", "hub");
    check(&draft.judge("a", "b", 8443), &["BLOCKED", "peering_forwarding_off peering/right/right-to-hub"]);
    check(&draft.judge("nva", "b", 8443), &["PASSES"]);
    let flow = draft.flow("a", "b", crate::path::Protocol::Tcp, 8443);
    let tried = remedies(&draft.bundle(), &[flow]);
    let change = Change::LetForwardedIn { network: "right".to_owned(), peering: "right-to-hub".to_owned() };
    assert_eq!(tried[0].changes, [change]);
    assert_eq!(tried[0].after[0].fate, Fate::Passes);
}

#[test]
fn a_gateway_of_the_hub_is_used_where_both_sides_say_so() {
    let to_site =
        |draft: Draft| draft.route("shop/web", "site", "172.16.0.0/16", "VirtualNetworkGateway", None);
    let draft = to_site(pair()).gateway("data", "10.2.255.0/27");
    let judged = |draft: &Draft| {
        let judged = draft.judge("web", "172.16.0.9", 443);
        judged.findings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(judged(&draft), ["peering_transit_off peering/shop/shop-to-data"]);
    let used = draft.peering_with("shop", "data", "useRemoteGateways", json!(true));
    assert!(judged(&used).is_empty());
    let unlent = used.peering_with("data", "shop", "allowGatewayTransit", json!(false));
    assert_eq!(judged(&unlent), ["peering_transit_off peering/data/data-to-shop"]);
    assert_eq!(judged(&to_site(pair())), ["gateway_missing network/shop"]);
}
