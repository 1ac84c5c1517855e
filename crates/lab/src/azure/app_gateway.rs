//! Application gateways: what each leads to, for whoever carries packets, and what it says of its servers.
//!
//! What its servers are like where no machine shows it stands below it, in a document `backends/far`: `certificates`, by the address of a
//! server what the gateway finds wrong with its certificate (`name`, `untrusted`, `expired`), `draining`, addresses of servers that take
//! nothing new, and `unknown`, where the gateway cannot say how its servers are.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use super::cloud::Cloud;
use super::effective::{self, routes, rules};
use super::operation::Done;
use super::refusal::Refusal;
use super::target::Target;
use crate::host::{
    AppGateway, AppListener, AppProbe, AppServer, AppTarget, Nic, ServerHealth, ServerTrouble,
};

/// What stands within a gateway, each with a name and an identifier of its own.
const PARTS: [&str; 12] = [
    "gatewayIPConfigurations",
    "frontendIPConfigurations",
    "frontendPorts",
    "sslCertificates",
    "trustedRootCertificates",
    "httpListeners",
    "backendAddressPools",
    "backendHttpSettingsCollection",
    "probes",
    "requestRoutingRules",
    "urlPathMaps",
    "redirectConfigurations",
];

/// The most free addresses of a subnet that are tried for a gateway.
const MAX_ADDRESSES: usize = 128;

/// A whole gateway: its parts get identifiers, and no key of a certificate stays.
pub(super) fn whole(target: &Target, properties: &mut Map<String, Value>) -> Result<(), Refusal> {
    for kind in PARTS {
        let parts = properties.entry(kind).or_insert_with(|| json!([])).as_array_mut();
        for part in parts.into_iter().flatten() {
            let name = part.get("name").and_then(Value::as_str).map(str::to_owned);
            let (Some(name), Some(map)) = (name, part.as_object_mut()) else {
                return Err(Refusal::unreadable("a part of the gateway has no name"));
            };
            let chain = [&target.chain[..], &[(kind.to_owned(), name)]].concat();
            map.insert("id".to_owned(), json!(Target { chain, ..target.clone() }.id()));
            map.insert("type".to_owned(), json!(format!("Microsoft.Network/applicationGateways/{kind}")));
            if let Some(own) = map.get_mut("properties").and_then(Value::as_object_mut) {
                own.remove("data");
                own.remove("password");
                own.insert("provisioningState".to_owned(), json!("Succeeded"));
            }
        }
    }
    properties.entry("operationalState").or_insert_with(|| json!("Running"));
    Ok(())
}

/// Starts or stops a gateway.
pub(super) fn run(cloud: &mut Cloud, target: &Target, is_on: bool) {
    let Some(mut found) = cloud.estate.get(target).cloned() else { return };
    if let Some(map) = found.get_mut("properties").and_then(Value::as_object_mut) {
        map.insert("operationalState".to_owned(), json!(if is_on { "Running" } else { "Stopped" }));
    }
    cloud.estate.put(target, found);
}

/// Tells whether a gateway runs.
pub(super) fn is_running(gateway: &Value) -> bool {
    !text(gateway, "/properties/operationalState").eq_ignore_ascii_case("stopped")
}

/// Returns all gateways as whoever carries packets needs them.
pub(super) fn app_gateways(cloud: &Cloud) -> Vec<AppGateway> {
    cloud.estate.of("Microsoft.Network/applicationGateways").filter_map(|found| one(cloud, found)).collect()
}

