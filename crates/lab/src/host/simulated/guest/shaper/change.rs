//! What `tc` changes.

use std::collections::BTreeMap;

use super::discipline::{Discipline, read};
use super::filter::{Class, Filter, key};
use super::unit::rate;
use crate::host::simulated::guest::machine::Count;

/// The most of each.
const MAX_OBJECTS: usize = 1_024;

/// All disciplines, classes and filters of a machine; a device without any has the one that it begins with.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::host::simulated) struct Shaper {
    pub(super) disciplines: Vec<Discipline>,
    pub(super) classes: Vec<Class>,
    pub(super) filters: Vec<Filter>,
    /// What passed devices, whatever hangs at them.
    pub(super) passed: BTreeMap<String, Count>,
    next: u32,
}

/// The exit codes of `tc`: 1 for what it does not understand, 2 for what the kernel refuses.
pub(in crate::host::simulated) type TcError = (u8, String);

fn usage(what: impl Into<String>) -> TcError {
    (1, format!("{}\n", what.into()))
}

fn kernel(what: &str) -> TcError {
    (2, format!("{what}\n"))
}

/// Reads `1:`, `1:3`, `30:`.
fn handle(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    let number = |text: &str| {
        if text.is_empty() {
            Some(0)
        } else {
            u32::from_str_radix(text, 16).ok().filter(|number| *number < 0x1_0000)
        }
    };
    Some((number(major)?, number(minor)?))
}

fn handle_text((major, minor): (u32, u32)) -> String {
    if minor == 0 { format!("{major:x}:") } else { format!("{major:x}:{minor:x}") }
}

/// What stands in front of the kind.
#[derive(Default)]
struct HandlePosition {
    device: Option<String>,
    parent: Option<(u32, u32)>,
    root: bool,
    handle: Option<(u32, u32)>,
    class: Option<(u32, u32)>,
    protocol: Option<String>,
    preference: Option<u32>,
    rest: Vec<String>,
}

fn place(words: &[String]) -> Result<HandlePosition, TcError> {
    let mut place = HandlePosition::default();
    let mut at = 0;
    let value = |at: usize| {
        words.get(at + 1).ok_or_else(|| usage("Command line is not complete. Try option \"help\""))
    };
    let id = |text: &String| {
        handle(text).ok_or_else(|| usage(format!("Error: argument \"{text}\" is wrong: Invalid parent ID")))
    };
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "dev" => place.device = Some(value(at)?.clone()),
            "parent" => place.parent = Some(id(value(at)?)?),
            "handle" => place.handle = Some(id(value(at)?)?),
            "classid" => place.class = Some(id(value(at)?)?),
            "protocol" => place.protocol = Some(value(at)?.clone()),
            "prio" | "pref" | "preference" | "priority"
                if value(at).is_ok_and(|text| text.parse::<u32>().is_ok()) =>
            {
                place.preference = value(at)?.parse().ok();
            }
            "root" => {
                place.root = true;
                at += 1;
                continue;
            }
            _ => break,
        }
        at += 2;
    }
    place.rest = words.get(at..).unwrap_or_default().to_vec();
    Ok(place)
}

