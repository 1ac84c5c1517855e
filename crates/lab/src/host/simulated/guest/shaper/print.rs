//! What `tc` shows.

use serde_json::{Map, Value, json};

use super::change::Shaper;
use super::discipline::{Discipline, Kind, Netem};
use super::filter::Filter;
use super::unit::{format_general, format_rate, format_size, format_time};
use crate::host::simulated::guest::machine::Count;
use crate::host::simulated::world::set;

/// How it is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::host::simulated) struct Form {
    pub(in crate::host::simulated) json: bool,
    pub(in crate::host::simulated) counters: bool,
}

impl Shaper {
    /// Writes disciplines; of all devices, if none is named.
    pub(in crate::host::simulated) fn show(
        &self,
        device: Option<&str>,
        devices: &[String],
        form: Form,
    ) -> String {
        let mut rows = Vec::new();
        let mut out = String::new();
        for own in devices.iter().filter(|own| device.is_none_or(|device| device == own.as_str())) {
            let there: Vec<&Discipline> =
                self.disciplines.iter().filter(|discipline| discipline.device == *own).collect();
            let mut items: Vec<(String, String, Value, Count)> = Vec::new();
            let passed = self.passed.get(own).copied().unwrap_or_default();
            if !there.iter().any(|discipline| discipline.parent.is_none()) {
                items.extend(first(own).into_iter().map(|(head, text, row)| (head, text, row, passed)));
            }
            items.extend(there.into_iter().map(|own| (head(own), text(&own.kind), object(own), own.count)));
            for (head, text, mut row, count) in items {
                let dev = if device.is_none() { format!(" dev {own}") } else { String::new() };
                let (name, place) = head.split_once("  ").unwrap_or((&head, ""));
                out.push_str(&format!("qdisc {name}{dev} {place}{text}\n"));
                if form.counters {
                    out.push_str(&counted(count));
                }
                if let Some(row) = row.as_object_mut() {
                    if device.is_none() {
                        row.insert("dev".to_owned(), json!(own));
                    }
                    if form.counters {
                        let known = [
                            ("bytes", count.bytes),
                            ("packets", count.packets),
                            ("drops", count.drops),
                            ("overlimits", count.waits),
                        ];
                        let still = ["requeues", "backlog", "qlen"].map(|key| (key, 0));
                        for (key, number) in known.into_iter().chain(still) {
                            row.insert(key.to_owned(), json!(number));
                        }
                    }
                }
                rows.push(row);
            }
        }
        if form.json { format!("{}\n", Value::Array(rows)) } else { out }
    }

    /// Writes the classes of a device.
    pub(in crate::host::simulated) fn show_classes(&self, device: &str, form: Form) -> String {
        let (mut rows, mut out) = (Vec::new(), String::new());
        for discipline in self.disciplines.iter().filter(|own| own.device == device) {
            let Kind::Prio { bands, .. } = &discipline.kind else { continue };
            for band in 1..=*bands {
                let id = format!("{:x}:{band:x}", discipline.handle);
                let leaf = self
                    .disciplines
                    .iter()
                    .find(|own| own.device == device && own.parent.as_deref() == Some(&id));
                let count = leaf.map(|leaf| leaf.count).unwrap_or_default();
                let leaf = leaf.map(|leaf| format!("leaf {:x}: ", leaf.handle)).unwrap_or_default();
                out.push_str(&format!("class prio {id} parent {:x}: {leaf}\n", discipline.handle));
                if form.counters {
                    out.push_str(&counted(count));
                }
                rows.push(
                    json!({"class": "prio", "handle": id, "parent": format!("{:x}:", discipline.handle)}),
                );
            }
        }
        for class in self.classes.iter().filter(|class| class.device == device) {
            let root = class.parent.split_once(':').is_none_or(|(_, minor)| minor.is_empty());
            let parent = if root { "root".to_owned() } else { format!("parent {}", class.parent) };
            let leaf = self
                .disciplines
                .iter()
                .find(|own| own.device == device && own.parent.as_deref() == Some(&class.id));
            let count = leaf.map(|leaf| leaf.count).unwrap_or_default();
            let leaf = leaf.map(|leaf| format!("leaf {:x}: ", leaf.handle)).unwrap_or_default();
            let burst = |bits: f64| format!("{}b", (bits / 8.0 / 250.0).max(1_600.0).trunc());
            out.push_str(&format!(
                "class htb {} {parent} {leaf}prio 0 rate {} ceil {} burst {} cburst {} \n",
                class.id,
                format_rate(class.rate),
                format_rate(class.ceil),
                burst(class.rate),
                burst(class.ceil)
            ));
            if form.counters {
                out.push_str(&counted(count));
            }
            rows.push(json!({"class": "htb", "handle": class.id, "parent": class.parent, "prio": 0, "rate": class.rate / 8.0, "ceil": class.ceil / 8.0}));
        }
        if form.json { format!("{}\n", Value::Array(rows)) } else { out }
    }