fn one(cloud: &Cloud, found: &Value) -> Option<AppGateway> {
    let subnet = list(found, "gatewayIPConfigurations")
        .find_map(|own| cloud.estate.by_id(text(own, "/properties/subnet/id")))?;
    let document = json!({"properties": {"ipConfigurations": [{"properties": {"subnet": {"id": text(subnet, "/id")}}}]}});
    let seen = effective::Nic::of(&cloud.estate, &document);
    let frontends: Vec<(String, Option<IpAddr>, Option<IpAddr>)> = list(found, "frontendIPConfigurations")
        .map(|own| {
            let private = text(own, "/properties/privateIPAddress").parse().ok();
            let public = cloud.estate.by_id(text(own, "/properties/publicIPAddress/id"));
            let public = public.and_then(|own| text(own, "/properties/ipAddress").parse().ok());
            (name(own), private, public)
        })
        .collect();
    let far = cloud.estate.by_id(&format!("{}/backends/far", text(found, "/id")));
    let mut targets: Vec<AppTarget> = Vec::new();
    let mut listeners = Vec::new();
    for listener in list(found, "httpListeners") {
        let frontend = last(listener, "/properties/frontendIPConfiguration/id");
        let (_, private, public) = frontends.iter().find(|(own, ..)| *own == frontend)?.clone();
        let port = named(found, "frontendPorts", &last(listener, "/properties/frontendPort/id"))?;
        let certificate = named(found, "sslCertificates", &last(listener, "/properties/sslCertificate/id"));
        let rule = list(found, "requestRoutingRules")
            .find(|rule| last(rule, "/properties/httpListener/id") == name(listener));
        let mut paths = Vec::new();
        for (path, pool, settings) in rule.map(|rule| leads(found, rule)).unwrap_or_default() {
            let Some(target) = target(cloud, found, far, (&pool, &settings)) else { continue };
            let place = targets.iter().position(|own| own.pool == pool && own.settings == settings);
            paths.push((path, place.unwrap_or(targets.len())));
            if place.is_none() {
                targets.push(target);
            }
        }
        listeners.push(AppListener {
            frontend: public.or(private)?,
            port: number(port, "/properties/port")?,
            is_secure: text(listener, "/properties/protocol").eq_ignore_ascii_case("https"),
            end: certificate
                .and_then(|own| own.pointer("/properties/publicCertData")?.as_str().map(str::to_owned)),
            paths,
        });
    }
    let network = seen.network.map(|network| text(network, "/id").to_ascii_lowercase()).unwrap_or_default();
    Some(AppGateway {
        name: text(found, "/name").to_owned(),
        address: free(cloud, subnet, &frontends)?,
        nic: Nic {
            name: text(found, "/name").to_owned(),
            rules: json!({"value": rules(cloud, &seen)}),
            routes: json!({"value": routes(cloud, &seen)}),
            network,
            ..Nic::default()
        },
        is_running: is_running(found),
        says_nothing: far.is_some_and(|far| far.pointer("/properties/unknown") == Some(&json!(true))),
        listeners,
        targets,
    })
}

/// Returns where the requests of a rule go: the path, the pool and the settings; the first is for all other paths.
fn leads(gateway: &Value, rule: &Value) -> Vec<(Option<String>, String, String)> {
    let map = named(gateway, "urlPathMaps", &last(rule, "/properties/urlPathMap/id"));
    let Some(map) = map else {
        let pool = last(rule, "/properties/backendAddressPool/id");
        let settings = last(rule, "/properties/backendHttpSettings/id");
        return if pool.is_empty() { Vec::new() } else { vec![(None, pool, settings)] };
    };
    let usual = (
        None,
        last(map, "/properties/defaultBackendAddressPool/id"),
        last(map, "/properties/defaultBackendHttpSettings/id"),
    );
    let rules = map.pointer("/properties/pathRules").and_then(Value::as_array).into_iter().flatten();
    let by_path = rules.flat_map(|own| {
        let paths = own.pointer("/properties/paths").and_then(Value::as_array).into_iter().flatten();
        paths.filter_map(Value::as_str).map(|path| {
            let begin = path.trim_end_matches('*').to_owned();
            let pool = last(own, "/properties/backendAddressPool/id");
            (Some(begin), pool, last(own, "/properties/backendHttpSettings/id"))
        })
    });
    std::iter::once(usual).chain(by_path).collect()
}

fn target(
    cloud: &Cloud,
    gateway: &Value,
    far: Option<&Value>,
    (pool, settings): (&str, &str),
) -> Option<AppTarget> {
    let servers = named(gateway, "backendAddressPools", pool)?;
    let asked = named(gateway, "backendHttpSettingsCollection", settings)?;
    let probe = named(gateway, "probes", &last(asked, "/properties/probe/id"));
    let port = number(asked, "/properties/port")?;
    let secure = |own: &Value| text(own, "/properties/protocol").eq_ignore_ascii_case("https");
    let is_drained = |server: &str| {
        let all = far.and_then(|far| far.pointer("/properties/draining")?.as_array()).into_iter().flatten();
        all.filter_map(Value::as_str).any(|own| own == server)
    };
    let trouble = |server: &str| {
        let found = far.and_then(|far| far.pointer("/properties/certificates")?.get(server)?.as_str());
        found.and_then(|word| match word {
            "name" => Some(ServerTrouble::Name),
            "untrusted" => Some(ServerTrouble::Untrusted),
            "expired" => Some(ServerTrouble::Expired),
            _ => None,
        })
    };
    let of_pool = |list_name: &str| -> Vec<Value> {
        let all = servers.pointer(&format!("/properties/{list_name}")).and_then(Value::as_array);
        all.cloned().unwrap_or_default()
    };
    let mut written: Vec<(String, Option<IpAddr>)> = of_pool("backendAddresses")
        .iter()
        .filter_map(|own| {
            let text = own.get("ipAddress").or_else(|| own.get("fqdn"))?.as_str()?.to_owned();
            Some((text.clone(), text.parse().ok()))
        })
        .collect();
    // An ip configuration stands below its interface.
    written.extend(of_pool("backendIPConfigurations").iter().filter_map(|own| {
        let id = text(own, "/id").to_ascii_lowercase();
        let nic = cloud.estate.by_id(id.split("/ipconfigurations/").next()?)?;
        let address: IpAddr =
            text(nic, "/properties/ipConfigurations/0/properties/privateIPAddress").parse().ok()?;
        Some((address.to_string(), Some(address)))
    }));
    let codes = probe.and_then(|probe| probe.pointer("/properties/match/statusCodes")?.as_array());
    let codes: Vec<(u16, u16)> =
        codes.into_iter().flatten().filter_map(Value::as_str).filter_map(range).collect();
    Some(AppTarget {
        pool: pool.to_owned(),
        settings: settings.to_owned(),
        port,
        is_secure: secure(asked),
        probe: AppProbe {
            port: probe
                .and_then(|own| number(own, "/properties/port"))
                .filter(|port| *port != 0)
                .unwrap_or(port),
            path: probe.map_or("/", |own| text(own, "/properties/path")).to_owned(),
            codes: if codes.is_empty() { vec![(200, 399)] } else { codes },
        },
        servers: written
            .into_iter()
            .map(|(written, address)| AppServer {
                is_draining: is_drained(&written),
                trouble: trouble(&written),
                address,
                written,
            })
            .collect(),
    })
}

