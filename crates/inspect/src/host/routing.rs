//! What routing daemons say of themselves: who is switched on, who runs, neighbors and routes of BGP, devices and neighbors of OSPF.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;
use serde_json::Value;

use super::gathered::Part;
use super::model::Warning;

/// The most rows of a document that are read.
const MAX_ROWS: usize = 20_000;

/// Routing daemons of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Daemons {
    /// Those that are to run.
    pub enabled: Vec<String>,
    /// Those that answer.
    pub running: Vec<String>,
}

impl Daemons {
    /// Reads `enabled NAME` and `running NAME…` lines.
    pub(super) fn read(text: &str) -> Self {
        let words = |about: &str| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.split_once(' '));
            let own = lines.filter(|(first, _)| *first == about);
            own.flat_map(|(_, rest)| rest.split_whitespace()).map(str::to_owned).collect()
        };
        Self { enabled: words("enabled"), running: words("running") }
    }

    /// Returns those that are to run and do not answer.
    pub fn down(&self) -> impl Iterator<Item = &str> {
        self.enabled.iter().filter(|name| !self.running.contains(name)).map(String::as_str)
    }
}

/// A neighbor of BGP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BgpPeer {
    /// Its address.
    pub ip: IpAddr,
    /// The own autonomous system.
    pub local_as: Option<u32>,
    /// The one that the neighbor is expected to be of.
    pub remote_as: Option<u32>,
    /// Established, Active, Idle …
    pub state: String,
    /// Why the session ended last.
    pub reset: Option<String>,
    /// Whether it was ended because of too many prefixes.
    pub has_too_many: bool,
    /// So many prefixes are taken.
    pub max_prefixes: Option<u64>,
}

impl BgpPeer {
    /// Tells whether routes are exchanged.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.state == "Established"
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPeer {
    remote_as: Option<u32>,
    local_as: Option<u32>,
    bgp_state: Option<String>,
    last_notification_reason: Option<String>,
    last_reset_due_to: Option<String>,
    #[serde(default)]
    prefixes_config_exceed_max: bool,
    #[serde(default)]
    address_family_info: BTreeMap<String, Value>,
}

/// A route of BGP, with every path to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BgpRoute {
    /// Where it leads.
    pub prefix: IpNet,
    /// The autonomous systems of each path; empty where the machine itself announces it.
    pub paths: Vec<Vec<u32>>,
}

impl BgpRoute {
    /// Tells whether the machine itself announces it.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.paths.iter().any(Vec::is_empty)
    }
}

#[derive(Debug, Deserialize)]
struct RawTable {
    #[serde(default)]
    routes: BTreeMap<String, Vec<Value>>,
}

/// A device on which OSPF speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OspfDevice {
    /// Its name.
    pub name: String,
    /// Its area, as it is printed.
    pub area: String,
    /// Between two hellos, in milliseconds.
    pub hello: u64,
    /// After so many seconds of silence a neighbor is gone.
    pub dead: u64,
    /// Whether its network is announced, and nobody spoken to.
    pub is_passive: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDevice {
    area: Option<String>,
    #[serde(default)]
    timer_msecs: u64,
    #[serde(default)]
    timer_dead_secs: u64,
    #[serde(default)]
    timer_passive_iface: bool,
}

/// A neighbor of OSPF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OspfNeighbor {
    /// Its address on the link.
    pub ip: IpAddr,
    /// Full, Init, ExStart …, and its role.
    pub state: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawNeighbor {
    // The address, since names may be asked for in place of numbers.
    iface_address: Option<IpAddr>,
    address: Option<IpAddr>,
    nbr_state: Option<String>,
    state: Option<String>,
}

/// Reads `show ip ospf interface json`; a device without an area does not speak.
pub(super) fn devices(
    part: Part,
    text: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<OspfDevice>, String> {
    let all = object(text)?;
    let rows = all.get("interfaces").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (name, value) in rows.into_iter().take(MAX_ROWS) {
        match serde_json::from_value::<RawDevice>(value) {
            Ok(raw) => found.extend(raw.area.map(|area| OspfDevice {
                name,
                // A stub says so behind its number.
                area: area.split(' ').next().unwrap_or_default().to_owned(),
                hello: raw.timer_msecs,
                dead: raw.timer_dead_secs,
                is_passive: raw.timer_passive_iface,
            })),
            Err(error) => warnings.push(Warning { part, what: format!("{name}: {error}") }),
        }
    }
    Ok(found)
}

/// Reads `show ip ospf neighbor json`.
pub(super) fn neighbors(
    part: Part,
    text: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<OspfNeighbor>, String> {
    let all = object(text)?;
    let rows = all.get("neighbors").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (name, value) in rows.into_iter().take(MAX_ROWS) {
        match serde_json::from_value::<Vec<RawNeighbor>>(value) {
            Ok(all) => found.extend(all.into_iter().filter_map(|raw| {
                let ip = raw.iface_address.or(raw.address).or_else(|| name.parse().ok())?;
                Some(OspfNeighbor { ip, state: raw.nbr_state.or(raw.state).unwrap_or_default() })
            })),
            Err(error) => warnings.push(Warning { part, what: format!("{name}: {error}") }),
        }
    }
    Ok(found)
}

/// Reads the object of a document; nothing where nothing was printed.
fn object(text: &str) -> Result<serde_json::Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(serde_json::Map::new());
    }
    serde_json::from_str(text).map_err(|error| format!("it is no object: {error}"))
}

