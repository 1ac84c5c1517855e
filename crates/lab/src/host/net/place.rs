//! A network that is up.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::daemon::{self, Daemon};
use super::dhcp::{self, Asking};
use super::draw::Draw;
use super::frr;
use super::topology::{Spec, Topology};
use crate::host::exec::ProcessRequest;
use crate::host::netns::{Journal, Namespace, Prefix, clear, failed, make, must, sweep};
use crate::host::port::HostError;
use ghost_inspect::host::Gathered;

/// Where `ip netns exec` finds a namespace's own files of `/etc`.
const ETC: &str = "/etc/netns";
/// Who is there to hold a device that was taken away; it is no machine.
const HOLD: &str = "hold";
/// How long a machine may take to be gathered.
const GATHER_LIMIT: Duration = Duration::from_secs(240);

/// A network of machines of this kernel. Dropped, nothing of it is left.
#[derive(Debug)]
pub struct Net {
    topology: Topology,
    draw: Draw,
    folder: PathBuf,
    journal: Journal,
    prefix: Prefix,
    spaces: BTreeMap<String, Namespace>,
    daemons: Vec<(String, Daemon)>,
}

impl Net {
    /// Builds it; `folder` is for what it writes. What an earlier one left there after a crash is removed first.
    ///
    /// # Errors
    /// Fails without root, where a program is missing, and where the kernel does not want to.
    pub fn up(topology: Topology, seed: u64, folder: &Path) -> Result<Self, HostError> {
        if !rustix::process::geteuid().is_root() {
            return Err(HostError::Lacking("network namespaces need root".to_owned()));
        }
        Self::clear(folder)?;
        let (journal, prefix) = Journal::begin(folder).map_err(|error| failed("the lab's journal", error))?;
        let plan = topology.plan();
        let mut draw = Draw::new(seed);
        for (name, text) in plan.names {
            draw.name(name, text);
        }
        let named = |(at, name): (usize, &&str)| ((*name).to_owned(), Namespace::new(&prefix, at, name));
        let spaces = plan.machines.iter().enumerate().map(named).collect();
        let mut net =
            Self { topology, draw, folder: folder.to_owned(), journal, prefix, spaces, daemons: Vec::new() };
        net.build()?;
        Ok(net)
    }

    /// Removes what a network that was killed left behind in this folder; returns the names of its machines' namespaces. One that is up
    /// is left alone.
    ///
    /// # Errors
    /// Fails where something is left and cannot be removed, without root for instance.
    pub fn clear(folder: &Path) -> Result<Vec<String>, HostError> {
        let swept = sweep(folder)?;
        for name in &swept {
            drop(fs::remove_dir_all(Path::new(ETC).join(name)));
            frr::forget(name);
        }
        if !swept.is_empty() {
            frr::forget_restarts();
            // Its keys belonged to machines that are gone.
            drop(fs::remove_dir_all(folder.join("ssh")));
        }
        Ok(swept)
    }

    fn build(&mut self) -> Result<(), HostError> {
        let plan = self.topology.plan();
        for space in self.spaces.values() {
            make(space)?;
            must("lo up", ProcessRequest::own("ip", &["link", "set", "lo", "up"])?.within(space))?;
            let etc = Path::new(ETC).join(space.as_str());
            fs::create_dir_all(&etc).map_err(|error| failed("making a folder of /etc/netns", error))?;
            write(&etc.join("resolv.conf"), "")?;
            write(&etc.join("hosts"), "127.0.0.1 localhost\n")?;
        }
        for [one, device, address, other, end, far] in plan.cables {
            let (here, there) = (self.space(one)?.clone(), self.space(other)?.clone());
            let words = ["link", "add", device, "type", "veth", "peer", "name", end, "netns", there.as_str()];
            must("a cable", ProcessRequest::own("ip", &words)?.within(&here))?;
            for (space, device, address) in [(&here, device, address), (&there, end, far)] {
                if *address != "-" {
                    let address = self.draw.fill(address);
                    must(
                        "an address",
                        ProcessRequest::own("ip", &["addr", "add", &address, "dev", device])?.within(space),
                    )?;
                }
                must("a device", ProcessRequest::own("ip", &["link", "set", device, "up"])?.within(space))?;
            }
        }
        self.steps(plan.steps)
    }

