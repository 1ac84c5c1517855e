//! Devices, their addresses, the ports of bridges, neighbors.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;
use serde_json::Value;

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Link {
    /// Its name.
    #[serde(rename = "ifname")]
    pub name: String,
    /// Its flags.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The largest packet.
    #[serde(default)]
    pub mtu: u32,
    /// What the kernel says of its state: UP, DOWN, UNKNOWN, LOWERLAYERDOWN …
    #[serde(default)]
    pub operstate: String,
    /// The hardware address.
    #[serde(default)]
    pub address: String,
    /// loopback, ether, none …
    #[serde(default)]
    pub link_type: String,
    /// The bridge or bond that it belongs to.
    #[serde(default)]
    pub master: Option<String>,
    /// The device below or beside it.
    #[serde(default)]
    pub link: Option<String>,
    /// Its number.
    #[serde(default)]
    pub ifindex: u32,
    /// The number of the other end of a virtual cable, where that lies in another namespace.
    #[serde(default)]
    pub link_index: Option<u32>,
    /// What kind of device it is, with its settings.
    #[serde(default)]
    linkinfo: Option<Value>,
    #[serde(default)]
    stats64: Option<Value>,
}

/// What a device counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Received packets.
    pub received: u64,
    /// Damaged when they arrived, or when they left.
    pub errors: u64,
    /// Dropped before anybody looked at them.
    pub missed: u64,
    /// How often the carrier came or went.
    pub carrier_changes: u64,
}

impl Link {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }

    /// Tells whether somebody set it up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.has("UP")
    }

    /// Tells whether it is up and has a carrier.
    #[must_use]
    pub fn carries(&self) -> bool {
        // The kernel names the state of a link up to a second after its carrier came: `LOWER_UP` is the carrier itself.
        let says_down =
            self.has("NO-CARRIER") || ["DOWN", "LOWERLAYERDOWN"].contains(&self.operstate.as_str());
        self.is_up() && (self.has("LOWER_UP") || !says_down)
    }

    /// Tells whether it is the machine's own loop.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.has("LOOPBACK")
    }

    /// Returns the kind: veth, bridge, vxlan, tun …; none for a plain card.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.linkinfo.as_ref()?.get("info_kind")?.as_str()
    }

    /// True for a device that puts packets into packets of another network.
    #[must_use]
    pub fn encapsulates(&self) -> bool {
        self.is_layer_three_tunnel()
            || self.kind().is_some_and(|kind| {
                matches!(
                    kind,
                    "vxlan"
                        | "geneve"
                        | "gretap"
                        | "ip6gretap"
                        | "erspan"
                        | "ip6erspan"
                        | "bareudp"
                        | "l2tpeth"
                        | "macsec"
                )
            })
    }

    /// True for a tunnel of packets without frames: nobody beyond it shares a segment with its device.
    #[must_use]
    pub fn is_layer_three_tunnel(&self) -> bool {
        self.kind().is_some_and(|kind| {
            // A tap has frames.
            (kind == "tun" && self.link_type != "ether")
                || matches!(
                    kind,
                    "wireguard"
                        | "ipip"
                        | "sit"
                        | "gre"
                        | "ip6gre"
                        | "ip6tnl"
                        | "vti"
                        | "vti6"
                        | "xfrm"
                        | "ppp"
                )
        })
    }

    /// Returns a number of the settings of its kind, such as the `id` of a vxlan.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<u64> {
        self.linkinfo.as_ref()?.get("info_data")?.get(name)?.as_u64()
    }

    /// Returns an address of the settings of its kind, such as the `remote` of a vxlan.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<IpAddr> {
        let data = self.linkinfo.as_ref()?.get("info_data")?;
        data.get(name).or_else(|| data.get(format!("{name}6")))?.as_str()?.parse().ok()
    }

    /// Tells whether the port of a bridge is kept apart from other such ports, where that is said here.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        let port = || self.linkinfo.as_ref()?.get("info_slave_data")?.get("isolated")?.as_bool();
        port().unwrap_or(false)
    }

    /// Returns what it counted.
    #[must_use]
    pub fn counters(&self) -> Option<LinkCounters> {
        let stats = self.stats64.as_ref()?;
        let count = |side: &str, name: &str| {
            stats.get(side).and_then(|side| side.get(name)).and_then(Value::as_u64).unwrap_or(0)
        };
        Some(LinkCounters {
            received: count("rx", "packets"),
            errors: count("rx", "errors").saturating_add(count("tx", "errors")),
            missed: count("rx", "missed_errors").saturating_add(count("rx", "over_errors")),
            carrier_changes: count("tx", "carrier_changes"),
        })
    }
}

/// A device with its addresses, as `ip addr` shows it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Addressed {
    ifname: String,
    #[serde(default)]
    addr_info: Vec<Info>,
}

#[derive(Debug, Clone, Deserialize)]
struct Info {
    local: Option<IpAddr>,
    #[serde(default)]
    prefixlen: u8,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    dadfailed: bool,
    #[serde(default)]
    dynamic: bool,
}

/// An address of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The device.
    pub device: String,
    /// The address with its prefix.
    pub net: IpNet,
    /// global, link, host.
    pub scope: String,
    /// The kernel found somebody else with it.
    pub is_duplicate: bool,
    /// It was given for a while only, by a server or a router.
    pub is_dynamic: bool,
}

impl Address {
    /// Returns the address alone.
    #[must_use]
    pub fn ip(&self) -> IpAddr {
        self.net.addr()
    }

    /// Tells whether it is for more than its own link and machine.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.scope == "global"
    }
}

impl Addressed {
    pub(super) fn addresses(self) -> Vec<Address> {
        let device = self.ifname;
        let read = |info: Info| {
            Some(Address {
                device: device.clone(),
                net: IpNet::new(info.local?, info.prefixlen).ok()?,
                scope: info.scope,
                is_duplicate: info.dadfailed,
                is_dynamic: info.dynamic,
            })
        };
        self.addr_info.into_iter().filter_map(read).collect()
    }
}

/// A neighbor entry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Neighbor {
    /// Whose it is.
    #[serde(rename = "dst")]
    pub ip: IpAddr,
    /// The device.
    #[serde(default, rename = "dev")]
    pub device: String,
    /// The hardware address, where one is known.
    #[serde(default, rename = "lladdr")]
    pub mac: Option<String>,
    #[serde(default)]
    state: Vec<String>,
}

impl Neighbor {
    /// Tells whether it is in a state, such as FAILED.
    #[must_use]
    pub fn is(&self, state: &str) -> bool {
        self.state.iter().any(|own| own == state)
    }

    /// Tells whether nobody answers for it.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.mac.is_none() && (self.is("FAILED") || self.is("INCOMPLETE"))
    }

    /// Shows it as `ip neigh` does.
    #[must_use]
    pub fn line(&self) -> String {
        let mac = self.mac.as_ref().map(|mac| format!(" lladdr {mac}")).unwrap_or_default();
        format!("{} dev {}{mac} {}", self.ip, self.device, self.state.join(","))
    }
}
