//! What a machine shows by itself: counters that grow, queues that drop, rules of their own kind, settings that are too small.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::context::Flow;
use super::fault::Fault;
use super::filter;
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::link::Link;
use super::model::Host;
use super::object::Object;
use super::walk::Trace;
use crate::qdisc::{self, Qdisc};

const DEGRADED: (Weight, Certainty) = (Weight::Degraded, Certainty::Confirmed);
const NOTICED: (Weight, Certainty) = (Weight::Noticed, Certainty::Likely);
const BROKEN: (Weight, Certainty) = (Weight::Broken, Certainty::Confirmed);

/// A largest receive buffer below this holds TCP back on any path that is not short.
const SMALL_RECEIVE_BYTES: u64 = 64 << 10;
/// Fewer local ports than this are used up by one busy client.
const FEW_PORTS: u64 = 1_024;

type Traces<'a> = [(&'a Flow, Trace)];

/// Finds what is odd on one machine by itself.
pub(super) fn check(host: &Host, traces: &Traces<'_>) -> Vec<Finding> {
    let mut found = devices(host);
    found.extend(queues(host, traces));
    found.extend(rules(host, traces));
    found.extend(settings(host));
    found.extend(counters(host, traces));
    found.extend(host.failed_units.iter().map(|unit| {
        let object = Object::Unit { host: host.name.clone(), unit: unit.clone() };
        Finding::new(NOTICED, Fault::UnitFailed, object, (&host.name, Part::Units, unit.as_str()))
    }));
    found
}

fn link(host: &Host, device: &str) -> Object {
    Object::Link { host: host.name.clone(), device: device.to_owned() }
}

fn devices(host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    for own in host.links.rows().iter().filter(|link| !link.is_loopback()) {
        let used = host.global().any(|address| address.device == own.name);
        let growth = host.growth(&own.name).unwrap_or_default();
        // Both ends of a cable see it; the one with an address is the one that hurts.
        if growth.carrier_changes > 0 && used {
            let proof = (
                host.name.as_str(),
                Part::LinksLater,
                format!("{}: carrier changes grew by {}", own.name, growth.carrier_changes),
            );
            found.push(Finding::new(BROKEN, Fault::LinkFlap, link(host, &own.name), proof));
        }
        if growth.errors > 0 || growth.missed > 0 {
            let proof = (
                host.name.as_str(),
                Part::LinksLater,
                format!("{}: errors grew by {}, missed by {}", own.name, growth.errors, growth.missed),
            );
            found.push(Finding::new(DEGRADED, Fault::DeviceErrors, link(host, &own.name), proof));
        }
    }
    found
}

/// A queue whose limit dropped something.
struct Limited<'a> {
    qdisc: &'a Qdisc,
    device: &'a String,
    /// So many were dropped while the machine was read.
    grew: u64,
}

impl Limited<'_> {
    fn finding(&self, host: &Host) -> Finding {
        let certainty = if self.grew > 0 { Certainty::Confirmed } else { Certainty::Likely };
        let Self { qdisc, device, grew } = self;
        let shows = format!(
            "{} on {device}: rate {} bit/s, {} dropped, {grew} of them just now",
            qdisc.discipline,
            qdisc.rate_bps.unwrap_or(0.0),
            qdisc.drops.unwrap_or(0)
        );
        let object = Object::Qdisc { host: host.name.clone(), device: (*device).clone() };
        let proof = (host.name.as_str(), Part::QdiscsLater, shows);
        Finding::new((Weight::Degraded, certainty), Fault::RateLimit, object, proof)
    }
}

fn limited(host: &Host) -> impl Iterator<Item = Limited<'_>> {
    let rows = host.qdiscs.rows().iter();
    rows.filter(|own| own.rate_bps.is_some() && own.drops.unwrap_or(0) > 0).filter_map(|qdisc| {
        let device = qdisc.dev.as_ref()?;
        Some(Limited { qdisc, device, grew: grew(host, qdisc) })
    })
}

/// Returns how many packets a discipline dropped while the machine was read.
fn grew(host: &Host, qdisc: &Qdisc) -> u64 {
    let same = |one: &&Qdisc| one.dev == qdisc.dev && one.handle == qdisc.handle;
    let before = host.qdiscs_before.rows().iter().find(same).and_then(|one| one.drops);
    qdisc.drops.unwrap_or(0).saturating_sub(before.unwrap_or(0))
}

