//! The namespaces of a lab, and keeping them in step with the fabric.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::capture::Capture;
use super::gate;
use super::guest::{ChangeCommand, Guest};
use super::inside::NamespaceThread;
use super::journal::Journal;
use super::kernel::Kernel;
use super::name::{Namespace, Prefix};
use super::plan::{Link, Numbers, Plan};
use super::program::{failed, must};
use super::routes;
use super::service::{self, ListenerBehavior};
use super::staged::ActiveStage;
use super::sweep::{clear, remove};
use super::wire::{self, DEFAULT_PATH_MTU, FABRIC};
use crate::host::exec::ProcessRequest;
use crate::host::fabric::Fabric;
use crate::host::port::HostError;
use crate::host::script::Files;
use crate::host::stage::{Oddity, Stage};
use ghost_inspect::net::Tags;

/// Everything that a lab holds of this machine.
#[derive(Debug)]
pub(super) struct Lab {
    folder: PathBuf,
    journal: Journal,
    prefix: Prefix,
    /// What the kernel has.
    pub(super) kernel: Arc<Kernel>,
    pub(super) router: Namespace,
    /// Everybody else.
    pub(super) internet: Namespace,
    /// The wire server, and whoever answers beyond the gateway.
    own: Vec<NamespaceThread>,
    numbers: Numbers,
    next: usize,
    /// The wires.
    pub(super) plan: Plan,
    /// The network as it was last asked for.
    pub(super) fabric: Fabric,
    /// Services, traffic, oddities.
    pub(super) stage: Stage,
    /// The machines that run.
    pub(super) guests: BTreeMap<String, Arc<Guest>>,
    /// What carries out the stage.
    pub(super) staged: Option<ActiveStage>,
    /// Captures that run.
    pub(super) captures: BTreeMap<String, Capture>,
    /// How the machines were.
    pub(super) kept: Option<SavedLab>,
    loaded: (String, String),
}

/// How machines were.
#[derive(Debug, Clone, Default)]
pub(super) struct SavedLab {
    /// What went on beside them.
    pub(super) stage: Stage,
    /// Each of them.
    pub(super) machines: BTreeMap<String, SavedMachine>,
}

/// How a machine was.
#[derive(Debug, Clone, Default)]
pub(super) struct SavedMachine {
    /// What had been done to it.
    pub(super) steps: Vec<ChangeCommand>,
    pub(super) files: Files,
    /// How the kernel described it.
    pub(super) print: String,
}

impl Lab {
    /// Makes the fabric, without machines.
    pub(super) fn open(folder: PathBuf) -> Result<Self, HostError> {
        Kernel::ready()?;
        let (journal, prefix) =
            Journal::begin(&folder).map_err(|error| failed("the lab's journal", error))?;
        let (router, internet) =
            (Namespace::new(&prefix, 0, "fabric"), Namespace::new(&prefix, 1, "internet"));
        let mut lab = Self {
            folder,
            journal,
            prefix,
            kernel: Arc::default(),
            router,
            internet,
            own: Vec::new(),
            numbers: Numbers::default(),
            next: 2,
            plan: Plan::default(),
            fabric: Fabric::default(),
            stage: Stage::default(),
            guests: BTreeMap::new(),
            staged: None,
            captures: BTreeMap::new(),
            kept: None,
            loaded: Default::default(),
        };
        // Dropped, it leaves nothing behind.
        lab.wire()?;
        Ok(lab)
    }

    fn wire(&mut self) -> Result<(), HostError> {
        let what = "wiring the fabric";
        make(&self.router)?;
        self.kernel = Arc::new(Kernel::tried(&self.router)?);
        make(&self.internet)?;
        // A set of rules that asks for connections makes the kernel follow them, and their settings appear.
        let rules = "table inet ghost {\n chain begin { type filter hook forward priority 0; ct state new accept; }\n}\n";
        must(what, ProcessRequest::own("nft", &["-f", "-"])?.within(&self.router).reading(rules))?;
        must(
            what,
            ProcessRequest::own("sysctl", &[&["-q", "-e", "-w"], &FABRIC[..]].concat())?.within(&self.router),
        )?;
        batch(what, &self.router, &wire::fabric(self.internet.as_str()))?;
        batch(what, &self.internet, &wire::internet())?;
        let bind = [
            "-q",
            "-w",
            "net.ipv4.ip_nonlocal_bind=1",
            "net.ipv4.conf.all.rp_filter=0",
            "net.ipv4.conf.eth0.rp_filter=0",
        ];
        must(what, ProcessRequest::own("sysctl", &bind)?.within(&self.internet))?;
        for (space, ports) in [(&self.router, [80, 32_526]), (&self.internet, [80, 443])] {
            let inside = NamespaceThread::enter(space)?;
            for port in ports {
                let listener = inside.block(async move { service::tcp(None, port, 128) });
                let listener = listener.ok_or_else(|| failed(what, "its thread is gone"))?;
                let listener = listener.map_err(|error| failed(what, error))?;
                inside.spawn(service::serve(listener, ListenerBehavior::default()));
            }
            self.own.push(inside);
        }
        Ok(())
    }

