//! `ip address`, `ip link` and what else asks a device.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::host::simulated::world::set;
use crate::host::simulated::world::{ProgramResult, World};

/// Names the devices of a machine.
pub(super) fn devices(world: &World, machine: &str) -> Vec<String> {
    let count = world.machine(machine).map_or(0, |machine| machine.nics.len());
    std::iter::once("lo".to_owned()).chain((0..count).map(|at| format!("eth{at}"))).collect()
}

/// A device, as `ip` prints it.
struct Link {
    index: usize,
    name: String,
    mac: String,
    mtu: u32,
    up: bool,
    addresses: Vec<(IpAddr, u8)>,
}

fn links(world: &World, machine: &str) -> Vec<Link> {
    let localhost = [(IpAddr::from([127, 0, 0, 1]), 8), (IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]), 128)];
    let mut links = vec![Link {
        index: 1,
        name: "lo".to_owned(),
        mac: "00:00:00:00:00:00".to_owned(),
        mtu: 65_536,
        up: true,
        addresses: localhost.to_vec(),
    }];
    let guest = world.guests.get(machine);
    for (at, nic) in world.machine(machine).into_iter().flat_map(|machine| &machine.nics).enumerate() {
        let name = format!("eth{at}");
        links.push(Link {
            index: at + 2,
            mac: nic.mac.to_ascii_lowercase(),
            mtu: guest.map_or(1_500, |guest| guest.mtu),
            up: !guest.is_some_and(|guest| guest.down.contains(&name)),
            name,
            addresses: nic.addresses.clone(),
        });
    }
    links
}

/// Answers.
pub(super) fn call(world: &mut World, machine: &str, words: &[String]) -> ProgramResult {
    let flags: Vec<&str> = words.iter().filter(|word| word.starts_with('-')).map(String::as_str).collect();
    if flags.iter().any(|flag| matches!(*flag, "-V" | "-Version")) {
        return ProgramResult::printed("ip utility, iproute2-5.15.0, libbpf 0.5.0\n");
    }
    let is_json = flags.iter().any(|flag| matches!(*flag, "-j" | "-json" | "-jp"));
    let short = flags.iter().any(|flag| matches!(*flag, "-br" | "-brief"));
    let rest: Vec<&str> = words.iter().filter(|word| !word.starts_with('-')).map(String::as_str).collect();
    let Some((object, rest)) = rest.split_first() else {
        return ProgramResult::failed(255, "Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }\n");
    };
    let (is_address, is_link) = ("address".starts_with(object), "link".starts_with(object));
    if !is_address && !is_link {
        return match *object {
            "neigh" | "neighbour" | "neighbor" | "n" => neighbors(world, machine, is_json),
            "netns" => ProgramResult::default(),
            other => ProgramResult::failed(1, format!("Object \"{other}\" is unknown, try \"ip help\".\n")),
        };
    }
    let device = rest.iter().position(|word| *word == "dev").and_then(|at| rest.get(at + 1)).copied();
    match rest.first().copied().unwrap_or("show") {
        "show" | "list" | "ls" | "s" => {
            let named = device
                .or_else(|| rest.get(1).copied().filter(|word| !matches!(*word, "up" | "scope" | "type")));
            let all = links(world, machine);
            if let Some(named) = named.filter(|named| !all.iter().any(|link| link.name == **named)) {
                return ProgramResult::failed(1, format!("Device \"{named}\" does not exist.\n"));
            }
            let six = flags.contains(&"-6");
            let four = flags.contains(&"-4");
            let chosen: Vec<Link> =
                all.into_iter().filter(|link| named.is_none_or(|named| link.name == named)).collect();
            if is_json {
                let rows: Vec<Value> = chosen.iter().map(|link| object_of(link, is_address)).collect();
                return ProgramResult::printed(format!("{}\n", Value::Array(rows)));
            }
            let mut out = String::new();
            for link in &chosen {
                if short {
                    let state = if link.name == "lo" {
                        "UNKNOWN"
                    } else if link.up {
                        "UP"
                    } else {
                        "DOWN"
                    };
                    let addresses: Vec<String> = link
                        .addresses
                        .iter()
                        .map(|(address, length)| format!("{address}/{length}"))
                        .collect();
                    let shown = if is_address { addresses.join(" ") } else { link.mac.clone() };
                    out.push_str(&format!("{:<16} {state:<14} {shown} \n", link.name));
                } else {
                    write(link, is_address, four, six, &mut out);
                }
            }
            ProgramResult::printed(out)
        }
        "set" | "change" if is_link => {
            let named = device.or_else(|| rest.get(1).copied()).unwrap_or_default().to_owned();
            if !links(world, machine).iter().any(|link| link.name == named) {
                return ProgramResult::failed(1, format!("Cannot find device \"{named}\"\n"));
            }
            let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
            let mut words = rest.iter().skip(1);
            while let Some(word) = words.next() {
                match *word {
                    "up" => drop(guest.down.remove(&named)),
                    "down" => drop(guest.down.insert(named.clone())),
                    "mtu" => match words.next().and_then(|text| text.parse::<u32>().ok()) {
                        Some(mtu) if (68..=9_000).contains(&mtu) => {
                            if named != "lo" {
                                guest.mtu = mtu;
                            }
                        }
                        Some(mtu) => {
                            let what = if mtu < 68 {
                                "less than device minimum"
                            } else {
                                "greater than device maximum"
                            };
                            return ProgramResult::failed(2, format!("Error: mtu {what}.\n"));
                        }
                        None => {
                            return ProgramResult::failed(
                                255,
                                "Error: argument \"mtu\" is wrong: Invalid \"mtu\" value\n",
                            );
                        }
                    },
                    "dev" | "txqueuelen" => drop(words.next()),
                    word if word == named => {}
                    other => {
                        return ProgramResult::failed(
                            255,
                            format!("Error: either \"dev\" is duplicate, or \"{other}\" is a garbage.\n"),
                        );
                    }
                }
            }
            ProgramResult::default()
        }
        other => {
            ProgramResult::failed(255, format!("Command \"{other}\" is unknown, try \"ip {object} help\".\n"))
        }
    }
}

