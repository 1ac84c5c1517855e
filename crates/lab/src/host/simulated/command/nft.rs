//! `nft`.

use crate::host::simulated::world::{ProgramResult, World};

/// Answers.
pub(super) fn call(world: &mut World, machine: &str, words: &[String], input: &str) -> ProgramResult {
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    let mut rest: Vec<&str> = Vec::new();
    let (mut json, mut handles, mut file) = (false, false, None);
    let mut all = words.iter();
    while let Some(word) = all.next() {
        match word.as_str() {
            "-j" | "--json" => json = true,
            "-a" | "--handle" => handles = true,
            "-n" | "--numeric" | "-s" | "--stateless" | "-nn" | "-y" | "-N" | "-S" => {}
            "-ja" | "-aj" | "-na" | "-an" | "-nj" => {
                json |= word.contains('j');
                handles |= word.contains('a');
            }
            "-v" | "--version" | "-V" => return ProgramResult::printed("nftables v1.0.2 (Lester Gooch)\n"),
            "-f" | "--file" => file = all.next(),
            word => rest.push(word),
        }
    }
    let refused = |refusal: crate::host::simulated::guest::Refusal| {
        ProgramResult::failed(refusal.code, format!("{}\n", refusal.what))
    };
    if let Some(file) = file {
        let text = if file == "-" || file == "/dev/stdin" {
            input.to_owned()
        } else {
            match guest.files.get(file) {
                Some(file) => String::from_utf8_lossy(&file.content).into_owned(),
                None => {
                    return ProgramResult::failed(
                        1,
                        format!(
                            "internal:0:0-0: Error: Could not open file \"{file}\": No such file or directory\n\n\n"
                        ),
                    );
                }
            }
        };
        let is_json = json || text.trim_start().starts_with('{') && text.contains("\"nftables\"");
        return guest.firewall.nft(&text, is_json).map_or_else(refused, |()| ProgramResult::default());
    }
    match rest.as_slice() {
        ["list", "tables", ..] if !json => ProgramResult::printed(guest.firewall.nft_tables()),
        ["list", "ruleset" | "tables" | "chains", family @ ..] => {
            let family = family.first().copied().unwrap_or_default();
            ProgramResult::printed(if json {
                guest.firewall.nft_json(family, "")
            } else {
                guest.firewall.nft_text(family, "", handles)
            })
        }
        ["list", "table" | "chain", names @ ..] => {
            let (family, name) = match names {
                [family @ ("ip" | "ip6" | "inet" | "arp" | "bridge" | "netdev"), name, ..] => {
                    (*family, *name)
                }
                [name, ..] => ("ip", *name),
                [] => return ProgramResult::failed(1, "Error: syntax error, unexpected end of file\n"),
            };
            let text = guest.firewall.nft_text(family, name, handles);
            if text.is_empty() {
                return ProgramResult::failed(
                    1,
                    format!("Error: No such file or directory\nlist table {family} {name}\n"),
                );
            }
            ProgramResult::printed(if json { guest.firewall.nft_json(family, name) } else { text })
        }
        [] => ProgramResult::failed(1, "Usage: nft [ options ] [ cmds... ]\n"),
        words => {
            guest.firewall.nft(&words.join(" "), false).map_or_else(refused, |()| ProgramResult::default())
        }
    }
}
