//! The subcommand.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::HOSTS;
use super::MAX_HOSTS;
use super::gather::{Machine, gather, policy};
use super::reach::SshArguments;
use super::report::{Called, Report};
use super::show::page;
use super::snapshot::Snapshot;
use super::watch::watch;
use crate::global::Global;
use crate::inventory::entries;
use crate::live::{Live, plan_by};
use crate::print::{Hinted, harmless, line, note};
use crate::setup::Setup;
use ghost_cloud::guest::HostAccess;
use ghost_cloud::probe::{HostProbe, HostQuestion};
use ghost_inspect::host::Protocol;

/// How findings name this machine.
const HERE: &str = "localhost";

/// The arguments of `ghost host`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost host\n  ghost host --to db-1:5432 --to 192.0.2.7\n  ghost host --name www.example.com\n  ghost host --save well.json            # while it works\n  ghost host --diff well.json            # what changed since\n  ghost host --keep                      # for `ghost investigate 'what changed on this host?'`\n  ghost host --watch --every 10\n  ghost host --host web-1 --host ops@db-1 --jump bastion.example.com\n  ghost host --inventory hosts.yml\n  ghost host --inventory hosts.yml --host web-1 --to db-1:5432\n  ghost host --from web-1.json --from db-1.json --to 10.0.2.4:5432 --caller web-1\n\nEverything is one script that only reads (--plan prints it); it calls the name servers and the default gateway of the machine, and what --to and --name name. Without root rights it reads as far as it goes, and says what was closed."
)]
pub struct Arguments {
    /// A machine by ssh, in place of this one: a name or an address, or a name of `[ssh] hosts`; repeatable.
    #[arg(long, value_name = "[USER@]HOST", conflicts_with = "from")]
    host: Vec<String>,
    /// Machines from a file: an ssh configuration, an inventory of Ansible (INI or YAML), or a CSV. Those that --host names; all of them,
    /// where none is named.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    inventory: Option<PathBuf>,
    /// Judge what was gathered before; repeatable, and judged together.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "watch", "plan", "name"])]
    from: Vec<PathBuf>,
    /// How findings name this machine.
    #[arg(long = "as", value_name = "NAME", default_value = HERE, conflicts_with_all = ["host", "inventory", "from"])]
    named: String,
    /// Try to reach this: echoes, packet sizes, a connection where a port is named; repeatable.
    #[arg(long, value_name = "HOST[:PORT]")]
    to: Vec<String>,
    /// The machine that tries; the first unless said.
    #[arg(long, value_name = "NAME", requires = "to")]
    caller: Option<String>,
    /// By which protocol; tcp where a port is named, else icmp, unless said.
    #[arg(long, value_enum, requires = "to")]
    protocol: Option<Spoken>,
    /// Ask each name server for this name; repeatable.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// For how many seconds counters are watched.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = ["1", "2", "3", "5", "10"])]
    seconds: String,
    /// Keep what was gathered in this file.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Keep what was gathered in the data folder, machine by machine: `ghost investigate 'what changed on web-1?'` compares with it.
    #[arg(long, conflicts_with_all = ["from", "watch", "plan"])]
    keep: bool,
    /// Say what changed since this snapshot, and take it for how the machine should be.
    #[arg(long, value_name = "FILE")]
    diff: Option<PathBuf>,
    /// Look again and again, until Ctrl-C: a page that changes, or with --json a line where something changed.
    #[arg(long, conflicts_with = "save")]
    watch: bool,
    /// How many seconds lie between two readings.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "watch", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    every: u32,
    /// Print the script with its verdict, and run nothing.
    #[arg(long)]
    plan: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 if something is broken or degraded, a destination is not reached or, with --diff, something changed; with 4 if none of
    /// that is so and a read that the answer needs failed.
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    ssh: SshArguments,
}

