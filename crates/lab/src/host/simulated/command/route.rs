//! `ip route`.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::host::simulated::guest::Route;
use crate::host::simulated::world::set;
use crate::host::simulated::world::{ProgramResult, World};

/// The most routes of a machine.
const MAX_ROUTES: usize = 4_096;

/// Answers.
pub(super) fn call(world: &mut World, machine: &str, words: &[String]) -> ProgramResult {
    let is_json = words.iter().any(|word| matches!(word.as_str(), "-j" | "-json" | "-jp"));
    let six = words.iter().any(|word| word == "-6");
    let rest: Vec<&str> =
        words.iter().filter(|word| !word.starts_with('-')).map(String::as_str).skip(1).collect();
    let own = world
        .machine(machine)
        .and_then(|machine| machine.nics.first())
        .map(|nic| nic.addresses.clone())
        .unwrap_or_default();
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    let after = |name: &str| {
        let at = rest.iter().position(|word| *word == name)?;
        rest.get(at + 1).copied()
    };
    match rest.first().copied().unwrap_or("show") {
        "show" | "list" | "ls" | "s" => {
            let device = after("dev");
            let table = after("table");
            if table
                .is_some_and(|table| !matches!(table, "main" | "all" | "254" | "local" | "255" | "default"))
            {
                return ProgramResult::failed(2, "Error: ipv4: FIB table does not exist.\nDump terminated\n");
            }
            let main = table.is_none_or(|table| !matches!(table, "local" | "255" | "default"));
            let asked =
                rest.get(1).copied().filter(|word| !matches!(*word, "dev" | "table" | "proto" | "scope"));
            let mut shown: Vec<&Route> = guest
                .routes
                .iter()
                .filter(|route| {
                    main && route.to.is_none_or(|(to, _)| to.is_ipv6() == six) && (route.to.is_some() || !six)
                })
                .filter(|route| device.is_none_or(|device| route.device == device))
                .filter(|route| asked.is_none_or(|asked| route.prefix() == asked))
                .collect();
            shown.sort_by_key(|route| route.to.map(|(address, _)| address));
            if is_json {
                let mut rows: Vec<Value> = shown.into_iter().map(object).collect();
                if table == Some("all") || table == Some("local") {
                    rows.extend(own.iter().filter(|(address, _)| address.is_ipv6() == six).map(|(address, _)| {
                        json!({"type": "local", "dst": address.to_string(), "dev": "eth0", "table": "local", "protocol": "kernel", "scope": "host", "prefsrc": address.to_string(), "flags": []})
                    }));
                }
                return ProgramResult::printed(format!("{}\n", Value::Array(rows)));
            }
            let mut out: String = shown.into_iter().map(|route| format!("{}\n", route.text())).collect();
            if matches!(table, Some("all" | "local")) {
                for (address, _) in own.iter().filter(|(address, _)| address.is_ipv6() == six) {
                    out.push_str(&format!(
                        "local {address} dev eth0 table local proto kernel scope host src {address} \n"
                    ));
                }
            }
            ProgramResult::printed(out)
        }
        "get" => {
            let to = after("to").or_else(|| rest.get(1).copied()).unwrap_or_default();
            let Ok(to) = to.parse::<IpAddr>() else {
                return ProgramResult::failed(
                    1,
                    format!("Error: any valid prefix is expected rather than \"{to}\".\n"),
                );
            };
            let src =
                own.iter().map(|(address, _)| *address).find(|address| address.is_ipv4() == to.is_ipv4());
            if own.iter().any(|(address, _)| *address == to) || to.is_loopback() {
                let text = format!("local {to} dev lo src {to} uid 0 \n    cache <local> \n");
                return ProgramResult::printed(if is_json {
                    format!(
                        "{}\n",
                        json!([{"type": "local", "dst": to.to_string(), "dev": "lo", "prefsrc": to.to_string(), "flags": [], "uid": 0, "cache": ["local"]}])
                    )
                } else {
                    text
                });
            }
            match guest.route(to) {
                None => ProgramResult::failed(2, "RTNETLINK answers: Network is unreachable\n"),
                Some(route) if route.kind == "blackhole" => {
                    ProgramResult::failed(2, "RTNETLINK answers: Invalid argument\n")
                }
                Some(route) if !route.kind.is_empty() => {
                    ProgramResult::failed(2, "RTNETLINK answers: No route to host\n")
                }
                Some(route) => {
                    let via = route.via.map(|via| format!("via {via} ")).unwrap_or_default();
                    let from = src.map(|src| format!("src {src} ")).unwrap_or_default();
                    let cache = route.mtu.map(|mtu| format!("mtu {mtu} ")).unwrap_or_default();
                    if is_json {
                        let mut row = json!({"dst": to.to_string(), "dev": route.device, "flags": [], "uid": 0, "cache": []});
                        if let Some(via) = route.via {
                            set(&mut row, "gateway", json!(via.to_string()));
                        }
                        if let Some(src) = src {
                            set(&mut row, "prefsrc", json!(src.to_string()));
                        }
                        if let Some(mtu) = route.mtu {
                            set(&mut row, "metrics", json!([{"mtu": mtu}]));
                        }
                        return ProgramResult::printed(format!("{}\n", json!([row])));
                    }
                    ProgramResult::printed(format!(
                        "{to} {via}dev {} {from}uid 0 \n    cache {cache}\n",
                        route.device
                    ))
                }
            }
        }
        verb @ ("add" | "del" | "delete" | "replace" | "change" | "append") => {
            let route = match read(rest.get(1..).unwrap_or_default()) {
                Ok(route) => route,
                Err(what) => return ProgramResult::failed(1, format!("Error: {what}\n")),
            };
            let same = |other: &Route| {
                other.to == route.to
                    && (verb == "replace"
                        || verb == "change"
                        || route.via.is_none()
                        || other.via == route.via)
            };
            let at = guest.routes.iter().position(same);
            match (verb, at) {
                ("del" | "delete", Some(at)) => drop(guest.routes.remove(at)),
                ("del" | "delete" | "change", None) => {
                    return ProgramResult::failed(2, "RTNETLINK answers: No such process\n");
                }
                ("add", Some(_)) => return ProgramResult::failed(2, "RTNETLINK answers: File exists\n"),
                (_, Some(at)) if verb != "append" => {
                    if let Some(old) = guest.routes.get_mut(at) {
                        let mut route = route;
                        if route.device.is_empty() {
                            route.device.clone_from(&old.device);
                        }
                        *old = route;
                    }
                }
                _ => {
                    let near =
                        route.via.is_none_or(|via| guest.route(via).is_some_and(|route| route.via.is_none()));
                    if !near {
                        return ProgramResult::failed(2, "Error: Nexthop has invalid gateway.\n");
                    }
                    if guest.routes.len() >= MAX_ROUTES {
                        return ProgramResult::failed(2, "RTNETLINK answers: No buffer space available\n");
                    }
                    let mut route = route;
                    if route.device.is_empty() && route.kind.is_empty() {
                        "eth0".clone_into(&mut route.device);
                    }
                    guest.routes.push(route);
                }
            }
            ProgramResult::default()
        }
        "flush" => ProgramResult::default(),
        other => {
            ProgramResult::failed(255, format!("Command \"{other}\" is unknown, try \"ip route help\".\n"))
        }
    }
}

