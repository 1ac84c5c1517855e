//! `tc`.

use super::link::devices;
use crate::host::simulated::guest::Form;
use crate::host::simulated::wire;
use crate::host::simulated::world::{ProgramResult, World};

/// Answers.
pub(super) fn call(world: &mut World, machine: &str, words: &[String]) -> ProgramResult {
    wire::settle(world, machine);
    let devices = devices(world, machine);
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    let mut form = Form::default();
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    let (options, words) = words.split_at(options);
    for option in options {
        match option.as_str() {
            "-V" | "-Version" => {
                return ProgramResult::printed("tc utility, iproute2-5.15.0, libbpf 0.5.0\n");
            }
            "-j" | "-json" => form.json = true,
            "-s" | "-stats" | "-statistics" => form.counters = true,
            "-d" | "-details" | "-p" | "-pretty" | "-n" | "-r" | "-g" => {}
            other => {
                return ProgramResult::failed(
                    1,
                    format!("Option \"{}\" is unknown, try \"tc -help\".\n", other.trim_start_matches('-')),
                );
            }
        }
    }
    let Some(object) = words.first() else {
        return ProgramResult::failed(1, "Usage:\ttc [ OPTIONS ] OBJECT { COMMAND | help }\n");
    };
    let verb = words.get(1).map_or("show", String::as_str);
    let rest = words.get(2..).unwrap_or_default();
    let after = |name: &str| {
        let at = rest.iter().position(|word| word == name)?;
        rest.get(at + 1).map(String::as_str)
    };
    let device = after("dev").or_else(|| rest.first().filter(|_| rest.len() == 1).map(String::as_str));
    if let Some(unknown) = device.filter(|device| !devices.iter().any(|own| own == device))
        && matches!(verb, "show" | "list" | "ls")
    {
        return ProgramResult::failed(1, format!("Cannot find device \"{unknown}\"\n"));
    }
    let shaper = &mut guest.shaper;
    let done = match (object.as_str(), verb) {
        ("qdisc" | "q", "show" | "list" | "ls") => {
            return ProgramResult::printed(shaper.show(device, &devices, form));
        }
        ("class", "show" | "list" | "ls") => match device {
            Some(device) => return ProgramResult::printed(shaper.show_classes(device, form)),
            None => Err((1, "Cannot find device \"\"\n".to_owned())),
        },
        // Nothing here hangs beside the queues of a device.
        ("filter", "show" | "list" | "ls")
            if rest.iter().any(|word| word == "ingress" || word == "egress") =>
        {
            return ProgramResult::default();
        }
        ("filter", "show" | "list" | "ls") => match device {
            Some(device) => {
                let parent = after("parent").map(|parent| parent.trim_end_matches('0').to_owned());
                return ProgramResult::printed(shaper.show_filters(device, parent.as_deref(), form));
            }
            None => Err((1, "Must specify netdevice or block\n".to_owned())),
        },
        ("qdisc" | "q", verb) => shaper.qdisc(verb, rest, &devices),
        ("class", verb) => shaper.class(verb, rest, &devices),
        ("filter", verb) => shaper.filter(verb, rest, &devices),
        (other, _) => Err((1, format!("Object \"{other}\" is unknown, try \"tc help\".\n"))),
    };
    match done {
        Ok(()) => ProgramResult::default(),
        Err((code, err)) => ProgramResult::failed(code, err),
    }
}
