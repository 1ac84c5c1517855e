//! Everything inside a guest that decides over a flow: packet filters, shaping, routes, addresses, settings, who listens.

use ghost_inspect::path::{Guest, Reading};
use serde_json::Value;

use super::guest_probe::ProbeSpec;
use super::payload::{Section, SectionError, sections};

/// What is run, and how its output is read.
pub static STATE: ProbeSpec<Guest> = ProbeSpec {
    script: "guest-state",
    what: "the network state",
    counters: false,
    read: |text| guest(text).map_err(Into::into),
};

/// Why the output of the script is no state of a guest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It is not made of sections.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// A section is there twice, is missing, or is not one of the script's.
    #[error("the section `{0}` is there twice, is missing or is not one of ours")]
    Part(String),
}

/// Reads what the script gathered. A program that failed leaves its document unread, and does not hide the others.
///
/// # Errors
/// Fails where sections are missing, repeated or unknown: half of the output is not taken for a whole one.
pub(super) fn guest(text: &str) -> Result<Guest, StateError> {
    let mut guest = Guest::default();
    let mut shaping = Shaping::default();
    for Section { name, code, text } in sections(text)? {
        let part = || StateError::Part(name.clone());
        if let Some(source) = name.strip_prefix("filter-") {
            let known = ghost_inspect::netfilter::SOURCES.contains(&source);
            if !known || guest.filters.insert(source.to_owned(), reading(code, text)).is_some() {
                return Err(part());
            }
            continue;
        }
        if name == "devices" || name.starts_with("device-") {
            shaping.add(&name, code, text).ok_or_else(part)?;
            continue;
        }
        let document = match name.as_str() {
            "tcp" => &mut guest.tcp,
            "udp" => &mut guest.udp,
            "connections" => &mut guest.connections,
            "addresses" => &mut guest.addresses,
            "routes" => &mut guest.routes,
            "routes6" => &mut guest.routes6,
            "rules" => &mut guest.rules,
            "settings" => &mut guest.settings,
            _ => return Err(part()),
        };
        if document.replace(reading(code, text)).is_some() {
            return Err(part());
        }
    }
    let all = [
        ("tcp", &guest.tcp),
        ("udp", &guest.udp),
        ("connections", &guest.connections),
        ("addresses", &guest.addresses),
        ("routes", &guest.routes),
        ("routes6", &guest.routes6),
        ("rules", &guest.rules),
        ("settings", &guest.settings),
    ];
    if let Some((missing, _)) = all.into_iter().find(|(_, document)| document.is_none()) {
        return Err(StateError::Part(missing.to_owned()));
    }
    let missing = |source: &&&str| !guest.filters.contains_key(**source);
    if let Some(missing) = ghost_inspect::netfilter::SOURCES.iter().find(missing) {
        return Err(StateError::Part(format!("filter-{missing}")));
    }
    guest.shaping = Some(shaping.reading().ok_or_else(|| StateError::Part("devices".to_owned()))?);
    Ok(guest)
}

fn reading(code: u8, text: String) -> Reading {
    if code == 0 { Reading::Text(text) } else { Reading::Failed { error: failure(code, &text) } }
}

fn failure(code: u8, text: &str) -> String {
    format!("exit code {code}: {}", text.trim())
}

/// The sections about shaping: the list of devices, then one for each of them.
#[derive(Debug, Default)]
struct Shaping {
    /// The devices, or why they could not be listed.
    devices: Option<Result<Vec<String>, String>>,
    shown: usize,
    text: String,
    failed: Option<String>,
}

impl Shaping {
    /// Takes a section; `None` where it does not follow from those before it.
    fn add(&mut self, section: &str, code: u8, text: String) -> Option<()> {
        if section == "devices" {
            let devices = if code == 0 {
                Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
            } else {
                Err(failure(code, &text))
            };
            return self.devices.replace(devices).is_none().then_some(());
        }
        let devices = self.devices.as_ref()?.as_ref().ok()?;
        let device = devices.get(self.shown)?;
        self.shown += 1;
        if section != format!("device-{}", self.shown) {
            return None;
        }
        if code == 0 {
            self.text.push_str(&with_device(&text, device));
        } else {
            // A device can go between the list and the look.
            self.failed.get_or_insert(format!("{device}: {}", failure(code, &text)));
        }
        Some(())
    }

