//! Runs a declared script on a guest and collects its output, window by window.

use super::firewall::FirewallError;
use super::payload::{PayloadError, SectionError, WindowResult, WindowedPayload};
use super::state::StateError;
use crate::guest::{GuestAccess, printed};
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};
use ghost_base::Timestamp;

/// Why what a guest printed cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// It is not made of parts.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// It is no bundle of packet filters.
    #[error(transparent)]
    Firewall(#[from] FirewallError),
    /// It is no state of a guest.
    #[error(transparent)]
    State(#[from] StateError),
    /// The list of devices is missing.
    #[error("the list of devices is missing")]
    NoDevices,
    /// A device of the list has no part.
    #[error("{0} is missing")]
    NoDevice(String),
    /// A part is there that nothing asked for.
    #[error("the part `{0}` is not one of ours")]
    UnknownPart(String),
    /// The list of devices could not be printed.
    #[error("tc ended with {code}: {stderr}")]
    List {
        /// The exit code.
        code: u8,
        /// What it said.
        stderr: String,
    },
    /// The disciplines of a device could not be printed.
    #[error("{device}: tc ended with {code}: {stderr}")]
    Device {
        device: String,
        /// The exit code.
        code: u8,
        /// What it said.
        stderr: String,
    },
    /// The disciplines of a device cannot be read.
    #[error("{device}: {error}")]
    Qdisc {
        device: String,
        /// What is wrong with the text.
        error: String,
    },
}

/// What is gathered, and how it is read.
#[derive(Debug)]
pub struct ProbeSpec<T> {
    /// The script; its variables are `from` and, where counters are of use, `counters` (`yes`, `no`).
    pub script: &'static str,
    /// What it gathers, for people: "the packet filters".
    pub what: &'static str,
    /// Whether counters are of use: they are read where everything fits into one window.
    pub counters: bool,
    /// Reads what was gathered.
    pub read: fn(&str) -> Result<T, ProbeError>,
}

/// Gathers on a guest. Counters come along where everything fits into one window: they would change before the next one.
///
/// Half an answer or a damaged one is asked for once more, and then reported; nothing is concluded from it.
#[derive(Debug)]
pub struct GuestProbe<T: 'static> {
    reach: GuestAccess,
    wanted: &'static ProbeSpec<T>,
    /// What the script is asked beside the window.
    asked: Vec<(&'static str, String)>,
    counters: bool,
    windows: WindowedPayload,
    from: usize,
    again: u8,
    reading: ReadOperation,
    result: Option<Result<T, Issue>>,
}

/// How often it is begun anew.
const MAX_RESTARTS: u8 = 2;

impl<T: Clone + Send + 'static> GuestProbe<T> {
    /// Begins.
    #[must_use]
    pub fn new(reach: GuestAccess, wanted: &'static ProbeSpec<T>) -> Self {
        Self::asking(reach, wanted, Vec::new())
    }

    /// Begins, with values for the other variables of the script.
    #[must_use]
    pub fn asking(
        reach: GuestAccess,
        wanted: &'static ProbeSpec<T>,
        asked: Vec<(&'static str, String)>,
    ) -> Self {
        let reading = read(&reach, wanted, &asked, wanted.counters, 0);
        Self {
            reach,
            wanted,
            asked,
            counters: wanted.counters,
            windows: WindowedPayload::default(),
            from: 0,
            again: 0,
            reading,
            result: None,
        }
    }

    /// Returns what it begins with. Where more is gathered than one answer carries, the same follows with later windows.
    #[must_use]
    pub fn foreseen(&self) -> CommandRequest {
        order(&self.reach, self.wanted, &self.asked, self.wanted.counters, 0)
    }

    fn ask(&mut self, from: usize) {
        self.from = from;
        self.reading = read(&self.reach, self.wanted, &self.asked, self.counters, from);
    }

    fn anew(&mut self) {
        self.windows = WindowedPayload::default();
        self.ask(0);
    }

    fn take(&mut self, answer: &str) -> Result<(), Issue> {
        let add = |windows: &mut WindowedPayload| {
            let text = printed(&self.reach, answer).map_err(|error| (error.to_string(), true))?;
            windows
                .add(&text)
                .map_err(|error| (error.to_string(), !matches!(error, PayloadError::Large { .. })))
        };
        let whole = add(&mut self.windows).and_then(|collected| match collected {
            WindowResult::Ask(next) => Ok(Some(next)),
            WindowResult::Whole(text) => {
                self.result = Some(Ok((self.wanted.read)(&text).map_err(|error| (error.to_string(), true))?));
                Ok(None)
            }
        });
        match whole {
            Ok(None) => Ok(()),
            Ok(Some(_)) if self.counters => {
                self.counters = false;
                self.anew();
                Ok(())
            }
            Ok(Some(next)) => {
                self.ask(next);
                Ok(())
            }
            Err((_, true)) if self.again < MAX_RESTARTS - 1 => {
                self.again += 1;
                self.anew();
                Ok(())
            }
            Err((error, _)) => {
                let text = format!("looking at {} of {}: {error}", self.wanted.what, self.reach);
                let hint = match &self.reach {
                    GuestAccess::Platform { .. } => {
                        "try again; where the platform's answers stay like that, reach the guest by ssh"
                    }
                    GuestAccess::Ssh(_) => {
                        "look whether the guest has sh, gzip, base64 and sha256sum, and prints nothing at sign-in"
                    }
                };
                Err(Issue::hinted(text, hint))
            }
        }
    }
}

fn read<T>(
    reach: &GuestAccess,
    wanted: &ProbeSpec<T>,
    asked: &[(&'static str, String)],
    counters: bool,
    from: usize,
) -> ReadOperation {
    ReadOperation::new(
        order(reach, wanted, asked, counters, from),
        format!("looking at {} of {reach}", wanted.what),
    )
}

fn order<T>(
    reach: &GuestAccess,
    wanted: &ProbeSpec<T>,
    asked: &[(&'static str, String)],
    counters: bool,
    from: usize,
) -> CommandRequest {
    let (what, counters) = (wanted.what, if counters { "yes" } else { "no" });
    let part = if from == 0 { String::new() } else { format!(", from byte {from} on") };
    let mut variables = vec![("from", from.to_string())];
    variables.extend(asked.iter().cloned());
    if wanted.counters {
        variables.insert(0, ("counters", counters.to_owned()));
    }
    reach.script(wanted.script, variables, format!("look at {what} of {reach}{part}"))
}

impl<T: Clone + Send + 'static> Operation for GuestProbe<T> {
    type Result = Result<T, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match &self.result {
            Some(result) => Next::Over(result.clone()),
            None => match self.reading.next(now) {
                Next::Run(order) => Next::Run(order),
                Next::Wait { until, why } => Next::Wait { until, why },
                // Output is processed as soon as it arrives.
                Next::Over(Ok(_)) => {
                    Next::Over(Err(Issue::new("nothing was made of what the guest printed")))
                }
                Next::Over(Err(trouble)) => Next::Over(Err(trouble)),
            },
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
        if let Next::Over(read) = self.reading.next(now)
            && let Err(trouble) = read.and_then(|text| self.take(&text))
        {
            self.result = Some(Err(trouble));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::Engine as _;
    use flate2::{Compression, write::GzEncoder};

    use super::super::payload::WINDOW;
    use super::*;
    use crate::operation::CommandKind;
    use crate::{Name, ResourceGroup};
    use ghost_base::Digest;

    static TEXT: ProbeSpec<String> = ProbeSpec {
        script: "guest-qdisc",
        what: "the text",
        counters: true,
        read: |text| Ok(text.to_owned()),
    };

    fn gathering() -> GuestProbe<String> {
        let name = |text| Name::parse(text).unwrap();
        let place = ResourceGroup { subscription: None, group: name("rg") };
        GuestProbe::new(GuestAccess::Platform { place, machine: name("vm") }, &TEXT)
    }

    /// Returns the variables of what it wants to run.
    fn asked(gathering: &GuestProbe<String>) -> (String, usize) {
        let Next::Run(order) = gathering.next(Timestamp::from_millis(0)) else { panic!("it runs nothing") };
        let CommandKind::Script { variables, .. } = order.what else { panic!("it is no script") };
        let value = |name| variables.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        (value("counters"), value("from").parse().unwrap())
    }

    fn hear(gathering: &mut GuestProbe<String>, printed: &str) {
        let message = format!("Enable succeeded: \n[stdout]\n{printed}\n[stderr]\n");
        let value =
            serde_json::json!({"value": [{"code": "ProvisioningState/succeeded", "message": message}]});
        let ran = CommandOutcome::Ran { exit: Some(0), stdout: value.to_string(), stderr: String::new() };
        gathering.on_result(&ran, Timestamp::from_millis(0));
    }

    fn window(text: &str, from: usize) -> String {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(text.as_bytes()).unwrap();
        let packed = base64::engine::general_purpose::STANDARD.encode(gzip.finish().unwrap());
        let end = packed.len().min(from + WINDOW);
        let (digest, total) = (Digest::of(&packed), packed.len());
        format!("ghost-parcel 1 {digest} {total} {from}\n{}\nghost-parcel-end\n", &packed[from..end])
    }

    fn long(seed: u64) -> String {
        (seed..seed + 600).map(|at| format!("{:x} ", at.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    }

    #[test]
    fn what_does_not_fit_at_once_is_gathered_anew_without_counters() {
        let mut gathering = gathering();
        assert_eq!(asked(&gathering), ("yes".to_owned(), 0));
        hear(&mut gathering, &window(&long(1), 0));
        let still = long(7);
        for from in (0..).step_by(WINDOW) {
            assert_eq!(asked(&gathering), ("no".to_owned(), from));
            hear(&mut gathering, &window(&still, from));
            if let Next::Over(found) = gathering.next(Timestamp::from_millis(0)) {
                assert_eq!(found, Ok(still));
                return;
            }
        }
    }

    #[test]
    fn a_guest_that_changes_between_windows_is_asked_anew_once() {
        let mut gathering = gathering();
        hear(&mut gathering, &window(&long(1), 0));
        for (from, seed) in [(0, 1), (WINDOW, 2), (0, 3), (WINDOW, 4)] {
            assert_eq!(asked(&gathering), ("no".to_owned(), from));
            hear(&mut gathering, &window(&long(seed), from));
        }
        let Next::Over(Err(trouble)) = gathering.next(Timestamp::from_millis(0)) else {
            panic!("it goes on")
        };
        assert!(trouble.text.contains("changed while it was read"), "{}", trouble.text);
    }
}