    /// Returns the folder for what is written while the lab runs.
    pub(super) fn scratch(&self) -> PathBuf {
        self.journal.scratch(&self.folder)
    }

    /// Puts everything in step with a fabric.
    pub(super) fn put(&mut self, fabric: Fabric) -> Result<(), HostError> {
        let plan = self.numbers.plan(&fabric);
        let before = std::mem::take(&mut self.plan);
        let same = |name: &str| {
            let (old, new): (Vec<&Link>, Vec<&Link>) = (before.of(name).collect(), plan.of(name).collect());
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.is_wired_as(new))
        };
        let running: Vec<&str> = fabric
            .machines
            .iter()
            .filter(|machine| machine.running)
            .map(|machine| machine.name.as_str())
            .collect();
        let gone = |name: &&String| !running.contains(&name.as_str()) || !same(name);
        let gone: Vec<String> = self.guests.keys().filter(gone).cloned().collect();
        let new: Vec<String> = running
            .iter()
            .filter(|name| !self.guests.contains_key(**name) || gone.iter().any(|gone| gone == *name))
            .map(|name| (*name).to_owned())
            .collect();
        let changes = !gone.is_empty() || !new.is_empty();
        if changes {
            self.staged = None;
        }
        // A machine that is only wired anew is the same machine; one that was off begins anew.
        let mut memories = BTreeMap::new();
        for name in &gone {
            if let Some(guest) = self.take_down(name, &before)? {
                let memory = std::mem::take(&mut *guest.memory());
                memories.insert(name.clone(), (memory.steps, memory.files));
            }
        }
        (self.plan, self.fabric) = (plan, fabric);
        for name in new {
            let (steps, files) = memories.remove(&name).unwrap_or_default();
            self.put_up(&name, &steps, files)?;
        }
        self.load()?;
        if changes && self.staged.is_none() {
            self.staged = Some(ActiveStage::begin(self)?);
        }
        Ok(())
    }

    /// Makes a machine as new, then does to it what was done.
    pub(super) fn put_up(
        &mut self,
        name: &str,
        steps: &[ChangeCommand],
        files: Files,
    ) -> Result<(), HostError> {
        let what = format!("wiring {name}");
        let space = Namespace::new(&self.prefix, self.next, name);
        self.next += 1;
        make(&space)?;
        let links: Vec<&Link> = self.plan.of(name).collect();
        let outer: String = links.iter().map(|link| wire::outer(link, space.as_str())).collect();
        batch(&what, &self.router, &outer)?;
        let prompt: Vec<String> = links.iter().flat_map(|link| wire::prompt(link)).collect();
        let words = ["-q", "-e", "-w"].into_iter().chain(prompt.iter().map(String::as_str));
        if !prompt.is_empty() {
            must(&what, ProcessRequest::own("sysctl", &words.collect::<Vec<_>>())?.within(&self.router))?;
        }
        let inner: String = links.iter().map(|link| wire::inner(link)).collect();
        batch(&what, &space, &format!("link set lo up\n{inner}"))?;
        if links.iter().any(|link| link.nic.forwards) {
            let forwards = ["-q", "-w", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0"];
            must(&what, ProcessRequest::own("sysctl", &forwards)?.within(&space))?;
        }
        let lock = self.scratch().join(format!("{}.lock", space.as_str()));
        let guest = Guest::new(name, space, lock, files)?;
        let repeated = guest.repeat(steps);
        self.guests.insert(name.to_owned(), Arc::new(guest));
        self.loaded.0.clear();
        repeated
    }

    /// Removes a machine.
    pub(super) fn take_down(&mut self, name: &str, plan: &Plan) -> Result<Option<Arc<Guest>>, HostError> {
        let Some(guest) = self.guests.remove(name) else { return Ok(None) };
        guest.leave();
        // The namespace itself goes when the kernel gets to it; its wires are to go now.
        let wires: String = plan.of(name).map(|link| format!("link del {}\n", link.device)).collect();
        batch("removing wires", &self.router, &wires)?;
        remove(&guest.space)?;
        Ok(Some(guest))
    }

    /// Loads routes, rules and translations, where they changed.
    pub(super) fn load(&mut self) -> Result<(), HostError> {
        let tags = Tags::parse(&self.fabric.tags.to_string()).ok();
        let path = self.stage.oddities.iter().find_map(|oddity| match oddity {
            Oddity::PathMtu { mtu, .. } => Some(*mtu),
            Oddity::ArpConflict { .. } | Oddity::Dns { .. } | Oddity::Asymmetric { .. } => None,
        });
        let mut lines = wire::everywhere(&self.plan, path.unwrap_or(DEFAULT_PATH_MTU));
        lines.extend(self.plan.links.iter().map(|link| routes::lines(link, &self.plan, tags.as_ref())));
        if lines != self.loaded.0 {
            let mut away = "route flush table main\n-6 route flush table main\n".to_owned();
            for number in 0..self.next.max(self.plan.links.len()) + 64 {
                let table = 1_000 + number;
                away.push_str(&format!("rule del pref {table}\n-6 rule del pref {table}\n"));
                away.push_str(&format!("route flush table {table}\n-6 route flush table {table}\n"));
            }
            // Most of it is not there.
            batch_away(&self.router, &away)?;
            batch("loading routes", &self.router, &lines)?;
            batch_away(&self.internet, "route flush table 200\n")?;
            batch("loading routes", &self.internet, &wire::back(&self.plan))?;
            self.loaded.0 = lines;
        }
        let rules = gate::text(&self.plan, &self.stage, tags.as_ref());
        if rules != self.loaded.1 {
            must(
                "loading rules",
                ProcessRequest::own("nft", &["-f", "-"])?.within(&self.router).reading(rules.clone()),
            )?;
            self.loaded.1 = rules;
        }
        Ok(())
    }

    /// Returns a machine that runs.
    pub(super) fn guest(&self, name: &str) -> Result<Arc<Guest>, HostError> {
        let known = self.fabric.machines.iter().any(|machine| machine.name == name);
        match self.guests.get(name) {
            Some(guest) => Ok(Arc::clone(guest)),
            None if known => Err(HostError::Off(name.to_owned())),
            None => Err(HostError::Unknown(name.to_owned())),
        }
    }

    /// Leaves nothing behind.
    pub(super) fn close(&mut self) {
        self.staged = None;
        self.captures.clear();
        for (_, guest) in std::mem::take(&mut self.guests) {
            guest.leave();
        }
        self.own.clear();
        // What cannot be removed now is removed by the next lab: the journal stays.
        if clear(&self.prefix).is_ok() {
            self.journal.end(&self.folder);
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.close();
    }
}

pub(in crate::host) fn make(space: &Namespace) -> Result<(), HostError> {
    must("making a namespace", ProcessRequest::own("ip", &["netns", "add", space.as_str()])?).map(drop)
}

/// Runs lines of `ip` in a namespace, those for IPv6 after the others: a line cannot say its family by itself.
fn batch(what: &str, space: &Namespace, lines: &str) -> Result<(), HostError> {
    families(lines, |words, lines| {
        must(what, ProcessRequest::own("ip", words)?.within(space).reading(lines)).map(drop)
    })
}

/// Does the same for what may not be there any more.
fn batch_away(space: &Namespace, lines: &str) -> Result<(), HostError> {
    families(lines, |words, lines| {
        let words = [&["-force"], words].concat();
        ProcessRequest::own("ip", &words)?.within(space).reading(lines).run()?;
        Ok(())
    })
}

fn families(lines: &str, each: impl Fn(&[&str], String) -> Result<(), HostError>) -> Result<(), HostError> {
    let (six, four): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| line.starts_with("-6 "));
    if !four.is_empty() {
        each(&["-batch", "-"], four.join("\n") + "\n")?;
    }
    if six.is_empty() {
        return Ok(());
    }
    let six: String =
        six.iter().filter_map(|line| line.strip_prefix("-6 ")).map(|line| format!("{line}\n")).collect();
    each(&["-6", "-batch", "-"], six)
}
