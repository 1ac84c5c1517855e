//! Routing daemons of FRR inside of machines: each machine has an instance of its own, by the name of its namespace.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::daemon::{Daemon, wrong};
use crate::host::exec::ProcessRequest;
use crate::host::netns::{Namespace, failed, must};
use crate::host::port::HostError;

/// Where FRR keeps the sockets of its instances, a folder each.
const RUN: &str = "/run/frr";
/// What ospfd writes when it starts, one file for all instances of a machine: who restarts and asks others to wait.
const RESTARTS: &str = "ospfd-gr.json";
/// As whom its daemons run; they refuse to be root.
const USER: &str = "frr";
/// How long daemons may take to start, and networks to learn their routes.
const ATTEMPTS: u32 = 600;
const INTERVAL: Duration = Duration::from_millis(50);

fn folder(space: &str) -> PathBuf {
    Path::new(RUN).join(space)
}

/// Removes what an instance left.
pub(super) fn forget(space: &str) {
    drop(fs::remove_dir_all(folder(space)));
}

/// Removes what instances left for all of them, where nobody waits for a restart and the machine itself runs no OSPF.
pub(super) fn forget_restarts() {
    let file = Path::new(RUN).join(RESTARTS);
    let is_own = Path::new(RUN).join("ospfd.vty").exists() || Path::new(RUN).join("ospfd.pid").exists();
    let text = fs::read(&file).ok().filter(|_| !is_own);
    let text = text.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let instances = text.as_ref().and_then(|all| all.get("instances")).and_then(serde_json::Value::as_object);
    if instances.is_some_and(serde_json::Map::is_empty) {
        drop(fs::remove_file(&file));
    }
}

/// Starts BGP: the own system's number, a network to announce or `-`, neighbors as `ADDRESS=NUMBER`.
pub(super) fn bgp(
    space: &Namespace,
    etc: &Path,
    number: &str,
    network: &str,
    peers: &[&str],
) -> Result<Vec<Daemon>, HostError> {
    let mut text = format!(
        "router bgp {number}\n timers bgp 1 3\n no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n"
    );
    for peer in peers {
        let (ip, other) = peer.split_once('=').ok_or_else(|| wrong(&format!("`{peer}` names no system")))?;
        let _ = write!(
            text,
            " neighbor {ip} remote-as {other}\n neighbor {ip} timers connect 1\n neighbor {ip} advertisement-interval 0\n"
        );
    }
    if network != "-" {
        let _ = write!(text, " address-family ipv4 unicast\n  network {network}\n exit-address-family\n");
    }
    start(space, etc, "bgpd", &text)
}

/// Starts OSPF in one area: the networks on which it speaks, the devices to routers; on all others it is passive.
pub(super) fn ospf(
    space: &Namespace,
    etc: &Path,
    networks: &str,
    devices: &[&str],
) -> Result<Vec<Daemon>, HostError> {
    let mut text = String::new();
    for device in devices {
        let _ = write!(
            text,
            "interface {device}\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n ip ospf network point-to-point\n no ip ospf passive\nexit\n"
        );
    }
    text.push_str("router ospf\n passive-interface default\n timers throttle spf 0 50 50\n");
    for network in networks.split(',') {
        let _ = writeln!(text, " network {network} area 0");
    }
    start(space, etc, "ospfd", &text)
}

/// Waits until a neighbor of OSPF is in a state, or is none any more.
pub(super) fn near(space: &Namespace, peer: &str, state: &str) -> Result<(), HostError> {
    let line = "show ip ospf neighbor json".to_owned();
    wait(&format!("the neighbor {peer} does not become `{state}`"), || {
        let shown = asked(space, std::slice::from_ref(&line))?.run()?;
        let Ok(all) = serde_json::from_str::<serde_json::Value>(&shown.out) else { return Ok(false) };
        let rows = all.get("neighbors").and_then(serde_json::Value::as_object);
        let own = rows.into_iter().flat_map(|rows| rows.values()).filter_map(|row| row.get(0));
        let own = own
            .into_iter()
            .find(|row| row.get("ifaceAddress").and_then(serde_json::Value::as_str) == Some(peer));
        let now = own.and_then(|row| row.get("nbrState")).and_then(serde_json::Value::as_str);
        Ok(now.map_or(state == "-", |now| now.starts_with(state)))
    })
}

