//! A ruleset as it was printed: nothing lost, nothing concluded.

use serde::Serialize;

use super::host::{BundleError, SnapshotError};
use super::{nft, save};
use crate::netfilter::ipset::IpSet;
use crate::netfilter::json::Value;
use crate::netfilter::text::Text;

/// All that one text holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ruleset {
    /// How it was printed.
    pub format: Format,
    /// `ipv4` or `ipv6`; for nft the families of its tables.
    pub family: String,
    /// `iptables-legacy`, `iptables-nft`, `nft` or `mixed`; absent where the text alone does not tell.
    pub framework: Option<String>,
    /// What nft says about itself, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Value>,
    /// Its tables, in the order of the text.
    pub tables: Vec<Table>,
    /// The sets of `ipset save` that was given beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ipsets: Vec<IpSet>,
    /// How many rules there are.
    pub rules: usize,
    /// How many of them have a part that is not known by name.
    pub opaque_rules: usize,
    /// What could not be read and may judge any packet: a table or a chain, or whatever followed where the text was cut off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Whether the end of the text is missing.
    #[serde(skip_serializing_if = "is_false")]
    pub cut_off: bool,
    /// What is odd, with its place.
    pub warnings: Vec<Warning>,
}

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Format {
    /// What `iptables-save` prints.
    #[serde(rename = "iptables-save")]
    Save,
    /// What `nft -j list ruleset` prints.
    #[serde(rename = "nft-json")]
    Nft,
}

/// A table with its chains, sets and other objects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Its name; for nft with the family before it, as in `inet fw`.
    pub name: String,
    /// The packets that it sees: IPv4, IPv6 or both.
    pub family: Family,
    /// Whether it judges nothing for the time being.
    pub dormant: bool,
    /// Its flags, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<Value>,
    /// What else it says about itself, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Value>,
    /// The chains in the order of the text.
    pub chains: Vec<Chain>,
    /// Its sets and maps.
    pub sets: Vec<Set>,
    /// Everything else in it: flow tables, named counters, helpers, and what nobody here knows.
    pub objects: Vec<Object>,
}

/// Which packets a table sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// IPv4.
    Ip,
    /// IPv6.
    Ip6,
    /// Both; for what `iptables-save` prints, where nothing in the text tells which.
    Inet,
    /// ARP, bridges, single devices, or a family that is not known: no routed packet.
    Other,
}

/// A chain: built in or a base chain with a hook, or one that rules jump to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// Where packets enter it; absent where only other chains lead into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What happens at its end, as printed.
    pub policy: Option<String>,
    /// Packets that the policy judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Bytes that the policy judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What else it says about itself, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Value>,
    /// The rules in the order in which packets meet them.
    pub rules: Vec<Rule>,
    /// What stood among its rules and could not be read, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// Something among the rules of a chain that could not be read: it may do anything with a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// How many rules of the chain stand before it.
    pub before: usize,
    /// What it is, in words, with its place.
    pub what: String,
}

/// Where packets enter a chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Base {
    /// `filter`, `nat` or `route`.
    pub kind: String,
    /// The hook, such as `input`.
    pub hook: String,
    /// The place among the chains of that hook.
    pub priority: i64,
    /// The devices to which it is bound, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Value>,
}

/// One rule, with everything that was printed of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// Its place in the chain, from 1.
    pub position: usize,
    /// The number that nft gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<u64>,
    /// The rule in one line.
    pub raw: String,
    /// Its parts.
    #[serde(flatten)]
    pub body: Body,
    /// The text of its comment match or attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Packets that it judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Bytes that it judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What else it says about itself, as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Value>,
    /// The parts that are not known by name, word for word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<String>,
}

/// The parts of a rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Body {
    /// Options of `iptables`.
    #[serde(rename = "options")]
    Save(Vec<Part>),
    /// Expressions of `nft`.
    #[serde(rename = "expr")]
    Nft(Vec<Value>),
}

/// One option of an `iptables` rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Its name, with its dashes, in the spelling of `iptables-save`.
    pub name: Text,
    /// The match or target that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<Text>,
    /// Whether an exclamation mark stands before it.
    #[serde(skip_serializing_if = "is_false")]
    pub negated: bool,
    /// What stands behind it.
    pub values: Box<[Text]>,
    /// Whether it is known by name.
    #[serde(skip_serializing_if = "is_true")]
    pub known: bool,
}

/// A set or a map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// Whether its elements lead to something.
    pub is_map: bool,
    /// Whether packets or time change its elements.
    pub volatile: bool,
    /// Everything about it but its elements, as printed.
    pub about: Value,
    /// Its elements, as printed.
    pub elements: Vec<Value>,
    /// Whether some of its elements could not be read.
    #[serde(skip_serializing_if = "is_false")]
    pub unread: bool,
}

/// Something in a table that is neither chain nor set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Object {
    /// What it is.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Everything about it, as printed.
    pub about: Value,
}

/// Something odd, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Warning {
    /// The line, or the number of the object.
    pub place: String,
    /// What is odd.
    pub what: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_true(value: &bool) -> bool {
    *value
}