impl Shaper {
    /// Changes disciplines: `add`, `change`, `replace`, `del`.
    pub(in crate::host::simulated) fn qdisc(
        &mut self,
        verb: &str,
        words: &[String],
        devices: &[String],
    ) -> Result<(), TcError> {
        let place = place(words)?;
        let device = own_device(&place, devices)?;
        let parent = place.parent.filter(|_| !place.root).map(handle_text);
        let at = self.disciplines.iter().position(|own| own.device == device && own.parent == parent);
        if verb == "del" || verb == "delete" {
            let Some(at) = at else {
                return Err(kernel(if parent.is_none() {
                    "Error: Cannot delete qdisc with handle of zero."
                } else {
                    "Error: Failed to find specified qdisc."
                }));
            };
            if place
                .handle
                .is_some_and(|(major, _)| self.disciplines.get(at).is_some_and(|own| own.handle != major))
            {
                return Err(kernel("Error: Invalid handle."));
            }
            self.remove(at);
            return Ok(());
        }
        if let Some((major, minor)) = place.parent.filter(|_| !place.root) {
            let above = self.disciplines.iter().find(|own| own.device == device && own.handle == major);
            let Some(above) = above else { return Err(kernel("Error: Parent Qdisc doesn't exists.")) };
            let id = handle_text((major, minor));
            let there = match &above.kind {
                super::discipline::Kind::Prio { bands, .. } => minor >= 1 && minor <= *bands,
                super::discipline::Kind::Htb { .. } => {
                    self.classes.iter().any(|class| class.device == device && class.id == id)
                }
                super::discipline::Kind::Netem(_)
                | super::discipline::Kind::Tbf { .. }
                | super::discipline::Kind::FqCodel
                | super::discipline::Kind::Fq
                | super::discipline::Kind::Pfifo { .. } => minor >= 1,
            };
            if !there {
                return Err(kernel("Error: Specified class not found."));
            }
        } else if !place.root {
            return Err(usage("Error: Either \"root\" or \"parent\" is required."));
        }
        let Some((kind, rest)) = place.rest.split_first() else {
            return Err(usage("Command line is not complete. Try option \"help\""));
        };
        let kind = read(kind, rest).map_err(|what| {
            let code = if what.starts_with("RTNETLINK") { 2 } else { 1 };
            (code, format!("{what}\n"))
        })?;
        let number = match place.handle {
            Some((major, _)) if major > 0 => major,
            _ => {
                self.next += 1;
                0x8000 + self.next
            }
        };
        match (verb, at.and_then(|at| self.disciplines.get_mut(at))) {
            ("add", Some(_)) => return Err(kernel("Error: Exclusivity flag on, cannot modify.")),
            ("change", None) => {
                return Err(kernel("Error: Qdisc not found. To create specify NLM_F_CREATE flag."));
            }
            ("change" | "replace", Some(own))
                if std::mem::discriminant(&own.kind) == std::mem::discriminant(&kind) =>
            {
                own.kind = kind;
                if let Some((major, _)) = place.handle {
                    own.handle = major;
                }
            }
            ("change", Some(_)) => {
                return Err(kernel("Error: Change operation not supported by specified qdisc."));
            }
            ("add" | "replace", other) => {
                let replaced = other.is_some();
                if let Some(at) = at.filter(|_| replaced) {
                    self.remove(at);
                }
                if self.disciplines.iter().any(|own| own.device == device && own.handle == number) {
                    return Err(kernel("Error: Exclusivity flag on, cannot modify."));
                }
                if self.disciplines.len() >= MAX_OBJECTS {
                    return Err(kernel("RTNETLINK answers: No buffer space available"));
                }
                self.disciplines.push(Discipline {
                    device,
                    handle: number,
                    parent,
                    kind,
                    count: Count::default(),
                });
            }
            (other, _) => {
                return Err(usage(format!("Command \"{other}\" is unknown, try \"tc qdisc help\".")));
            }
        }
        Ok(())
    }

    /// Removes a discipline and all that hangs below it.
    fn remove(&mut self, at: usize) {
        if at >= self.disciplines.len() {
            return;
        }
        let gone = self.disciplines.remove(at);
        let prefix = format!("{:x}:", gone.handle);
        self.classes.retain(|class| !(class.device == gone.device && class.id.starts_with(&prefix)));
        self.filters.retain(|filter| !(filter.device == gone.device && filter.parent.starts_with(&prefix)));
        while let Some(at) = self.disciplines.iter().position(|own| {
            own.device == gone.device
                && own.parent.as_deref().is_some_and(|parent| parent.starts_with(&prefix))
        }) {
            self.remove(at);
        }
    }

    /// Changes classes.
    pub(in crate::host::simulated) fn class(
        &mut self,
        verb: &str,
        words: &[String],
        devices: &[String],
    ) -> Result<(), TcError> {
        let place = place(words)?;
        let device = own_device(&place, devices)?;
        let Some(id) = place.class else {
            return Err(usage("Command line is not complete. Try option \"help\""));
        };
        let above = self.disciplines.iter().find(|own| own.device == device && own.handle == id.0);
        if !above.is_some_and(|above| matches!(above.kind, super::discipline::Kind::Htb { .. })) {
            return Err(kernel(if above.is_none() {
                "Error: Failed to find qdisc with specified classid."
            } else {
                "RTNETLINK answers: Operation not supported"
            }));
        }
        let id = handle_text(id);
        if verb == "del" || verb == "delete" {
            let before = self.classes.len();
            self.classes.retain(|class| !(class.device == device && class.id == id));
            return if self.classes.len() < before {
                Ok(())
            } else {
                Err(kernel("Error: Specified class not found."))
            };
        }
        let (mut bits, mut ceil) = (None, None);
        let mut rest = place.rest.iter().skip(1);
        while let Some(word) = rest.next() {
            let value = rest.next().map_or("", String::as_str);
            match word.as_str() {
                "rate" => bits = Some(rate(value).ok_or_else(|| usage("Illegal \"rate\""))?),
                "ceil" => ceil = Some(rate(value).ok_or_else(|| usage("Illegal \"ceil\""))?),
                "burst" | "cburst" | "prio" | "quantum" | "mtu" => {}
                other => return Err(usage(format!("What is \"{other}\"?"))),
            }
        }
        let Some(rate) = bits else { return Err(usage("\"rate\" is required.")) };
        let parent = place.parent.map(handle_text).unwrap_or_default();
        self.classes.retain(|class| !(class.device == device && class.id == id));
        if self.classes.len() >= MAX_OBJECTS {
            return Err(kernel("RTNETLINK answers: No buffer space available"));
        }
        self.classes.push(Class { device, id, parent, rate, ceil: ceil.unwrap_or(rate) });
        Ok(())
    }