    fn reading(self) -> Option<Reading> {
        Some(match (self.devices?, self.failed) {
            (Err(error), _) | (Ok(_), Some(error)) => Reading::Failed { error },
            (Ok(devices), None) if devices.len() == self.shown => Reading::Text(self.text),
            (Ok(_), None) => return None,
        })
    }
}

/// Names the device in every row: `tc` leaves it out where it was asked about one device alone.
fn with_device(text: &str, device: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let rows = serde_json::from_str::<Vec<Value>>(line).ok();
        match rows {
            Some(mut rows) => {
                for row in rows.iter_mut().filter_map(Value::as_object_mut) {
                    row.entry("dev").or_insert_with(|| Value::from(device));
                }
                out.push_str(&Value::Array(rows).to_string());
            }
            None => out.push_str(&line_with_device(line, device)),
        }
        out.push('\n');
    }
    out
}

fn line_with_device(line: &str, device: &str) -> String {
    let mut words = line.splitn(4, ' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("filter"), ..) if !line.contains(" dev ") => {
            format!("filter dev {device}{}", line.strip_prefix("filter").unwrap_or_default())
        }
        (Some(object @ ("qdisc" | "class")), Some(kind), Some(id), rest) if !line.contains(" dev ") => {
            format!("{object} {kind} {id} dev {device} {}", rest.unwrap_or_default())
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, code: u8, text: &str) -> String {
        format!("section {name} {code} {}\n{text}\n", text.len())
    }

    fn gathered() -> String {
        let plain = ["tcp", "udp", "connections", "addresses", "routes", "routes6", "rules", "settings"];
        let mut text: String = plain.iter().map(|name| part(name, 0, "x")).collect();
        for source in ghost_inspect::netfilter::SOURCES {
            text.push_str(&part(&format!("filter-{source}"), 0, "y"));
        }
        text + &part("devices", 0, "eth0\neth1")
            + &part(
                "device-1",
                0,
                "[{\"kind\":\"netem\",\"handle\":\"1:\",\"root\":true,\"options\":{}}]\n[]\n",
            )
            + &part("device-2", 0, "qdisc noqueue 0: root refcnt 2 ")
    }

    #[test]
    fn every_document_is_taken_and_shaping_names_its_devices() {
        let guest = guest(&gathered()).unwrap();
        assert_eq!(guest.tcp, Some(Reading::Text("x".to_owned())));
        assert_eq!(guest.filters.len(), ghost_inspect::netfilter::SOURCES.len());
        let Some(Reading::Text(shaping)) = guest.shaping else { panic!("it was read") };
        let read = ghost_inspect::qdisc::read(&shaping).unwrap();
        let devices: Vec<_> = read.devices.iter().map(|one| one.dev.as_deref()).collect();
        assert_eq!(devices, [Some("eth0"), Some("eth1")]);
    }

    #[test]
    fn a_program_that_failed_leaves_its_document_unread() {
        let text = gathered().replace(&part("udp", 0, "x"), &part("udp", 127, "ss is not installed"));
        let error = "exit code 127: ss is not installed".to_owned();
        assert_eq!(guest(&text).unwrap().udp, Some(Reading::Failed { error }));
        let no_tc = gathered();
        let no_tc =
            no_tc.split("section devices").next().unwrap().to_owned() + &part("devices", 127, "no tc");
        assert!(matches!(guest(&no_tc).unwrap().shaping, Some(Reading::Failed { .. })));
    }

    #[test]
    fn half_of_it_is_nothing() {
        let whole = gathered();
        for text in [
            String::new(),
            whole.replace(&part("tcp", 0, "x"), ""),
            whole.replace(&part("device-2", 0, "qdisc noqueue 0: root refcnt 2 "), ""),
            whole.clone() + &part("tcp", 0, "x"),
            whole.clone() + &part("device-3", 0, "x"),
            whole.clone() + &part("odd", 0, "x"),
            whole.replace("section filter-nft", "section filter-odd"),
        ] {
            assert!(guest(&text).is_err(), "{text}");
        }
    }
}