/// Starts zebra and one daemon beside it.
fn start(
    space: &Namespace,
    etc: &Path,
    daemon: &'static str,
    config: &str,
) -> Result<Vec<Daemon>, HostError> {
    let own = folder(space.as_str());
    fs::create_dir_all(&own).map_err(|error| failed("a folder of FRR", error))?;
    let (user, group) = owner()?;
    chown(&own, Some(user), Some(group)).map_err(|error| failed("a folder of FRR", error))?;
    // What a machine of its own has below /etc/frr.
    let etc = etc.join("frr");
    fs::create_dir_all(&etc).map_err(|error| failed("a folder of FRR", error))?;
    let kept = etc.join(format!("{daemon}.conf"));
    for (path, text) in [(&kept, config), (&etc.join("daemons"), &format!("{daemon}=yes\n"))] {
        fs::write(path, text).map_err(|error| failed("a file of FRR", error))?;
    }
    let kept = kept.display().to_string();
    let mut running = Vec::new();
    for (program, config, socket) in [("zebra", "/dev/null", "zserv.api"), (daemon, kept.as_str(), "")] {
        let words = ["-N", space.as_str(), "-u", USER, "-g", USER, "-P", "0", "-f", config];
        running.push(Daemon::Program(ProcessRequest::own(program, &words)?.within(space).start(None)?));
        let vty = own.join(format!("{program}.vty"));
        let is_up = || vty.exists() && (socket.is_empty() || own.join(socket).exists());
        wait(&format!("{program} does not answer"), || Ok(is_up()))?;
    }
    Ok(running)
}

/// Returns the number of FRR's user and group.
fn owner() -> Result<(u32, u32), HostError> {
    let text = fs::read_to_string("/etc/passwd").map_err(|error| failed("reading /etc/passwd", error))?;
    let line = text.lines().find(|line| line.split(':').next() == Some(USER));
    let mut numbers = line.into_iter().flat_map(|line| line.split(':').skip(2)).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(user)), Some(Ok(group))) => Ok((user, group)),
        _ => Err(HostError::Lacking("there is no user `frr`: install the package frr".to_owned())),
    }
}

fn asked(space: &Namespace, lines: &[String]) -> Result<ProcessRequest, HostError> {
    let mut words = vec!["-N", space.as_str()];
    words.extend(lines.iter().flat_map(|line| ["-c", line.as_str()]));
    Ok(ProcessRequest::own("vtysh", &words)?.within(space))
}

/// Changes what a machine's daemons do, a line of configuration a word.
pub(super) fn set(space: &Namespace, lines: &[&str]) -> Result<(), HostError> {
    let lines = std::iter::once("configure").chain(lines.iter().copied());
    let lines: Vec<String> = lines.map(|line| line.replace('~', " ")).collect();
    must("configuring a router", asked(space, &lines)?).map(drop)
}

/// Waits until the kernel has a route by so many next hops; by none where there is to be no route.
pub(super) fn sees(space: &Namespace, prefix: &str, hops: &str) -> Result<(), HostError> {
    let hops: usize = hops.parse().map_err(|_| wrong("no number of next hops"))?;
    wait(&format!("the route to {prefix} does not get {hops} next hops"), || {
        let shown = must("routes", ProcessRequest::own("ip", &["route", "show", prefix])?.within(space))?;
        Ok(shown.out.split_whitespace().filter(|word| *word == "via").count() == hops)
    })
}

/// Waits until the session with a neighbor is up, or is not.
pub(super) fn session(space: &Namespace, peer: &str, is_up: bool) -> Result<(), HostError> {
    let line = format!("show bgp neighbors {peer} json");
    wait(&format!("the session with {peer} does not change"), || {
        let shown = asked(space, std::slice::from_ref(&line))?.run()?;
        let established = shown.out.contains("\"bgpState\":\"Established\"");
        Ok(shown.out.contains("\"bgpState\"") && established == is_up)
    })
}

/// Asks until it is so: daemons report what they have learned to nobody.
fn wait(what: &str, is_so: impl Fn() -> Result<bool, HostError>) -> Result<(), HostError> {
    for _ in 0..ATTEMPTS {
        if is_so()? {
            return Ok(());
        }
        std::thread::sleep(INTERVAL);
    }
    Err(wrong(what))
}
