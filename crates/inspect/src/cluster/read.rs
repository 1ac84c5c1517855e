//! Reads what `kubectl get … -o json` prints.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::error::ReadError;
use super::object::{
    Cluster, ContainerPort, Kind, Name, Pod, PortRef, Protocol, Service, ServicePort, Slice, SliceEndpoint,
    SlicePort,
};
use super::policy::Policy;
use super::selector::{Labels, Selector};
use super::usage;
use crate::net::{clipped, document};

/// So many warnings are kept; the others are counted.
const MAX_WARNINGS: usize = 100;

/// The longest name that Kubernetes takes.
const MAX_NAME_BYTES: usize = 253;

/// The label by which a slice names its service.
const SERVICE: &str = "kubernetes.io/service-name";

/// The label that every namespace has.
const NAMESPACE: &str = "kubernetes.io/metadata.name";

impl Cluster {
    /// Adds the objects of a document: a list, or one object.
    ///
    /// # Errors
    /// Fails where it is cut off, no JSON, the answer to a failed call, a part of a list, or contradicts an earlier one.
    pub fn add(&mut self, text: &str) -> Result<(), ReadError> {
        let document = document(text)?;
        let fields = document.as_object().ok_or(ReadError::NoObject)?;
        let kind = fields.get("kind").and_then(Value::as_str).ok_or(ReadError::NoObject)?;
        let version = fields.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        if kind == "Status" {
            let message = fields.get("message").and_then(Value::as_str).unwrap_or("no message");
            return Err(ReadError::Failed { message: clipped(message) });
        }
        let Some(single) = kind.strip_suffix("List") else {
            return self.take(kind, version, fields);
        };
        let metadata = fields.get("metadata");
        let rest = metadata.and_then(|own| own.get("continue")).and_then(Value::as_str).unwrap_or_default();
        if !rest.is_empty() {
            return Err(ReadError::Part);
        }
        // A list of one kind, as the server itself writes it, says of what it is empty.
        if (single, version) == ("NetworkPolicy", "networking.k8s.io/v1") {
            self.has_policies = true;
        }
        for item in fields.get("items").and_then(Value::as_array).ok_or(ReadError::NoObject)? {
            let Some(item) = item.as_object() else {
                self.unread_all("an item of a list that is no object".to_owned());
                continue;
            };
            let kind = item.get("kind").and_then(Value::as_str).unwrap_or(single);
            if kind.is_empty() {
                self.unread_all("an item of a list that has no kind".to_owned());
                continue;
            }
            let version = item.get("apiVersion").and_then(Value::as_str).unwrap_or(version);
            self.take(kind, version, item)?;
        }
        Ok(())
    }

    /// Adds the answer of `kubectl get networkpolicies -A`: where it is empty there are none.
    ///
    /// # Errors
    /// Fails as [`Cluster::add`].
    pub fn add_policies(&mut self, text: &str) -> Result<(), ReadError> {
        self.add(text)?;
        self.has_policies = true;
        Ok(())
    }

    fn take(&mut self, kind: &str, version: &str, fields: &Map<String, Value>) -> Result<(), ReadError> {
        let (known, taken) = match (kind, version) {
            ("Namespace", "v1") => (Kind::Namespace, self.take_namespace(fields)),
            ("Pod", "v1") => (Kind::Pod, pod(fields).map(|own| put(&mut self.pods, own.name.clone(), own))),
            ("Service", "v1") => {
                (Kind::Service, service(fields).map(|own| put(&mut self.services, own.name.clone(), own)))
            }
            ("EndpointSlice", "discovery.k8s.io/v1") => {
                (Kind::Slice, slice(fields).map(|own| put(&mut self.slices, own.name.clone(), own)))
            }
            ("NetworkPolicy", "networking.k8s.io/v1") => {
                self.has_policies = true;
                let policy = name(fields).and_then(|name| Policy::read(name, fields.get("spec")));
                (Kind::Policy, policy.map(|own| put(&mut self.policies, own.name.clone(), own)))
            }
            (kind, version) => {
                // Others may deny or allow before these do, whatever they are called.
                if kind.contains("NetworkPolicy") || kind.contains("NetworkPolicies") {
                    let group = version.split('/').next().unwrap_or_default();
                    self.other_policies.insert(clipped(&format!("{kind} of {group}")));
                }
                return Ok(());
            }
        };
        match taken {
            Ok(true) => Ok(()),
            Ok(false) => {
                let name = name(fields).map_or_else(|_| "an object".to_owned(), |name| name.to_string());
                Err(ReadError::Differs { object: clipped(&format!("{kind} {name}")) })
            }
            Err(why) => {
                let name = name(fields).map(|name| format!(" {name}")).unwrap_or_default();
                self.unread.insert(known);
                self.warn(clipped(&format!("{kind}{name}: {why}")));
                Ok(())
            }
        }
    }

