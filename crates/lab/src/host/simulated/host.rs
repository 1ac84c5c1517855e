//! The port, over the model.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::command::Shell;
use super::wire;
use super::world::{Capture, World};
use crate::clock::LabClock;
use crate::host::fabric::{Fabric, ServerHealth};
use crate::host::port::{
    CaptureOrder, ConnectOutcome, Host, HostError, Script, ScriptOutput, ScriptTransport,
};
use crate::host::script::Interpreter;
use crate::host::stage::{Protocol, Stage};
use ghost_base::Clock as _;

/// Where agents fetch their scripts.
const WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);
/// How long the platform waits for an agent.
const AGENT_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Machines that are a model.
#[derive(Debug)]
pub struct Simulated {
    inner: Mutex<Inner>,
    clock: LabClock,
}

#[derive(Debug)]
struct Inner {
    world: World,
    /// How the machines were when they were last remembered.
    kept: Option<World>,
}

impl Simulated {
    /// Makes the machines of a fabric. What they draw follows from the seed.
    #[must_use]
    pub fn new(fabric: Fabric, seed: u64, clock: LabClock) -> Self {
        let world = World::new(fabric, seed, clock.now());
        Self { inner: Mutex::new(Inner { world, kept: None }), clock }
    }

    /// Returns everything, at the time that it is.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.world.now = inner.world.now.max(self.clock.now());
        inner.world.reap();
        inner
    }

    /// Puts the clock forward to where the model is.
    fn pass(&self, world: &World) {
        self.clock.pass(world.now.since(self.clock.now()));
    }
}

#[async_trait]
impl Host for Simulated {
    async fn fabric(&self, fabric: Fabric) -> Result<(), HostError> {
        self.lock().world.set_fabric(fabric);
        Ok(())
    }

    async fn stage(&self, stage: Stage) -> Result<(), HostError> {
        self.lock().world.stage = stage;
        Ok(())
    }

    async fn run(&self, machine: &str, script: &Script) -> Result<ScriptOutput, HostError> {
        let mut inner = self.lock();
        let world = &mut inner.world;
        on(world, machine)?;
        let silent = |world: &mut World| {
            world.now = world.now.plus(AGENT_TIMEOUT);
            self.pass(world);
            Err(HostError::Silent(machine.to_owned()))
        };
        if script.transport == ScriptTransport::Agent && !reports(world, machine) {
            return silent(world);
        }
        let mut shell = Shell::new(world, machine);
        let ran = Interpreter.run(&script.text, &script.arguments, &script.variables, &mut shell);
        // What a script does to the machine's own firewall may cut off the report about it.
        if script.transport == ScriptTransport::Agent && !reports(world, machine) {
            return silent(world);
        }
        self.pass(world);
        Ok(ran)
    }

    async fn dial(
        &self,
        machine: &str,
        to: IpAddr,
        protocol: Protocol,
        port: u16,
    ) -> Result<ConnectOutcome, HostError> {
        let mut inner = self.lock();
        if let Some(came) =
            wire::session(&mut inner.world, machine, to, port).filter(|_| protocol == Protocol::Tcp)
        {
            return Ok(came);
        }
        on(&inner.world, machine)?;
        Ok(wire::dial(&mut inner.world, machine, to, protocol, port))
    }

    async fn health(&self, gateway: &str) -> Result<Vec<ServerHealth>, HostError> {
        let mut inner = self.lock();
        let found = wire::all_health(&mut inner.world, gateway);
        found.ok_or_else(|| HostError::Lacking(format!("there is no gateway `{gateway}`")))
    }

    async fn capture(&self, name: &str, order: CaptureOrder) -> Result<(), HostError> {
        let mut inner = self.lock();
        on(&inner.world, &order.machine)?;
        let since = inner.world.now;
        inner.world.captures.insert(name.to_owned(), Capture { order, since });
        Ok(())
    }

    async fn captured(&self, name: &str) -> Result<Vec<u8>, HostError> {
        let mut inner = self.lock();
        let capture = inner.world.captures.remove(name);
        let capture = capture.ok_or_else(|| HostError::Lacking(format!("there is no capture `{name}`")))?;
        Ok(wire::pcap(&mut inner.world, &capture))
    }

    async fn keep(&self) -> Result<(), HostError> {
        let mut inner = self.lock();
        inner.kept = Some(inner.world.clone());
        Ok(())
    }

    async fn restore(&self) -> Result<(), HostError> {
        let mut inner = self.lock();
        let fabric = inner.world.fabric.clone();
        let (now, seed) = (inner.world.now, inner.world.seed);
        let kept = inner.kept.clone().unwrap_or_else(|| World::new(fabric.clone(), seed, now));
        inner.world.guests = kept.guests;
        inner.world.stage = kept.stage;
        // Machines may have come and gone meanwhile.
        inner.world.set_fabric(fabric);
        Ok(())
    }

    async fn close(&self) {}
}

fn on(world: &World, machine: &str) -> Result<(), HostError> {
    match world.machine(machine) {
        None => Err(HostError::Unknown(machine.to_owned())),
        Some(found) if !found.running => Err(HostError::Off(machine.to_owned())),
        Some(_) => Ok(()),
    }
}

/// Whether the agent of a machine reaches the wire server, and hears its answers.
fn reports(world: &mut World, machine: &str) -> bool {
    matches!(
        wire::reaches(world, machine, IpAddr::V4(WIRE_SERVER), Protocol::Tcp, 80),
        wire::FirstPacket::Open(_)
    )
}

#[cfg(test)]
impl Simulated {
    /// Returns delay in seconds and loss of what leaves `eth0`.
    pub(super) fn shaping_of(&self, machine: &str, flow: &ghost_inspect::qdisc::Flow) -> (f64, f64) {
        let inner = self.lock();
        let shaping =
            inner.world.guests.get(machine).map(|guest| guest.shaping("eth0", flow)).unwrap_or_default();
        (shaping.delay.as_secs_f64(), shaping.loss)
    }
}
