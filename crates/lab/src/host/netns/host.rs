//! The port, over the kernel.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::capture::Capture;
use super::dial;
use super::guest::Guest;
use super::kernel::Kernel;
use super::lab::{Lab, SavedLab, SavedMachine};
use super::program::failed;
use super::shell::Shell;
use super::staged::{self, ActiveStage};
use super::sweep::sweep;
use super::wire::WIRE_SERVER;
use crate::LabClock;
use crate::host::exec::ProcessRequest;
use crate::host::fabric::Fabric;
use crate::host::port::{
    CaptureOrder, ConnectOutcome, Host, HostError, Script, ScriptOutput, ScriptTransport,
};
use crate::host::script::Interpreter;
use crate::host::stage::{Protocol, Stage};
use ghost_base::Digest;

/// The ports of the wire server that an agent needs.
const WIRE_PORTS: [u16; 2] = [80, 32_526];
/// How long the platform waits for an agent.
const AGENT_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Machines that are namespaces of this machine's kernel.
#[derive(Debug, Clone)]
pub struct Netns {
    lab: Arc<Mutex<Option<Lab>>>,
    kernel: Arc<Kernel>,
    clock: LabClock,
}

impl Netns {
    /// Removes what dead owners left in a folder, then makes the machines of a fabric.
    ///
    /// # Errors
    /// Fails without root, without a program that is needed (the error names the package), and where the kernel refuses.
    pub async fn open(folder: PathBuf, fabric: Fabric, clock: LabClock) -> Result<Self, HostError> {
        let made = blocking(move || {
            Kernel::ready()?;
            sweep(&folder)?;
            let mut lab = Lab::open(folder)?;
            lab.put(fabric)?;
            Ok(lab)
        });
        let lab = made.await?;
        let kernel = Arc::clone(&lab.kernel);
        Ok(Self { lab: Arc::new(Mutex::new(Some(lab))), kernel, clock })
    }

    /// Says what this machine lacks and what that means, in sentences; none where it lacks nothing.
    #[must_use]
    pub fn lacks(&self) -> Vec<String> {
        self.kernel.lacks()
    }

    /// Does something with the lab; blocks.
    async fn with<T: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Lab) -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, HostError> {
        let lab = Arc::clone(&self.lab);
        blocking(move || {
            let mut lab = locked(&lab);
            what(lab.as_mut().ok_or_else(|| failed("the lab", "it is closed"))?)
        })
        .await
    }

    async fn guest(&self, machine: &str) -> Result<Arc<Guest>, HostError> {
        let machine = machine.to_owned();
        self.with(move |lab| lab.guest(&machine)).await
    }

    /// Tells whether the agent of a machine reaches the wire server.
    async fn reports(&self, guest: &Arc<Guest>) -> Result<(), HostError> {
        let silent = || HostError::Silent(guest.name.clone());
        let server: IpAddr = WIRE_SERVER.parse().map_err(|error| failed("the wire server", error))?;
        for port in WIRE_PORTS {
            if !matches!(inside(guest, dial::tcp(server, port)).await, Some(ConnectOutcome::Open(_))) {
                self.clock.pass(AGENT_TIMEOUT);
                return Err(silent());
            }
        }
        Ok(())
    }
}

fn locked(lab: &Mutex<Option<Lab>>) -> MutexGuard<'_, Option<Lab>> {
    lab.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn blocking<T: Send + 'static>(
    what: impl FnOnce() -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    let done = tokio::task::spawn_blocking(what).await;
    done.map_err(|error| failed("the lab", error))?
}

/// Does something in a machine's namespace.
async fn inside<T: Send + 'static>(
    guest: &Arc<Guest>,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let guest = Arc::clone(guest);
    let (answer, answered) = tokio::sync::oneshot::channel();
    guest.inside(|inside| {
        inside.spawn(async move {
            drop(answer.send(work.await));
        });
    })?;
    answered.await.ok()
}

#[async_trait]
impl Host for Netns {
    async fn fabric(&self, fabric: Fabric) -> Result<(), HostError> {
        self.with(move |lab| lab.put(fabric)).await
    }

    async fn stage(&self, stage: Stage) -> Result<(), HostError> {
        staged::check(&stage)?;
        self.with(move |lab| {
            lab.staged = None;
            lab.stage = stage;
            lab.load()?;
            lab.staged = Some(ActiveStage::begin(lab)?);
            Ok(())
        })
        .await
    }

