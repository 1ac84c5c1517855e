//! How a guest queues, delays and limits packets.

use super::guest_probe::ProbeSpec;
use super::payload::{Section, sections};
use ghost_inspect::qdisc::{Read, read};

/// The queueing disciplines of a guest, for [`super::GuestProbe`].
pub static WANTED: ProbeSpec<Read> =
    ProbeSpec { script: "guest-qdisc", what: "the traffic shaping", counters: true, read: shaped };

/// Reads what the script gathered: the names of the devices, then a part for each.
fn shaped(text: &str) -> Result<Read, String> {
    let mut parts = sections(text).map_err(|error| error.to_string())?.into_iter();
    let names = parts.next().filter(|part| part.name == "devices").ok_or("the list of devices is missing")?;
    if names.code != 0 {
        return Err(format!("tc ended with {}: {}", names.code, names.text.trim()));
    }
    let mut all = Read { devices: Vec::new(), impaired: false, warnings: Vec::new() };
    for (at, name) in names.text.lines().filter(|line| !line.is_empty()).enumerate() {
        let wanted = format!("device-{}", at + 1);
        let part = parts.next().filter(|part| part.name == wanted).ok_or(format!("{name} is missing"))?;
        device(name, part, &mut all)?;
    }
    match parts.next() {
        Some(more) => Err(format!("the part `{}` is not one of ours", more.name)),
        None => Ok(all),
    }
}

fn device(name: &str, part: Section, all: &mut Read) -> Result<(), String> {
    if part.code != 0 {
        // A device can go between the list and the look.
        return Err(format!("{name}: tc ended with {}: {}", part.code, part.text.trim()));
    }
    let found = read(&part.text).map_err(|error| format!("{name}: {error}"))?;
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
        let told: Vec<_> = found
            .devices
            .iter()
            .map(|one| (one.dev.as_deref(), one.discipline.as_str(), one.impairs))
            .collect();
        assert_eq!(told, [(Some("eth0"), "netem", true), (Some("eth1"), "noqueue", false)]);
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
