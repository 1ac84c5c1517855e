//! Everything of a machine's network, gathered at once.

use std::time::Duration;

use ghost_base::Timestamp;
use ghost_inspect::host::Gathered;
use ghost_shell::{FilledScript, Policy, ScriptError};

use super::payload::{sections, whole};
use crate::FailureClass;
use crate::guest::HostAccess;
use crate::line::Line;
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, printed};

/// The declared script; its variables are `names`, `to` and `seconds`.
const SCRIPT: &str = "host-state";
/// What is asked of name servers that nobody named a name for: who serves the root, which every resolver knows.
const ROOT: &str = ".";
/// For how long counters are watched where nobody says otherwise.
const SECONDS: u8 = 1;
/// After so many seconds a server for ssh that took no more sign-ins is asked again.
const SIGN_IN_PAUSES: [u64; 2] = [1, 3];
/// What stands for no destination at all.
const NOWHERE: &str = "none";

/// What is asked beside what the machine itself knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostQuestion {
    /// Names that its name servers are asked for.
    pub names: Vec<String>,
    /// Destinations that it tries to reach, with the port where there is one.
    pub to: Vec<(String, Option<u16>)>,
    /// For how many seconds counters are watched: 1, 2, 3, 5 or 10.
    pub seconds: u8,
}

impl Default for HostQuestion {
    fn default() -> Self {
        Self { names: Vec::new(), to: Vec::new(), seconds: SECONDS }
    }
}

impl HostQuestion {
    /// Returns the script as it would run.
    ///
    /// # Errors
    /// Fails where a value is none for the script.
    pub fn script(&self, policy: &Policy) -> Result<FilledScript, ScriptError> {
        let variables = self.variables();
        let values: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let undeclared = || ScriptError::Undeclared { script: SCRIPT.to_owned() };
        policy.script(SCRIPT).ok_or_else(undeclared)?.fill(&values)
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let list = |items: Vec<String>, none: &str| match items.is_empty() {
            true => none.to_owned(),
            false => items.join("/"),
        };
        let to = self.to.iter().map(|(host, port)| format!("{host}:{}", port.unwrap_or(0))).collect();
        vec![
            ("names", list(self.names.clone(), ROOT)),
            ("to", list(to, NOWHERE)),
            ("seconds", self.seconds.to_string()),
        ]
    }
}

/// Gathers on a machine, in one run. Half an answer or a damaged one is reported, and nothing is concluded from it.
#[derive(Debug)]
pub struct HostProbe {
    /// The machine, as messages name it.
    name: String,
    is_here: bool,
    order: CommandRequest,
    /// How often it was asked again.
    retries: usize,
    /// Until when it is let alone, and why.
    pause: Option<(Timestamp, String)>,
    result: Option<Result<Gathered, Issue>>,
}

impl HostProbe {
    /// Begins.
    #[must_use]
    pub fn new(reach: HostAccess, question: &HostQuestion) -> Self {
        Self::carried(reach.carrier(), reach.to_string(), matches!(reach, HostAccess::Here), question)
    }

    /// Begins at a machine that a session named when it was opened, by the words that carry scripts there. The gate judges them: words
    /// that the configuration does not have ask a human.
    #[must_use]
    pub fn by(carrier: &[String], name: &str, question: &HostQuestion) -> Self {
        let is_here = HostAccess::Here.carrier().words() == carrier;
        Self::carried(Line::carrying(carrier.to_vec(), false), name.to_owned(), is_here, question)
    }

    fn carried(carrier: Line, name: String, is_here: bool, question: &HostQuestion) -> Self {
        let why = format!("read the network of {name}");
        let order = CommandRequest::script(carrier, SCRIPT, question.variables(), why);
        Self { name, is_here, order, retries: 0, pause: None, result: None }
    }

    /// Returns the one command that it runs.
    #[must_use]
    pub fn foreseen(&self) -> CommandRequest {
        self.order.clone()
    }

    fn doing(&self) -> String {
        format!("reading the network of {}", self.name)
    }

    fn read(&self, text: &str) -> Result<Gathered, Issue> {
        let doing = self.doing();
        let odd = |error: &dyn std::fmt::Display| {
            let hint = match self.is_here {
                true => "look whether sh, gzip, base64 and sha256sum are installed",
                false => "look whether it has sh, gzip, base64 and sha256sum, and prints nothing at sign-in",
            };
            Issue::hinted(format!("{doing}: {error}"), hint)
        };
        let sections = sections(&whole(text).map_err(|error| odd(&error))?).map_err(|error| odd(&error))?;
        let sections = sections.into_iter().map(|section| (section.name, section.code, section.text));
        Gathered::from_sections(sections).map_err(|error| odd(&error))
    }
}