/// Tells whether a discipline gets only what a class above it gets. Those of one class alone pass everything on.
fn is_of_a_class(host: &Host, qdisc: &Qdisc) -> bool {
    let mut at = qdisc;
    // A tree of this kernel is at most eight deep; a text may claim anything.
    for _ in 0..16 {
        let Some((major, _)) = at.parent.as_deref().and_then(|parent| parent.split_once(':')) else {
            return false;
        };
        let above = host.qdiscs.rows().iter().find(|above| {
            above.dev == at.dev
                && !std::ptr::eq(*above, at)
                && above.handle.as_deref().and_then(|handle| handle.strip_suffix(':')) == Some(major)
        });
        match above {
            Some(above) if matches!(above.discipline.as_str(), "netem" | "tbf" | "red" | "cake") => {
                at = above
            }
            Some(_) | None => return true,
        }
    }
    true
}

/// Finds what drops packets that leave by a device just now, a limit or a netem that loses: also what asks who has an address, and what answers.
pub(super) fn overloaded(host: &Host, device: &str) -> Option<Finding> {
    let limit = limited(host).find(|own| own.device == device && own.grew > 0);
    let netem = || {
        let own = netems(host).filter(|(own, _)| *own == device);
        own.flat_map(|(device, qdisc)| impairments(host, device, qdisc, true))
            .find(|finding| finding.fault == Fault::NetemLoss)
    };
    limit.map(|limit| limit.finding(host)).or_else(netem)
}

fn netems(host: &Host) -> impl Iterator<Item = (&String, &Qdisc)> {
    let all =
        host.qdiscs.rows().iter().filter(|own| matches!(own.discipline.as_str(), "netem" | "blackhole"));
    all.filter_map(|qdisc| Some((qdisc.dev.as_ref()?, qdisc)))
}

fn queues(host: &Host, traces: &Traces<'_>) -> Vec<Finding> {
    let on_the_path = |device: &String| {
        traces.iter().any(|(_, trace)| {
            trace.passed.iter().any(|one| one.host == host.name && one.output.as_ref() == Some(device))
        })
    };
    let hurts = limited(host).filter(|own| own.grew > 0 || on_the_path(own.device));
    let mut found: Vec<Finding> = hurts.map(|own| own.finding(host)).collect();
    for (device, qdisc) in netems(host) {
        let is_loopback = host.link(device).is_some_and(Link::is_loopback);
        let leaves = !is_loopback
            && (traces.is_empty() || on_the_path(device))
            && !is_around(host, traces, device, qdisc);
        found.extend(impairments(host, device, qdisc, leaves));
    }
    found
}

/// Tells whether filters lead every flow that passes a device around a discipline. That is known of a device of which the filters were
/// listed.
fn is_around(host: &Host, traces: &Traces<'_>, device: &String, qdisc: &Qdisc) -> bool {
    let at = host.qdiscs.rows().iter().position(|own| std::ptr::eq(own, qdisc));
    let is_listed = host.shaping.lines().any(|line| line.trim() == format!("filters dev {device}"));
    let Some(at) = at.filter(|_| is_listed) else { return false };
    let passes = |trace: &Trace| {
        trace.passed.iter().any(|one| one.host == host.name && one.output.as_ref() == Some(device))
    };
    let mut flows = traces.iter().filter(|(_, trace)| passes(trace)).peekable();
    let goes_around = |src: IpAddr, dst: IpAddr, number: u8, (sport, dport): (Option<u16>, Option<u16>)| {
        let flow = qdisc::Flow { protocol: number, src, dst, sport, dport, priority: Some(0) };
        qdisc::hit(&host.shaping, &flow).is_ok_and(|hits| matches!(hits.get(at), Some(qdisc::Hit::Around(_))))
    };
    let is_led = |(flow, trace): &(&Flow, Trace)| {
        let Some(source) = trace.seen_as.or(flow.source) else { return false };
        let number = flow.protocol.number(flow.to.is_ipv6());
        // Which of both directions leaves by the device is not asked: neither may meet it.
        goes_around(source, flow.to, number, (None, flow.port))
            && goes_around(flow.to, source, number, (flow.port, None))
    };
    flows.peek().is_some() && flows.all(is_led)
}

