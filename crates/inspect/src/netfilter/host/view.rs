//! A host's rulesets, read and joined.

use serde::Serialize;

use super::bundle::{Bundle, Source};
use super::detect::{Framework, detect};
use super::snapshot::About;
use crate::netfilter::error::ReadError;
use crate::netfilter::format::read;
use crate::netfilter::ipset::{IpSet, read_sets};
use crate::netfilter::ruleset::{Body, Format, Ruleset, Table, Warning};

/// The sources that hold rules, in the order in which they are reported.
pub(super) const RULES: [&str; 5] =
    ["iptables-legacy", "ip6tables-legacy", "iptables-nft", "ip6tables-nft", "nft"];

/// A host as its bundle shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Host {
    /// Always `bundle`.
    pub format: &'static str,
    /// Which framework judges packets, and why that is said.
    #[serde(flatten)]
    pub framework: Framework,
    /// How many rules there are; those that two tools show are counted once.
    pub rules: usize,
    /// How many of them have a part that is not known by name.
    pub opaque_rules: usize,
    /// Every source of rules.
    pub backends: Vec<Backend>,
    /// The sets of `ipset`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ipsets: Vec<IpSet>,
    /// Whether the sets were gathered at all.
    pub ipsets_read: bool,
    /// What could not be read and could hold rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Warning>,
    /// The sources of rules that were not gathered at all, and of which no other source proves that they hold none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<&'static str>,
    /// What is odd.
    pub warnings: Vec<Warning>,
    /// What the snapshot says about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<About>,
}

/// One source of rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Backend {
    /// Its name in the bundle.
    pub source: &'static str,
    /// Its rules; for `nft` without the tables that `iptables-nft` shows too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruleset: Option<Ruleset>,
    /// The tables that another source shows with all their parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mirrors: Vec<String>,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Host {
    /// Reads what a bundle holds.
    #[must_use]
    pub fn read(bundle: &Bundle) -> Self {
        let (ipsets, mut warnings) = bundle.text("ipset").map(read_sets).unwrap_or_default();
        let mut backends: Vec<Backend> = RULES.iter().filter_map(|source| backend(bundle, source)).collect();
        let shown: Vec<String> = ["iptables-nft", "ip6tables-nft"]
            .iter()
            .zip(["ip ", "ip6 "])
            .flat_map(|(source, family)| {
                let own = backends.iter().find(|backend| backend.source == *source);
                let tables =
                    own.and_then(|backend| backend.ruleset.as_ref()).map(|ruleset| ruleset.tables.as_slice());
                tables.unwrap_or_default().iter().map(move |table| format!("{family}{}", table.name))
            })
            .collect();
        for backend in &mut backends {
            let Some(ruleset) = &mut backend.ruleset else { continue };
            if backend.source == "nft" {
                backend.mirrors = take_mirrors(ruleset, &shown);
            } else {
                ruleset.ipsets.clone_from(&ipsets);
                // What the comment speaks of is in this bundle.
                let beside = if backend.source.ends_with("-nft") {
                    ["iptables-legacy", "ip6tables-legacy", "nft"].map(|source| bundle.text(source).is_some())
                } else {
                    [true; 3]
                };
                if beside.iter().all(|there| *there) {
                    ruleset.warnings.retain(|warning| !warning.what.contains("another backend holds rules"));
                }
            }
            for warning in &ruleset.warnings {
                let place = format!("{}, {}", backend.source, warning.place);
                warnings.push(Warning { place, what: warning.what.clone() });
            }
        }
        for (source, _) in bundle.sources.iter().filter(|(name, _)| !super::SOURCES.contains(&name.as_str()))
        {
            warnings.push(Warning {
                place: source.clone(),
                what: "a source that is not known, not used".to_owned(),
            });
        }
        let unread = unread(bundle, &backends);
        let read = || backends.iter().filter_map(|backend| backend.ruleset.as_ref());
        Self {
            format: "bundle",
            framework: detect(bundle, &backends),
            rules: read().map(|ruleset| ruleset.rules).sum(),
            opaque_rules: read().map(|ruleset| ruleset.opaque_rules).sum(),
            backends,
            ipsets,
            ipsets_read: bundle.text("ipset").is_some(),
            unread,
            absent: absent(bundle),
            warnings,
            snapshot: None,
        }
    }

    /// Returns the rulesets that were read, each with its source.
    pub fn rulesets(&self) -> impl Iterator<Item = (&'static str, &Ruleset)> {
        self.backends.iter().filter_map(|backend| Some((backend.source, backend.ruleset.as_ref()?)))
    }
}

fn backend(bundle: &Bundle, source: &'static str) -> Option<Backend> {
    let mut backend = Backend { source, ruleset: None, mirrors: Vec::new(), error: None };
    match bundle.sources.get(source)? {
        Source::Failed { error } => backend.error = Some(error.clone()),
        Source::Text(text) => match rules(source, text) {
            Ok(ruleset) => backend.ruleset = Some(ruleset),
            Err(error) => backend.error = Some(error.to_string()),
        },
    }
    Some(backend)
}

