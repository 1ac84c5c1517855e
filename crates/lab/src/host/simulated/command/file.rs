//! Files that are made up as they are read, and `sysctl`, which reads and sets some of them.

use crate::host::simulated::guest::Guest;
use crate::host::simulated::world::{ProgramResult, World};

/// What the kernel holds in the beginning.
const KERNEL: [(&str, &str); 20] = [
    ("net/ipv4/ip_forward", "0"),
    ("net/ipv4/icmp_echo_ignore_all", "0"),
    ("net/ipv4/tcp_mtu_probing", "0"),
    ("net/ipv4/ip_no_pmtu_disc", "0"),
    ("net/ipv4/tcp_congestion_control", "cubic"),
    ("net/ipv4/tcp_syncookies", "1"),
    ("net/ipv4/tcp_rmem", "4096\t131072\t6291456"),
    ("net/ipv4/tcp_wmem", "4096\t16384\t4194304"),
    ("net/ipv4/tcp_timestamps", "1"),
    ("net/ipv4/tcp_window_scaling", "1"),
    ("net/ipv4/ip_local_port_range", "32768\t60999"),
    ("net/ipv4/conf/all/rp_filter", "2"),
    ("net/ipv4/conf/default/rp_filter", "2"),
    ("net/ipv4/conf/eth0/rp_filter", "2"),
    ("net/ipv4/conf/all/forwarding", "0"),
    ("net/ipv6/conf/all/forwarding", "0"),
    ("net/ipv6/conf/all/disable_ipv6", "0"),
    ("net/core/somaxconn", "4096"),
    ("net/core/default_qdisc", "fq_codel"),
    ("net/netfilter/nf_conntrack_max", "262144"),
];

/// The settings by which a machine passes on what is not for it: on where one of its interfaces may, as on an appliance that was set up.
const FORWARDING: [&str; 2] = ["net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding"];

/// Returns a value of the kernel.
fn kernel(guest: &Guest, forwards: bool, key: &str) -> Option<String> {
    let written = guest.files.get(&format!("/proc/sys/{key}"));
    let own = KERNEL.iter().find(|(name, _)| *name == key)?;
    let text = written.map(|file| String::from_utf8_lossy(&file.content).trim_end().to_owned());
    let initial = if forwards && FORWARDING.contains(&key) { "1" } else { own.1 };
    Some(text.unwrap_or_else(|| initial.to_owned()))
}

fn forwards(world: &World, machine: &str) -> bool {
    world.machine(machine).is_some_and(|machine| machine.nics.iter().any(|nic| nic.forwards))
}

/// Returns a file that is made up as it is read.
pub(super) fn read(world: &World, machine: &str, path: &str) -> Option<String> {
    let guest = world.guests.get(machine)?;
    if let Some(key) = path.strip_prefix("/proc/sys/") {
        return kernel(guest, forwards(world, machine), key).map(|value| format!("{value}\n"));
    }
    let names =
        |six| guest.firewall.legacy_names(six).iter().map(|name| format!("{name}\n")).collect::<String>();
    let mtu = guest.mtu;
    Some(match path {
        "/etc/os-release" | "/usr/lib/os-release" => "PRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"22.04\"\nVERSION=\"22.04.4 LTS (Jammy Jellyfish)\"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=jammy\n".to_owned(),
        "/etc/hostname" => format!("{machine}\n"),
        "/etc/hosts" => "127.0.0.1 localhost\n\n::1 ip6-localhost ip6-loopback\n".to_owned(),
        "/etc/resolv.conf" => "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch internal.cloudapp.net\n".to_owned(),
        "/run/systemd/resolve/resolv.conf" => {
            let given = world.machine(machine).and_then(|own| own.nics.first()).map(|nic| nic.servers.clone());
            let given = given.filter(|all| !all.is_empty()).unwrap_or_else(|| vec![[168, 63, 129, 16].into()]);
            let lines: String = given.iter().map(|server| format!("nameserver {server}\n")).collect();
            format!("{lines}search internal.cloudapp.net\n")
        }
        "/proc/net/ip_tables_names" => names(false),
        "/proc/net/ip6_tables_names" => names(true),
        "/proc/net/dev" => {
            let mut out = "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n".to_owned();
            for device in super::link::devices(world, machine) {
                out.push_str(&format!("{device:>6}:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n"));
            }
            out
        }
        "/proc/version" => "Linux version 5.15.0-1061-azure (buildd@lcy02-amd64-037) (gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0) #70-Ubuntu SMP\n".to_owned(),
        "/proc/uptime" => "7204.11 14012.70\n".to_owned(),
        "/proc/loadavg" => "0.00 0.01 0.00 1/142 2001\n".to_owned(),
        "/sys/class/net/eth0/mtu" => format!("{mtu}\n"),
        "/sys/class/net/lo/mtu" => "65536\n".to_owned(),
        _ => return None,
    })
}

/// Answers `sysctl`.
pub(super) fn sysctl(world: &mut World, machine: &str, words: &[String]) -> ProgramResult {
    let forwards = forwards(world, machine);
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let mut called = ProgramResult::default();
    if has("-a") || has("-A") || has("--all") {
        for (key, _) in KERNEL {
            let value = kernel(guest, forwards, key).unwrap_or_default();
            called.out.push_str(&format!("{} = {value}\n", key.replace('/', ".")));
        }
        return called;
    }
    let bare = has("-n") || has("--values");
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, value)| (name.trim(), Some(value.trim())));
        let key = name.replace('.', "/");
        if kernel(guest, forwards, &key).is_none() {
            called.err.push_str(&format!("sysctl: cannot stat /proc/sys/{key}: No such file or directory\n"));
            called.code = 255;
            continue;
        }
        if let Some(value) = value {
            guest.files.write(&format!("/proc/sys/{key}"), format!("{value}\n").into_bytes());
        }
        let value = kernel(guest, forwards, &key).unwrap_or_default();
        called.out.push_str(&if bare { format!("{value}\n") } else { format!("{name} = {value}\n") });
    }
    if has("-q") {
        called.out.clear();
    }
    called
}