    /// Writes the filters of a device.
    pub(in crate::host::simulated) fn show_filters(
        &self,
        device: &str,
        parent: Option<&str>,
        form: Form,
    ) -> String {
        let (mut rows, mut out) = (Vec::new(), String::new());
        let mut table = 0x800;
        let mut seen: Vec<(String, u32, String)> = Vec::new();
        let own: Vec<&Filter> = self
            .filters
            .iter()
            .filter(|filter| filter.device == device && parent.is_none_or(|parent| filter.parent == parent))
            .collect();
        for filter in &own {
            let group = (filter.parent.clone(), filter.preference, filter.protocol.clone());
            if seen.contains(&group) {
                continue;
            }
            let head = format!(
                "filter parent {} protocol {} pref {} {} chain 0 ",
                filter.parent, filter.protocol, filter.preference, filter.kind
            );
            let row = json!({"parent": filter.parent, "protocol": filter.protocol, "pref": filter.preference, "kind": filter.kind, "chain": 0});
            out.push_str(&format!("{head}\n"));
            rows.push(row.clone());
            if filter.kind == "u32" {
                out.push_str(&format!("{head}fh {table:x}: ht divisor 1 \n"));
                let mut row = row.clone();
                set(&mut row, "options", json!({"fh": format!("{table:x}:"), "ht_divisor": 1}));
                rows.push(row);
            }
            let same = own
                .iter()
                .filter(|other| (other.parent.clone(), other.preference, other.protocol.clone()) == group);
            for (at, other) in same.enumerate() {
                write(other, at, table, &head, &row, &mut out, &mut rows);
            }
            seen.push(group);
            table += 1;
        }
        if form.json { format!("{}\n", Value::Array(rows)) } else { out }
    }
}

fn counted(count: Count) -> String {
    let Count { packets, bytes, drops, waits } = count;
    format!(
        " Sent {bytes} bytes {packets} pkt (dropped {drops}, overlimits {waits} requeues 0) \n backlog 0b 0p requeues 0\n"
    )
}