    /// Changes filters.
    pub(in crate::host::simulated) fn filter(
        &mut self,
        verb: &str,
        words: &[String],
        devices: &[String],
    ) -> Result<(), TcError> {
        let place = place(words)?;
        let device = own_device(&place, devices)?;
        let parent = match (place.parent, place.root) {
            (Some(parent), _) => parent,
            (None, _) => self
                .disciplines
                .iter()
                .find(|own| own.device == device && own.parent.is_none())
                .map_or((0, 0), |own| (own.handle, 0)),
        };
        if verb == "del" || verb == "delete" {
            let own = handle_text(parent);
            self.filters.retain(|filter| {
                !(filter.device == device
                    && filter.parent == own
                    && place.preference.is_none_or(|preference| filter.preference == preference))
            });
            return Ok(());
        }
        if !self.disciplines.iter().any(|own| own.device == device && own.handle == parent.0) {
            return Err(kernel("Error: Parent Qdisc doesn't exists."));
        }
        let protocol = place.protocol.unwrap_or_else(|| "all".to_owned());
        let Some((kind, rest)) = place.rest.split_first() else {
            return Err(usage("Command line is not complete. Try option \"help\""));
        };
        let mut filter = Filter {
            device,
            parent: handle_text(parent),
            protocol,
            preference: place.preference.unwrap_or(49_152),
            kind: kind.clone(),
            flow: None,
            keys: Vec::new(),
            names: Vec::new(),
        };
        if !matches!(kind.as_str(), "u32" | "flower" | "matchall") {
            return Err(usage(format!(
                "Unknown filter \"{kind}\", hence option \"{}\" is unparsable",
                rest.first().map_or("", String::as_str)
            )));
        }
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            let value = rest.get(at + 1).cloned();
            match (word.as_str(), value) {
                ("flowid" | "classid", Some(value)) => {
                    let id = handle(&value).ok_or_else(|| usage("Illegal \"flowid\""))?;
                    filter.flow = Some(handle_text(id));
                    at += 2;
                }
                ("match", Some(_)) if kind == "u32" => {
                    let Some((key, taken)) = rest.get(at + 1..).and_then(key) else {
                        return Err(usage("Illegal \"match\""));
                    };
                    filter.keys.push(key);
                    at += 1 + taken;
                }
                (name @ ("ip_proto" | "dst_port" | "src_port" | "dst_ip" | "src_ip"), Some(value))
                    if kind == "flower" =>
                {
                    filter.names.push((name.to_owned(), value));
                    at += 2;
                }
                (other, _) => return Err(usage(format!("What is \"{other}\"?"))),
            }
        }
        if kind == "u32" && filter.keys.is_empty() {
            return Err(usage("Illegal \"match\""));
        }
        if self.filters.len() >= MAX_OBJECTS {
            return Err(kernel("RTNETLINK answers: No buffer space available"));
        }
        let at = self
            .filters
            .iter()
            .position(|own| own.preference > filter.preference)
            .unwrap_or(self.filters.len());
        self.filters.insert(at, filter);
        Ok(())
    }
}

fn own_device(place: &HandlePosition, devices: &[String]) -> Result<String, TcError> {
    let Some(device) = &place.device else {
        return Err(usage("Command line is not complete. Try option \"help\""));
    };
    if devices.contains(device) {
        Ok(device.clone())
    } else {
        Err((1, format!("Cannot find device \"{device}\"\n")))
    }
}
