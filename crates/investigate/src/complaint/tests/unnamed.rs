//! Roles, applications and ports where nobody is named.

use super::super::{Basis, UnknownEnd, read, resolve};
use super::{estate as inventory, flows, one};

const WEB_TO_APP: &str = "shop-web-1>shop-app-1:8080 shop-web-1>shop-app-2:8080 shop-web-2>shop-app-1:8080 shop-web-2>shop-app-2:8080";

#[test]
fn roles_within_an_application() {
    for text in [
        "shop: the web frontends -> the app servers 8080 timeouts cc @oncall",
        "shop is down, the web frontends can't get to the app servers (8080)",
        "shop: somebody says the web frontends to the app servers (8080) is slow at times nw-forensics-rg",
        "in shop the app servers do not answer the web servers on 8080",
    ] {
        assert_eq!(flows(text), WEB_TO_APP, "{text}");
    }
    assert_eq!(flows("pay: the app servers to the database (3306) is slow"), "pay-app>pay-db:3306");
    assert_eq!(
        flows("shop: the api can not talk to its database"),
        "shop-app-1>shop-db:any shop-app-2>shop-db:any"
    );
}

#[test]
fn a_port_alone_means_whoever_serves_it_and_all_who_call_it() {
    assert_eq!(flows("5432 dead"), "shop-app-1>shop-db:5432 shop-app-2>shop-db:5432");
    assert_eq!(flows("port 8080 in shop is refused since 14:02"), WEB_TO_APP);
    assert_eq!(flows("redis timeouts"), "shop-app-1>shop-cache:6379 shop-app-2>shop-cache:6379");
    assert_eq!(flows("3306 hangs"), "pay-app>pay-db:3306");
}

#[test]
fn one_end_is_named_and_the_other_is_inferred() {
    assert_eq!(flows("shop-db is unreachable on 5432"), "shop-app-1>shop-db:5432 shop-app-2>shop-db:5432");
    assert_eq!(flows("shop-app-2 gets timeouts on 5432"), "shop-app-2>shop-db:5432");
    assert_eq!(flows("shop-app-2 cannot reach the database"), "shop-app-2>shop-db:any");
    assert_eq!(flows("shop-app-2 can't get to the cache (6379)"), "shop-app-2>shop-cache:6379");
    assert_eq!(flows("shop-db hangs"), "shop-app-1>shop-db:5432 shop-app-2>shop-db:5432");
    let complaint = one("shop-app-2 gets timeouts on 5432");
    let flow = &complaint.flows[0];
    assert!(flow.source.is_named() && !flow.destination.is_named());
    assert!(matches!(flow.destination, super::super::End::Machine { basis: Basis::Inferred, .. }));
}

#[test]
fn an_application_alone_means_everything_that_its_tiers_serve() {
    let flows = flows("pay gives 504 since 10:00");
    assert!(flows.contains("pay-web>pay-app:8443") && flows.contains("pay-app>pay-db:3306"), "{flows}");
    assert!(!flows.contains("shop"), "{flows}");
}

#[test]
fn names_by_their_first_label_and_by_a_part() {
    assert_eq!(flows("shop-app-1 -> shop-db.internal.contoso.com:5432 hangs"), "shop-app-1>shop-db:5432");
    assert_eq!(flows("shop: app-1 cannot reach db on 5432"), "shop-app-1>shop-db:5432");
    assert_eq!(flows("SHOP-APP-1 cannot reach Shop-DB on 5432"), "shop-app-1>shop-db:5432");
    assert_eq!(
        flows("https://10.1.3.40:6379/login?id=77 hangs in the browser, from shop-app-2"),
        "shop-app-2>shop-cache:6379"
    );
}

#[test]
fn a_name_that_nothing_has_comes_with_the_nearest_and_nobody_is_judged_in_its_place() {
    let complaint = one("shop-app-1 cannot reach shop-db-9 on 5432");
    assert!(complaint.flows.is_empty());
    let UnknownEnd::Name { name, nearest, .. } = &complaint.unknown[0] else { panic!("{complaint:#?}") };
    assert_eq!(name, "shop-db-9");
    assert_eq!(nearest[0], "shop-db");
    let complaint = one("shop-app-1 cannot reach 10.77.0.9 on 5432");
    assert_eq!(complaint.unknown, [UnknownEnd::Address("10.77.0.9".parse().unwrap())]);
    assert!(complaint.flows.is_empty());
}

#[test]
fn resource_groups_and_networks_are_no_ends() {
    assert_eq!(
        flows("shop-app-1 cannot reach shop-db on 5432. shop-prod-rg, shop-vnet"),
        "shop-app-1>shop-db:5432"
    );
    assert!(one("shop-app-1 cannot reach shop-db on 5432 shop-prod-rg").unknown.is_empty());
}

#[test]
fn of_several_servers_the_one_that_the_callers_call_is_meant() {
    let mut estate = inventory();
    estate.machines[0].peers =
        Some(vec!["10.1.2.11:8080".parse().unwrap(), "10.1.3.10:5432".parse().unwrap()]);
    let all = resolve(&read("shop: the web frontends -> the app servers 8080 timeouts"), &estate);
    let servers: Vec<_> = all[0].flows.iter().filter_map(|flow| flow.destination.machine()).collect();
    assert_eq!(servers, ["shop-app-2", "shop-app-2"]);
    // The same, where the words seem to say that the servers call.
    let all = resolve(&read("shop is slow: the web frontends wait for the app servers on 8080"), &estate);
    let servers: Vec<_> = all[0].flows.iter().filter_map(|flow| flow.destination.machine()).collect();
    assert_eq!(servers, ["shop-app-2", "shop-app-2"]);
    // A machine that is named is meant, whoever else is called.
    let all = resolve(&read("shop-web-1 -> shop-app-1:8080 hangs"), &estate);
    assert_eq!(all[0].flows[0].destination.machine(), Some("shop-app-1"));
}

#[test]
fn whoever_serves_alone_in_its_application_serves_the_others() {
    let flows = flows("calls to partner-api fail since 10:00");
    assert!(
        flows.contains("shop-app-1>partner-api:8443") && flows.contains("pay-app>partner-api:8443"),
        "{flows}"
    );
}

#[test]
fn management_comes_from_the_jump_host() {
    assert_eq!(flows("ssh shop-app-1 hangs"), "shop-jump>shop-app-1:22");
}

#[test]
fn parts_of_names_stand_for_roles_where_they_have_a_part_in_a_flow() {
    assert_eq!(flows("pay: app → db 3306 dead"), "pay-app>pay-db:3306");
    assert_eq!(flows("pay: web can't reach app"), "pay-web>pay-app:any");
}

#[test]
fn a_status_is_said_by_the_one_who_serves() {
    assert_eq!(flows("HTTP 503 from pay-app"), "pay-web>pay-app:8443");
    assert_eq!(flows("pay-web gets a 502 from pay-app"), "pay-web>pay-app:any");
}