fn write(
    filter: &Filter,
    at: usize,
    table: u32,
    head: &str,
    row: &Value,
    out: &mut String,
    rows: &mut Vec<Value>,
) {
    let flow = filter.flow.as_deref().unwrap_or_default();
    let mut row = row.clone();
    if filter.kind == "u32" {
        let order = 2_048 + at;
        out.push_str(&format!(
            "{head}fh {table:x}::{order:x} order {order} key ht {table:x} bkt 0 *flowid {flow} not_in_hw \n"
        ));
        let mut options = json!({
            "fh": format!("{table:x}::{order:x}"), "order": order, "key_ht": format!("{table:x}"), "bkt": "0", "flowid": flow, "not_in_hw": true,
        });
        for (value, mask, offset) in &filter.keys {
            out.push_str(&format!("  match {value:08x}/{mask:08x} at {offset}\n"));
            set(
                &mut options,
                "match",
                json!({"value": format!("{value:x}"), "mask": format!("{mask:x}"), "offmask": "", "off": offset}),
            );
        }
        set(&mut row, "options", options);
    } else {
        out.push_str(&format!("{head}handle 0x1 classid {flow} \n"));
        let mut keys = Map::new();
        if filter.kind == "flower" {
            out.push_str("  eth_type ipv4\n");
            keys.insert("eth_type".to_owned(), json!("ipv4"));
        }
        for (name, value) in &filter.names {
            out.push_str(&format!("  {name} {value}\n"));
            keys.insert(
                name.clone(),
                value.parse::<u32>().map_or_else(|_| json!(value), |number| json!(number)),
            );
        }
        out.push_str("  not_in_hw\n");
        set(&mut row, "options", json!({"handle": 1, "classid": flow, "keys": keys, "not_in_hw": true}));
    }
    rows.push(row);
}

/// Returns what a device has before anybody changes it.
fn first(device: &str) -> Vec<(String, String, Value)> {
    if !device.starts_with("eth") {
        return vec![(
            "noqueue 0:  root refcnt 2 ".to_owned(),
            String::new(),
            json!({"kind": "noqueue", "handle": "0:", "root": true, "refcnt": 2, "options": {}}),
        )];
    }
    let options = json!({
        "limit": 10_240, "flows": 1_024, "quantum": 1_514, "target": 4_999, "interval": 99_999, "memory_limit": 33_554_432, "ecn": true, "drop_batch": 64,
    });
    vec![
        (
            "mq 0:  root ".to_owned(),
            String::new(),
            json!({"kind": "mq", "handle": "0:", "root": true, "options": {}}),
        ),
        (
            "fq_codel 0:  parent :1 ".to_owned(),
            "limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 ".to_owned(),
            json!({"kind": "fq_codel", "handle": "0:", "parent": ":1", "options": options}),
        ),
    ]
}

/// Writes the name and the place, two blanks between them.
fn head(discipline: &Discipline) -> String {
    let kind = match &discipline.kind {
        Kind::Prio { .. } => "prio",
        Kind::Netem(_) => "netem",
        Kind::Tbf { .. } => "tbf",
        Kind::Htb { .. } => "htb",
        Kind::FqCodel => "fq_codel",
        Kind::Fq => "fq",
        Kind::Pfifo { bytes: false, .. } => "pfifo",
        Kind::Pfifo { bytes: true, .. } => "bfifo",
    };
    let place = discipline
        .parent
        .as_ref()
        .map_or_else(|| "root refcnt 2 ".to_owned(), |parent| format!("parent {parent} "));
    format!("{kind} {:x}:  {place}", discipline.handle)
}

fn percent(share: f64) -> String {
    format!("{}%", format_general(share))
}

fn text(kind: &Kind) -> String {
    match kind {
        Kind::Prio { bands, map } => {
            let map: Vec<String> = map.iter().map(u32::to_string).collect();
            format!("bands {bands} priomap {}", map.join(" "))
        }
        Kind::Netem(netem) => netem_text(netem),
        Kind::Tbf { rate, burst, latency } => {
            format!("rate {} burst {} lat {} ", format_rate(*rate), format_size(*burst), format_time(*latency))
        }
        Kind::Htb { default } => {
            let default = if *default == 0 { "0".to_owned() } else { format!("0x{default:x}") };
            format!("r2q 10 default {default} direct_packets_stat 0 direct_qlen 1000")
        }
        Kind::FqCodel => "limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 ".to_owned(),
        Kind::Fq => "limit 10000p flow_limit 100p buckets 1024 orphan_mask 1023 quantum 3028b initial_quantum 15140b low_rate_threshold 550Kbit refill_delay 40ms timer_slack 10us horizon 10s horizon_drop ".to_owned(),
        Kind::Pfifo { limit, bytes } => format!("limit {limit}{}", if *bytes { "b" } else { "p" }),
    }
}