/// A protocol on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Spoken {
    Tcp,
    Udp,
    Icmp,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let to: Vec<_> = arguments.to.iter().map(|text| destination(text)).collect::<anyhow::Result<_>>()?;
    let well = arguments.diff.as_deref().map(Snapshot::read).transpose()?;
    let report = |now: &Snapshot, unread: &[_]| -> anyhow::Result<Report> {
        let called = Called {
            from: arguments.caller(now)?,
            to: to.clone(),
            protocol: arguments.protocol.map(Into::into),
        };
        Ok(Report::new(now, unread, well.as_ref(), &called))
    };
    let code = if arguments.from.is_empty() {
        let setup = Setup::new(global)?;
        let machines = arguments.machines(&setup, &to)?;
        let policy = policy(&setup, &machines)?;
        if arguments.plan {
            let orders: Vec<_> = machines
                .iter()
                .map(|one| HostProbe::new(one.access.clone(), &one.question).foreseen())
                .collect();
            plan_by(&setup, std::sync::Arc::clone(&policy), &orders, arguments.json)?;
            if !arguments.json {
                let asked = machines.first().map(|one| one.question.clone()).unwrap_or_default();
                line(&format!("\n{}", asked.script(&policy)?.text().trim_end()))?;
            }
            return Ok(0);
        }
        let live = Live::by_policy(&setup, "host", policy)?;
        if arguments.watch {
            watch(Duration::from_secs(arguments.every.into()), arguments.json, || {
                let (now, unread) = gather(&live, &machines)?;
                report(&now, &unread)
            })?
        } else {
            let (now, unread) = gather(&live, &machines)?;
            if let Some(path) = &arguments.save {
                now.write(path)?;
                note(&format!("kept in {}", path.display()));
            }
            if arguments.keep {
                let folder = setup.data()?.join(HOSTS);
                now.keep(&folder)?;
                let names: Vec<&str> = now.hosts.keys().map(String::as_str).collect();
                note(&format!("kept for later investigations: {}", names.join(", ")));
            }
            arguments.show(&report(&now, &unread)?)?
        }
    } else {
        arguments.show(&report(&arguments.gathered_before()?, &[])?)?
    };
    Ok(if arguments.exit_code { code } else { 0 })
}

impl Arguments {
    fn show(&self, report: &Report) -> anyhow::Result<u8> {
        if self.json {
            line(&serde_json::to_string(report)?)?;
        } else {
            page(report).print()?;
        }
        Ok(report.code())
    }

    fn gathered_before(&self) -> anyhow::Result<Snapshot> {
        let mut all: Option<Snapshot> = None;
        for path in &self.from {
            let next = Snapshot::read(path)?;
            match &mut all {
                Some(all) => all.add(next)?,
                None => all = Some(next),
            }
        }
        all.ok_or_else(|| anyhow::anyhow!("no file is named"))
    }

    /// Returns the machines that are to be read; destinations are tried by the one that calls.
    fn machines(&self, setup: &Setup, to: &[(String, Option<u16>)]) -> anyhow::Result<Vec<Machine>> {
        let mut machines = Vec::new();
        let entries = entries(self.inventory.as_deref(), setup)?;
        let all: Vec<String> = match &self.inventory {
            Some(_) if self.host.is_empty() => entries.keys().cloned().collect(),
            Some(_) | None => self.host.clone(),
        };
        if all.len() > MAX_HOSTS {
            let error = anyhow::anyhow!("{} machines are named, and one run reads {MAX_HOSTS}", all.len());
            return Err(Hinted::new(error, "name those that it is about, with --host").into());
        }
        for named in &all {
            let (name, access) = self
                .ssh
                .access_among(&entries, setup, named)
                .with_context(|| format!("finding how {} is reached", harmless(named)))?;
            if machines.iter().any(|one: &Machine| one.name == name) {
                anyhow::bail!("{name} is named twice");
            }
            machines.push(Machine { name, access, question: self.question(&[])? });
        }
        if machines.is_empty() {
            let name = self.named.clone();
            machines.push(Machine { name, access: HostAccess::Here, question: self.question(&[])? });
        }
        let at = match &self.caller {
            Some(caller) => {
                machines.iter().position(|one| one.name == *caller).ok_or_else(|| unknown(caller))?
            }
            None => 0,
        };
        if let Some(caller) = machines.get_mut(at) {
            caller.question = self.question(to)?;
        }
        Ok(machines)
    }