/// Returns what a netem does to what leaves by a device; `leaves` says that it does so to traffic in question.
fn impairments(host: &Host, device: &str, qdisc: &Qdisc, leaves: bool) -> Vec<Finding> {
    let some = |figure: Option<f64>| figure.filter(|figure| *figure > 0.0);
    let exempt = match qdisc.exempt.as_slice() {
        [] => String::new(),
        some => format!(", but for {}", some.join(", ")),
    };
    let delay = some(qdisc.delay_ms).or(some(qdisc.jitter_ms));
    let kinds = [
        (Fault::NetemLoss, some(qdisc.loss_pct), "loses", "%"),
        (Fault::NetemDelay, delay, "delays by", "ms"),
        (Fault::NetemCorrupt, some(qdisc.corrupt_pct), "damages", "%"),
        (Fault::NetemDuplicate, some(qdisc.duplicate_pct), "doubles", "%"),
        (Fault::NetemReorder, some(qdisc.reorder_pct), "reorders", "%"),
    ];
    let figures =
        kinds.into_iter().filter_map(|(fault, figure, does, unit)| Some((fault, figure?, does, unit)));
    let finding = |(fault, figure, does, unit): (Fault, f64, &str, &str)| {
        let how = match (leaves, qdisc.exempt.is_empty()) {
            (false, _) => NOTICED,
            // Which of the flows go around it is not followed here.
            (true, false) => (Weight::Degraded, Certainty::Likely),
            // Which packets a class gets is up to filters that were not read; that it lost some just now shows that it gets some.
            (true, true) if is_of_a_class(host, qdisc) && grew(host, qdisc) == 0 => {
                let loses_all = fault == Fault::NetemLoss && figure >= 100.0;
                (if loses_all { Weight::Broken } else { Weight::Degraded }, Certainty::Likely)
            }
            (true, true) if fault == Fault::NetemLoss && figure >= 100.0 => BROKEN,
            (true, true) => DEGRADED,
        };
        let object = Object::Qdisc { host: host.name.clone(), device: device.to_owned() };
        let shows = format!("netem on {device} {does} {figure} {unit} of what it sends{exempt}");
        Finding::new(how, fault, object, (&host.name, Part::QdiscsLater, shows))
    };
    figures.map(finding).collect()
}

fn rules(host: &Host, traces: &Traces<'_>) -> Vec<Finding> {
    let passes = || traces.iter().any(|(_, trace)| trace.passed.iter().any(|one| one.host == host.name));
    let narrow = || {
        traces.iter().any(|(_, trace)| {
            let own = trace.passed.iter().find(|one| one.host == host.name);
            let mtu = |device: Option<&String>| device.and_then(|device| host.link(device)).map(|link| link.mtu);
            own.is_some_and(|own| matches!((mtu(own.input.as_ref()), mtu(own.output.as_ref())), (Some(wide), Some(small)) if small < wide))
        })
    };
    let marked = || {
        traces
            .iter()
            .any(|(flow, trace)| flow.is_marked && trace.passed.iter().any(|one| one.host == host.name))
    };
    let silent = || host.neighbors.rows().iter().any(super::link::Neighbor::is_silent);
    let mut found = Vec::new();
    for special in filter::specials(host) {
        let is = |fault: Fault| special.fault == fault;
        let degrades =
            (is(Fault::RandomDrop) || is(Fault::PayloadRewrite)) && (traces.is_empty() || passes());
        let how = if degrades || (is(Fault::DscpRewrite) && marked()) {
            DEGRADED
        } else if (is(Fault::ArpDrop) && silent()) || (is(Fault::FragNeededDrop) && narrow()) {
            BROKEN
        } else {
            NOTICED
        };
        found.push(Finding::new(
            how,
            special.fault,
            special.object,
            (&host.name, Part::FilterNft, special.line),
        ));
    }
    let failed = host.conntrack.now("insert_failed").saturating_add(host.conntrack.now("drop"));
    for chain in filter::translations(host) {
        if let Some((rule, ports)) = chain.narrow().filter(|_| failed > 0) {
            let one = Finding::new(
                BROKEN,
                Fault::SnatPorts,
                chain.object.clone(),
                (&host.name, Part::FilterNft, format!("{ports} ports: {rule}")),
            );
            found.push(one.and(&host.name, Part::Conntrack, format!("{failed} connections were not taken")));
        }
    }
    found
}

