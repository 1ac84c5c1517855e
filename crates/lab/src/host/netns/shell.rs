//! What a script on a machine can call.

use std::time::{Duration, Instant};

use super::guest::{ChangeCommand, Guest};
use super::kernel::Kernel;
use super::program::{PROGRAMS, Program};
use crate::LabClock;
use crate::host::port::HostError;
use crate::host::script::{Calls, Files, ProgramResult, duration};
use ghost_base::{Clock as _, Timestamp};

/// How long one program may take: a connection attempt without an answer fails after some 130 seconds.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(140);
/// How long a script may sleep at a stretch.
const MAX_SLEEP: Duration = Duration::from_secs(120);

/// A machine under a script.
#[derive(Debug)]
pub(super) struct Shell<'a> {
    guest: &'a Guest,
    kernel: &'a Kernel,
    clock: &'a LabClock,
    files: Files,
}

impl<'a> Shell<'a> {
    /// Opens a shell.
    pub(super) fn new(guest: &'a Guest, kernel: &'a Kernel, clock: &'a LabClock) -> Self {
        let mut memory = guest.memory();
        memory.reap();
        let mut files = memory.files.clone();
        memory.printed(&mut files);
        drop(memory);
        Self { guest, kernel, clock, files }
    }

    /// Closes it: what was written stays.
    pub(super) fn close(self) {
        self.guest.memory().files = self.files;
    }

    fn program(&mut self, argv: &[String], input: &str) -> ProgramResult {
        // The interpreter puts it before what a script's own `timeout` is around.
        let within = match argv {
            [timeout, time, rest @ ..] if timeout == "timeout" => duration(time).map(|time| (rest, time)),
            _ => None,
        };
        let (argv, limit) = within.unwrap_or((argv, PROGRAM_TIMEOUT));
        let (argv, input) = self.with_files(argv, input);
        let order = self.guest.order(&argv, &input);
        let output = order.and_then(|order| Ok(order.at_most(limit.min(PROGRAM_TIMEOUT)).run()?));
        let output = match output {
            Ok(output) => output,
            Err(HostError::Lacking(message)) => return refusal(&argv, &message),
            Err(error) => return ProgramResult::failed(126, format!("{error}\n")),
        };
        if output.code == 0 && !is_reading(&argv) {
            self.guest.memory().steps.push(ChangeCommand { argv: argv.clone(), input, runs: false });
        }
        let out = if argv.first().is_some_and(|name| name.ends_with("ss")) {
            self.named(&output.out)
        } else {
            output.out
        };
        ProgramResult { out, err: output.err, code: output.code, took: Duration::ZERO }
    }

    /// Replaces the guest's own file by what it holds, where a program would read a file.
    fn with_files(&self, argv: &[String], input: &str) -> (Vec<String>, String) {
        let (mut argv, mut input) = (argv.to_vec(), input.to_owned());
        let name = argv
            .first()
            .map(|name| name.rsplit('/').next().unwrap_or_default().to_owned())
            .unwrap_or_default();
        let reads = name == "nft" && argv.iter().any(|word| word == "-f") || name.ends_with("-restore");
        let held = argv.last().filter(|_| reads).and_then(|path| self.files.get(path));
        if let Some(file) = held {
            input = String::from_utf8_lossy(&file.content).into_owned();
            argv.pop();
            argv.extend((name == "nft").then(|| "-".to_owned()));
        }
        (argv, input)
    }

    /// Gives listeners of this process the names of the programs that they stand for.
    fn named(&self, message: &str) -> String {
        let own = format!("pid={},", std::process::id());
        let memory = self.guest.memory();
        let name = |line: &str| {
            let (before, rest) = line.split_once("((\"")?;
            let (_, after) = rest.split_once('"').filter(|_| line.contains(&own))?;
            let port = line.split_whitespace().find_map(|word| {
                let port = word.rsplit_once(':')?.1.parse().ok()?;
                memory.listeners.get(&port)
            })?;
            Some(format!("{before}((\"{port}\"{after}"))
        };
        message.split_inclusive('\n').map(|line| name(line).unwrap_or_else(|| line.to_owned())).collect()
    }

