//! How a guest queues, delays and limits packets.

use super::guest_probe::{ProbeError, ProbeSpec};
use super::payload::{Section, sections};
use ghost_inspect::qdisc::{Read, read};

/// The queueing disciplines of a guest, for [`super::GuestProbe`].
pub static WANTED: ProbeSpec<Read> =
    ProbeSpec { script: "guest-qdisc", what: "the traffic shaping", counters: true, read: shaped };

/// Reads what the script gathered: the names of the devices, then a part for each.
fn shaped(text: &str) -> Result<Read, ProbeError> {
    let mut parts = sections(text)?.into_iter();
    let names = parts.next().filter(|part| part.name == "devices").ok_or(ProbeError::NoDevices)?;
    if names.code != 0 {
        return Err(ProbeError::List { code: names.code, stderr: names.text.trim().to_owned() });
    }
    let mut all = Read { devices: Vec::new(), impaired: false, warnings: Vec::new(), gaps: Vec::new() };
    for (at, name) in names.text.lines().filter(|line| !line.is_empty()).enumerate() {
        let wanted = format!("device-{}", at + 1);
        let part = parts.next().filter(|part| part.name == wanted);
        let part = part.ok_or_else(|| ProbeError::NoDevice(name.to_owned()))?;
        device(name, part, &mut all)?;
    }
    match parts.next() {
        Some(more) => Err(ProbeError::UnknownPart(more.name)),
        None => Ok(all),
    }
}

fn device(name: &str, part: Section, all: &mut Read) -> Result<(), ProbeError> {
    if part.code != 0 {
        // A device can go between the list and the look.
        let (device, stderr) = (name.to_owned(), part.text.trim().to_owned());
        return Err(ProbeError::Device { device, code: part.code, stderr });
    }
    let found = read(&part.text)
        .map_err(|error| ProbeError::Qdisc { device: name.to_owned(), error: error.to_string() })?;
    all.impaired |= found.impaired;
    all.devices.extend(found.devices.into_iter().map(|mut qdisc| {
        qdisc.dev.get_or_insert_with(|| name.to_owned());
        qdisc
    }));
    all.warnings.extend(found.warnings.into_iter().map(|mut warning| {
        warning.what = format!("{name}: {}", warning.what);
        warning
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, code: u8, text: &str) -> String {
        format!("section {name} {code} {}\n{text}\n", text.len())
    }

    #[test]
    fn every_device_keeps_its_own_disciplines() {
        let text = part("devices", 0, "eth0\neth1")
            + &part("device-1", 0, "qdisc netem 1: root limit 1000 delay 100ms\n")
            + &part("device-2", 0, "qdisc noqueue 0: root refcnt 2 \n");
        let found = shaped(&text).unwrap();
        let shown: Vec<_> = found
            .devices
            .iter()
            .map(|one| (one.dev.as_deref(), one.discipline.as_str(), one.impairs))
            .collect();
        assert_eq!(shown, [(Some("eth0"), "netem", true), (Some("eth1"), "noqueue", false)]);
        assert!(found.impaired);
    }

    #[test]
    fn half_of_it_is_nothing() {
        let whole = part("devices", 0, "eth0") + &part("device-1", 0, "qdisc noqueue 0: root \n");
        assert!(shaped(&whole).is_ok());
        for text in [
            String::new(),
            part("devices", 0, "eth0"),
            part("devices", 127, "tc is not installed"),
            part("device-1", 0, "x"),
            whole.clone() + &part("device-2", 0, "qdisc noqueue 0: root \n"),
            part("devices", 0, "eth0") + &part("device-1", 1, "Cannot find device"),
            part("devices", 0, "eth0") + &part("device-1", 0, "garbage"),
        ] {
            assert!(shaped(&text).is_err(), "{text}");
        }
    }
}
