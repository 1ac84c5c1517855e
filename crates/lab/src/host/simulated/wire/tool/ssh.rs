//! `ssh` from one machine to another.

use super::nc::{Trial, connect};
use super::option::Options;
use crate::host::script::Interpreter;
use crate::host::simulated::command::Shell;
use crate::host::simulated::wire::net::Net;
use crate::host::simulated::wire::path::{Location, location};
use crate::host::simulated::world::{ProgramResult, World};

/// Runs a command on another machine, if its port answers.
pub(super) fn ssh(world: &mut World, machine: &str, argv: &[String], input: &str) -> ProgramResult {
    let known = [
        "o=", "i=", "p=", "l=", "J=", "F=", "W=", "L=", "R=", "D=", "E=", "b=", "c=", "m=", "4", "6", "A",
        "a", "f", "n", "N", "q", "T", "t", "v", "x", "X", "C", "V",
    ];
    // What comes after the host belongs to the command.
    let takes = |word: &str| {
        word.len() == 2 && known.contains(&format!("{}=", word.trim_start_matches('-')).as_str())
    };
    let mut end = 1;
    while let Some(word) = argv.get(end).filter(|word| word.starts_with('-')) {
        end += if takes(word) { 2 } else { 1 };
    }
    let options = Options::read(argv.get(..end.min(argv.len())).unwrap_or_default(), &known);
    let Some(target) = argv.get(end) else {
        return ProgramResult::failed(255, "usage: ssh [options] destination [command [argument ...]]\n");
    };
    let command = argv.get(end + 1..).unwrap_or_default().join(" ");
    let host = target.rsplit('@').next().unwrap_or(target).to_owned();
    let port = options.number(&["p"]).unwrap_or(22);
    let patience = options.all("o").iter().find_map(|option| {
        let (name, value) = option.split_once(['=', ' '])?;
        name.eq_ignore_ascii_case("ConnectTimeout").then(|| super::option::seconds(value)).flatten()
    });
    let mut net = Net::new(world, machine, "ssh");
    let to = match net.resolve(&host) {
        Ok(to) => to,
        Err(unresolved) => {
            let err = format!("ssh: Could not resolve hostname {host}: {}\r\n", unresolved.text);
            return ProgramResult { err, code: 255, took: net.took(), ..ProgramResult::default() };
        }
    };
    let why = match connect(&mut net, to, port, patience) {
        Trial::Up => None,
        Trial::Refused => Some("Connection refused"),
        Trial::Silent => Some("Connection timed out"),
    };
    if let Some(why) = why {
        let err = format!("ssh: connect to host {host} port {port}: {why}\r\n");
        return ProgramResult { err, code: 255, took: net.took(), ..ProgramResult::default() };
    }
    let took = net.took() + std::time::Duration::from_millis(180);
    let Location::Machine { name, .. } = location(world, to) else {
        let err = format!("{target}: Permission denied (publickey).\r\n");
        return ProgramResult { err, code: 255, took, ..ProgramResult::default() };
    };
    world.now = world.now.plus(took);
    let text = if command.is_empty() { input.to_owned() } else { command };
    let mut shell = Shell::new(world, &name);
    let ran = Interpreter.run(&text, &[], &[], &mut shell);
    // The shell over there let its own time pass already.
    ProgramResult { out: ran.out, err: ran.err, code: ran.code, ..ProgramResult::default() }
}
