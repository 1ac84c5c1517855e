//! DHCP as machines know it: who asks, what was given, what a server gives away.

use std::net::{IpAddr, Ipv4Addr};

use super::socket::short;

/// An address that a server gave for a while, with what came beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lease {
    /// The device, where the file names it.
    pub device: Option<String>,
    /// The address.
    pub ip: Option<IpAddr>,
    /// The length of its prefix.
    pub length: Option<u8>,
    /// Gateways, the first one counts.
    pub routers: Vec<IpAddr>,
    /// Name servers.
    pub servers: Vec<IpAddr>,
    /// Who gave it.
    pub server: Option<IpAddr>,
}

impl Lease {
    /// Describes it in a line.
    #[must_use]
    pub fn line(&self) -> String {
        let list = |all: &[IpAddr]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let one = |ip: Option<IpAddr>| ip.map_or_else(|| "-".to_owned(), |ip| ip.to_string());
        let length = self.length.map(|length| format!("/{length}")).unwrap_or_default();
        format!(
            "lease of {}{length} by {}: router {}, dns {}",
            one(self.ip),
            one(self.server),
            list(&self.routers),
            list(&self.servers)
        )
    }
}

/// What a machine asks for by DHCP, and what it was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DhcpClient {
    /// Devices on which a program asks just now.
    pub asking: Vec<String>,
    /// What was given, the latest last; what has run out may be among it.
    pub leases: Vec<Lease>,
}

impl DhcpClient {
    /// Reads `client PROGRAM DEVICE` lines, and behind `file PATH` the leases of dhclient or of systemd-networkd.
    pub(super) fn read(text: &str) -> Self {
        let mut found = Self::default();
        let mut open: Option<Lease> = None;
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "client" => found.asking.extend(rest.split_once(' ').map(|(_, device)| device.to_owned())),
                "file" => found.leases.extend(open.take()),
                // The beginning of a file may be cut off in the middle of a lease.
                "lease" => open = Some(Lease::default()),
                "}" => found.leases.extend(open.take()),
                _ => {
                    if line.contains('=') {
                        set_networkd(open.get_or_insert_default(), line);
                    } else if let Some(lease) = &mut open {
                        set_dhclient(lease, line.trim_end_matches(';'));
                    }
                }
            }
        }
        found.leases.extend(open);
        found.leases.retain(|lease| lease.ip.is_some());
        found.asking.sort_unstable();
        found.asking.dedup();
        found
    }
}

fn addresses(text: &str) -> Vec<IpAddr> {
    text.split([',', ' ']).filter_map(|word| word.trim().parse().ok()).collect()
}

/// Returns the length of the prefix that a mask stands for.
fn length(mask: &str) -> Option<u8> {
    let bits = u32::from(mask.trim().parse::<Ipv4Addr>().ok()?);
    let ones = bits.leading_ones();
    (ones == bits.count_ones()).then(|| u8::try_from(ones).ok()).flatten()
}

fn set_dhclient(lease: &mut Lease, line: &str) {
    let line = line.strip_prefix("option ").unwrap_or(line);
    let Some((name, value)) = line.split_once(' ') else { return };
    match name {
        "interface" => lease.device = Some(value.trim_matches('"').to_owned()),
        "fixed-address" => lease.ip = value.parse().ok(),
        "subnet-mask" => lease.length = length(value),
        "routers" => lease.routers = addresses(value),
        "domain-name-servers" => lease.servers = addresses(value),
        "dhcp-server-identifier" => lease.server = value.parse().ok(),
        _ => {}
    }
}

fn set_networkd(lease: &mut Lease, line: &str) {
    let Some((name, value)) = line.split_once('=') else { return };
    match name {
        "ADDRESS" => lease.ip = value.parse().ok(),
        "NETMASK" => lease.length = length(value),
        "ROUTER" => lease.routers = addresses(value),
        "DNS" => lease.servers = addresses(value),
        "SERVER_ADDRESS" => lease.server = value.parse().ok(),
        _ => {}
    }
}

/// Addresses that a server gives away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DhcpRange {
    /// The first one.
    pub first: Ipv4Addr,
    /// The last one; none where only machines that are named get theirs.
    pub last: Option<Ipv4Addr>,
    /// The setting.
    pub line: String,
}

impl DhcpRange {
    /// Returns how many addresses it has, and how many of some are in it.
    pub(super) fn filled(&self, taken: &[Ipv4Addr]) -> Option<(u32, u32)> {
        let last = self.last?;
        let size = u32::from(last).checked_sub(u32::from(self.first))?.checked_add(1)?;
        let inside = taken.iter().filter(|ip| (self.first..=last).contains(*ip)).count();
        Some((u32::try_from(inside).unwrap_or(u32::MAX), size))
    }
}

/// A DHCP server that runs on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DhcpServer {
    /// The program.
    pub program: String,
    /// Whether its settings are read at all: of dnsmasq they are.
    pub is_read: bool,
    /// What it gives away.
    pub ranges: Vec<DhcpRange>,
    /// What it says beside the address: the number of the option, and addresses.
    pub options: Vec<(u8, Vec<IpAddr>)>,
    /// The only devices on which it serves; all where none is named.
    pub devices: Vec<String>,
    /// Devices on which it does not.
    pub without: Vec<String>,
    /// Addresses that are given away just now.
    pub taken: Vec<Ipv4Addr>,
}