impl Operation for HostProbe {
    type Result = Result<Gathered, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match (&self.result, &self.pause) {
            (Some(result), _) => Next::Over(result.clone()),
            (None, Some((until, why))) if *until > now => Next::Wait { until: *until, why: why.clone() },
            (None, _) => Next::Run(Box::new(self.order.clone())),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        match printed(answer, &self.doing()) {
            Ok(text) => self.result = Some(self.read(text)),
            Err(error) => match SIGN_IN_PAUSES.get(self.retries) {
                // Nothing ran there, and others who sign in at the same moment may be done with it soon.
                Some(seconds) if error.is(FailureClass::SignInsFull) => {
                    self.retries += 1;
                    let until = now.plus(Duration::from_secs(*seconds));
                    self.pause = Some((until, format!("{}; once more in {seconds} s", error.trouble.text)));
                }
                // A machine that does not answer is not asked again and again: whoever asks is waiting, and has others.
                _ => self.result = Some(Err(error.trouble)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::Engine as _;
    use flate2::{Compression, write::GzEncoder};
    use ghost_base::Digest;
    use ghost_inspect::host::Part;

    use super::*;
    use crate::operation::CommandKind;

    fn parcel(text: &str) -> String {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(text.as_bytes()).unwrap();
        let packed = base64::engine::general_purpose::STANDARD.encode(gzip.finish().unwrap());
        format!("ghost-parcel 1 {} {} 0\n{packed}\nghost-parcel-end\n", Digest::of(&packed), packed.len())
    }

    fn text() -> String {
        // More than one window of the platform's carries.
        let long = |seed: u64| -> String {
            (0..120_u64)
                .map(|at| format!("{:x}", (seed * 999 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                .collect()
        };
        let section = |(at, part): (usize, &Part)| {
            let long = long(u64::try_from(at).unwrap());
            format!("section {part} 0 {}\n{long}\n", long.len())
        };
        Part::ALL.iter().enumerate().map(section).collect()
    }

    fn answered(stdout: String) -> Result<Gathered, Issue> {
        let mut probe = HostProbe::new(HostAccess::Here, &HostQuestion::default());
        let now = Timestamp::from_millis(0);
        probe.on_result(&CommandOutcome::Ran { exit: Some(0), stdout, stderr: String::new() }, now);
        match probe.next(now) {
            Next::Over(result) => result,
            Next::Run(_) | Next::Wait { .. } => panic!("it goes on"),
        }
    }

    #[test]
    fn one_run_brings_everything_and_half_of_it_is_nothing() {
        let whole = parcel(&text());
        assert!(whole.len() > 40_000);
        assert!(answered(whole.clone()).is_ok());
        for cut in [0, 10, whole.len() / 2, whole.len() - 18] {
            assert!(answered(whole[..cut].to_owned()).is_err(), "{cut}");
        }
        let (begin, end) = whole.split_at(whole.len() / 2);
        let damaged = format!("{begin}{}{}", if end.starts_with('A') { 'B' } else { 'A' }, &end[1..]);
        assert!(answered(damaged).unwrap_err().text.contains("digest differs"));
        let missing = text().replacen("section about", "section odd", 1);
        assert!(answered(parcel(&missing)).unwrap_err().text.contains("`odd`"));
    }

    #[test]
    fn a_server_that_takes_no_more_sign_ins_is_asked_again_and_not_for_ever() {
        let mut probe = HostProbe::new(HostAccess::Here, &HostQuestion::default());
        let stderr = "kex_exchange_identification: Connection closed by remote host\r\n".to_owned();
        let full = CommandOutcome::Ran { exit: Some(255), stdout: String::new(), stderr };
        let mut now = Timestamp::from_millis(0);
        for seconds in SIGN_IN_PAUSES {
            probe.on_result(&full, now);
            let Next::Wait { until, why } = probe.next(now) else { panic!("no pause") };
            assert_eq!((until.since(now).as_secs(), why.contains("once more")), (seconds, true), "{why}");
            now = until;
            assert!(matches!(probe.next(now), Next::Run(_)));
        }
        probe.on_result(&full, now);
        let Next::Over(Err(issue)) = probe.next(now) else { panic!("it goes on") };
        assert!(issue.hint.is_some_and(|hint| hint.contains("MaxStartups")));
    }

    #[test]
    fn what_is_asked_stands_in_the_variables() {
        let to = vec![("10.0.0.1".to_owned(), Some(443)), ("db.lab".to_owned(), None)];
        let question = HostQuestion { names: vec!["a.lab".to_owned(), "b.lab".to_owned()], to, seconds: 2 };
        let order = HostProbe::new(HostAccess::Here, &question).foreseen();
        let CommandKind::Script { variables, .. } = order.what else { panic!("it is no script") };
        let values: Vec<_> = variables.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["a.lab/b.lab", "10.0.0.1:443/db.lab:0", "2"]);
    }
}
