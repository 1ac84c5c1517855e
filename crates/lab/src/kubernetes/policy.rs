//! A NetworkPolicy as it is written, with what the API server fills in.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::model::{Labels, PortRef, Protocol};

/// What a policy says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PolicySpec {
    #[serde(default)]
    pub(super) pod_selector: Selector,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ingress: Vec<IngressRule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) egress: Vec<EgressRule>,
    #[serde(default)]
    pub(super) policy_types: Vec<PolicyType>,
}

impl PolicySpec {
    /// Fills in what the API server fills in.
    pub(super) fn complete(mut self) -> Self {
        if self.policy_types.is_empty() {
            self.policy_types.push(PolicyType::Ingress);
            if !self.egress.is_empty() {
                self.policy_types.push(PolicyType::Egress);
            }
        }
        self
    }
}

/// A direction that a policy is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PolicyType {
    Ingress,
    Egress,
}

/// Which objects are meant, by their labels; all where it says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Selector {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) match_labels: Labels,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) match_expressions: Vec<Requirement>,
}

/// What one label has to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requirement {
    pub(super) key: String,
    pub(super) operator: Operator,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Tells whether these labels are meant.
    pub(super) fn selects(&self, labels: &Labels) -> bool {
        let holds = |own: &Requirement| {
            let value = labels.get(&own.key);
            match own.operator {
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
                Operator::In => value.is_some_and(|value| own.values.contains(value)),
                Operator::NotIn => value.is_none_or(|value| !own.values.contains(value)),
            }
        };
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(holds)
    }

    /// Writes it as tables show it.
    pub(super) fn text(&self) -> String {
        let labels = self.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
        let expressions = self.match_expressions.iter().map(|own| match own.operator {
            Operator::Exists => own.key.clone(),
            Operator::DoesNotExist => format!("!{}", own.key),
            Operator::In => format!("{} in ({})", own.key, own.values.join(",")),
            Operator::NotIn => format!("{} notin ({})", own.key, own.values.join(",")),
        });
        let all: Vec<String> = labels.chain(expressions).collect();
        if all.is_empty() { "<none>".to_owned() } else { all.join(",") }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IngressRule {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) from: Vec<Peer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ports: Vec<PolicyPort>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EgressRule {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) to: Vec<Peer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ports: Vec<PolicyPort>,
}

/// With whom a rule lets pods speak.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Peer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pod_selector: Option<Selector>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) namespace_selector: Option<Selector>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ip_block: Option<Block>,
}

/// A range of addresses, and what is taken out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    #[serde(deserialize_with = "range")]
    cidr: String,
    #[serde(default, deserialize_with = "ranges", skip_serializing_if = "Vec::is_empty")]
    except: Vec<String>,
}

impl Block {
    pub(super) fn holds(&self, address: IpAddr) -> bool {
        let is_in = |text: &String| text.parse::<IpNet>().is_ok_and(|net| net.contains(&address));
        is_in(&self.cidr) && !self.except.iter().any(is_in)
    }
}

fn range<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.parse::<IpNet>() {
        Ok(_) => Ok(text),
        Err(_) => Err(D::Error::custom(format!("`{text}` is no range of addresses such as 10.0.0.0/8"))),
    }
}

fn ranges<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let all = Vec::<String>::deserialize(deserializer)?;
    match all.iter().find(|text| text.parse::<IpNet>().is_err()) {
        None => Ok(all),
        Some(text) => Err(D::Error::custom(format!("`{text}` is no range of addresses such as 10.0.0.0/8"))),
    }
}

/// Ports of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PolicyPort {
    #[serde(default, serialize_with = "word", deserialize_with = "protocol")]
    pub(super) protocol: Protocol,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) port: Option<PortRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end_port: Option<u16>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn word<S: Serializer>(protocol: &Protocol, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(protocol.word())
}

fn protocol<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Protocol, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "TCP" => Ok(Protocol::Tcp),
        "UDP" => Ok(Protocol::Udp),
        other => Err(D::Error::custom(format!("`{other}` is no protocol; write TCP or UDP"))),
    }
}

impl Serialize for PortRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u16(*number),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for PortRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = PortRef;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("the number or the name of a port")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<PortRef, E> {
                let port = u16::try_from(number).ok().filter(|port| *port > 0);
                port.map(PortRef::Number).ok_or_else(|| E::custom("a port is a number from 1 to 65535"))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<PortRef, E> {
                self.visit_i64(i64::try_from(number).unwrap_or_default())
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<PortRef, E> {
                Ok(PortRef::Name(name.to_owned()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