    /// Returns its topology.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// Returns the machines: name, and namespace.
    #[must_use]
    pub fn machines(&self) -> Vec<(String, String)> {
        let real = self.spaces.iter().filter(|(name, _)| *name != HOLD);
        real.map(|(name, space)| (name.clone(), space.as_str().to_owned())).collect()
    }

    /// Puts the drawn addresses in the place of their names.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        self.draw.fill(text)
    }

    /// Puts a fault into it.
    ///
    /// # Errors
    /// Fails where a step does.
    pub fn inject(&mut self, spec: &Spec) -> Result<(), HostError> {
        self.steps(spec.steps)
    }

    /// Builds it anew, as it was before anything was put into it.
    ///
    /// # Errors
    /// Fails as [`Net::up`] does.
    pub fn reset(&mut self) -> Result<(), HostError> {
        self.remove()?;
        self.build()
    }

    /// Describes it as the kernel does, without what changes by itself.
    ///
    /// # Errors
    /// Fails where the kernel cannot be asked.
    pub fn print(&self) -> Result<String, HostError> {
        let reads: [(&'static str, &[&str]); 6] = [
            ("ip", &["-o", "-4", "addr", "show"]),
            ("ip", &["-4", "route", "show", "table", "all"]),
            ("ip", &["rule", "show"]),
            ("tc", &["qdisc", "show"]),
            ("nft", &["-s", "list", "ruleset"]),
            ("ss", &["-Hltun"]),
        ];
        let mut text = String::new();
        for (name, space) in &self.spaces {
            for (program, words) in reads {
                let said = must("describing a machine", ProcessRequest::own(program, words)?.within(space))?;
                let lines = said.out.lines().filter(|line| !line.contains("fe80::"));
                let mut lines: Vec<String> = lines.map(without_number).map(without_time).collect();
                lines.sort_unstable();
                text.push_str(&format!("{name} {program}\n{}\n", lines.join("\n")));
            }
        }
        Ok(text)
    }

    /// Gathers on every machine that is not hidden, as a user would: with the program itself, inside of the machine. `a` calls.
    ///
    /// # Errors
    /// Fails where a machine cannot be gathered.
    pub fn gather(&self, ghost: &Path, spec: &Spec) -> Result<BTreeMap<String, Gathered>, HostError> {
        let scratch = self.journal.scratch(&self.folder);
        let machines: Vec<_> =
            self.machines().into_iter().filter(|(name, _)| !spec.hidden.contains(&name.as_str())).collect();
        let to = self.draw.fill(spec.to.0);
        let to =
            if to.contains(':') { format!("[{to}]:{}", spec.to.1) } else { format!("{to}:{}", spec.to.1) };
        let asks_names = matches!(self.topology, Topology::Lan | Topology::Dhcp);
        let gathered = std::thread::scope(|scope| {
            let one = |(name, space): &(String, String)| {
                let (name, space, scratch, to) = (name.clone(), space.clone(), scratch.clone(), to.clone());
                scope.spawn(move || {
                    let file = scratch.join(format!("{name}.json"));
                    let (program, data) =
                        (ghost.display().to_string(), scratch.join("data").join(&name).display().to_string());
                    let kept = file.display().to_string();
                    let mut words = vec![
                        "netns",
                        "exec",
                        &space,
                        &program,
                        "host",
                        "--as",
                        &name,
                        "--save",
                        &kept,
                        "--data-dir",
                        &data,
                    ];
                    if name == "a" {
                        words.extend(["--to", &to]);
                    }
                    if asks_names && name != "sw" {
                        words.extend(["--name", "web.lab"]);
                    }
                    must("gathering", ProcessRequest::own("ip", &words)?.at_most(GATHER_LIMIT))?;
                    read(&file, &name)
                })
            };
            let running: Vec<_> = machines.iter().map(one).collect();
            running
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|_| Err(failed("gathering", "a thread ended early"))))
                .collect::<Vec<_>>()
        });
        machines.into_iter().map(|(name, _)| name).zip(gathered).map(|(name, one)| Ok((name, one?))).collect()
    }

    fn space(&self, name: &str) -> Result<&Namespace, HostError> {
        self.spaces.get(name).ok_or_else(|| failed("a step", format!("there is no machine `{name}`")))
    }

    fn steps(&mut self, steps: &str) -> Result<(), HostError> {
        for line in steps.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let line = self.addressed(line)?;
            self.step(&line)?;
        }
        Ok(())
    }

    /// Fills in addresses, names of namespaces (`{ns:a}`) and hardware addresses (`{mac:a:eth0}`).
    fn addressed(&self, line: &str) -> Result<String, HostError> {
        let mut line = self.draw.fill(line);
        while let Some((before, rest)) = line.split_once("{ns:") {
            let (name, after) = rest.split_once('}').ok_or_else(|| failed("a step", "no `}`"))?;
            line = format!("{before}{}{after}", self.space(name)?.as_str());
        }
        while let Some((before, rest)) = line.split_once("{mac:") {
            let (end, after) = rest.split_once('}').ok_or_else(|| failed("a step", "no `}`"))?;
            let (name, device) = end.split_once(':').ok_or_else(|| failed("a step", "no device"))?;
            let order =
                ProcessRequest::own("ip", &["-br", "link", "show", "dev", device])?.within(self.space(name)?);
            let mac = must("a hardware address", order)?
                .out
                .split_whitespace()
                .nth(2)
                .unwrap_or_default()
                .to_owned();
            line = format!("{before}{mac}{after}");
        }
        Ok(line)
    }

    /// Does one step: `MACHINE PROGRAM WORD…`, `MACHINE nft < RULES`, `MACHINE @DAEMON WORD…`. A `~` is a blank inside of a word; what ends in
    /// `||` may fail.
    fn step(&mut self, line: &str) -> Result<(), HostError> {
        let (name, rest) =
            line.split_once(' ').ok_or_else(|| failed("a step", format!("`{line}` says too little")))?;
        let space = self.space(name)?.clone();
        if let Some(rules) = rest.strip_prefix("nft < ") {
            let order =
                ProcessRequest::own("nft", &["-f", "-"])?.within(&space).reading(format!("{rules}\n"));
            return must(line, order).map(drop);
        }
        if let Some(daemon) = rest.strip_prefix('@') {
            return self.daemon(name, &space, daemon);
        }
        let (rest, may_fail) = rest.strip_suffix(" ||").map_or((rest, false), |rest| (rest, true));
        let mut words = rest.split(' ').map(|word| word.replace('~', " "));
        let program = words.next().unwrap_or_default();
        let program = STEPS.iter().find(|known| **known == program);
        let program =
            program.ok_or_else(|| failed("a step", format!("`{line}` begins with none of {STEPS:?}")))?;
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut order = ProcessRequest::own(program, &words)?.within(&space);
        if program.starts_with("iptables") {
            order = order.locking(self.journal.scratch(&self.folder).join("xtables.lock"));
        }
        if may_fail {
            return Ok(order.run().map(drop)?);
        }
        if program == &"tc" {
            let ran = order.run()?;
            return match (ran.code, ran.err.contains(NO_SUCH_QDISC)) {
                (0, _) => Ok(()),
                (_, true) => {
                    Err(HostError::Lacking(format!("this kernel does not have what `{line}` needs")))
                }
                (_, false) => Err(failed(line, ran.err.trim())),
            };
        }
        must(line, order).map(drop)
    }

    fn daemon(&mut self, name: &str, space: &Namespace, line: &str) -> Result<(), HostError> {
        let words: Vec<&str> = line.split(' ').collect();
        let scratch = self.journal.scratch(&self.folder).join(name);
        fs::create_dir_all(&scratch).map_err(|error| failed("a folder", error))?;
        let etc = Path::new(ETC).join(space.as_str());
        let started = match words.as_slice() {
            ["tcp", at, port] => vec![daemon::listen(space, at, port)?],
            ["web", port] => vec![daemon::web(space, &scratch, "*", port)?],
            ["web", at, port] => vec![daemon::web(space, &scratch, at, port)?],
            ["dns", web, own] => vec![daemon::names(space, web, own)?],
            ["mute", port] => vec![daemon::mute(space, port)?],
            ["send", to, port] => vec![daemon::send(space, to, port)?],
            ["hold", to, port, count] => vec![daemon::hold(space, to, port, count)?],
            ["syn", to, port] => vec![daemon::flood(space, to, port)?],
            ["flap", device] => vec![daemon::flap(space, device)?],
            ["slow", web, own] => daemon::slow_names(space, web, own)?,
            ["hung", port] => daemon::hung_web(space, &scratch, port)?,
            ["bgp", number, network, peers @ ..] => frr::bgp(space, &etc, number, network, peers)?,
            ["ospf", networks, devices @ ..] => frr::ospf(space, &etc, networks, devices)?,
            ["near", peer, state] => return frr::near(space, peer, state),
            ["set", lines @ ..] => return frr::set(space, lines),
            ["sees", prefix, hops] => return frr::sees(space, prefix, hops),
            ["up", peer] => return frr::session(space, peer, true),
            ["down", peer] => return frr::session(space, peer, false),
            ["off"] => {
                self.daemons.retain(|(own, _)| own != name);
                return Ok(());
            }
            ["dhcp", first, last, words @ ..] => vec![dhcp::serve(space, &scratch, first, last, words)?],
            ["leased" | "unleased", device] => {
                let is_client =
                    |(own, daemon): &(String, Daemon)| own == name && matches!(daemon, Daemon::Client(_));
                self.daemons.retain(|one| !is_client(one));
                let asking = if line.starts_with("leased") { Asking::Served } else { Asking::InVain };
                vec![dhcp::ask(space, &scratch, &etc, device, asking)?]
            }
            ["forget", device] => {
                dhcp::forget(&scratch, device);
                return Ok(());
            }
            ["resolv", "-"] => return write(&etc.join("resolv.conf"), ""),
            ["resolv", server] => return write(&etc.join("resolv.conf"), &format!("nameserver {server}\n")),
            ["hosts", ip, host] => {
                return write(&etc.join("hosts"), &format!("127.0.0.1 localhost\n{ip} {host}\n"));
            }
            _ => return Err(failed("a step", format!("`@{line}` is no daemon"))),
        };
        self.daemons.extend(started.into_iter().map(|one| (name.to_owned(), one)));
        Ok(())
    }

    fn remove(&mut self) -> Result<(), HostError> {
        self.daemons.clear();
        for (name, space) in &self.spaces {
            drop(fs::remove_dir_all(self.journal.scratch(&self.folder).join(name)));
            drop(fs::remove_dir_all(Path::new(ETC).join(space.as_str())));
            frr::forget(space.as_str());
        }
        if self.topology == Topology::Ospf {
            frr::forget_restarts();
        }
        // The folder goes when nobody else has anything in it.
        drop(fs::remove_dir(ETC));
        clear(&self.prefix).map(drop)
    }
}