    /// Puts htb in the place of prio where the kernel has none: classes that limit nothing, and the one in the middle for what no
    /// filter sends elsewhere, as for best effort in prio.
    fn bands(&mut self, argv: &[String]) -> Option<ProgramResult> {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let ["tc", "qdisc", "add" | "replace", "dev", device, rest @ ..] = words.as_slice() else {
            return None;
        };
        let (handle, rest) = match rest {
            ["root", "handle", handle, "prio", rest @ ..] | ["handle", handle, "root", "prio", rest @ ..] => {
                (*handle, rest)
            }
            ["root", "prio", rest @ ..] => ("1:", rest),
            _ => return None,
        };
        let bands = match rest {
            ["bands", bands, ..] => bands.parse::<u8>().ok().filter(|bands| (2..=16).contains(bands))?,
            _ => 3,
        };
        if self.kernel.has("prio") || !self.kernel.has("htb") {
            return None;
        }
        let major = handle.trim_end_matches(':');
        let line = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = vec![line(format!("tc qdisc add dev {device} root handle {major}: htb default 2"))];
        lines.extend((1..=bands).map(|band| {
            line(format!(
                "tc class add dev {device} parent {major}: classid {major}:{band} htb rate 100gbit burst 1mb cburst 1mb quantum 60000"
            ))
        }));
        for line in lines {
            let called = self.program(&line, "");
            if called.code != 0 {
                return Some(called);
            }
        }
        let message = format!(
            "lab: this kernel has no prio; htb with {bands} classes that limit nothing stands in for it\n"
        );
        Some(ProgramResult { err: message, ..ProgramResult::default() })
    }

    /// Answers for what is of this machine and not of the kernel.
    fn own(&self, argv: &[String]) -> Option<ProgramResult> {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["hostname"] | ["hostname", "-s" | "-f"] | ["uname", "-n"] => {
                Some(ProgramResult::printed(format!("{}\n", self.guest.name)))
            }
            ["hostname", ..] => {
                Some(ProgramResult::failed(1, "hostname: you must be root to change the host name\n"))
            }
            ["apt-get" | "apt", rest @ ..] => Some(package(rest)),
            ["kill", ..] => Some(self.guest.memory().kill(argv.get(1..).unwrap_or_default())),
            _ => None,
        }
    }
}

impl Calls for Shell<'_> {
    fn call(&mut self, argv: &[String], input: &str) -> ProgramResult {
        let begun = Instant::now();
        if let [first, rest @ ..] = argv
            && first == "sudo"
            && rest.first().is_some_and(|word| !word.starts_with('-'))
        {
            return self.call(rest, input);
        }
        let called = self.own(argv).or_else(|| self.bands(argv)).unwrap_or_else(|| self.program(argv, input));
        ProgramResult { took: begun.elapsed(), ..called }
    }

    fn start(&mut self, argv: &[String]) -> u32 {
        self.guest.leave_running(argv)
    }

    fn prints_to(&mut self, number: u32, path: &str) {
        if let Some(program) = self.guest.memory().background.iter_mut().find(|one| one.number() == number) {
            program.prints_to(path);
        }
    }

    fn lasts(&mut self, number: u32, time: Duration) {
        if let Some(program) = self.guest.memory().background.iter_mut().find(|one| one.number() == number) {
            program.lasts(time);
        }
    }

    fn find(&self, program: &str) -> Option<String> {
        Some(Program::named(program)?.path()?.to_string_lossy().into_owned())
    }

    fn files(&mut self) -> &mut Files {
        self.guest.memory().printed(&mut self.files);
        &mut self.files
    }

    fn read(&mut self, path: &str) -> Option<String> {
        if path == "/etc/hostname" {
            return Some(format!("{}\n", self.guest.name));
        }
        let plain =
            |rest: &str| rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/.".contains(&byte));
        let place = match path.strip_prefix("/proc/net/") {
            // The thread inside sees its own namespace, the process does not.
            Some(rest) => format!("/proc/thread-self/net/{rest}"),
            None => path.strip_prefix("/proc/sys/net/").map(|rest| format!("/proc/sys/net/{rest}"))?,
        };
        if !plain(&place) || place.contains("..") {
            return None;
        }
        let inside =
            self.guest.inside(|inside| inside.block(async move { std::fs::read_to_string(place).ok() }));
        inside.flatten().flatten()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn sleep(&mut self, time: Duration) {
        // Packets are real: they take the time that they take.
        std::thread::sleep(time.min(MAX_SLEEP));
    }
}