/// Reads `show bgp neighbors json`; what is no neighbor is passed over.
pub(super) fn peers(part: Part, text: &str, warnings: &mut Vec<Warning>) -> Result<Vec<BgpPeer>, String> {
    let mut found = Vec::new();
    for (name, value) in object(text)?.into_iter().take(MAX_ROWS) {
        // Beside neighbors there are sums; a neighbor by device has no address, and nothing is said of it.
        let (Ok(ip), true) = (name.parse::<IpAddr>(), value.is_object()) else { continue };
        match serde_json::from_value::<RawPeer>(value) {
            Ok(raw) => {
                let most = raw.address_family_info.values().find_map(|one| one.get("prefixAllowedMax"));
                found.push(BgpPeer {
                    ip,
                    local_as: raw.local_as,
                    remote_as: raw.remote_as,
                    state: raw.bgp_state.unwrap_or_default(),
                    reset: raw.last_notification_reason.or(raw.last_reset_due_to),
                    has_too_many: raw.prefixes_config_exceed_max,
                    max_prefixes: most.and_then(Value::as_u64),
                });
            }
            Err(error) => warnings.push(Warning { part, what: format!("{ip}: {error}") }),
        }
    }
    Ok(found)
}

/// Reads `show bgp ipv4 unicast json`.
pub(super) fn routes(part: Part, text: &str, warnings: &mut Vec<Warning>) -> Result<Vec<BgpRoute>, String> {
    let table: RawTable = serde_json::from_value(Value::Object(object(text)?))
        .map_err(|error| format!("it is no table: {error}"))?;
    let mut found = Vec::new();
    for (prefix, paths) in table.routes.into_iter().take(MAX_ROWS) {
        match prefix.parse::<IpNet>() {
            Ok(prefix) => {
                let paths =
                    paths.iter().filter(|path| path.get("valid").and_then(Value::as_bool) == Some(true));
                let paths = paths.map(|path| path.get("path").and_then(Value::as_str).unwrap_or_default());
                let paths =
                    paths.map(|path| path.split_whitespace().filter_map(|word| word.parse().ok()).collect());
                found.push(BgpRoute { prefix, paths: paths.collect() });
            }
            Err(error) => warnings.push(Warning { part, what: format!("`{prefix}`: {error}") }),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbor_is_read_whatever_stands_beside_it() {
        let text = r#"{"10.0.0.1":{"remoteAs":65001,"localAs":65100,"bgpState":"Idle","prefixesConfigExceedMax":true,
            "lastNotificationReason":"Cease","addressFamilyInfo":{"ipv4Unicast":{"prefixAllowedMax":2}}},
            "10.0.0.2":{"remoteAs":"x"},"eth0":{"remoteAs":1},"totalPeers":3}"#;
        let mut warnings = Vec::new();
        let found = peers(Part::BgpPeers, text, &mut warnings).unwrap();
        assert_eq!((found.len(), warnings.len()), (1, 1), "{found:?} {warnings:?}");
        assert_eq!(
            (found[0].is_up(), found[0].has_too_many, found[0].max_prefixes, found[0].remote_as),
            (false, true, Some(2), Some(65_001))
        );
        assert_eq!(peers(Part::BgpPeers, "", &mut warnings), Ok(Vec::new()));
        assert!(peers(Part::BgpPeers, "[]", &mut warnings).is_err());
    }

    #[test]
    fn a_route_is_its_own_where_its_path_is_empty() {
        let text = r#"{"localAS":1,"routes":{"10.1.0.0/24":[{"valid":true,"path":""}],"10.2.0.0/24":[{"valid":true,"path":"1 2"},{"path":""}],
            "x":[]}}"#;
        let mut warnings = Vec::new();
        let found = routes(Part::BgpRoutes, text, &mut warnings).unwrap();
        assert_eq!((found.len(), warnings.len()), (2, 1));
        assert_eq!((found[0].is_own(), found[1].is_own()), (true, false));
        assert_eq!(found[1].paths, vec![vec![1, 2]]);
        assert_eq!(routes(Part::BgpRoutes, "", &mut warnings), Ok(Vec::new()));
    }

    #[test]
    fn what_is_to_run_and_does_not_answer_is_down() {
        let down = |text: &str| Daemons::read(text).down().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(down("enabled bgpd\nenabled ospfd\nrunning  zebra bgpd\n"), ["ospfd"]);
        assert_eq!(down("running \n"), Vec::<String>::new());
    }
}