impl DhcpServer {
    /// Reads `server PROGRAM` blocks: settings of dnsmasq, and `lease EXPIRY ADDRESS` lines. A dnsmasq without a range is none.
    pub(super) fn read(text: &str) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut now = 0_u64;
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match (word, found.last_mut()) {
                ("now", _) => now = rest.trim().parse().unwrap_or(0),
                ("server", _) => found.push(Self {
                    program: rest.to_owned(),
                    is_read: rest == "dnsmasq",
                    ..Self::default()
                }),
                ("lease", Some(server)) => {
                    let mut words = rest.split(' ');
                    let until = words.next().and_then(|word| word.parse::<u64>().ok());
                    let ip = words.next().and_then(|word| word.parse::<Ipv4Addr>().ok());
                    // A lease that never ends says 0.
                    if let (Some(until), Some(ip)) = (until, ip)
                        && (until == 0 || until > now)
                        && !server.taken.contains(&ip)
                    {
                        server.taken.push(ip);
                    }
                }
                (_, Some(server)) => server.set(line),
                (_, None) => {}
            }
        }
        // Its helper has the same words.
        let mut unique: Vec<Self> = Vec::new();
        for one in found.into_iter().filter(|one| !one.is_read || !one.ranges.is_empty()) {
            if !unique.contains(&one) {
                unique.push(one);
            }
        }
        unique
    }

    fn set(&mut self, line: &str) {
        let Some((name, value)) = line.split_once('=') else { return };
        match name {
            "dhcp-range" => self.ranges.extend(range(value, line)),
            "dhcp-option" | "dhcp-option-force" => self.options.extend(option(value)),
            "interface" => self.devices.push(value.to_owned()),
            "except-interface" | "no-dhcp-interface" => self.without.push(value.to_owned()),
            _ => {}
        }
    }

    /// Tells whether it serves on a device.
    pub(super) fn serves(&self, device: &str) -> bool {
        let is = |name: &String| {
            name.strip_suffix('*').map_or(name == device, |beginning| device.starts_with(beginning))
        };
        (self.devices.is_empty() || self.devices.iter().any(is)) && !self.without.iter().any(is)
    }

    /// Returns the addresses of an option, where it is set.
    pub(super) fn option(&self, number: u8) -> Option<&[IpAddr]> {
        self.options.iter().rev().find(|(own, _)| *own == number).map(|(_, values)| values.as_slice())
    }
}

/// Reads `[tag:…,]FIRST[,LAST|MODE][,MASK…]`.
fn range(value: &str, line: &str) -> Option<DhcpRange> {
    let mut words = value.split(',').map(str::trim).skip_while(|word| word.parse::<IpAddr>().is_err());
    let first = words.next()?.parse::<Ipv4Addr>().ok()?;
    let last = words.next().and_then(|word| word.parse::<Ipv4Addr>().ok());
    Some(DhcpRange { first, last, line: short(line) })
}

/// Reads `[tag:…,](option:NAME|NUMBER),VALUE…`.
fn option(value: &str) -> Option<(u8, Vec<IpAddr>)> {
    let mut words = value.split(',').map(str::trim).skip_while(|word| word.contains("tag:"));
    let number = match words.next()? {
        "option:netmask" => 1,
        "option:router" => 3,
        "option:dns-server" => 6,
        other => other.parse().ok()?,
    };
    Some((number, words.filter_map(|word| word.parse().ok()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_leases_of_both_clients_are_read_and_half_of_one_is_none() {
        let text = "client dhclient eth0\nclient dhclient eth0\nfile /x/eth0.leases\noption routers 9.9.9.9;\n}\nlease {\ninterface \"eth0\";\n\
            fixed-address 10.0.0.5;\noption subnet-mask 255.255.255.0;\noption routers 10.0.0.1,10.0.0.2;\n\
            option domain-name-servers 10.0.0.53;\noption dhcp-server-identifier 10.0.0.2;\n\
            expire 5 2026/11/27 07:46:54;\n}\nlease {\n}\nfile /run/systemd/netif/leases/3\nADDRESS=10.0.1.5\nNETMASK=255.255.255.128\n\
            ROUTER=10.0.1.1\nSERVER_ADDRESS=10.0.1.1\nDNS=10.0.1.1 10.0.1.2\n";
        let found = DhcpClient::read(text);
        assert_eq!(found.asking, ["eth0"]);
        let [one, other] = found.leases.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (one.device.as_deref(), one.ip, one.length),
            (Some("eth0"), Some(ip("10.0.0.5")), Some(24))
        );
        assert_eq!((one.routers.len(), one.server), (2, Some(ip("10.0.0.2"))));
        assert_eq!((other.ip, other.length, other.servers.len()), (Some(ip("10.0.1.5")), Some(25), 2));
        assert_eq!(length("255.0.255.0"), None);
    }

    #[test]
    fn what_dnsmasq_gives_away_is_read_in_every_form() {
        let text = "now 100\nserver dnsmasq\ndhcp-range=set:red,10.0.0.100,10.0.0.109,255.255.255.0,1h\ndhcp-range=10.0.1.0,static\n\
            dhcp-range=fd00::10,fd00::20\ndhcp-option=3,10.0.0.1\ndhcp-option=tag:red,option:dns-server,10.0.0.53,10.0.0.54\n\
            interface=eth*\nlease 99 10.0.0.100\nlease 101 10.0.0.101\nlease 0 10.0.0.102\nserver dnsmasq\nserver dhcpd\n";
        let found = DhcpServer::read(text);
        let [one, other] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.ranges.len(), one.ranges[1].last), (2, None));
        assert_eq!(one.ranges[0].filled(&one.taken), Some((2, 10)));
        assert_eq!(one.option(6).map(<[IpAddr]>::len), Some(2));
        assert_eq!(one.option(3), Some([ip("10.0.0.1")].as_slice()));
        assert!(one.serves("eth7") && !one.serves("virbr0"));
        assert_eq!((other.program.as_str(), other.is_read), ("dhcpd", false));
    }
}