fn refusal(argv: &[String], message: &str) -> ProgramResult {
    let name = argv.first().map_or("", String::as_str);
    if Program::named(name.rsplit('/').next().unwrap_or_default()).and_then(Program::path).is_none() {
        return ProgramResult::failed(127, format!("bash: {name}: command not found\n"));
    }
    ProgramResult::failed(126, format!("{message}\n"))
}

/// Answers for packages: what is on this machine is in every guest, and nothing else comes.
fn package(words: &[&str]) -> ProgramResult {
    let mut names = words
        .iter()
        .skip_while(|word| **word != "install")
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .peekable();
    if names.peek().is_none() {
        return ProgramResult::default();
    }
    let there = |name: &str| {
        let mut all = PROGRAMS.iter().filter(|program| program.name == name || program.package == name);
        all.any(|program| program.path().is_some())
    };
    let (mut out, mut err) = (String::new(), String::new());
    for name in names {
        if there(name) {
            out.push_str(&format!("{name} is already the newest version.\n"));
        } else {
            err.push_str(&format!("E: Unable to locate package {name}\n"));
        }
    }
    ProgramResult { code: if err.is_empty() { 0 } else { 100 }, out, err, took: Duration::ZERO }
}

/// Tells whether a command only reads.
fn is_reading(argv: &[String]) -> bool {
    let Some((name, words)) = argv.split_first() else { return true };
    let name = name.rsplit('/').next().unwrap_or_default();
    let says = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match name {
        "ss" | "ping" | "tcpdump" | "ethtool" | "nc" | "curl" | "dig" | "conntrack" => true,
        "iperf" => !says(&["-D", "--daemon"]),
        "qperf" => true,
        "nft" => says(&["list"]) && !says(&["-f"]),
        "ip" | "tc" => !says(&[
            "add", "a", "del", "delete", "d", "replace", "change", "set", "append", "flush", "save",
            "restore", "prepend", "r",
        ]),
        "sysctl" => !words.iter().any(|word| word.contains('=')),
        save if save.ends_with("-save") => true,
        _ => says(&["-S", "-L", "-C", "-nL", "-nvL", "-vnL", "--list", "--list-rules", "--check"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(line: &str) -> bool {
        is_reading(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_that_only_reads_is_not_repeated() {
        for line in [
            "iptables -S",
            "iptables -t nat -nvL",
            "nft -j list ruleset",
            "ip -j addr",
            "tc -s qdisc show",
            "ss -tlnp",
        ] {
            assert!(reads(line), "{line}");
        }
        for line in [
            "iptables -P INPUT DROP",
            "iptables -F",
            "tc qdisc del dev eth0 root",
            "ip link set eth0 mtu 9000",
            "nft -f -",
        ] {
            assert!(!reads(line), "{line}");
        }
        assert!(reads("sysctl net.ipv4.ip_forward") && !reads("sysctl -w net.ipv4.ip_forward=1"));
    }

    #[test]
    fn only_what_is_there_is_installed() {
        assert_eq!(package(&["install", "-y", "no-such-package"]).code, 100);
        assert_eq!(package(&["update"]).code, 0);
    }
}
