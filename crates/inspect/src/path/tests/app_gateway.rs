//! Application gateways.

use serde_json::{Value, json};

use super::draft::{Draft, summary};
use crate::path::{Bundle, Estate, Flow, Judgement, KeptOut, Kind, NeededPeer, Protocol, Reading};

const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
const PRIVATE: &str = "10.0.9.100";
const PUBLIC: &str = "20.50.60.80";
const CONNECT: &str =
    "Cannot connect to backend. Check whether any NSG/UDR/Firewall is blocking access to the server.";
const STATUS: &str = "Status code of the backend's HTTP response did not match the probe setting. Expected: 200-399, Received: 401.";

fn text(value: &Value) -> Option<Reading> {
    Some(Reading::Text(value.to_string()))
}

fn of(kind: &str, name: &str) -> Value {
    json!({"id": format!("{ID}/applicationGateways/agw/{kind}/{name}")})
}

/// A gateway in the subnet `agw` (10.0.9.0/24) before `db` (10.0.2.4), which listens on 5432.
struct Site {
    draft: Draft,
    gateway: Value,
    /// What the gateway says of each server: address, state, words.
    said: Option<Vec<(&'static str, &'static str, &'static str)>>,
    read_at: Option<&'static str>,
}

fn site() -> Site {
    let draft = Draft::default()
        .network(
            "app",
            "10.0.0.0/16",
            &[("web", "10.0.1.0/24"), ("db", "10.0.2.0/24"), ("agw", "10.0.9.0/24")],
        )
        .machine("web", "10.0.1.4", "app/web")
        .machine("db", "10.0.2.4", "app/db")
        .listens("db", "0.0.0.0:5432");
    let subnet = json!({"id": format!("{ID}/virtualNetworks/app/subnets/agw")});
    let gateway = json!({"name": "agw", "operationalState": "Running", "sku": {"tier": "Standard_v2"},
        "gatewayIPConfigurations": [{"name": "ip", "subnet": subnet}],
        "frontendIPConfigurations": [{"name": "front", "privateIPAddress": PRIVATE},
            {"name": "outer", "publicIPAddress": {"id": "/p", "ipAddress": PUBLIC}}],
        "frontendPorts": [{"name": "p443", "port": 443}],
        "sslCertificates": [{"name": "cert", "publicCertData": include_str!("certificate_chain.b64")}],
        "httpListeners": [
            {"name": "site", "frontendIPConfiguration": of("frontendIPConfigurations", "front"),
                "frontendPort": of("frontendPorts", "p443"), "protocol": "Https", "sslCertificate": of("sslCertificates", "cert")},
            {"name": "outer", "frontendIPConfiguration": of("frontendIPConfigurations", "outer"),
                "frontendPort": of("frontendPorts", "p443"), "protocol": "Http"}],
        "backendAddressPools": [{"name": "pool", "backendAddresses": [{"ipAddress": "10.0.2.4"}]}],
        "probes": [{"name": "health", "path": "/up"}],
        "backendHttpSettingsCollection": [{"name": "app", "port": 5432, "probe": of("probes", "health")}],
        "requestRoutingRules": [
            {"name": "one", "httpListener": of("httpListeners", "site"),
                "backendAddressPool": of("backendAddressPools", "pool"),
                "backendHttpSettings": of("backendHttpSettingsCollection", "app")},
            {"name": "two", "httpListener": of("httpListeners", "outer"),
                "backendAddressPool": of("backendAddressPools", "pool"),
                "backendHttpSettings": of("backendHttpSettingsCollection", "app")}],
    });
    Site { draft, gateway, said: Some(vec![("10.0.2.4", "Up", "")]), read_at: Some("2025-04-01T08:00:00Z") }
}

impl Site {
    fn bundle(&self) -> Bundle {
        let mut bundle = self.draft.bundle();
        bundle.cloud.application_gateways = text(&json!([self.gateway]));
        bundle.cloud.load_balancers = text(&json!([]));
        bundle.cloud.backend_health = self.said.as_ref().and_then(|said| {
            let servers: Vec<Value> = said
                .iter()
                .map(|(address, state, log)| json!({"address": address, "health": state, "healthProbeLog": log}))
                .collect();
            text(&json!([{"gateway": "agw", "readAt": self.read_at, "backendAddressPools": [{
                "backendAddressPool": of("backendAddressPools", "pool"),
                "backendHttpSettingsCollection": [{
                    "backendHttpSettings": of("backendHttpSettingsCollection", "app"), "servers": servers}]}]}]))
        });
        bundle
    }

