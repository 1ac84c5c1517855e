//! Packets of a machine that is reached by itself: recorded there, bounded in time and size, and brought over in one run.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use ghost_base::Timestamp;

use super::payload::{sections, whole};
use crate::line::Line;
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, printed};

/// The declared script, about which a human is asked: it measures.
const SCRIPT: &str = "host-capture";
/// So much of each packet is kept: the headers.
const HEADER_BYTES: &str = "128";
/// All devices.
const ANY: &str = "any";

/// Which packets are kept, in either direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostFilter {
    /// `tcp`, `udp` or `icmp`; any where none is named.
    pub protocol: Option<&'static str>,
    /// The address of either end.
    pub host: Option<IpAddr>,
    /// The port of either end.
    pub port: Option<u16>,
}

/// Records packets on a machine. Half a recording or a damaged one is reported.
#[derive(Debug)]
pub struct HostCapture {
    name: String,
    order: CommandRequest,
    result: Option<Result<Packets, Issue>>,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packets {
    /// The capture file, in base64.
    pub text: String,
    /// Its size.
    pub bytes: u64,
    /// What tcpdump said of it.
    pub said: String,
}

impl Packets {
    /// Returns the capture file that a text is.
    ///
    /// # Errors
    /// Fails where it is no base64.
    pub fn bytes_of(text: &str) -> Result<Vec<u8>, Issue> {
        STANDARD
            .decode(text)
            .map_err(|error| Issue::new(format!("the recorded packets are damaged: {error}")))
    }
}

impl HostCapture {
    /// Begins at a machine that a session named when it was opened, by the words that carry scripts there.
    #[must_use]
    pub fn by(carrier: &[String], name: &str, seconds: u32, filter: &HostFilter, why: &str) -> Self {
        let variables = vec![
            ("bytes", HEADER_BYTES.to_owned()),
            ("device", ANY.to_owned()),
            ("host", filter.host.map_or_else(|| ANY.to_owned(), |host| host.to_string())),
            ("port", filter.port.unwrap_or(0).to_string()),
            ("protocol", filter.protocol.unwrap_or(ANY).to_owned()),
            ("seconds", seconds.to_string()),
        ];
        let why = format!("record packets of {name} for {seconds} seconds: {why}");
        let order = CommandRequest::script(Line::carrying(carrier.to_vec(), true), SCRIPT, variables, why);
        Self { name: name.to_owned(), order, result: None }
    }

    fn read(&self, answer: &CommandOutcome) -> Result<Packets, Issue> {
        let doing = format!("recording packets of {}", self.name);
        let text = printed(answer, &doing).map_err(|error| error.trouble)?;
        let odd = |error: &dyn std::fmt::Display| {
            Issue::hinted(format!("{doing}: {error}"), "look whether it has sh, gzip, base64 and sha256sum")
        };
        let sections = sections(&whole(text).map_err(|error| odd(&error))?).map_err(|error| odd(&error))?;
        let part = |name: &str| sections.iter().find(|part| part.name == name).map(|part| part.text.as_str());
        let (Some(said), Some(packets)) = (part("said"), part("packets")) else {
            return Err(odd(&"a part is missing"));
        };
        let bytes = Packets::bytes_of(packets)?.len();
        if bytes == 0 {
            let said = said.lines().next().unwrap_or("nothing was said");
            let hint = "root rights are needed, or `sudo -n` for `timeout -s INT SECONDS tcpdump`; tcpdump has to be installed";
            return Err(Issue::hinted(format!("{doing}: {said}"), hint));
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Ok(Packets { text: packets.to_owned(), bytes, said: said.to_owned() })
    }
}

impl Operation for HostCapture {
    type Result = Result<Packets, Issue>;

    fn next(&self, _: Timestamp) -> Next<Self::Result> {
        match &self.result {
            Some(result) => Next::Over(result.clone()),
            None => Next::Run(Box::new(self.order.clone())),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, _: Timestamp) {
        self.result = Some(self.read(answer));
    }
}
