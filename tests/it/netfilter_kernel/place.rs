//! A guest between two peers, each in a network namespace of its own.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::IpAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, Output, Stdio};

use rustix::net::{AddressFamily, SendFlags, SocketAddrV4, SocketAddrV6, SocketType, ipproto};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::random::setting;

/// How the guest is wired: `in0` leads to the first peer and everywhere, `in1` to the second and 10.80.0.0/16.
const GUEST: &str = "
ip link set lo up
ip link add in0 type veth peer name p0 netns $0
ip link add in1 type veth peer name p1 netns $1
for dev in in0 in1; do ip link set $dev addrgenmode none up; done
ip addr add 10.77.0.1/24 dev in0; ip addr add 10.77.0.100/24 dev in0; ip addr add 10.78.0.1/24 dev in1
ip -6 addr add fd77::1/64 dev in0 nodad; ip -6 addr add fd77::100/64 dev in0 nodad; ip -6 addr add fd78::1/64 dev in1 nodad
for dev in 0 1; do
  ip neigh replace 10.7$((7 + dev)).0.2 lladdr 02:00:00:00:00:0$((2 + dev)) dev in$dev nud permanent
  ip neigh replace fd7$((7 + dev))::2 lladdr 02:00:00:00:00:0$((2 + dev)) dev in$dev nud permanent
done
ip neigh replace 10.77.0.77 lladdr 02:00:00:00:00:02 dev in0 nud permanent
ip neigh replace fd77::77 lladdr 02:00:00:00:00:02 dev in0 nud permanent
ip route add default via 10.77.0.2 dev in0; ip route add 10.80.0.0/16 via 10.78.0.2 dev in1
ip -6 route add default via fd77::2 dev in0; ip -6 route add fd80::/16 via fd78::2 dev in1
for name in ipv4/ip_forward ipv6/conf/all/forwarding; do echo 1 > /proc/sys/net/$name; done
for name in ipv4/icmp_ratelimit ipv4/icmp_ratemask ipv6/icmp/ratelimit ipv4/conf/all/rp_filter ipv4/conf/in0/rp_filter \
    ipv4/conf/in1/rp_filter ipv4/conf/all/send_redirects ipv4/conf/in0/send_redirects ipv4/conf/in1/send_redirects; do
  echo 0 > /proc/sys/net/$name
done
";

/// How a peer is wired; it answers nothing, and says nothing of its own.
const PEER: &str = "
ip link set lo up
ip link set p$0 addrgenmode none address 02:00:00:00:00:0$((2 + $0)) up
ip addr add 10.7$((7 + $0)).0.2/24 dev p$0; ip -6 addr add fd7$((7 + $0))::2/64 dev p$0 nodad
ip neigh replace 10.7$((7 + $0)).0.1 lladdr $1 dev p$0 nud permanent
for own in 1 100; do ip neigh replace fd7$((7 + $0))::$own lladdr $1 dev p$0 nud permanent; done
ip route add default via 10.7$((7 + $0)).0.1 dev p$0; ip -6 route add default via fd7$((7 + $0))::1 dev p$0
nft -f - <<END
table inet quiet {
  chain answers { type filter hook prerouting priority -500; policy drop; }
  chain own { type filter hook output priority -500; icmpv6 type { 130-137, 143 } drop; }
}
END
";

/// Tells why nothing can be run here. Fails where a program is missing and nobody said that it may be.
pub(super) fn skipped() -> Option<String> {
    let without = setting("GHOST_TEST_WITHOUT");
    let needed =
        ["unshare", "ip", "nft", "conntrack", "iptables", "iptables-legacy-restore", "iptables-nft-restore"];
    if let Some(name) = needed.iter().find(|name| without.split(',').any(|word| word.trim() == **name)) {
        return Some(format!("GHOST_TEST_WITHOUT names {name}"));
    }
    let there = |name: &str| {
        ["/usr/bin", "/usr/sbin", "/bin", "/sbin"]
            .iter()
            .any(|folder| std::path::Path::new(folder).join(name).exists())
    };
    let missing: Vec<&&str> = needed.iter().filter(|name| !there(name)).collect();
    assert!(
        missing.is_empty(),
        "{missing:?} not installed; GHOST_TEST_WITHOUT=NAME,… runs the tests without"
    );
    let made = program("unshare", &["--net", "true"]);
    let reported = String::from_utf8_lossy(&made.stderr).into_owned();
    (!made.status.success()).then(|| format!("no network namespace may be made here: {}", reported.trim()))
}

