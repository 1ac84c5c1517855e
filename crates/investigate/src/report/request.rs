//! What a question to a person is about, in one line: "Record packets on web-1 and db-1 for 30 s".

use std::collections::BTreeMap;

use crate::event::Impact;
use crate::judged::judged;
use crate::report::word::command_words;
use crate::state::State;

/// More machines than this are counted.
const MAX_NAMES: usize = 4;

/// What commands do, what they change and how that is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedAction {
    /// What is asked: an order, without a full stop.
    pub what: String,
    /// What is different afterwards: a sentence.
    pub changes: String,
    /// How it is undone: a sentence.
    pub undone: String,
}

/// The names of machines by their addresses, as far as a session knows them.
#[derive(Debug, Clone, Default)]
pub struct MachineNames(BTreeMap<String, String>);

impl MachineNames {
    /// Returns the names of the machines between which a session judged connections.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let flows = judged(state).map(|(_, judged)| judged.flows).unwrap_or_default();
        let ends = flows.into_iter().flat_map(|flow| {
            let service = flow.source_service.map(|service| service.name);
            [(flow.source, flow.source_machine.or(service)), (flow.destination, flow.destination_machine)]
        });
        let named = ends.filter_map(|(address, name)| Some((address.to_string(), name?)));
        Self(named.filter(|(_, name)| is_plain(name)).collect())
    }

    /// Returns the name of a machine, or what it was called where no name is known.
    #[must_use]
    pub fn name(&self, host: &str) -> String {
        self.0.get(host).map_or(host, String::as_str).to_owned()
    }
}

/// The tool that writes its own commands, and only measures.
const METER: &str = "run_pipe_meter";

/// Says what commands do that need consent. Only words of the commands themselves are used, and the tool that wrote them.
#[must_use]
pub fn asked_action(tool: &str, commands: &[&str], impact: Impact, machines: &MachineNames) -> AskedAction {
    let all: Vec<Vec<String>> = commands.iter().map(|command| command_words(command)).collect();
    let measured = if tool == METER { measured_over_ssh(&all, machines) } else { None };
    measured.or_else(|| known(&all)).unwrap_or_else(|| unknown(&all, impact))
}

fn action(what: String, changes: &str, undone: &str) -> AskedAction {
    AskedAction { what, changes: changes.to_owned(), undone: undone.to_owned() }
}