/// What `tc` says of a discipline that the kernel does not have.
const NO_SUCH_QDISC: &str = "qdisc kind is unknown";
/// Programs that a step may begin with.
const STEPS: [&str; 7] = ["ip", "tc", "nft", "iptables", "sysctl", "ethtool", "ping"];

impl Drop for Net {
    fn drop(&mut self) {
        // Where it cannot be removed the journal stays, and the next one tries again.
        if self.remove().is_ok() {
            self.journal.end(&self.folder);
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), HostError> {
    fs::write(path, text).map_err(|error| failed("writing a file of /etc/netns", error))
}

/// Takes the number of a next hop out of a route: the kernel counts on.
fn without_number(line: &str) -> String {
    match line.split_once(" nhid ") {
        Some((before, rest)) => format!("{before} {}", rest.split_once(' ').map_or("", |(_, rest)| rest)),
        None => line.to_owned(),
    }
}

/// Takes off how long an address is valid yet.
fn without_time(line: String) -> String {
    line.split_once(" valid_lft ").map_or_else(|| line.clone(), |(before, _)| before.to_owned())
}

/// Reads what the program kept.
fn read(path: &Path, name: &str) -> Result<Gathered, HostError> {
    let wrong = |error: &dyn std::fmt::Display| failed("reading what was gathered", error);
    let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
    let mut document: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    let host = document.get_mut("hosts").and_then(|hosts| hosts.get_mut(name)).map(serde_json::Value::take);
    serde_json::from_value(host.unwrap_or_default()).map_err(|error| wrong(&error))
}
