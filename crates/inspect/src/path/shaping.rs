//! What the shaping of a device does to packets that leave by it.

use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Wire};
use super::hop::Effect;
use crate::qdisc::{self, Acted, Hit, Qdisc, Side};

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
    /// What takes every packet.
    pub(super) stops: Vec<Effect>,
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
    pub(super) fn meets(&self, machine: &str, devices: Option<&[String]>, wire: &Wire, asked: &Flow) -> Met {
        let mut met = Met::default();
        let flow = described(wire);
        let by = devices.unwrap_or_default();
        for device in by {
            let found = self.filters(machine, device, Side::Out, &flow, asked);
            // Of several devices it is not known which one it is.
            if by.len() == 1 {
                met.add(found);
            } else if !found.stops.is_empty() || !found.effects.is_empty() || !found.doubts.is_empty() {
                met.doubts.push(format!("whether it leaves by {device}, where filters stand, is not known"));
            }
        }
        if !self.impaired {
            return met;
        }
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
                Hit::Meets(_) => {
                    if qdisc.is_open {
                        met.doubts.push(format!(
                            "what the {} of {device} does to it is not known",
                            qdisc.discipline
                        ));
                    }
                    let found = effects(machine, device, qdisc);
                    let is_whole = |share: Option<f64>| share.is_some_and(|share| share >= 100.0);
                    if qdisc.discipline == "blackhole" || is_whole(qdisc.loss_pct) {
                        met.stops.extend(
                            found.into_iter().filter(|effect| effect.cause.fault == Fault::NetemLoss),
                        );
                    } else {
                        met.effects.extend(found);
                    }
                }
            }
        }
        met
    }
}

impl Met {
    fn add(&mut self, more: Self) {
        self.effects.extend(more.effects);
        self.stops.extend(more.stops);
        self.doubts.extend(more.doubts);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.stops.is_empty() && self.doubts.is_empty()
    }
}

impl Shaping {
    /// Says what the filters of a device do to a packet that comes by it.
    pub(super) fn arrives(&self, machine: &str, device: Option<&str>, wire: &Wire, asked: &Flow) -> Met {
        let flow = described(wire);
        if let Some(device) = device {
            return self.filters(machine, device, Side::In, &flow, asked);
        }
        let mut devices: Vec<&str> = self.devices.iter().filter_map(|qdisc| qdisc.dev.as_deref()).collect();
        devices.dedup();
        let acts = |device: &&&str| !self.filters(machine, device, Side::In, &flow, asked).is_empty();
        let acting = devices.iter().filter(|device| !is_virtual(device)).filter(acts);
        let doubts =
            acting.map(|device| format!("whether it comes by {device}, where filters stand, is not known"));
        Met { doubts: doubts.collect(), ..Met::default() }
    }

    /// What a filter does is named by the flow: the shaping at the root of the device has no part in it.
    fn filters(&self, machine: &str, device: &str, side: Side, flow: &qdisc::Flow, asked: &Flow) -> Met {
        let mut met = Met::default();
        let effect = |fault, why: &str| {
            Effect::new(Cause::new(fault, Object::flow(asked)), format!("{why} on {machine}"))
        };
        for acted in qdisc::act(&self.text, device, side, flow).unwrap_or_default() {
            match acted {
                Acted::Drops(why) => met.stops.push(effect(Fault::NoPath, &why)),
                Acted::Limits(why) => met.effects.push(effect(Fault::RateLimit, &why)),
                Acted::Unknown(why) => met.doubts.push(why),
            }
        }
        met
    }
}

fn described(wire: &Wire) -> qdisc::Flow {
    qdisc::Flow {
        protocol: wire.protocol.number(wire.src.is_ipv6()),
        src: wire.src,
        dst: wire.dst,
        sport: wire.sport,
        dport: wire.dport,
        priority: Some(0),
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