fn netem_text(netem: &Netem) -> String {
    let mut words = vec![format!("limit {}", netem.limit)];
    if let Some((delay, jitter, correlation)) = netem.delay {
        let mut text = format!("delay {}", format_time(delay));
        if jitter > 0.0 {
            text.push_str(&format!("  {}", format_time(jitter)));
            if correlation > 0.0 {
                text.push_str(&format!(" {}", percent(correlation)));
            }
        }
        words.push(text);
    }
    let shares = [
        ("loss", netem.loss),
        ("duplicate", netem.duplicate),
        ("reorder", netem.reorder),
        ("corrupt", netem.corrupt),
    ];
    for (name, share) in shares {
        let Some((share, correlation)) = share else { continue };
        let behind = if correlation > 0.0 { format!(" {}", percent(correlation)) } else { String::new() };
        words.push(format!("{name} {}{behind}", percent(share)));
    }
    if let Some(rate) = netem.rate {
        words.push(format!("rate {}", format_rate(rate)));
    }
    if netem.ecn {
        words.push("ecn".to_owned());
    }
    if netem.gap > 0 {
        words.push(format!("gap {}", netem.gap));
    }
    words.join(" ")
}

fn object(discipline: &Discipline) -> Value {
    let head = head(discipline);
    let kind = head.split(' ').next().unwrap_or_default();
    let mut row = json!({"kind": kind, "handle": format!("{:x}:", discipline.handle)});
    match &discipline.parent {
        Some(parent) => set(&mut row, "parent", json!(parent)),
        None => {
            set(&mut row, "root", json!(true));
            set(&mut row, "refcnt", json!(2));
        }
    }
    set(
        &mut row,
        "options",
        match &discipline.kind {
            Kind::Prio { bands, map } => json!({"bands": bands, "priomap": map, "multiqueue": false}),
            Kind::Netem(netem) => netem_object(netem),
            Kind::Tbf { rate, burst, latency } => {
                json!({"rate": whole(rate / 8.0), "burst": whole(*burst), "lat": whole(*latency)})
            }
            Kind::Htb { default } => {
                json!({"r2q": 10, "default": format!("0x{default:x}"), "direct_packets_stat": 0, "direct_qlen": 1_000})
            }
            Kind::FqCodel | Kind::Fq => json!({}),
            Kind::Pfifo { limit, .. } => json!({"limit": limit}),
        },
    );
    row
}

/// Returns a number without a fraction.
fn whole(number: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates and sizes are bounded where they are read"
    )]
    let number = number.round().max(0.0) as u64;
    json!(number)
}

fn netem_object(netem: &Netem) -> Value {
    let mut options = Map::new();
    options.insert("limit".to_owned(), json!(netem.limit));
    let number = |number: f64| if number == number.trunc() { whole(number) } else { json!(number) };
    if let Some((delay, jitter, correlation)) = netem.delay {
        let body = json!({"delay": number(delay / 1e6), "jitter": number(jitter / 1e6), "correlation": number(correlation / 100.0)});
        options.insert("delay".to_owned(), body);
    }
    let shares = [
        ("loss-random", "loss", netem.loss),
        ("duplicate", "duplicate", netem.duplicate),
        ("reorder", "reorder", netem.reorder),
        ("corrupt", "corrupt", netem.corrupt),
    ];
    for (name, key, share) in shares {
        let Some((share, correlation)) = share else { continue };
        options.insert(
            name.to_owned(),
            json!({key: number(share / 100.0), "correlation": number(correlation / 100.0)}),
        );
    }
    if let Some(rate) = netem.rate {
        options.insert(
            "rate".to_owned(),
            json!({"rate": whole(rate / 8.0), "packetoverhead": 0, "cellsize": 0, "celloverhead": 0}),
        );
    }
    options.insert("ecn".to_owned(), json!(netem.ecn));
    options.insert("gap".to_owned(), json!(netem.gap));
    Value::Object(options)
}