fn flags(link: &Link) -> Vec<&'static str> {
    match (link.name.as_str(), link.up) {
        ("lo", _) => vec!["LOOPBACK", "UP", "LOWER_UP"],
        (_, true) => vec!["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
        (_, false) => vec!["BROADCAST", "MULTICAST"],
    }
}

fn state(link: &Link) -> &'static str {
    if link.name == "lo" {
        "UNKNOWN"
    } else if link.up {
        "UP"
    } else {
        "DOWN"
    }
}

fn broadcast(address: IpAddr, length: u8) -> Option<String> {
    let IpAddr::V4(address) = address else { return None };
    let host = u32::MAX.checked_shr(u32::from(length)).unwrap_or(0);
    Some(std::net::Ipv4Addr::from(u32::from(address) | host).to_string())
}

fn write(link: &Link, addresses: bool, four: bool, six: bool, out: &mut String) {
    let lo = link.name == "lo";
    let mode = if addresses { "" } else { "mode DEFAULT " };
    out.push_str(&format!(
        "{}: {}: <{}> mtu {} qdisc {} state {} {mode}group default qlen 1000\n",
        link.index,
        link.name,
        flags(link).join(","),
        link.mtu,
        if lo { "noqueue" } else { "mq" },
        state(link)
    ));
    let (kind, all) = if lo { ("loopback", "00:00:00:00:00:00") } else { ("ether", "ff:ff:ff:ff:ff:ff") };
    if !(four || six) {
        out.push_str(&format!("    link/{kind} {} brd {all}\n", link.mac));
    }
    for (address, length) in link.addresses.iter().filter(|_| addresses && link.up) {
        if (four && address.is_ipv6()) || (six && address.is_ipv4()) {
            continue;
        }
        let line = match (address, lo) {
            (IpAddr::V4(_), true) => format!("    inet {address}/{length} scope host lo\n"),
            (IpAddr::V6(_), true) => format!("    inet6 {address}/{length} scope host \n"),
            (IpAddr::V4(_), false) => {
                let broadcast = broadcast(*address, *length).unwrap_or_default();
                format!("    inet {address}/{length} metric 100 brd {broadcast} scope global {}\n", link.name)
            }
            (IpAddr::V6(_), false) => format!("    inet6 {address}/{length} scope global \n"),
        };
        out.push_str(&line);
        out.push_str("       valid_lft forever preferred_lft forever\n");
    }
}