fn range(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

/// Returns an address of a subnet that nobody has: that of an instance.
pub(super) fn free(
    cloud: &Cloud,
    subnet: &Value,
    frontends: &[(String, Option<IpAddr>, Option<IpAddr>)],
) -> Option<IpAddr> {
    let prefix = text(subnet, "/properties/addressPrefix");
    let net: ipnet::IpNet = prefix.parse().ok()?;
    let taken: Vec<String> = cloud
        .estate
        .of("Microsoft.Network/networkInterfaces")
        .flat_map(|nic| list(nic, "ipConfigurations").collect::<Vec<_>>())
        .map(|own| text(own, "/properties/privateIPAddress").to_owned())
        .chain(frontends.iter().filter_map(|(_, private, _)| Some(private.as_ref()?.to_string())))
        .collect();
    // The platform keeps the first four addresses.
    net.hosts().skip(3).take(MAX_ADDRESSES).find(|host| !taken.contains(&host.to_string()))
}

impl Cloud {
    /// Ends a question to an application gateway with what it says of its servers.
    pub fn health_said(&mut self, operation: &str, gateway: &str, all: &[ServerHealth]) {
        let Some(found) = self.estate.by_id(gateway) else { return };
        let id = |kind: &str, name: &str| json!({"id": format!("{gateway}/{kind}/{name}")});
        let mut pools: Vec<Value> = Vec::new();
        for pool in list(found, "backendAddressPools") {
            let pool = name(pool);
            let mut settings: Vec<&str> = Vec::new();
            for own in all.iter().filter(|own| own.pool == pool) {
                if !settings.contains(&own.settings.as_str()) {
                    settings.push(&own.settings);
                }
            }
            let asked: Vec<Value> = settings
                .into_iter()
                .map(|settings| {
                    let own = all.iter().filter(|own| own.pool == pool && own.settings == settings);
                    let servers: Vec<Value> = own
                        .filter(|own| !own.server.is_empty())
                        .map(|own| json!({"address": own.server, "health": own.state, "healthProbeLog": own.log}))
                        .collect();
                    json!({"backendHttpSettings": id("backendHttpSettingsCollection", settings), "servers": servers})
                })
                .collect();
            if !asked.is_empty() {
                pools.push(json!({"backendAddressPool": id("backendAddressPools", &pool), "backendHttpSettingsCollection": asked}));
            }
        }
        self.operations.end(operation, Done::Result(json!({ "backendAddressPools": pools })));
    }
}

fn named<'a>(gateway: &'a Value, kind: &'a str, wanted: &str) -> Option<&'a Value> {
    list(gateway, kind).find(|own| text(own, "/name").eq_ignore_ascii_case(wanted))
}

fn name(of: &Value) -> String {
    text(of, "/name").to_owned()
}

fn last(document: &Value, pointer: &str) -> String {
    text(document, pointer).rsplit('/').next().unwrap_or_default().to_owned()
}

fn number(document: &Value, pointer: &str) -> Option<u16> {
    document.pointer(pointer).and_then(Value::as_u64).and_then(|number| u16::try_from(number).ok())
}

fn list<'a>(document: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    document.pointer(&format!("/properties/{name}")).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
