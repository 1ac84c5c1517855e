//! What the shaping of a device does to packets that leave by it.

use super::fault::{Cause, Fault, Object};
use super::flow::Wire;
use super::hop::Effect;
use crate::qdisc::{self, Hit, Qdisc};

/// The shaping of a machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shaping {
    text: String,
    devices: Vec<Qdisc>,
    impaired: bool,
}

/// What a packet meets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Met {
    pub(super) effects: Vec<Effect>,
    pub(super) doubts: Vec<String>,
}

impl Shaping {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let read = qdisc::read(text).map_err(|error| error.to_string())?;
        Ok(Self { text: text.to_owned(), devices: read.devices, impaired: read.impaired })
    }

    /// Returns the disciplines that delay, lose, change or limit.
    pub(super) fn impairing(&self) -> impl Iterator<Item = &Qdisc> {
        self.devices.iter().filter(|qdisc| qdisc.impairs)
    }

    /// Says what a packet meets that leaves by one of some devices, or by one that is not known.
    pub(super) fn meets(&self, machine: &str, devices: Option<&[String]>, wire: &Wire) -> Met {
        let mut met = Met::default();
        if !self.impaired {
            return met;
        }
        let flow = qdisc::Flow {
            protocol: wire.protocol.number(wire.src.is_ipv6()),
            src: wire.src,
            dst: wire.dst,
            sport: wire.sport,
            dport: wire.dport,
            priority: Some(0),
        };
        let Ok(hits) = qdisc::hit(&self.text, &flow) else { return met };
        let physical = self.devices.iter().filter_map(|qdisc| qdisc.dev.as_deref());
        let mut physical: Vec<&str> = physical.filter(|device| !is_virtual(device)).collect();
        physical.dedup();
        for (qdisc, hit) in self.devices.iter().zip(hits).filter(|(qdisc, _)| qdisc.impairs) {
            let Some(device) = qdisc.dev.as_deref() else {
                met.doubts.push(format!("the device of a {} is not reported", qdisc.discipline));
                continue;
            };
            let leaves = match devices {
                Some([only]) => only == device,
                Some(several) if !several.iter().any(|own| own == device) => false,
                None if is_virtual(device) => false,
                // Where there is one device it is that one.
                None if physical == [device] => true,
                Some(_) | None => {
                    met.doubts.push(format!("whether it leaves by {device} is not known"));
                    continue;
                }
            };
            match hit {
                _ if !leaves => {}
                Hit::Around(_) => {}
                Hit::Unknown(why) => met.doubts.push(format!("the {} of {device}: {why}", qdisc.discipline)),
                Hit::Meets(_) => met.effects.extend(effects(machine, device, qdisc)),
            }
        }
        met
    }
}

/// Tells whether a device is one that programs make for what runs on the machine itself.
pub(super) fn is_virtual(device: &str) -> bool {
    let names = [
        "lo", "docker", "br-", "veth", "virbr", "cni", "flannel", "cali", "cbr", "ifb", "tap", "vnet", "lxc",
    ];
    names.iter().any(|start| device.starts_with(start))
}

/// Returns what a discipline does, a cause for each.
pub(super) fn effects(machine: &str, device: &str, qdisc: &Qdisc) -> Vec<Effect> {
    let object = || Object::Qdisc { machine: machine.to_owned(), device: device.to_owned() };
    let some = |figure: Option<f64>| figure.filter(|figure| *figure > 0.0);
    let mut found = Vec::new();
    let mut add = |fault, what: String| {
        let reason = format!("{device} of {machine} {what} ({})", qdisc.discipline);
        found.push(Effect::new(Cause::new(fault, object()), reason));
    };
    if let Some(delay) = some(qdisc.delay_ms).or(some(qdisc.jitter_ms)) {
        add(Fault::NetemDelay, format!("delays packets by {delay} ms"));
    }
    for (figure, fault, what) in [
        (qdisc.loss_pct, Fault::NetemLoss, "loses"),
        (qdisc.corrupt_pct, Fault::NetemCorrupt, "damages"),
        (qdisc.duplicate_pct, Fault::NetemDuplicate, "doubles"),
        (qdisc.reorder_pct, Fault::NetemReorder, "reorders"),
    ] {
        if let Some(share) = some(figure) {
            add(fault, format!("{what} {share} % of its packets"));
        }
    }
    match some(qdisc.rate_bps) {
        Some(rate) => add(Fault::RateLimit, format!("sends at most {rate} bit/s")),
        None if qdisc.discipline != "netem" => add(Fault::RateLimit, "limits what it sends".to_owned()),
        None => {}
    }
    found
}