    async fn run(&self, machine: &str, script: &Script) -> Result<ScriptOutput, HostError> {
        let guest = self.guest(machine).await?;
        if script.transport == ScriptTransport::Agent {
            self.reports(&guest).await?;
        }
        let (own, kernel, clock, script_) =
            (Arc::clone(&guest), Arc::clone(&self.kernel), self.clock.clone(), script.clone());
        let ran = blocking(move || {
            let mut shell = Shell::new(&own, &kernel, &clock);
            let ran = Interpreter.run(&script_.text, &script_.arguments, &script_.variables, &mut shell);
            shell.close();
            Ok(ran)
        });
        let ran = ran.await?;
        // What a script does to the machine's own firewall may cut off the report about it.
        if script.transport == ScriptTransport::Agent {
            self.reports(&guest).await?;
        }
        Ok(ran)
    }

    async fn dial(
        &self,
        machine: &str,
        to: IpAddr,
        protocol: Protocol,
        port: u16,
    ) -> Result<ConnectOutcome, HostError> {
        let guest = self.guest(machine).await?;
        let gone = || HostError::Off(machine.to_owned());
        match protocol {
            Protocol::Tcp => inside(&guest, dial::tcp(to, port)).await.ok_or_else(gone),
            Protocol::Udp => inside(&guest, dial::udp(to, port)).await.ok_or_else(gone),
            Protocol::Icmp => {
                blocking(move || {
                    let to = to.to_string();
                    let output = ProcessRequest::own("ping", &["-n", "-c", "1", "-W", "2", &to])?
                        .within(&guest.space)
                        .run()?;
                    Ok(dial::echoed(&output.out, output.code))
                })
                .await
            }
        }
    }

    async fn capture(&self, name: &str, order: CaptureOrder) -> Result<(), HostError> {
        let name = name.to_owned();
        self.with(move |lab| {
            let guest = lab.guest(&order.machine)?;
            if lab.captures.contains_key(&name) {
                return Err(failed("the capture", format!("`{name}` runs already")));
            }
            // The name is the caller's, and a file's is ours.
            let file = lab.scratch().join(format!("{}.pcap", Digest::of(&name)));
            lab.captures.insert(name, Capture::begin(&guest.space, &order, file)?);
            Ok(())
        })
        .await
    }

    async fn captured(&self, name: &str) -> Result<Vec<u8>, HostError> {
        let name = name.to_owned();
        let taken = self.with(move |lab| {
            lab.captures
                .remove(&name)
                .ok_or_else(|| HostError::Lacking(format!("there is no capture `{name}`")))
        });
        let capture = taken.await?;
        blocking(move || capture.end()).await
    }

    async fn keep(&self) -> Result<(), HostError> {
        self.with(|lab| {
            let mut kept = SavedLab { stage: lab.stage.clone(), ..SavedLab::default() };
            for (name, guest) in &lab.guests {
                let print = guest.print()?;
                let memory = guest.memory();
                let machine =
                    SavedMachine { steps: memory.steps.clone(), files: memory.files.clone(), print };
                kept.machines.insert(name.clone(), machine);
            }
            lab.kept = Some(kept);
            Ok(())
        })
        .await
    }

    async fn restore(&self) -> Result<(), HostError> {
        self.with(restore).await
    }

    async fn close(&self) {
        let lab = Arc::clone(&self.lab);
        let closed = blocking(move || {
            drop(locked(&lab).take());
            Ok(())
        });
        // No cleanup is left.
        drop(closed.await);
    }
}

/// Makes machines as they were: those that differ are made anew, what had been done to them is done again, and the kernel's own
/// description of them is compared.
fn restore(lab: &mut Lab) -> Result<(), HostError> {
    let kept = lab.kept.clone().unwrap_or_default();
    lab.staged = None;
    lab.stage = kept.stage;
    let plan = lab.plan.clone();
    let names: Vec<String> = lab.guests.keys().cloned().collect();
    let mut again = Vec::new();
    for name in names {
        let before = kept.machines.get(&name).cloned().unwrap_or_default();
        let Some(guest) = lab.guests.get(&name) else { continue };
        let same = guest.memory().steps == before.steps
            && !before.print.is_empty()
            && guest.print()? == before.print;
        if same {
            guest.memory().files = before.files;
            continue;
        }
        lab.take_down(&name, &plan)?;
        lab.put_up(&name, &before.steps, before.files)?;
        again.push((name, before.print));
    }
    lab.load()?;
    lab.staged = Some(ActiveStage::begin(lab)?);
    for (name, before) in again {
        let now = lab.guest(&name)?.print()?;
        if !before.is_empty() && now != before {
            return Err(failed(&format!("restoring {name}"), "the kernel does not describe it as before"));
        }
    }
    Ok(())
}