    fn question(&self, to: &[(String, Option<u16>)]) -> anyhow::Result<HostQuestion> {
        for name in &self.name {
            check(name, "name")?;
        }
        Ok(HostQuestion { names: self.name.clone(), to: to.to_vec(), seconds: self.seconds.parse()? })
    }

    /// Returns the machine that calls.
    fn caller(&self, now: &Snapshot) -> anyhow::Result<String> {
        match &self.caller {
            Some(caller) if now.hosts.contains_key(caller) => Ok(caller.clone()),
            Some(caller) => Err(unknown(caller)),
            None => {
                let first =
                    self.host.first().map(|named| named.rsplit('@').next().unwrap_or(named).to_owned());
                let first = first.filter(|name| now.hosts.contains_key(name));
                Ok(first.or_else(|| now.hosts.keys().next().cloned()).unwrap_or_default())
            }
        }
    }
}

fn unknown(caller: &str) -> anyhow::Error {
    let error = anyhow::anyhow!("{caller} is none of the machines that were read");
    Hinted::new(error, "--caller takes the name of one of them, as --host or --as has it").into()
}

/// Reads `HOST[:PORT]`; an IPv6 address with a port stands in brackets.
fn destination(text: &str) -> anyhow::Result<(String, Option<u16>)> {
    let port = |port: &str| port.parse::<u16>().ok().filter(|port| *port > 0);
    let wrong = || {
        let error = anyhow::anyhow!("`{}` is no destination", crate::print::harmless(text));
        Hinted::new(error, "HOST or HOST:PORT, such as db-1:5432 or [2001:db8::7]:443")
    };
    let (host, port) = if let Some(inner) = text.strip_prefix('[') {
        let (host, rest) = inner.split_once(']').ok_or_else(wrong)?;
        match rest.strip_prefix(':') {
            Some(rest) => (host, Some(port(rest).ok_or_else(wrong)?)),
            None if rest.is_empty() => (host, None),
            None => return Err(wrong().into()),
        }
    } else if text.parse::<std::net::Ipv6Addr>().is_ok() {
        (text, None)
    } else {
        match text.split_once(':') {
            Some((host, rest)) => (host, Some(port(rest).ok_or_else(wrong)?)),
            None => (text, None),
        }
    };
    check(host, "destination")?;
    Ok((host.to_owned(), port))
}

/// Accepts a name or an address.
fn check(text: &str, what: &str) -> anyhow::Result<()> {
    let is_address = text.parse::<std::net::IpAddr>().is_ok();
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    if is_address || (plain && (1..=150).contains(&text.len()) && !text.starts_with(['-', '.'])) {
        return Ok(());
    }
    let error = anyhow::anyhow!("`{}` is no {what}", crate::print::harmless(text));
    Err(Hinted::new(error, "a name or an address is").into())
}

impl From<Spoken> for Protocol {
    fn from(spoken: Spoken) -> Self {
        match spoken {
            Spoken::Tcp => Self::Tcp,
            Spoken::Udp => Self::Udp,
            Spoken::Icmp => Self::Icmp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(text: &str, host: &str, port: Option<u16>) {
        assert_eq!(destination(text).unwrap(), (host.to_owned(), port), "{text}");
    }

    #[test]
    fn destinations_are_names_or_addresses_with_or_without_a_port() {
        is("db-1:5432", "db-1", Some(5432));
        is("192.0.2.7", "192.0.2.7", None);
        is("[2001:db8::7]:443", "2001:db8::7", Some(443));
        is("2001:db8::7", "2001:db8::7", None);
        for text in ["", ":1", "a:0", "a:x", "-x:1", "a b:1", "[::1]x", "a:1:2", "$(id):1"] {
            assert!(destination(text).is_err(), "{text}");
        }
    }
}