fn known(all: &[Vec<String>]) -> Option<AskedAction> {
    let of =
        |start: &[&str]| -> Vec<&Vec<String>> { all.iter().filter(|line| begins(line, start)).collect() };
    let records = of(&["az", "network", "watcher", "packet-capture", "create"]);
    if !records.is_empty() {
        let machines = records.iter().filter_map(|line| value(line, &["--vm", "--target"]));
        let time = records.first().and_then(|line| value(line, &["--time-limit"]));
        let time = time.map(|seconds| format!(" for {seconds} s")).unwrap_or_default();
        return Some(action(
            format!("Record packets on {}{time}", listed(machines)),
            "Adds one recording and one file in the storage account for each machine. The network stays as it is.",
            "One more question at the end deletes both.",
        ));
    }
    let deletes = of(&["az", "network", "watcher", "packet-capture", "delete"]);
    let files = of(&["az", "storage", "blob", "delete"]);
    if !deletes.is_empty() || !files.is_empty() {
        let what = match (deletes.len(), files.len()) {
            (0, 1) => "Delete a recorded file from the storage account".to_owned(),
            (0, some) => format!("Delete {some} recorded files from the storage account"),
            (1, 0) => "Delete a finished recording".to_owned(),
            (some, 0) => format!("Delete {some} finished recordings"),
            (1, _) => "Delete a finished recording and its file".to_owned(),
            (some, _) => format!("Delete {some} finished recordings and their files"),
        };
        return Some(action(
            what,
            "What was recorded has been fetched; only the copies in the cloud go. The network stays as it is.",
            "Not undone: record again if it is needed again.",
        ));
    }
    let stops = of(&["az", "network", "watcher", "packet-capture", "stop"]);
    if !stops.is_empty() {
        return Some(action(
            "Stop a recording of packets".to_owned(),
            "The recording ends early. The network stays as it is.",
            "Not undone: record again if it is needed again.",
        ));
    }
    let scripts = of(&["az", "vm", "run-command", "invoke"]);
    if scripts.len() == all.len() && !scripts.is_empty() {
        let measures = ["iperf", "qperf", "ping", "mtr", "traceroute"];
        let measures = all.iter().flatten().any(|word| {
            word.split_whitespace()
                .any(|part| measures.iter().any(|name| part.trim_matches(['/', '"', '\'']).ends_with(name)))
        });
        let machines = scripts.iter().filter_map(|line| value(line, &["--name", "-n", "--ids"]));
        let what = if measures { "Measure the network on" } else { "Run a script on" };
        return Some(action(
            format!("{what} {}", listed(machines)),
            if measures {
                "Sends test traffic for the time of the measurement."
            } else {
                "Whatever the script below does."
            },
            if measures { "Nothing stays." } else { "Ghost does not undo it." },
        ));
    }
    let first = all.first().filter(|_| all.len() == 1)?;
    let verb = first.iter().take_while(|word| !word.starts_with('-')).last()?.as_str();
    let order = match verb {
        "delete" | "remove" => "Delete",
        "create" | "add" => "Create",
        "update" | "set" => "Change",
        _ => return None,
    };
    let name = value(first, &["--name", "-n"])?;
    let (thing, parent) = match first.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["az", "network", "nsg", "rule", ..] => ("security rule", value(first, &["--nsg-name"])?),
        ["az", "network", "route-table", "route", ..] => ("route", value(first, &["--route-table-name"])?),
        _ => return None,
    };
    Some(action(
        format!("{order} the {thing} {name} of {parent}"),
        "Traffic that the rule or route decides about is decided otherwise from then on.",
        "Ghost does not undo it; the previous state stands in the evidence if it was read before.",
    ))
}

/// Says what commands do that measure inside machines over ssh: the first prepares the servers, the others run on the client.
fn measured_over_ssh(all: &[Vec<String>], machines: &MachineNames) -> Option<AskedAction> {
    let over_ssh = |line: &Vec<String>| line.first().map(String::as_str) == Some("ssh");
    if all.is_empty() || !all.iter().all(over_ssh) {
        return None;
    }
    let host = |line: &Vec<String>| {
        let at = line.iter().position(|word| word == "sudo" || word == "sh")?;
        line.get(at.checked_sub(1)?).filter(|host| is_plain(host)).cloned()
    };
    let mut hosts: Vec<String> = Vec::new();
    for host in all.iter().filter_map(host).map(|host| machines.name(&host)) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let between = match hosts.as_slice() {
        [server, client] => format!("from {client} to {server}"),
        _ => format!("between {}", listed(hosts.into_iter())),
    };
    Some(action(
        format!("Measure latency and throughput {between}"),
        "Starts servers for the measurement, sends test traffic, and ends the servers again.",
        "Nothing stays: the servers end by themselves, too.",
    ))
}

fn unknown(all: &[Vec<String>], impact: Impact) -> AskedAction {
    let programs = {
        let mut names: Vec<&str> = Vec::new();
        for name in
            all.iter().filter_map(|line| line.first()).map(|word| word.rsplit('/').next().unwrap_or(word))
        {
            if is_plain(name) && !names.contains(&name) {
                names.push(name);
            }
        }
        names.truncate(MAX_NAMES);
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    };
    let number = if all.len() == 1 { "a command".to_owned() } else { format!("{} commands", all.len()) };
    let (does, changes, undone) = match impact {
        Impact::Measurement => (
            "that measures",
            "Captures or measures; leaves the network as it is.",
            "Nothing stays but what it recorded.",
        ),
        Impact::Outage => (
            "that stops or restarts something others use",
            "Something that others use stops or restarts.",
            "Ghost does not undo it.",
        ),
        Impact::Change => (
            "that may change something",
            "It may change something; Ghost does not know this command well enough to say what.",
            "Ghost does not undo it.",
        ),
    };
    let does = if all.len() == 1 {
        does.to_owned()
    } else {
        does.replacen("that measures", "that measure", 1).replacen(
            "that stops or restarts",
            "that stop or restart",
            1,
        )
    };
    action(format!("Run {number} {does}{programs}"), changes, undone)
}