fn object_of(link: &Link, addresses: bool) -> Value {
    let lo = link.name == "lo";
    let mut row = json!({
        "ifindex": link.index, "ifname": link.name, "flags": flags(link), "mtu": link.mtu,
        "qdisc": if lo { "noqueue" } else { "mq" }, "operstate": state(link), "group": "default", "txqlen": 1000,
        "link_type": if lo { "loopback" } else { "ether" }, "address": link.mac,
        "broadcast": if lo { "00:00:00:00:00:00" } else { "ff:ff:ff:ff:ff:ff" },
    });
    if addresses {
        let own = link.addresses.iter().filter(|_| link.up);
        let infos: Vec<Value> = own
            .map(|(address, length)| {
                let mut info = json!({
                    "family": if address.is_ipv6() { "inet6" } else { "inet" }, "local": address.to_string(), "prefixlen": length,
                    "scope": if lo { "host" } else { "global" }, "valid_life_time": u32::MAX, "preferred_life_time": u32::MAX,
                });
                if address.is_ipv4() {
                    set(&mut info, "label", json!(link.name));
                    if let Some(broadcast) = broadcast(*address, *length).filter(|_| !lo) {
                        set(&mut info, "broadcast", json!(broadcast));
                    }
                }
                info
            })
            .collect();
        set(&mut row, "addr_info", json!(infos));
    } else {
        set(&mut row, "linkmode", json!("DEFAULT"));
    }
    row
}

/// The gateway answers in the platform's name for everybody.
fn neighbors(world: &World, machine: &str, is_json: bool) -> ProgramResult {
    let guest = world.guests.get(machine);
    let gateway = guest
        .and_then(|guest| guest.routes.iter().find(|route| route.to.is_none()))
        .and_then(|route| route.via);
    let Some(gateway) = gateway else { return ProgramResult::printed(if is_json { "[]\n" } else { "" }) };
    let mac = "12:34:56:78:9a:bc";
    if is_json {
        let row = json!([{"dst": gateway.to_string(), "dev": "eth0", "lladdr": mac, "state": ["REACHABLE"]}]);
        return ProgramResult::printed(format!("{row}\n"));
    }
    ProgramResult::printed(format!("{gateway} dev eth0 lladdr {mac} REACHABLE\n"))
}

/// Answers `ethtool`.
pub(super) fn ethtool(words: &[String]) -> ProgramResult {
    match words {
        [flag, device] if flag == "-i" => ProgramResult::printed("driver: hv_netvsc\nversion: 5.15.0-1061-azure\nfirmware-version: N/A\nexpansion-rom-version: \nbus-info: \nsupports-statistics: yes\nsupports-test: no\nsupports-eeprom-access: no\nsupports-register-dump: yes\nsupports-priv-flags: no\n").on(device),
        [flag, device] if flag == "-k" => ProgramResult::printed(format!(
            "Features for {device}:\nrx-checksumming: on\ntx-checksumming: on\nscatter-gather: on\ntcp-segmentation-offload: on\ngeneric-segmentation-offload: on\ngeneric-receive-offload: on\nlarge-receive-offload: off\n"
        )).on(device),
        [flag, device] if flag == "-S" => {
            ProgramResult::printed("NIC statistics:\n     tx_scattered: 0\n     tx_no_memory: 0\n     tx_no_space: 0\n     tx_too_big: 0\n     tx_busy: 0\n     rx_no_memory: 0\n").on(device)
        }
        [device] if !device.starts_with('-') => {
            ProgramResult::printed(format!("Settings for {device}:\n\tSupported ports: [  ]\n\tSpeed: 50000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n")).on(device)
        }
        _ => ProgramResult::failed(1, "ethtool: bad command line argument(s)\nFor more information run ethtool -h\n"),
    }
}

impl ProgramResult {
    /// Refuses a device that no machine has.
    fn on(self, device: &str) -> Self {
        if device.starts_with("eth") || device == "lo" {
            return self;
        }
        Self::failed(75, format!("Cannot get device settings: No such device\n{device}\n"))
    }
}
