//! `iperf3`: the sums only.

use serde_json::json;

use super::amount::{rate, transfer};
use super::iperf::{float, whole};
use super::option::Options;
use super::rate::streams;
use crate::host::simulated::wire::journal::Act;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::wire::path::Line;
use crate::host::simulated::wire::play::{Script, Turn};
use crate::host::simulated::world::{Called, World};
use crate::host::stage::Protocol;

/// Measures a way.
pub(super) fn iperf3(world: &mut World, machine: &str, argv: &[String]) -> Called {
    let known = [
        "c=",
        "client=",
        "s",
        "server",
        "p=",
        "port=",
        "t=",
        "time=",
        "P=",
        "parallel=",
        "J",
        "json",
        "i=",
        "f=",
        "R",
        "reverse",
        "u",
        "4",
        "6",
        "b=",
        "l=",
        "w=",
        "connect-timeout=",
        "v",
        "version",
        "1",
        "D",
        "B=",
        "n=",
        "O=",
    ];
    let options = Options::read(argv, &known);
    if options.has(&["v", "version"]) {
        return Called::said("iperf 3.9 (cJSON 1.7.13)\n");
    }
    let Some(host) = options.text(&["c", "client"]) else {
        return Called { took: std::time::Duration::from_secs(3_600), code: 143, ..Called::default() };
    };
    let mut net = Net::new(world, machine, "iperf3");
    let wants_json = options.has(&["J", "json"]);
    let fails = |net: &Net<'_>, why: &str| {
        let why = format!("unable to connect to server: {why}");
        let out = if wants_json {
            format!("{:#}\n", json!({"start": {}, "intervals": [], "end": {}, "error": why}))
        } else {
            String::new()
        };
        let err = if wants_json { String::new() } else { format!("iperf3: error - {why}\n") };
        Called { out, err, code: 1, took: net.took() }
    };
    let Ok(to) = net.resolve(host) else { return fails(&net, "Name or service not known") };
    let port = options.number(&["p", "port"]).unwrap_or(5_201);
    let time = options.seconds(&["t", "time"]).unwrap_or(10 * SECOND).max(SECOND);
    let count = options.number::<u64>(&["P", "parallel"]).unwrap_or(1).clamp(1, 128);
    let line = net.line(to, Protocol::Tcp, port);
    let turn = Turn { request: 1 << 30, ..Turn::default() };
    let script = Script { turns: vec![turn], patience: time, most: 2_500 };
    let outcome = net.say(&line, Act::Tcp(script)).outcome;
    if outcome.connected.is_none() {
        let waited = options
            .number::<u64>(&["connect-timeout"])
            .map_or(134 * SECOND, |millis| millis.saturating_mul(1_000_000));
        net.passed += outcome.refused.unwrap_or(waited);
        return fails(
            &net,
            if outcome.refused.is_some() { "Connection refused" } else { "Connection timed out" },
        );
    }
    let turned = if options.has(&["R", "reverse"]) {
        Line { there: line.back.clone(), back: line.there.clone(), ..line.clone() }
    } else {
        line.clone()
    };
    let shares = streams(&turned, count, float(time) / 1e9, &mut net.chance);
    let bits: f64 = shares.iter().sum();
    net.passed += time + 40_000_000;
    let seconds = float(time) / 1e9;
    let bytes = whole(bits * seconds / 8.0);
    net.carried(&turned, bytes);
    let packets = float(bytes) / 1448.0;
    let again = whole(packets * turned.there.lost());
    if wants_json {
        let sum = |bytes: u64, bits: f64| json!({"start": 0, "end": seconds, "seconds": seconds, "bytes": bytes, "bits_per_second": bits});
        let mut sent = sum(bytes + bytes / 400, bits * 1.0025);
        if let Some(sent) = sent.as_object_mut() {
            sent.insert("retransmits".to_owned(), json!(again));
        }
        let end = json!({"sum_sent": sent, "sum_received": sum(bytes, bits)});
        let start = json!({"version": "iperf 3.9", "connecting_to": {"host": host, "port": port},
            "test_start": {"protocol": "TCP", "num_streams": count, "duration": time / SECOND}});
        let out = format!("{:#}\n", json!({"start": start, "intervals": [], "end": end}));
        return Called { out, took: net.took(), ..Called::default() };
    }
    let name = if count > 1 { "[SUM]" } else { "[  5]" };
    let row = |bytes: u64, bits: f64, tail: &str| {
        format!("{name}   0.00-{seconds:.2}  sec  {}  {}  {tail}\n", transfer(bytes, None), rate(bits, None))
    };
    let out = format!(
        "Connecting to host {host}, port {port}\n[  5] local {} port {} connected to {to} port {port}\n- - - - - - - - - - - - - - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bitrate         Retr\n{}{}\niperf Done.\n",
        line.near.address,
        line.near.port,
        row(bytes + bytes / 400, bits * 1.0025, &format!("{again:>4}             sender")),
        row(bytes, bits, "                  receiver"),
    );
    Called { out, took: net.took(), ..Called::default() }
}
