//! Networks of containers, by the names that their engines give them.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Serialize, Serializer};

use super::finding::{Evidence, Finding};
use super::gathered::Part;
use super::link::Link;
use super::log::has_word;
use super::model::Host;
use super::object::Object;

/// The bridge that the plugin `bridge` of CNI makes where its file names none, and that flannel uses.
const CNI_BRIDGE: &str = "cni0";
/// Docker names a bridge after so many digits of the network's id.
const ID_DIGITS: usize = 12;

/// Who made a network of containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// A plugin of CNI.
    Cni,
}

impl Engine {
    /// Returns the part of what was gathered in which its networks stand.
    #[must_use]
    pub const fn part(self) -> Part {
        match self {
            Self::Docker => Part::DockerNetworks,
            Self::Podman => Part::PodmanNetworks,
            Self::Cni => Part::CniNetworks,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Cni => "cni",
        })
    }
}

/// A network of containers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContainerNetwork {
    /// Who made it.
    pub engine: Engine,
    /// Its name.
    pub name: String,
    /// The device of the machine that it hangs on, where it has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Its addresses.
    #[serde(serialize_with = "as_texts")]
    pub subnets: Vec<IpNet>,
    /// Who has which address, by the name of the container where that is known.
    pub containers: Vec<ContainerAddress>,
}

fn as_texts<S: Serializer>(subnets: &[IpNet], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(subnets.iter().map(ToString::to_string))
}

/// An address of a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContainerAddress {
    /// The container's name, where the engine says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its address.
    pub ip: IpAddr,
}

impl ContainerNetwork {
    fn new(engine: Engine, name: &str) -> Self {
        let name = name.to_owned();
        Self { engine, name, device: None, subnets: Vec::new(), containers: Vec::new() }
    }

    /// Tells whether its engine says which containers it has.
    #[must_use]
    pub fn lists_containers(&self) -> bool {
        self.engine == Engine::Docker || !self.containers.is_empty()
    }

    /// Tells whether one of its containers has an address.
    #[must_use]
    pub fn has(&self, ip: IpAddr) -> bool {
        self.containers.iter().any(|one| one.ip == ip)
    }
}

impl fmt::Display for ContainerNetwork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} network {}", self.engine, self.name)?;
        for subnet in &self.subnets {
            write!(out, " {subnet}")?;
        }
        Ok(())
    }
}

/// Reads what `docker network inspect` says, field by field: a name is that of a network where an id follows, that of a container where
/// an endpoint does.
pub(super) fn docker(text: &str) -> Vec<ContainerNetwork> {
    let mut all: Vec<ContainerNetwork> = Vec::new();
    let mut name = None;
    let mut driver_is_known = false;
    for (key, value) in fields(text) {
        match (key, all.last_mut()) {
            ("Name", _) => name = Some(value),
            ("Id", _) => {
                let Some(name) = name.take() else { continue };
                let mut made = ContainerNetwork::new(Engine::Docker, name);
                made.device = value.get(..ID_DIGITS).map(|digits| format!("br-{digits}"));
                driver_is_known = false;
                all.push(made);
            }
            ("Driver", Some(own)) if !driver_is_known => {
                driver_is_known = true;
                if value != "bridge" {
                    own.device = None;
                }
            }
            ("Subnet", Some(own)) => own.subnets.extend(value.parse::<IpNet>()),
            ("com.docker.network.bridge.name", Some(own)) => own.device = Some(value.to_owned()),
            ("EndpointID", Some(own)) => {
                let (name, ip) = (name.take().map(str::to_owned), IpAddr::from([0, 0, 0, 0]));
                own.containers.push(ContainerAddress { name, ip });
            }
            ("IPv4Address" | "IPv6Address", Some(own)) => {
                let Ok(net) = value.parse::<IpNet>() else { continue };
                match own.containers.last_mut() {
                    Some(last) if last.ip.is_unspecified() => last.ip = net.addr(),
                    Some(last) => {
                        let name = last.name.clone();
                        own.containers.push(ContainerAddress { name, ip: net.addr() });
                    }
                    None => {}
                }
            }
            _ => {}
        }
    }
    for own in &mut all {
        own.containers.retain(|one| !one.ip.is_unspecified());
    }
    all
}