impl Ruleset {
    /// Returns it, if its end is there.
    ///
    /// # Errors
    /// Fails where the text was cut off: what it does not hold may decide.
    pub fn whole(self) -> Result<Self, ReadError> {
        if !self.cut_off {
            return Ok(self);
        }
        let warning_found = self.warnings.into_iter().rev().find(|warning| warning.what.contains("cut off"));
        Err(ReadError::CutOff(warning_found.unwrap_or_else(|| Warning {
            place: "its end".to_owned(),
            what: "the text was cut off".to_owned(),
        })))
    }
}

impl Base {
    /// Returns the hook of routed packets at which it judges: a device's own hooks stand right before and behind those.
    #[must_use]
    pub fn routed_hook(&self) -> &str {
        match self.hook.as_str() {
            "ingress" => "prerouting",
            "egress" => "postrouting",
            hook => hook,
        }
    }

    /// Returns its place among the chains of that hook.
    #[must_use]
    pub fn routed_priority(&self) -> i64 {
        let far = i64::from(u32::MAX);
        match self.hook.as_str() {
            "ingress" => self.priority.saturating_sub(far),
            "egress" => self.priority.saturating_add(far),
            _ => self.priority,
        }
    }

    /// Returns the devices to which it is bound; nothing where the text does not say.
    #[must_use]
    pub fn devices(&self) -> Option<Vec<&str>> {
        let device = self.device.as_ref()?;
        match device.as_array() {
            Some(list) => list.iter().map(Value::as_str).collect(),
            None => device.as_str().map(|one| vec![one]),
        }
    }
}

impl Table {
    /// True for a table of single devices.
    #[must_use]
    pub fn is_of_devices(&self) -> bool {
        self.name.starts_with("netdev ")
    }

    /// True for a table of ARP or of bridges that may drop something.
    #[must_use]
    pub fn may_drop_frames(&self) -> bool {
        let harmless = [
            "accept", "continue", "return", "counter", "log", "match", "jump", "goto", "mangle", "set",
            "limit",
        ];
        let may_drop = |rule: &Rule| match &rule.body {
            Body::Save(_) => true,
            Body::Nft(all) => !all.iter().all(|one| harmless.iter().any(|name| one.get(name).is_some())),
        };
        let drops = |chain: &Chain| {
            chain.base.is_some() && chain.policy.as_deref() != Some("accept")
                || !chain.unread.is_empty()
                || chain.rules.iter().any(may_drop)
        };
        let is_entered = self.chains.iter().any(|chain| chain.base.is_some());
        self.family == Family::Other
            && !self.is_of_devices()
            && !self.dormant
            && is_entered
            && self.chains.iter().any(drops)
    }

    /// Returns the name without its family.
    #[must_use]
    pub fn bare(&self) -> &str {
        self.name.split_once(' ').map_or(self.name.as_str(), |(_, name)| name)
    }
}

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It is too large.
    #[error("it has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The most bytes that are read.
        limit: usize,
    },
    /// It begins as JSON and cannot be read.
    #[error("line {line}: this JSON cannot be read, or it was cut off")]
    Json {
        /// Where reading failed.
        line: usize,
    },
    /// Its end is missing.
    #[error("{0}")]
    CutOff(Warning),
    /// It is JSON, but no ruleset.
    #[error("it is JSON, but has no list `nftables`")]
    OtherJson,
    /// It is a bundle with something odd in it.
    #[error("{0}")]
    Bundle(BundleError),
    /// It is a snapshot that is refused.
    #[error("{0}")]
    Snapshot(SnapshotError),
    /// It is what another tool prints, or one of the other family.
    #[error("this is what another tool prints")]
    OtherTool,
    /// It is something else.
    #[error("no line of it is a table as `iptables-save` prints it, and it is no JSON")]
    Foreign,
}

/// The largest text that is read; fifty thousand rules have about ten megabytes.
pub const MAX_TEXT_BYTES: usize = 256 << 20;

/// Reads what `iptables-save`, `ip6tables-save` or `nft -j list ruleset` printed.
///
/// # Errors
/// Fails where the text is none of them, or a JSON document that was cut off: never an empty ruleset.
pub fn read(text: &str) -> Result<Ruleset, ReadError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ReadError::TooLarge { bytes: text.len(), limit: MAX_TEXT_BYTES });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    if text.trim_start().starts_with(['{', '[']) { nft::read(text) } else { save::read(text) }
}

/// Writes a ruleset as the program would that printed it: `iptables-save`, `ip6tables-save` or `nft -j list ruleset`.
///
/// Reading the text again gives the same ruleset. What these programs print themselves comes out byte for byte, comments and
/// order of tables apart; `nft` documents come out with the same content. What was not read, because it was no part of a
/// ruleset, is not written.
///
/// ```
/// use ghost_inspect::netfilter::{print, read};
///
/// let text = "*filter\n:INPUT DROP [3:180]\n[7:420] -A INPUT ! -s 10.0.0.0/8 -j ACCEPT\nCOMMIT\n";
/// assert!(print(&read(text)?).ends_with(text));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn print(ruleset: &Ruleset) -> String {
    match ruleset.format {
        Format::Save => save::print(ruleset),
        Format::Nft => nft::print(ruleset),
    }
}