fn settings(host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    let sysctl = |key: &str| Object::Sysctl { host: host.name.clone(), key: key.to_owned() };
    let window = "net.ipv4.tcp_rmem";
    if let [_, _, most] = host.numbers(window).as_slice()
        && *most < SMALL_RECEIVE_BYTES
    {
        found.push(Finding::new(
            DEGRADED,
            Fault::ReceiveWindow,
            sysctl(window),
            (&host.name, Part::Settings, format!("{window}: at most {most} bytes")),
        ));
    }
    let range = "net.ipv4.ip_local_port_range";
    if let [low, high] = host.numbers(range).as_slice() {
        let ports = high.saturating_sub(*low).saturating_add(1);
        let mut by_peer: BTreeMap<(IpAddr, u16), u64> = BTreeMap::new();
        for one in
            host.connections.rows().iter().filter(|one| (*low..=*high).contains(&u64::from(one.local.1)))
        {
            *by_peer.entry(one.peer).or_default() += 1;
        }
        let busiest = by_peer.into_iter().max_by_key(|(_, count)| *count);
        let line = format!("{range} = {low} {high}");
        match busiest {
            Some(((ip, port), count)) if count >= ports => {
                let one = Finding::new(
                    BROKEN,
                    Fault::PortRangeExhausted,
                    sysctl(range),
                    (&host.name, Part::Settings, line),
                );
                found.push(one.and(
                    &host.name,
                    Part::Connections,
                    format!("{count} connections to {ip}:{port}"),
                ));
            }
            Some(_) | None if ports < FEW_PORTS => {
                found.push(Finding::new(
                    NOTICED,
                    Fault::PortRangeExhausted,
                    sysctl(range),
                    (&host.name, Part::Settings, line),
                ));
            }
            Some(_) | None => {}
        }
    }
    found
}

fn counters(host: &Host, traces: &Traces<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let own = || Object::Host { what: host.name.clone() };
    let damaged =
        host.counters.growth("Tcp.InCsumErrors").saturating_add(host.counters.growth("Udp.InCsumErrors"));
    if damaged > 0 {
        let to =
            traces.iter().find(|(_, trace)| trace.passed.last().is_some_and(|last| last.host == host.name));
        let object = to.and_then(|(flow, trace)| {
            Some(Object::Flow {
                src: trace.seen_as?,
                dst: flow.to,
                protocol: flow.protocol.to_string(),
                port: flow.port,
            })
        });
        found.push(Finding::new(
            DEGRADED,
            Fault::ChecksumErrors,
            object.unwrap_or_else(own),
            (&host.name, Part::CountersLater, format!("InCsumErrors grew by {damaged}")),
        ));
    }
    let lost = host.counters.growth("Udp.RcvbufErrors");
    if lost > 0 {
        let socket =
            host.udp.rows().iter().filter(|socket| socket.drops > 0).max_by_key(|socket| socket.drops);
        if let Some(socket) = socket {
            let object =
                Object::Service { host: host.name.clone(), protocol: "udp".to_owned(), port: socket.port };
            let one = Finding::new(
                DEGRADED,
                Fault::ReceiveBuffer,
                object,
                (&host.name, Part::CountersLater, format!("RcvbufErrors grew by {lost}")),
            );
            found.push(one.and(
                &host.name,
                Part::Udp,
                format!("port {}: {} dropped", socket.port, socket.drops),
            ));
        }
    }
    let dropped = host.softnet.growth("dropped");
    if dropped > 0 {
        found.push(Finding::new(
            DEGRADED,
            Fault::SoftnetDrop,
            own(),
            (&host.name, Part::SoftnetLater, format!("dropped grew by {dropped}")),
        ));
    }
    let (count, most) = (host.conntrack.now("count"), host.conntrack.now("max"));
    if most > 0 && count.saturating_mul(100) >= most.saturating_mul(98) {
        found.push(Finding::new(
            BROKEN,
            Fault::ConntrackFull,
            own(),
            (&host.name, Part::ConntrackLater, format!("{count} of {most}")),
        ));
    }
    found
}