/// Reads the files in which Podman keeps its networks.
pub(super) fn podman(text: &str) -> Vec<ContainerNetwork> {
    let mut all = Vec::new();
    for (_, own) in files(text) {
        let first = |key: &str| own.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        let Some(name) = first("name") else { continue };
        let mut made = ContainerNetwork::new(Engine::Podman, name);
        let is_bridge = first("driver").is_none_or(|driver| driver == "bridge");
        made.device = first("network_interface").filter(|_| is_bridge).map(str::to_owned);
        made.subnets = subnets(&own);
        all.push(made);
    }
    all
}

/// Reads files of CNI, and who was given which address.
pub(super) fn cni(text: &str) -> Vec<ContainerNetwork> {
    let mut all: Vec<ContainerNetwork> = Vec::new();
    for (_, own) in files(text) {
        let first = |key: &str| own.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        let Some(name) = first("name") else { continue };
        let mut made = ContainerNetwork::new(Engine::Cni, name);
        let makes_bridge = own.iter().any(|pair| matches!(pair, ("type", "bridge" | "flannel")));
        let device = first("bridge").or_else(|| makes_bridge.then_some(CNI_BRIDGE));
        made.device = device.map(str::to_owned);
        made.subnets = subnets(&own);
        all.push(made);
    }
    for line in text.lines() {
        let Some((name, ip)) = line.strip_prefix("given ").and_then(|rest| rest.split_once(' ')) else {
            continue;
        };
        let network = all.iter_mut().find(|own| own.name == name);
        if let (Some(own), Ok(ip)) = (network, ip.parse()) {
            own.containers.push(ContainerAddress { name: None, ip });
        }
    }
    all
}

/// Puts beside a finding which network of containers a device is that it is about: `br-458d82405d8e` says nothing to anybody.
pub(super) fn name(hosts: &[Host], finding: &mut Finding) {
    let mut said = Vec::new();
    for host in hosts {
        let own = finding.evidence.iter().filter(|one| one.host == host.name);
        let shown: Vec<&str> = own.map(|one| one.shows.as_str()).collect();
        for network in &host.container_networks {
            let Some(device) = &network.device else { continue };
            let is_object = matches!(&finding.object, Object::Link { host: at, device: own } | Object::Address { host: at, device: own } | Object::Qdisc { host: at, device: own } if *at == host.name && own == device);
            if is_object || shown.iter().any(|line| has_word(line, device)) {
                let (host, part) = (host.name.clone(), network.engine.part());
                said.push(Evidence { host, part, shows: format!("{device} is {network}") });
            }
        }
    }
    finding.evidence.extend(said);
}

/// Tells whether a device is a bridge that no card hangs on: what is behind it is on this machine.
pub(super) fn is_inside(device: &Link, links: &[Link]) -> bool {
    let mut ports = links.iter().filter(|link| link.master.as_deref() == Some(device.name.as_str()));
    device.kind() == Some("bridge") && ports.all(|port| port.kind() == Some("veth"))
}

fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once('=')).filter(|(_, value)| !value.is_empty())
}

/// Splits what was printed into files, each with its fields.
fn files(text: &str) -> Vec<(&str, Vec<(&str, &str)>)> {
    let mut all: Vec<(&str, Vec<_>)> = Vec::new();
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("file ") {
            all.push((file, Vec::new()));
        } else if let (Some((_, fields)), Some((key, value))) = (all.last_mut(), line.split_once('=')) {
            fields.push((key, value));
        }
    }
    all
}

