//! A cluster as a case file says it: what differs from every other cluster, and nothing else.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::check::ClusterCheck;
use super::fault::PlacedClusterFault;
use super::model::{
    ApiServer, ContainerPort, Engine, Labels, ObjectName, PodPhase, PortRef, Protocol, ServicePort,
    ServiceType, TrafficPolicy,
};
use super::policy::PolicySpec;

/// A cluster, as it works, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenCluster {
    /// Its name, which is that of its context.
    pub name: String,
    #[serde(default)]
    pub(super) engine: Engine,
    #[serde(default)]
    pub(super) api: ApiServer,
    /// The kinds that whoever asks may not list.
    #[serde(default)]
    pub(super) forbidden: Vec<String>,
    #[serde(default = "two")]
    pub(super) nodes: u8,
    /// Labels of namespaces that have some of their own.
    #[serde(default)]
    pub(super) namespaces: BTreeMap<String, Labels>,
    #[serde(default)]
    pub(super) pod: Vec<Spanned<WrittenPod>>,
    #[serde(default)]
    pub(super) service: Vec<Spanned<WrittenService>>,
    #[serde(default)]
    pub(super) policy: Vec<Spanned<WrittenPolicy>>,
    #[serde(default)]
    pub(super) fault: Vec<Spanned<PlacedClusterFault>>,
    #[serde(default)]
    pub(super) check: Vec<Spanned<ClusterCheck>>,
}

fn two() -> u8 {
    2
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPod {
    pub(super) name: ObjectName,
    #[serde(default)]
    pub(super) labels: Labels,
    pub(super) address: Option<IpAddr>,
    pub(super) node: Option<usize>,
    #[serde(default)]
    pub(super) phase: PodPhase,
    #[serde(default = "yes")]
    pub(super) ready: bool,
    #[serde(default)]
    pub(super) ending: bool,
    #[serde(default)]
    pub(super) host_network: bool,
    pub(super) waits: Option<String>,
    #[serde(default)]
    pub(super) ports: Vec<ContainerPort>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenService {
    pub(super) name: ObjectName,
    /// Nothing where others say what is behind it.
    pub(super) selector: Option<Labels>,
    #[serde(default)]
    pub(super) ports: Vec<ServicePort>,
    #[serde(default, rename = "type")]
    pub(super) kind: ServiceType,
    pub(super) address: Option<IpAddr>,
    #[serde(default)]
    pub(super) headless: bool,
    #[serde(default)]
    pub(super) external: TrafficPolicy,
    #[serde(default)]
    pub(super) takes_unready: bool,
    #[serde(default)]
    pub(super) endpoints: Vec<IpAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPolicy {
    pub(super) name: ObjectName,
    #[serde(default)]
    pub(super) spec: PolicySpec,
}

/// A port in a table; a number alone is short for `{ port = NUMBER }`.
struct PortTable {
    name: Option<String>,
    port: PortRef,
    protocol: Protocol,
    target: Option<PortRef>,
}

impl<'de> Deserialize<'de> for PortTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = PortTable;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("the number of a port, or { port = NUMBER, name = \"…\" }")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<PortTable, E> {
                let port = PortRef::deserialize(serde::de::value::I64Deserializer::new(number))?;
                Ok(PortTable { name: None, port, protocol: Protocol::Tcp, target: None })
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<PortTable, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Fields {
                    name: Option<String>,
                    port: PortRef,
                    #[serde(default)]
                    protocol: Protocol,
                    target: Option<PortRef>,
                }
                let Fields { name, port, protocol, target } =
                    Fields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PortTable { name, port, protocol, target })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl PortTable {
    fn number<E: serde::de::Error>(&self) -> Result<u16, E> {
        match &self.port {
            PortRef::Number(number) => Ok(*number),
            PortRef::Name(name) => Err(E::custom(format!("`{name}` is no number of a port"))),
        }
    }
}

impl<'de> Deserialize<'de> for ContainerPort {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = PortTable::deserialize(deserializer)?;
        if table.target.is_some() {
            return Err(serde::de::Error::custom("a port of a container has no `target`"));
        }
        Ok(Self { number: table.number()?, name: table.name, protocol: table.protocol })
    }
}

impl<'de> Deserialize<'de> for ServicePort {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = PortTable::deserialize(deserializer)?;
        let number = table.number()?;
        let target = table.target.unwrap_or(PortRef::Number(number));
        Ok(Self { name: table.name.unwrap_or_default(), number, protocol: table.protocol, target })
    }
}