    fn take_namespace(&mut self, fields: &Map<String, Value>) -> Result<bool, String> {
        let metadata = fields.get("metadata");
        let name = word(metadata, "name")?.ok_or("without a name")?;
        let mut labels = labels(metadata)?;
        // The server sets it on every namespace, and lets nobody change it.
        labels.insert(NAMESPACE.to_owned(), name.to_owned());
        Ok(put(&mut self.namespaces, name.to_owned(), labels))
    }

    fn unread_all(&mut self, why: String) {
        self.unread.extend([Kind::Namespace, Kind::Pod, Kind::Service, Kind::Slice, Kind::Policy]);
        self.warn(why);
    }

    fn warn(&mut self, why: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(why);
        } else {
            self.more_warnings += 1;
        }
    }

    /// Returns the labels of a namespace, and whether they are all of them.
    pub(super) fn namespace_labels(&self, namespace: &str) -> (Labels, bool) {
        match self.namespaces.get(namespace) {
            Some(labels) => (labels.clone(), true),
            None => (Labels::from([(NAMESPACE.to_owned(), namespace.to_owned())]), false),
        }
    }
}

/// Keeps an object; false where another one of the name is there.
fn put<K: Ord, V: PartialEq>(map: &mut BTreeMap<K, V>, key: K, value: V) -> bool {
    match map.get(&key) {
        Some(before) => *before == value,
        None => {
            map.insert(key, value);
            true
        }
    }
}

fn text<'a>(of: Option<&'a Value>, name: &str) -> Option<&'a str> {
    of?.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Returns a name, or nothing. What Kubernetes takes for none is none: it stands in sentences, and is to be no sentence of its own.
fn word<'a>(of: Option<&'a Value>, name: &str) -> Result<Option<&'a str>, String> {
    let fits = |text: &str| {
        let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
        text.len() <= MAX_NAME_BYTES && text.bytes().all(is_part)
    };
    match text(of, name) {
        Some(text) if !fits(text) => Err(format!("with a {name} that Kubernetes does not allow")),
        own => Ok(own),
    }
}

fn name(fields: &Map<String, Value>) -> Result<Name, String> {
    let metadata = fields.get("metadata");
    let name = word(metadata, "name")?.ok_or("without a name")?;
    let namespace = word(metadata, "namespace")?.ok_or("without a namespace")?;
    Ok(Name { namespace: namespace.to_owned(), name: name.to_owned() })
}

fn labels(metadata: Option<&Value>) -> Result<Labels, String> {
    match metadata.and_then(|own| own.get("labels")) {
        None | Some(Value::Null) => Ok(Labels::new()),
        Some(labels) => Selector::labels(labels),
    }
}

/// Returns a field that is a list, or nothing; null is an empty one.
fn list<'a>(of: Option<&'a Value>, name: &str) -> Result<&'a [Value], String> {
    match of.and_then(|own| own.get(name)) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(format!("{name} that is no list")),
    }
}

/// Returns a field that is true or false; false where it is missing.
fn flag(of: Option<&Value>, name: &str, missing: bool) -> Result<bool, String> {
    match of.and_then(|own| own.get(name)) {
        None | Some(Value::Null) => Ok(missing),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(format!("{name} that is neither true nor false")),
    }
}

fn address(value: Option<&Value>) -> Result<IpAddr, String> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    text.parse().map_err(|_| format!("an address `{}`", clipped(text)))
}

/// Reads a port from 1 to 65535.
pub(super) fn port(value: &Value) -> Result<u16, String> {
    let number = value.as_u64().and_then(|number| u16::try_from(number).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("a port {}", clipped(&value.to_string())))
}

/// Reads a protocol; TCP where it is missing.
pub(super) fn protocol(value: Option<&Value>) -> Result<Protocol, String> {
    match value {
        None | Some(Value::Null) => Ok(Protocol::Tcp),
        Some(value) => value
            .as_str()
            .and_then(Protocol::named)
            .ok_or_else(|| format!("a protocol {}", clipped(&value.to_string()))),
    }
}

fn pod(fields: &Map<String, Value>) -> Result<Pod, String> {
    let (metadata, status) = (fields.get("metadata"), fields.get("status"));
    let spec = fields.get("spec").filter(|spec| spec.is_object()).ok_or("without a spec")?;
    let listed = |plural: &str, single: &str, inner: &str| -> Result<Vec<IpAddr>, String> {
        let all = list(status, plural)?;
        if !all.is_empty() {
            return all.iter().map(|own| address(own.get(inner))).collect();
        }
        text(status, single).map(|_| address(status.and_then(|own| own.get(single)))).into_iter().collect()
    };
    let mut ports = Vec::new();
    let mut hosts = BTreeSet::new();
    let containers = list(Some(spec), "containers")?.iter();
    let first = list(Some(spec), "initContainers")?.iter();
    // One that stays beside the others is a container like them.
    let stays = first.filter(|own| text(Some(own), "restartPolicy") == Some("Always"));
    for container in containers.chain(stays) {
        for own in list(Some(container), "ports")? {
            ports.push(ContainerPort {
                name: word(Some(own), "name")?.map(str::to_owned),
                number: port(own.get("containerPort").unwrap_or(&Value::Null))?,
                protocol: protocol(own.get("protocol"))?,
            });
        }
        hosts.extend(named_hosts(container));
    }
    let is_ready =
        |own: &Value| text(Some(own), "type") == Some("Ready") && text(Some(own), "status") == Some("True");
    Ok(Pod {
        name: name(fields)?,
        labels: labels(metadata)?,
        addresses: listed("podIPs", "podIP", "ip")?,
        node_addresses: listed("hostIPs", "hostIP", "ip")?,
        node: text(Some(spec), "nodeName").map(str::to_owned),
        is_on_host: flag(Some(spec), "hostNetwork", false)?,
        phase: text(status, "phase").unwrap_or("unknown").to_owned(),
        is_ready: list(status, "conditions")?.iter().any(is_ready),
        is_ending: text(metadata, "deletionTimestamp").is_some(),
        ports,
        hosts,
    })
}