fn subnets(fields: &[(&str, &str)]) -> Vec<IpNet> {
    fields.iter().filter(|(key, _)| *key == "subnet").filter_map(|(_, value)| value.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `host-state` prints what Docker 20.10 says of five networks, one with a container and one with labels that name an id.
    const DOCKER: &str = "Name=billing\nId=3f805b892bb27df634698d0d19ab0ccb778d21cf6336344b1001a07a4a46c4e0\nDriver=bridge\nDriver=default\nSubnet=172.31.0.0/24\ncom.docker.network.bridge.name=br-billing\nId=x\nName=evil\nName=bridge\nId=c83a8ea2910d3bf91d1154a6340c169298c3f410537f8a380a36013f73048079\nDriver=bridge\nDriver=default\nSubnet=172.17.0.0/16\ncom.docker.network.bridge.name=docker0\nName=host\nId=9c1f89ef8fe6dfd6c15a2e0467e51044e6394a851ec217a6c9458ef69d153dbb\nDriver=host\nDriver=default\nName=shop\nId=458d82405d8e95d2e3b2de4d02c6f33b41a86062dc7a2cbdfdb835999c7c30d4\nDriver=bridge\nDriver=default\nSubnet=172.30.0.0/16\nName=web\nEndpointID=e4410551d7cc3b55\nIPv4Address=172.30.0.2/16\nIPv6Address=\n";

    fn shown(all: &[ContainerNetwork]) -> Vec<String> {
        let device = |own: &ContainerNetwork| own.device.clone().unwrap_or_else(|| "-".to_owned());
        all.iter().map(|own| format!("{own} {}", device(own))).collect()
    }

    #[test]
    fn networks_of_docker_have_names_bridges_and_containers() {
        let all = docker(DOCKER);
        assert_eq!(
            shown(&all),
            [
                "docker network billing 172.31.0.0/24 br-billing",
                "docker network bridge 172.17.0.0/16 docker0",
                "docker network host -",
                "docker network shop 172.30.0.0/16 br-458d82405d8e",
            ]
        );
        let web = ContainerAddress { name: Some("web".to_owned()), ip: "172.30.0.2".parse().unwrap() };
        assert_eq!(all[3].containers, [web]);
        assert!(all[3].has("172.30.0.2".parse().unwrap()) && !all[3].has("172.30.0.3".parse().unwrap()));
    }

    #[test]
    fn networks_of_podman_and_cni_are_read_from_their_files() {
        let podman = podman(
            "file pods.json\nname=pods\ndriver=bridge\nnetwork_interface=podman1\nsubnet=10.99.0.0/24\nname=label\ndriver=host-local\nfile lan.json\nname=lan\ndriver=macvlan\nnetwork_interface=eth0\nfile cut.json\n",
        );
        assert_eq!(shown(&podman), ["podman network pods 10.99.0.0/24 podman1", "podman network lan -"]);
        let cni = cni(
            "file 10-flannel.conflist\nname=cbr0\ntype=flannel\ntype=portmap\nfile 87-podman-bridge.conflist\nname=podman\ntype=bridge\nbridge=cni-podman0\ntype=host-local\nsubnet=10.88.0.0/16\ngiven podman 10.88.0.7\ngiven nobody 10.88.0.8\ngiven podman x\n",
        );
        assert_eq!(shown(&cni), ["cni network cbr0 cni0", "cni network podman 10.88.0.0/16 cni-podman0"]);
        assert!(cni[1].has("10.88.0.7".parse().unwrap()) && cni[1].containers.len() == 1);
    }

    #[test]
    fn what_is_cut_off_or_hostile_names_nothing_that_is_not_there() {
        for text in [
            "",
            "=",
            "Id=",
            "Id=abc",
            "Name=a\nId=\u{e9}\u{e9}",
            "EndpointID=x\nIPv4Address=1.2.3.4/8",
            "given",
            "name=x",
        ] {
            assert!(docker(text).iter().all(|own| own.containers.is_empty()), "{text}");
            assert!(podman(text).is_empty() && cni(text).is_empty(), "{text}");
        }
        for cut in (0..DOCKER.len()).filter(|at| DOCKER.is_char_boundary(*at)) {
            docker(&DOCKER[..cut]);
        }
    }
}