    fn judge(&self) -> Judgement {
        judge(&self.bundle(), "10.0.1.4", PRIVATE)
    }

    fn says(self, said: &[(&'static str, &'static str, &'static str)]) -> Self {
        Self { said: Some(said.to_vec()), ..self }
    }

    fn set(mut self, pointer: &str, value: Value) -> Self {
        *self.gateway.pointer_mut(pointer).unwrap() = value;
        self
    }

    fn drafted(self, change: impl FnOnce(Draft) -> Draft) -> Self {
        Self { draft: change(self.draft), ..self }
    }
}

fn judge(bundle: &Bundle, from: &str, to: &str) -> Judgement {
    let flow = Flow::new(from.parse().unwrap(), to.parse().unwrap(), Protocol::Tcp, Some(443)).unwrap();
    Estate::of(bundle).judge(&flow)
}

#[track_caller]
fn check(site: &Site, expected: &[&str]) {
    let judged = site.judge();
    assert_eq!(summary(&judged), expected, "{judged:#?}");
}

#[test]
fn a_gateway_whose_server_answers_lets_the_flow_pass_hop_by_hop() {
    let judged = site().judge();
    assert_eq!(summary(&judged), ["PASSES"], "{judged:#?}");
    let at = judged.forward.iter().position(|hop| hop.kind == Kind::ApplicationGateway).unwrap();
    // Behind it comes the other connection.
    assert!(judged.forward[at..].iter().any(|hop| hop.kind == Kind::GuestInput && hop.at == "db"));
    assert_eq!(summary(&judge(&site().bundle(), "203.0.113.10", PUBLIC)), ["PASSES"]);
}

#[test]
fn the_words_of_the_gateway_say_why_a_server_is_out() {
    for (log, expected) in [
        (STATUS, "appgw_probe_mismatch appgw/agw/health"),
        (
            "Body of the backend's HTTP response did not match the probe setting.",
            "appgw_probe_mismatch appgw/agw/health",
        ),
        (
            "The Common Name (CN) of the backend certificate does not match the host header.",
            "appgw_backend_tls appgw/agw/app",
        ),
        (
            "The root certificate does not match the trusted root certificate.",
            "appgw_backend_tls appgw/agw/app",
        ),
        (
            "Application Gateway could not create a probe: the FQDN",
            "appgw_backend_down appgw/agw/pool/10.0.2.4",
        ),
        (CONNECT, "appgw_backend_down appgw/agw/pool/10.0.2.4"),
    ] {
        check(&site().says(&[("10.0.2.4", "Down", log)]), &["BLOCKED", expected]);
    }
}

#[test]
fn what_is_read_on_the_path_to_a_server_explains_more_than_that_it_is_down() {
    let down = || site().says(&[("10.0.2.4", "Down", CONNECT)]);
    let denied = down().drafted(|draft| {
        draft.rule("app/db", ("deny-agw", 110, "Inbound", "Deny", "Tcp", "10.0.9.0/24", "*", "*"))
    });
    check(&denied, &["BLOCKED", "nsg_deny nsg/db-nsg/deny-agw"]);
    let dropped = down()
        .drafted(|draft| draft.drops("db", "-A INPUT -s 10.0.9.0/24 -p tcp -m tcp --dport 5432 -j DROP"));
    check(&dropped, &["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]);
    check(&down().drafted(|draft| draft.silent("db")), &["BLOCKED", "not_listening listener/db/tcp/5432"]);
    check(&down().drafted(|draft| draft.stopped("db")), &["BLOCKED", "vm_stopped vm/db"]);
    let other = down().set("/probes/0", json!({"name": "health", "path": "/", "port": 9000}));
    check(&other, &["BLOCKED", "appgw_probe_mismatch appgw/agw/health"]);
}

#[test]
fn one_server_of_several_is_enough_and_what_drains_or_is_unknown_is_no_fault() {
    let mixed = [("10.0.2.9", "Down", STATUS), ("10.0.2.4", "Up", "")];
    check(&site().says(&mixed), &["PASSES"]);
    check(&site().says(&[("10.0.2.9", "Draining", ""), ("10.0.2.4", "Up", "")]), &["PASSES"]);
    check(&site().says(&[("10.0.2.4", "Draining", "")]), &["INDETERMINATE"]);
    check(&site().says(&[("10.0.2.4", "Unknown", "")]), &["PASSES"]);
    check(&Site { said: None, ..site() }, &["INDETERMINATE"]);
    let refused = json!([{"gateway": "agw", "error": "not allowed", "readAt": "2025-04-01T08:00:00Z"}]);
    let mut bundle = site().bundle();
    bundle.cloud.backend_health = text(&refused);
    assert_eq!(summary(&judge(&bundle, "10.0.1.4", PRIVATE)), ["INDETERMINATE"]);
    bundle.cloud.application_gateways = Some(Reading::Failed { error: "no".to_owned() });
    assert_eq!(summary(&judge(&bundle, "10.0.1.4", PRIVATE)), ["INDETERMINATE"]);
}

#[test]
fn a_pool_without_servers_a_stopped_gateway_and_a_port_without_a_listener_are_named() {
    let empty = site().says(&[]).set("/backendAddressPools/0/backendAddresses", json!([]));
    check(&empty, &["BLOCKED", "appgw_pool_empty appgw/agw/pool"]);
    check(&site().set("/operationalState", json!("Stopped")), &["BLOCKED", "appgw_stopped appgw/agw"]);
    check(&site().set("/operationalState", json!("Odd")), &["PASSES"]);
    let other = site().set("/frontendPorts/0/port", json!(8443));
    check(&other, &["BLOCKED", "no_path flow/10.0.1.4/10.0.9.100/tcp/443"]);
}

#[test]
fn members_of_scale_sets_leave_a_pool_open_and_not_empty() {
    let id =
        format!("{ID}/virtualMachineScaleSets/set/virtualMachines/0/networkInterfaces/n/ipConfigurations/c");
    let pool = json!([{"name": "pool", "backendIPConfigurations": [{"id": id}]}]);
    check(&site().says(&[]).set("/backendAddressPools", pool), &["INDETERMINATE"]);
}

#[test]
fn a_certificate_has_expired_by_the_time_at_which_the_gateway_was_read() {
    let at = |read_at| Site { read_at, ..site() };
    check(&at(Some("2025-05-02T08:00:00Z")), &["BLOCKED", "appgw_cert_expired appgw/agw/site"]);
    check(&at(Some("2025-04-30T23:59:59Z")), &["PASSES"]);
    check(&at(None), &["PASSES"]);
    // Nobody sees the certificate of a listener that does not encrypt.
    let late = at(Some("2025-05-02T08:00:00Z"));
    assert_eq!(summary(&judge(&late.bundle(), "203.0.113.10", PUBLIC)), ["PASSES"]);
    let vault =
        late.set("/sslCertificates/0", json!({"name": "cert", "keyVaultSecretId": "https://v/secrets/x"}));
    check(&vault, &["PASSES"]);
}

#[test]
fn whoever_manages_gateways_has_to_come_in_where_no_server_answers() {
    let group = |rules: &[(&'static str, u32, &'static str, &'static str)]| {
        let rules = rules.to_vec();
        site().says(&[("10.0.2.4", "Unknown", "")]).drafted(move |mut draft| {
            for (name, priority, access, rest) in rules {
                let (source, ports) = rest.split_once(' ').unwrap();
                draft = draft.rule("app/agw", (name, priority, "Inbound", access, "Tcp", source, "*", ports));
            }
            draft
        })
    };
    let open = ("managers", 100, "Allow", "GatewayManager 65200-65535");
    let web = ("web", 110, "Allow", "VirtualNetwork 443");
    check(&group(&[open, web]), &["PASSES"]);
    check(&group(&[web]), &["BLOCKED", "nsg_deny nsg/agw-nsg/DenyAllInBound"]);
    let late = ("close", 90, "Deny", "* 1000-65535");
    check(&group(&[open, web, late]), &["BLOCKED", "nsg_deny nsg/agw-nsg/close"]);
    let asked = ("nobody", 200, "Deny", "AzureLoadBalancer *");
    check(&group(&[open, web, asked]), &["BLOCKED", "nsg_deny nsg/agw-nsg/nobody"]);
    // On which ports they come depends on the version, and the reason says it.
    for (tier, ports) in [("Standard_v2", (65_200, 65_535)), ("Standard", (65_503, 65_534))] {
        let judged = group(&[web]).set("/sku/tier", json!(tier)).judge();
        let kept = judged.stops().iter().find_map(|(_, effect)| KeptOut::read(&effect.reason)).unwrap();
        assert_eq!((kept.peer, kept.ports), (NeededPeer::Manager, ports), "{tier}");
    }
    // A server that answers shows that the gateway works.
    check(&group(&[web]).says(&[("10.0.2.4", "Up", "")]), &["PASSES"]);
    // Callers meet the same group.
    let callers = group(&[open, ("no-web", 95, "Deny", "10.0.1.0/24 443")]);
    check(&callers, &["BLOCKED", "nsg_deny nsg/agw-nsg/no-web"]);
}

#[test]
fn a_default_route_that_leads_elsewhere_is_named_where_no_server_answers() {
    let led = |state| {
        site().says(&[("10.0.2.4", state, "")]).drafted(|draft| {
            draft.route("app/agw", "default", "0.0.0.0/0", "VirtualAppliance", Some("10.0.1.4"))
        })
    };
    check(&led("Unknown"), &["BLOCKED", "route_detour route/app-agw-rt/default"]);
    check(&led("Up"), &["PASSES"]);
    let internet = site()
        .says(&[("10.0.2.4", "Unknown", "")])
        .drafted(|draft| draft.route("app/agw", "default", "0.0.0.0/0", "Internet", None));
    check(&internet, &["PASSES"]);
}

#[test]
fn what_stops_one_path_of_several_takes_a_share() {
    let maps = json!([{"name": "map", "defaultBackendAddressPool": of("backendAddressPools", "pool"),
        "defaultBackendHttpSettings": of("backendHttpSettingsCollection", "app"),
        "pathRules": [{"name": "images", "paths": ["/images/*"], "backendAddressPool": of("backendAddressPools", "none"),
            "backendHttpSettings": of("backendHttpSettingsCollection", "app")}]}]);
    let mut by_path = site().set(
        "/requestRoutingRules/0",
        json!({"name": "one", "httpListener": of("httpListeners", "site"),
        "urlPathMap": of("urlPathMaps", "map")}),
    );
    by_path.gateway["urlPathMaps"] = maps;
    by_path.gateway["backendAddressPools"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "none", "backendAddresses": []}));
    check(&by_path, &["DEGRADED", "appgw_pool_empty appgw/agw/none"]);
}

#[test]
fn taking_every_cause_away_lets_the_flow_pass() {
    for site in [
        site().says(&[("10.0.2.4", "Down", STATUS)]),
        site().says(&[("10.0.2.4", "Down", CONNECT)]).drafted(|draft| draft.silent("db")),
        site().set("/operationalState", json!("Stopped")),
        Site { read_at: Some("2026-01-01T00:00:00Z"), ..site() },
    ] {
        let estate = Estate::of(&site.bundle());
        let judged = site.judge();
        let causes: Vec<_> = judged.findings().into_iter().collect();
        assert!(!causes.is_empty());
        assert!(estate.judge_without(&judged.flow, &causes).stops().is_empty());
    }
}