/// Returns the hosts that the environment and the arguments of a container name. What is no text there names none.
fn named_hosts(container: &Value) -> BTreeSet<String> {
    let items = |name: &str| container.get(name).and_then(Value::as_array).into_iter().flatten();
    let environment =
        items("env").filter_map(|own| Some((text(Some(own), "name"), text(Some(own), "value")?)));
    let words = items("args").chain(items("command")).filter_map(|own| Some((None, own.as_str()?)));
    environment.chain(words).flat_map(|(variable, value)| usage::hosts(variable, value)).collect()
}

fn service(fields: &Map<String, Value>) -> Result<Service, String> {
    let spec = fields.get("spec").filter(|spec| spec.is_object()).ok_or("without a spec")?;
    let several = list(Some(spec), "clusterIPs")?;
    let addresses = match (several, text(Some(spec), "clusterIP")) {
        ([], None | Some("None")) => Vec::new(),
        ([], Some(_)) => vec![address(spec.get("clusterIP"))?],
        ([Value::String(none)], _) if none == "None" => Vec::new(),
        (several, _) => several.iter().map(|own| address(Some(own))).collect::<Result<_, _>>()?,
    };
    let selector = match spec.get("selector") {
        None | Some(Value::Null) => None,
        Some(labels) => Some(Selector::labels(labels)?).filter(|labels| !labels.is_empty()),
    };
    let mut ports = Vec::new();
    for own in list(Some(spec), "ports")? {
        let number = port(own.get("port").unwrap_or(&Value::Null))?;
        let target = match own.get("targetPort") {
            None | Some(Value::Null) => PortRef::Number(number),
            Some(Value::String(name)) => PortRef::Name(name.clone()),
            Some(other) => PortRef::Number(port(other)?),
        };
        let name = word(Some(own), "name")?.unwrap_or_default().to_owned();
        ports.push(ServicePort { name, number, protocol: protocol(own.get("protocol"))?, target });
    }
    Ok(Service {
        name: name(fields)?,
        kind: text(Some(spec), "type").unwrap_or("ClusterIP").to_owned(),
        addresses,
        selector: selector.as_ref().map(Selector::of_labels),
        ports,
        is_local_inside: text(Some(spec), "internalTrafficPolicy") == Some("Local"),
        is_local_outside: text(Some(spec), "externalTrafficPolicy") == Some("Local"),
        takes_unready: flag(Some(spec), "publishNotReadyAddresses", false)?,
    })
}

fn slice(fields: &Map<String, Value>) -> Result<Slice, String> {
    let whole = Value::Object(fields.clone());
    let of = Some(&whole);
    let family = text(of, "addressType").unwrap_or_default();
    if !matches!(family, "IPv4" | "IPv6") {
        return Err(format!("addresses of the type `{}`", clipped(family)));
    }
    let mut ports = Vec::new();
    for own in list(of, "ports")? {
        ports.push(SlicePort {
            name: word(Some(own), "name")?.unwrap_or_default().to_owned(),
            number: own.get("port").filter(|number| !number.is_null()).map(port).transpose()?,
            protocol: protocol(own.get("protocol"))?,
        });
    }
    let mut endpoints = Vec::new();
    for own in list(of, "endpoints")? {
        let conditions = own.get("conditions");
        // What is not said is ready; whether it serves is then the same.
        let is_ready = flag(conditions, "ready", true)?;
        let target = own.get("targetRef");
        let is_pod = text(target, "kind") == Some("Pod");
        let addresses = list(Some(own), "addresses")?.iter().map(|own| address(Some(own)));
        endpoints.push(SliceEndpoint {
            addresses: addresses.collect::<Result<_, _>>()?,
            is_ready,
            is_serving_to_the_end: flag(conditions, "terminating", false)?
                && flag(conditions, "serving", is_ready)?,
            node: text(Some(own), "nodeName").map(str::to_owned),
            pod: text(target, "name").filter(|_| is_pod).map(str::to_owned),
        });
    }
    let labels = labels(fields.get("metadata"))?;
    Ok(Slice { name: name(fields)?, service: labels.get(SERVICE).cloned(), ports, endpoints })
}