/// Reads one source. Where the tools of iptables know no table they print nothing, or comments alone.
fn rules(source: &str, text: &str) -> Result<Ruleset, ReadError> {
    let six = source.starts_with("ip6");
    let save = source != "nft";
    let silent = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    let mut ruleset = if save && silent {
        // A table without anything, so that its comments are read as those of a ruleset.
        let mut ruleset = read(&format!("{text}\n*filter\nCOMMIT\n"))?;
        ruleset.tables.clear();
        ruleset
    } else {
        read(text)?.whole()?
    };
    if save != (ruleset.format == Format::Save) {
        return Err(ReadError::OtherTool);
    }
    if save {
        // The name of the source tells what rules alone may not.
        if ruleset.rules > 0 && (ruleset.family == "ipv6") != six && ruleset.family == "ipv6" {
            return Err(ReadError::OtherTool);
        }
        ruleset.family = if six { "ipv6" } else { "ipv4" }.to_owned();
        let family = if six { crate::netfilter::Family::Ip6 } else { crate::netfilter::Family::Ip };
        ruleset.tables.iter_mut().for_each(|table| table.family = family);
        let backend = if source.ends_with("-nft") { "iptables-nft" } else { "iptables-legacy" };
        ruleset.framework = Some(backend.to_owned());
    }
    Ok(ruleset)
}

/// Takes out the tables that `iptables-nft` shows with all their parts.
fn take_mirrors(ruleset: &mut Ruleset, shown: &[String]) -> Vec<String> {
    let all = std::mem::take(&mut ruleset.tables);
    let (mirrors, own): (Vec<Table>, Vec<Table>) =
        all.into_iter().partition(|table| shown.contains(&table.name));
    ruleset.tables = own;
    count(ruleset);
    mirrors.into_iter().map(|table| table.name).collect()
}

fn count(ruleset: &mut Ruleset) {
    let rules = || ruleset.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules);
    let (rules, opaque) = (rules().count(), rules().filter(|rule| !rule.opaque.is_empty()).count());
    (ruleset.rules, ruleset.opaque_rules) = (rules, opaque);
}

/// Returns the sources that could hold rules and could not be read, unless another source proves that they hold none.
fn unread(bundle: &Bundle, backends: &[Backend]) -> Vec<Warning> {
    let empty = |source: &str| bundle.text(source).is_some_and(|text| text.trim().is_empty());
    let mut unread = Vec::new();
    for backend in backends {
        let Some(error) = &backend.error else { continue };
        let proven = match backend.source {
            // The kernel names the tables of the old backend itself.
            "iptables-legacy" => empty("tables"),
            "ip6tables-legacy" => empty("tables6"),
            _ => false,
        };
        if !proven {
            unread.push(Warning {
                place: backend.source.to_owned(),
                what: format!("could not be read: {error}"),
            });
        }
    }
    let asks = backends.iter().filter_map(|backend| backend.ruleset.as_ref()).any(asks_sets);
    if let Some(error) = bundle.error("ipset")
        && asks
    {
        unread.push(Warning {
            place: "ipset".to_owned(),
            what: format!("could not be read, and rules ask sets: {error}"),
        });
    }
    let loaded = |source: &str| bundle.text(source).filter(|text| !text.trim().is_empty());
    for (names, source) in [("tables", "iptables-legacy"), ("tables6", "ip6tables-legacy")] {
        if let Some(text) = loaded(names)
            && !bundle.sources.contains_key(source)
        {
            let tables = text.split_whitespace().collect::<Vec<_>>().join(", ");
            unread.push(Warning {
                place: source.to_owned(),
                what: format!("was not gathered, and its tables are loaded: {tables}"),
            });
        }
    }
    unread
}

/// Returns the sources of rules of which a bundle says nothing at all.
fn absent(bundle: &Bundle) -> Vec<&'static str> {
    let there = |source: &str| bundle.sources.contains_key(source);
    let empty = |source: &str| bundle.text(source).is_some_and(|text| text.trim().is_empty());
    let mut absent = RULES.to_vec();
    absent.retain(|source| match *source {
        // The kernel names the tables of the old backend itself; where it has some, they are reported as unread.
        "iptables-legacy" => !there(source) && !empty("tables"),
        "ip6tables-legacy" => !there(source) && !empty("tables6"),
        // `nft` shows them too.
        "iptables-nft" | "ip6tables-nft" => !there(source) && bundle.text("nft").is_none(),
        other => !there(other),
    });
    absent
}

/// Whether a rule asks a set of `ipset`.
pub(super) fn asks_sets(ruleset: &Ruleset) -> bool {
    ruleset.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules).any(
        |rule| matches!(&rule.body, Body::Save(parts) if parts.iter().any(|part| part.name == "--match-set")),
    )
}