/// Runs a program to its end.
#[expect(clippy::disallowed_methods, reason = "the test asks the kernel's own tools")]
fn program(name: &str, arguments: &[&str]) -> Output {
    Command::new(name)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs a program that has to succeed, in the namespace of this thread; returns what it printed.
pub(super) fn ask(name: &str, arguments: &[&str], input: &str) -> String {
    let output = fed(name, arguments, input);
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} {arguments:?}: {reported}\n{input}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a program in the namespace of this thread; tells whether it succeeded.
pub(super) fn tried(name: &str, arguments: &[&str], input: &str) -> bool {
    fed(name, arguments, input).status.success()
}

#[expect(clippy::disallowed_methods, reason = "the test asks the kernel's own tools")]
fn fed(name: &str, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(name)
        .args(arguments)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("XTABLES_LOCKFILE", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    // Whoever refuses the first line does not read the rest.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    child.wait_with_output().unwrap()
}

/// Does something in a network namespace of its own.
pub(super) fn alone<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    Holder::new().inside(what)
}

/// A process that holds a network namespace; the namespace ends with it, and it ends with this one.
struct Holder(Child);

impl Holder {
    #[expect(clippy::disallowed_methods, reason = "a namespace lives as long as a process in it")]
    fn new() -> Self {
        let mut child = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo up && read end"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "up\n");
        Self(child)
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Does something in a thread that has moved into the namespace.
    fn inside<T: Send + 'static>(&self, what: impl FnOnce() -> T + Send + 'static) -> T {
        let space = File::open(format!("/proc/{}/ns/net", self.pid())).unwrap();
        let thread = std::thread::spawn(move || {
            move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            what()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Sockets that send whole packets, for both families.
struct Sender {
    four: OwnedFd,
    six: OwnedFd,
}

impl Sender {
    fn new() -> Self {
        let raw = |family| rustix::net::socket(family, SocketType::RAW, Some(ipproto::RAW)).unwrap();
        Self { four: raw(AddressFamily::INET), six: raw(AddressFamily::INET6) }
    }
}

/// From where a packet is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Guest,
    First,
    Second,
}

/// The wired namespaces, seen from inside the guest.
pub(super) struct Place {
    guest: Sender,
    first: Sender,
    second: Sender,
}

impl Place {
    /// Makes the namespaces, does something inside the guest, and removes them.
    pub(super) fn inside<T: Send + 'static>(what: impl FnOnce(Self) -> T + Send + 'static) -> T {
        let (guest, first, second) = (Holder::new(), Holder::new(), Holder::new());
        let peers = [first.pid(), second.pid()];
        let addresses = guest.inside(move || {
            ask("sh", &["-e", "-c", GUEST, &peers[0], &peers[1]], "");
            ["in0", "in1"].map(link_address)
        });
        let [zero, one] = addresses;
        let peer = |holder: &Holder, number: &'static str, address: String| {
            holder.inside(move || {
                ask("sh", &["-e", "-c", PEER, number, &address], "");
                Sender::new()
            })
        };
        let (first_sender, second_sender) = (peer(&first, "0", zero), peer(&second, "1", one));
        guest.inside(move || what(Self { guest: Sender::new(), first: first_sender, second: second_sender }))
    }

    /// Sends a whole packet.
    pub(super) fn send(&self, from: From, to: IpAddr, packet: &[u8]) {
        let sender = match from {
            From::Guest => &self.guest,
            From::First => &self.first,
            From::Second => &self.second,
        };
        let sent = match to {
            IpAddr::V4(to) => {
                rustix::net::sendto(&sender.four, packet, SendFlags::empty(), &SocketAddrV4::new(to, 0))
            }
            IpAddr::V6(to) => {
                rustix::net::sendto(&sender.six, packet, SendFlags::empty(), &SocketAddrV6::new(to, 0, 0, 0))
            }
        };
        match sent {
            // What the guest's own rules stop was sent, as far as this test goes.
            Ok(_) => {}
            Err(rustix::io::Errno::PERM) if from == From::Guest => {}
            Err(error) => panic!("{from:?} to {to}: {error}"),
        }
    }
}

/// Returns the link address of a device.
fn link_address(device: &str) -> String {
    let reported = ask("ip", &["-j", "link", "show", device], "");
    let reported: serde_json::Value = serde_json::from_str(&reported).unwrap();
    reported[0]["address"].as_str().unwrap().to_owned()
}