fn object(route: &Route) -> Value {
    let mut row = json!({"dst": route.prefix(), "flags": []});
    if !route.device.is_empty() {
        set(&mut row, "dev", json!(route.device));
    }
    if !route.kind.is_empty() {
        set(&mut row, "type", json!(route.kind));
    }
    if let Some(via) = route.via {
        set(&mut row, "gateway", json!(via.to_string()));
    }
    let words: Vec<&str> = route.rest.split(' ').collect();
    for pair in words.chunks(2) {
        match pair {
            ["proto", value] => set(&mut row, "protocol", json!(value)),
            ["scope", value] => set(&mut row, "scope", json!(value)),
            ["src", value] => set(&mut row, "prefsrc", json!(value)),
            ["metric", value] => {
                set(&mut row, "metric", value.parse::<u32>().map_or(Value::Null, |number| json!(number)))
            }
            _ => {}
        }
    }
    if let Some(mtu) = route.mtu {
        set(&mut row, "metrics", json!([{"mtu": mtu}]));
    }
    row
}

fn read(words: &[&str]) -> Result<Route, String> {
    let mut route = Route::default();
    let mut words = words.iter().copied();
    let mut first = words.next().ok_or("\"to\" is required.")?;
    if matches!(first, "blackhole" | "unreachable" | "prohibit") {
        first.clone_into(&mut route.kind);
        first = words.next().ok_or("\"to\" is required.")?;
    }
    let wrong = |text: &str| format!("any valid prefix is expected rather than \"{text}\".");
    route.to = match first {
        "default" | "0.0.0.0/0" => None,
        text => {
            let (address, length) =
                text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
            let address: IpAddr = address.parse().map_err(|_| wrong(text))?;
            let width = if address.is_ipv6() { 128 } else { 32 };
            let length = length.map_or(Ok(width), str::parse::<u8>).map_err(|_| wrong(text))?;
            Some((address, length))
                .filter(|(_, length)| *length <= width)
                .map(Some)
                .ok_or_else(|| wrong(text))?
        }
    };
    let mut rest = Vec::new();
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        match word {
            "via" => {
                route.via = Some(
                    value
                        .parse()
                        .map_err(|_| format!("inet address is expected rather than \"{value}\"."))?,
                )
            }
            "dev" => value.clone_into(&mut route.device),
            "mtu" => {
                let text = if value == "lock" { words.next().unwrap_or_default() } else { value };
                route.mtu = Some(
                    text.parse()
                        .map_err(|_| format!("argument \"{text}\" is wrong: \"mtu\" value is invalid"))?,
                );
            }
            "proto" | "scope" | "src" | "metric" => rest.push(format!("{word} {value}")),
            "table" => return Err("only the main table is known here".to_owned()),
            other => return Err(format!("either \"to\" is duplicate, or \"{other}\" is a garbage.")),
        }
    }
    if route.via.is_none() && route.kind.is_empty() && !rest.iter().any(|word| word.starts_with("scope")) {
        rest.push("scope link".to_owned());
    }
    route.rest = rest.join(" ");
    Ok(route)
}

/// Answers `ip rule`.
pub(super) fn rules(words: &[String]) -> ProgramResult {
    let changes = words.iter().any(|word| matches!(word.as_str(), "add" | "del" | "delete"));
    if changes {
        return ProgramResult::failed(2, "RTNETLINK answers: Operation not supported\n");
    }
    if words.iter().any(|word| matches!(word.as_str(), "-j" | "-json" | "-jp")) {
        let rows = json!([
            {"priority": 0, "src": "all", "table": "local"},
            {"priority": 32_766, "src": "all", "table": "main"},
            {"priority": 32_767, "src": "all", "table": "default"},
        ]);
        return ProgramResult::printed(format!("{rows}\n"));
    }
    ProgramResult::printed(
        "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n",
    )
}
