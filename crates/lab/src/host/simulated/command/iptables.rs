//! `iptables` and its relatives.

use crate::host::simulated::guest::{Backend, Command, Refusal, Side};
use crate::host::simulated::world::{ProgramResult, World};
use ghost_base::Timestamp;

/// Which of the programs it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tool {
    side: Side,
    work: Work,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Rules,
    Save,
    Restore,
}

impl Tool {
    /// Reads the name of a program.
    pub(super) fn named(name: &str, default: Backend) -> Option<Self> {
        let (six, rest) = match name.strip_prefix("ip6tables") {
            Some(rest) => (true, rest),
            None => (false, name.strip_prefix("iptables")?),
        };
        let (backend, rest) = if let Some(rest) = rest.strip_prefix("-nft") {
            (Backend::Nft, rest)
        } else if let Some(rest) = rest.strip_prefix("-legacy") {
            (Backend::Legacy, rest)
        } else {
            (default, rest)
        };
        let work = match rest {
            "" => Work::Rules,
            "-save" => Work::Save,
            "-restore" => Work::Restore,
            _ => return None,
        };
        Some(Self { side: Side { backend, six }, work })
    }

    fn name(self) -> String {
        let stem = if self.side.six { "ip6tables" } else { "iptables" };
        let end = match self.work {
            Work::Rules => "",
            Work::Save => "-save",
            Work::Restore => "-restore",
        };
        format!("{stem}{end}")
    }

    fn version(self) -> &'static str {
        match self.side.backend {
            Backend::Nft => "v1.8.7 (nf_tables)",
            Backend::Legacy => "v1.8.7 (legacy)",
        }
    }

    fn refused(self, refusal: &Refusal) -> ProgramResult {
        ProgramResult::failed(refusal.code, refusal.text(&self.name(), self.version()))
    }
}

/// Answers.
pub(super) fn call(
    world: &mut World,
    machine: &str,
    tool: Tool,
    words: &[String],
    input: &str,
) -> ProgramResult {
    let moment = moment(world.now);
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    if words.iter().any(|word| word == "--version" || word == "-V") {
        return ProgramResult::printed(format!("{} {}\n", tool.name(), tool.version()));
    }
    let after = |flags: [&str; 2]| {
        let at = words.iter().position(|word| flags.contains(&word.as_str()))?;
        words.get(at + 1).map(String::as_str)
    };
    match tool.work {
        Work::Save => {
            let counters = words.iter().any(|word| word == "-c" || word == "--counters");
            let table = after(["-t", "--table"]);
            ProgramResult::printed(guest.firewall.save(tool.side, table, counters, &moment))
        }
        Work::Restore => {
            let has = |flags: [&str; 2]| words.iter().any(|word| flags.contains(&word.as_str()));
            let file = words.iter().find(|word| !word.starts_with('-'));
            let text = match file {
                Some(file) => match guest.files.get(file) {
                    Some(file) => String::from_utf8_lossy(&file.content).into_owned(),
                    None => {
                        return ProgramResult::failed(
                            1,
                            format!("Can't open {file}: No such file or directory\n"),
                        );
                    }
                },
                None => input.to_owned(),
            };
            if has(["--test", "-t"]) {
                let mut copy = guest.firewall.clone();
                return match copy.restore(
                    tool.side,
                    &text,
                    has(["-n", "--noflush"]),
                    has(["-c", "--counters"]),
                ) {
                    Ok(()) => ProgramResult::default(),
                    Err(refusal) => tool.refused(&refusal),
                };
            }
            match guest.firewall.restore(
                tool.side,
                &text,
                has(["-n", "--noflush"]),
                has(["-c", "--counters"]),
            ) {
                Ok(()) => ProgramResult::default(),
                Err(refusal) => tool.refused(&refusal),
            }
        }
        Work::Rules => {
            let done = Command::read(words, tool.side).and_then(|command| command.run(&mut guest.firewall));
            let lists = words.iter().any(|word| {
                word.starts_with("-L")
                    || word.starts_with("-S")
                    || word.starts_with("--list")
                    || (word.starts_with('-') && !word.starts_with("--") && word.contains('L'))
            });
            let mut called = match done {
                Ok(out) => ProgramResult::printed(out),
                Err(refusal) => tool.refused(&refusal),
            };
            if lists && tool.side.backend == Backend::Nft && guest.firewall.has_legacy(tool.side.six) {
                let name = tool.name();
                called.err.push_str(&format!(
                    "# Warning: {name}-legacy tables present, use {name}-legacy to see them\n"
                ));
            }
            called
        }
    }
}

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Writes a moment as C does.
pub(super) fn moment(now: Timestamp) -> String {
    let Ok(now) = time::OffsetDateTime::from_unix_timestamp(now.as_millis() / 1_000) else {
        return String::new();
    };
    let day = DAYS.get(usize::from(now.weekday().number_days_from_sunday())).copied().unwrap_or_default();
    let month = MONTHS.get(usize::from(u8::from(now.month())) - 1).copied().unwrap_or_default();
    format!(
        "{day} {month} {:2} {:02}:{:02}:{:02} {}",
        now.day(),
        now.hour(),
        now.minute(),
        now.second(),
        now.year()
    )
}
