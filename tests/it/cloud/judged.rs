//! Every line that the tools can write, as the shell judges it.

use std::net::IpAddr;

use ghost_cloud::line::{self, CaptureLimits, Line};
use ghost_cloud::{Account, Container, Name, ResourceGroup};
use ghost_shell::{Policy, Verdict};

pub(super) fn lines(place: &ResourceGroup) -> Vec<Line> {
    let name = |text: &str| Name::parse(text).unwrap();
    let (vm, nic, region) = (name("tf-dest-vm"), name("tf-dest-vm-nic"), name("eastus"));
    let capture = name("ghost-s1-tf-dest-vm");
    let account = Account::parse("nwlogs080613").unwrap();
    let container = Container::parse("captures").unwrap();
    let (from, to): (IpAddr, IpAddr) = ("10.0.1.4".parse().unwrap(), "10.0.1.5".parse().unwrap());
    let limits = CaptureLimits { seconds: 60, bytes: 100 << 20, snaplen: 256 };
    let elsewhere = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg2/providers/Microsoft.Storage/storageAccounts/nwlogs080613";
    let filters = r#"[{"protocol":"TCP","localPort":"5001"}]"#;
    vec![
        line::signed_in(),
        line::machine(place, &vm),
        line::machines(place),
        line::instance_view(place, &vm),
        line::extensions(place, &vm),
        line::run_script(place, &vm, &["apt-get install -y qperf".to_owned()]),
        line::interfaces(place),
        line::interface(place, &nic),
        line::effective_routes(place, &nic),
        line::effective_rules(place, &nic),
        line::security_groups(place),
        line::security_group(place, &name("tf-dest-vm-nsg")),
        line::route_tables(place),
        line::route_table(place, &name("rt")),
        line::networks(place),
        line::network(place, &name("forensics-vnet")),
        line::subnet(place, &name("forensics-vnet"), &name("default")),
        line::load_balancers(place),
        line::application_gateways(place),
        line::backend_health(place, &name("agw-1")),
        line::bastions(place),
        line::clusters(place),
        line::public_addresses(place),
        line::firewalls(place),
        line::firewall_policy(place, &name("hub-policy")),
        line::firewall_rules(place, &name("hub-policy")),
        line::address_groups(place),
        line::private_endpoints(place),
        line::virtual_gateways(place),
        line::connections(place),
        line::connection(place, &name("to-office")),
        line::local_gateways(place),
        line::circuits(place),
        line::platform_events(place),
        line::flow_logs(place, &name("eastus")),
        line::availability(place, &Name::parse("vm").unwrap()),
        line::bgp_peers(place, &name("hub-gw")),
        line::learned_routes(place, &name("hub-gw")),
        line::connection_trouble(place, &name("00000000-0000-0000-0000-000000000001"), &name("to-office")),
        line::nat_gateways(place),
        line::failed_connections(
            place,
            &name("00000000-0000-0000-0000-000000000001"),
            "natGateways",
            &name("nat"),
        ),
        line::zones(place, false),
        line::zones(place, true),
        line::zone_links(place, &name("privatelink.blob.core.windows.net")),
        line::zone_records(place, &name("privatelink.blob.core.windows.net")),
        line::service_tags(place, &region),
        line::activity(place, 24),
        line::activity_between(
            place,
            "2025-06-02T08:00:00.000Z".parse().unwrap(),
            "2025-06-02T09:31:00.000Z".parse().unwrap(),
            500,
        ),
        line::watchers(place),
        line::next_hop(place, &vm, from, to),
        line::ip_flow(place, &vm, true, "TCP", (to, 8080), (from, 40_000)),
        line::connectivity(place, &vm, to, 8080),
        line::topology(place),
        line::capture_create(place, &vm, &capture, (&account, &container, None), limits, None),
        line::capture_create(
            place,
            &vm,
            &capture,
            (&account, &container, Some(elsewhere)),
            limits,
            Some(filters),
        ),
        line::capture_status(place, &region, &capture),
        line::capture_stop(place, &region, &capture),
        line::capture_delete(place, &region, &capture),
        line::captures(place, &region),
        line::account(place, &account),
        line::accounts(place),
        line::container_exists(&account, &container),
        line::blobs(&account, &container, "ghost-"),
        line::blob_exists(&account, &container, "a.cap"),
        line::blob_download(&account, &container, "a.cap", "/tmp/captures/a.cap"),
        line::blob_fetch(&account, &container, "a.json", "/var/lib/ghost/meter/a.json"),
        line::blob_upload(&account, &container, "a.json", "/tmp/captures/a.json"),
        line::blob_delete(&account, &container, &capture),
    ]
}

#[test]
fn what_reads_is_safe_and_what_changes_asks() {
    let policy = Policy::builtin().unwrap();
    let group = Name::parse("nw-forensics-rg").unwrap();
    let subscription = Name::parse("00000000-0000-0000-0000-000000000001").unwrap();
    for subscription in [None, Some(subscription)] {
        for line in lines(&ResourceGroup { subscription, group: group.clone() }) {
            let text = line.text();
            let ruling = policy.classify(&text);
            let expected = if line.changes() { Verdict::Risky } else { Verdict::Safe };
            assert_eq!(ruling.verdict, expected, "{text}: {}", ruling.reason);
            assert_eq!(ruling.argv.as_deref(), Some(line.words()), "{text}");
        }
    }
}