fn begins(line: &[String], start: &[&str]) -> bool {
    line.len() >= start.len() && line.iter().zip(start).all(|(word, wanted)| word == wanted)
}

/// Returns the value of an option where it is a plain name.
fn value(line: &[String], options: &[&str]) -> Option<String> {
    let found = line.iter().enumerate().find_map(|(at, word)| {
        options.iter().find_map(|option| match word.strip_prefix(option)? {
            "" => line.get(at + 1).cloned(),
            rest => rest.strip_prefix('=').map(str::to_owned),
        })
    })?;
    let name = found.rsplit('/').next().unwrap_or_default().to_owned();
    is_plain(&name).then_some(name)
}

/// Only a plain name is shown: a text that needs quotes could be read as something else.
fn is_plain(word: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | ':');
    !word.is_empty() && word.len() <= 80 && !word.starts_with('-') && word.chars().all(plain)
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    match all.as_slice() {
        [] => "a machine".to_owned(),
        [only] => only.clone(),
        [.., last] if all.len() <= MAX_NAMES => {
            format!("{} and {last}", all.get(..all.len() - 1).unwrap_or_default().join(", "))
        }
        [_, ..] => format!("{} machines", all.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(commands: &[&str], impact: Impact, what: &str) {
        assert_eq!(asked_action("run_shell_cmd", commands, impact, &MachineNames::default()).what, what);
    }

    #[test]
    fn what_is_asked_is_said_in_one_line() {
        let create = |vm: &str| {
            format!("az network watcher packet-capture create --vm {vm} -g rg --name x-{vm} --time-limit 30")
        };
        check(
            &[create("web-1").as_str(), create("db-1").as_str()],
            Impact::Measurement,
            "Record packets on web-1 and db-1 for 30 s",
        );
        check(
            &["az network watcher packet-capture delete --name a", "az storage blob delete --name a.cap"],
            Impact::Measurement,
            "Delete a finished recording and its file",
        );
        check(
            &["az network nsg rule delete -g rg --nsg-name web-nsg -n deny-5001"],
            Impact::Change,
            "Delete the security rule deny-5001 of web-nsg",
        );
        check(
            &["az vm run-command invoke -g rg -n web-1 --scripts 'iperf -c 10.0.1.5'"],
            Impact::Measurement,
            "Measure the network on web-1",
        );
        let ssh = |host: &str, script: &str| {
            format!("ssh -F none -o 'BatchMode=yes' -p 22 {host} sudo -n sh -c '{script}'")
        };
        let both = [ssh("10.0.1.5", "setsid qperf -lp 19765"), ssh("10.0.1.4", "timeout 17 qperf 10.0.1.5")];
        let both = [both[0].as_str(), both[1].as_str()];
        let named = MachineNames([("10.0.1.5".to_owned(), "db-1".to_owned())].into());
        let measured = asked_action(METER, &both, Impact::Change, &named).what;
        assert_eq!(measured, "Measure latency and throughput from 10.0.1.4 to db-1");
        // Whoever else writes such commands may do more with them.
        check(&both, Impact::Change, "Run 2 commands that may change something (ssh)");
        check(&["touch x"], Impact::Change, "Run a command that may change something (touch)");
        check(&["a", "b"], Impact::Outage, "Run 2 commands that stop or restart something others use (a, b)");
        check(&[""], Impact::Change, "Run a command that may change something");
    }

    #[test]
    fn a_script_names_no_target_and_no_words_of_its_own() {
        check(
            &["az vm run-command invoke -n web-1 --scripts 'echo --vm other'"],
            Impact::Change,
            "Run a script on web-1",
        );
        check(
            &["az network nsg rule delete --nsg-name '<!channel>' -n x"],
            Impact::Change,
            "Run a command that may change something (az)",
        );
    }
}
