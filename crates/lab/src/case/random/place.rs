//! Where faults can be: the machines and services of the usual estate.

use super::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Machine {
    pub(super) name: &'static str,
    pub(super) address: &'static str,
}

pub(super) const SOURCE: Machine = Machine { name: "tf-source-vm", address: "10.0.1.4" };
pub(super) const DESTINATION: Machine = Machine { name: "tf-dest-vm", address: "10.0.1.5" };

/// The account of the estate.
pub(super) const ACCOUNT: &str = "nwlogs080613";
/// The subnet of both machines.
pub(super) const SUBNET: &str = "forensics-vnet/default";
/// The platform's name server.
pub(super) const RESOLVER: &str = "168.63.129.16";

impl Machine {
    pub(super) fn other(self) -> Self {
        if self == SOURCE { DESTINATION } else { SOURCE }
    }

    /// Writes it as people do.
    pub(super) fn text(self, rng: &mut Rng) -> String {
        match rng.below(5) {
            0 => self.address.to_owned(),
            1 | 2 => format!("{} ({})", self.name, self.address),
            _ => self.name.to_owned(),
        }
    }
}

/// Something that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Service {
    pub(super) udp: bool,
    pub(super) port: u16,
    pub(super) program: &'static str,
    /// As people call it.
    pub(super) called: &'static str,
}

const fn tcp(port: u16, program: &'static str, called: &'static str) -> Service {
    Service { udp: false, port, program, called }
}

const fn udp(port: u16, program: &'static str, called: &'static str) -> Service {
    Service { udp: true, port, program, called }
}

pub(super) const TCP: [Service; 12] = [
    tcp(5432, "postgres", "PostgreSQL"),
    tcp(6379, "redis-server", "Redis"),
    tcp(8080, "python3", "the web app"),
    tcp(8443, "nginx", "the API"),
    tcp(3306, "mysqld", "MySQL"),
    tcp(9090, "prometheus", "Prometheus"),
    tcp(27017, "mongod", "MongoDB"),
    tcp(5672, "beam.smp", "RabbitMQ"),
    tcp(9200, "java", "Elasticsearch"),
    tcp(7070, "python3", "the order service"),
    tcp(8000, "gunicorn", "the billing service"),
    tcp(1883, "mosquitto", "the MQTT broker"),
];

pub(super) const UDP: [Service; 3] =
    [udp(514, "rsyslogd", "syslog"), udp(5060, "asterisk", "SIP"), udp(1194, "openvpn", "OpenVPN")];

impl Service {
    /// Returns the protocol as the guests write it.
    pub(super) fn protocol(self) -> &'static str {
        if self.udp { "udp" } else { "tcp" }
    }

    /// Returns the protocol as the platform writes it.
    pub(super) fn cloud_protocol(self) -> &'static str {
        if self.udp { "Udp" } else { "Tcp" }
    }

    /// Returns the port as people write it.
    pub(super) fn text(self, rng: &mut Rng) -> String {
        let (port, called, protocol) = (self.port, self.called, if self.udp { "UDP" } else { "TCP" });
        match rng.below(4) {
            0 => format!("{called} ({protocol} {port})"),
            1 => format!("{called} on port {port}/{}", self.protocol()),
            2 if !self.udp => format!("{called} on {port}"),
            _ => format!("{protocol} port {port}"),
        }
    }
}
