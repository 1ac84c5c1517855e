//! Policies as they are written. What they do to a flow is in `walk`.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Map, Value};

use super::object::{Name, PortRef, Protocol};
use super::read;
use super::selector::{Selector, known};
use crate::net::clipped;

/// A NetworkPolicy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) name: Name,
    /// The pods of its namespace that it is about.
    pub(super) pods: Selector,
    /// What may come in; nothing where it is not about that direction.
    pub(super) ingress: Option<Vec<Rule>>,
    /// What may go out.
    pub(super) egress: Option<Vec<Rule>>,
    /// A part of it that is not understood.
    pub(super) odd: Option<String>,
}

/// A rule: it lets through what one of its peers and one of its ports match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// With whom; with anybody where there are none.
    pub(super) peers: Vec<Peer>,
    /// On which ports; on all where there are none.
    pub(super) ports: Vec<Ports>,
    /// A part of it that is not understood.
    pub(super) odd: Option<String>,
}

/// With whom a rule lets pods speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Peer {
    /// Pods that a selector matches; of the namespaces that another one matches, or of the policy's own.
    Pods {
        /// Of which namespaces.
        namespaces: Option<Selector>,
        /// Which pods; all where there is none.
        pods: Option<Selector>,
    },
    /// Addresses.
    Block {
        /// The whole.
        within: IpNet,
        /// What is taken out of it.
        except: Vec<IpNet>,
    },
    /// It is not understood.
    Odd(String),
}

impl Peer {
    /// Tells whether a block holds an address.
    pub(super) fn holds(within: &IpNet, except: &[IpNet], address: &IpAddr) -> bool {
        within.contains(address) && !except.iter().any(|hole| hole.contains(address))
    }
}

/// Ports of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ports {
    /// All of a protocol.
    All(Protocol),
    /// One, by its number or the name that the called pod has for it.
    One(Protocol, PortRef),
    /// From one to another.
    Range(Protocol, u16, u16),
    /// It is not understood.
    Odd(String),
}

impl Policy {
    /// Reads a policy; an error where it is not even known whom it selects.
    pub(super) fn read(name: Name, spec: Option<&Value>) -> Result<Self, String> {
        let spec = spec.and_then(Value::as_object).ok_or("without a spec")?;
        let pods = match spec.get("podSelector") {
            None | Some(Value::Null) => Selector::default(),
            Some(selector) => Selector::read(selector)?,
        };
        let mut odd = known(spec, &["podSelector", "policyTypes", "ingress", "egress"], "a policy").err();
        let mut rules = |field: &str, peers: &str| -> Vec<Rule> {
            match spec.get(field) {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(rules)) => rules.iter().map(|rule| Rule::read(rule, peers)).collect(),
                Some(_) => {
                    odd = Some(format!("{field} that is no list"));
                    Vec::new()
                }
            }
        };
        let (ingress, egress) = (rules("ingress", "from"), rules("egress", "to"));
        // Without types it is about what comes in, and about what goes out where it has rules for that.
        let (mut is_ingress, mut is_egress) = (true, !egress.is_empty());
        match spec.get("policyTypes") {
            None | Some(Value::Null) => {}
            Some(Value::Array(types)) if types.is_empty() => {}
            Some(Value::Array(types)) => {
                let has = |name: &str| types.iter().any(|own| own.as_str() == Some(name));
                (is_ingress, is_egress) = (has("Ingress"), has("Egress"));
                if !types.iter().all(|own| matches!(own.as_str(), Some("Ingress" | "Egress"))) {
                    odd = Some("policyTypes that are not known".to_owned());
                }
            }
            Some(_) => odd = Some("policyTypes that are no list".to_owned()),
        }
        let (ingress, egress) = (is_ingress.then_some(ingress), is_egress.then_some(egress));
        Ok(Self { name, pods, ingress, egress, odd })
    }
}

impl Rule {
    fn read(value: &Value, peers: &str) -> Self {
        let odd = |why: String| Self { peers: Vec::new(), ports: Vec::new(), odd: Some(why) };
        let Some(fields) = value.as_object() else { return odd("a rule that is no object".to_owned()) };
        if let Err(why) = known(fields, &[peers, "ports"], "a rule") {
            return odd(why);
        }
        let list = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Ok(&[][..]),
            Some(Value::Array(items)) => Ok(items.as_slice()),
            Some(_) => Err(format!("{name} that is no list")),
        };
        match (list(peers), list("ports")) {
            (Ok(peers), Ok(ports)) => {
                let peer = |own: &Value| Peer::read(own).unwrap_or_else(Peer::Odd);
                let port = |own: &Value| Ports::read(own).unwrap_or_else(Ports::Odd);
                Self {
                    peers: peers.iter().map(peer).collect(),
                    ports: ports.iter().map(port).collect(),
                    odd: None,
                }
            }
            (Err(why), _) | (_, Err(why)) => odd(why),
        }
    }
}

impl Peer {
    fn read(value: &Value) -> Result<Self, String> {
        let fields = value.as_object().ok_or("a peer that is no object")?;
        known(fields, &["podSelector", "namespaceSelector", "ipBlock"], "a peer")?;
        let selector =
            |name: &str| fields.get(name).filter(|own| !own.is_null()).map(Selector::read).transpose();
        let (namespaces, pods) = (selector("namespaceSelector")?, selector("podSelector")?);
        match fields.get("ipBlock").filter(|block| !block.is_null()) {
            Some(_) if namespaces.is_some() || pods.is_some() => {
                Err("a peer with a block and a selector".to_owned())
            }
            Some(block) => Self::block(block),
            None if namespaces.is_none() && pods.is_none() => Err("a peer that names nobody".to_owned()),
            None => Ok(Self::Pods { namespaces, pods }),
        }
    }

    fn block(value: &Value) -> Result<Self, String> {
        let fields: &Map<String, Value> = value.as_object().ok_or("a block that is no object")?;
        known(fields, &["cidr", "except"], "a block")?;
        let within = prefix(fields.get("cidr"))?;
        let except = match fields.get("except") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(holes)) => {
                holes.iter().map(|hole| prefix(Some(hole))).collect::<Result<_, _>>()?
            }
            Some(_) => return Err("except that is no list".to_owned()),
        };
        Ok(Self::Block { within, except })
    }
}

/// Reads a prefix; the bits behind its length do not count.
fn prefix(value: Option<&Value>) -> Result<IpNet, String> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    text.parse::<IpNet>().map(|net| net.trunc()).map_err(|_| format!("a prefix `{}`", clipped(text)))
}

impl Ports {
    fn read(value: &Value) -> Result<Self, String> {
        let fields = value.as_object().ok_or("a port that is no object")?;
        known(fields, &["protocol", "port", "endPort"], "a port")?;
        let protocol = read::protocol(fields.get("protocol"))?;
        let end = fields.get("endPort").filter(|end| !end.is_null()).map(read::port).transpose()?;
        match (fields.get("port").filter(|port| !port.is_null()), end) {
            (None, None) => Ok(Self::All(protocol)),
            (Some(Value::String(name)), None) => Ok(Self::One(protocol, PortRef::Name(name.clone()))),
            (Some(port), None) => Ok(Self::One(protocol, PortRef::Number(read::port(port)?))),
            (Some(Value::String(_)) | None, Some(_)) => {
                Err("a last port without the number of a first one".to_owned())
            }
            (Some(port), Some(end)) => match read::port(port)? {
                first if first <= end => Ok(Self::Range(protocol, first, end)),
                _ => Err("a last port before the first one".to_owned()),
            },
        }
    }
}
