//! A host's rulesets, read and joined.

use ghost_base::Digest;
use serde::Serialize;

use super::bundle::{Bundle, Source};
use super::detect::{Framework, detect};
use super::snapshot::About;
use crate::netfilter::diff::key;
use crate::netfilter::ipset::{IpSet, content, read_sets};
use crate::netfilter::ruleset::{Body, Format, ReadError, Ruleset, Table, Warning, read};
use crate::netfilter::walk::{Answer, Packet, PacketError, Verdict, walk};

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
        for backend in &mut backends {
            if let (Some(ruleset), Some(text)) = (&mut backend.ruleset, bundle.text(backend.source)) {
                let native = native_tables(text);
                ruleset.tables.retain(|table| !native.contains(&table.name.as_str()));
            }
        }
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

/// Returns the tables of which a tool of iptables says that they are somebody else's: what it prints of them is an empty frame.
fn native_tables(text: &str) -> Vec<&str> {
    let named = text.lines().filter_map(|line| line.strip_prefix("# Table `")?.split_once('\''));
    named.filter(|(_, said)| said.contains("incompatible")).map(|(name, _)| name).collect()
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

impl Host {
    /// Digests the content: two hosts with the same rules in the same order have the same one, whatever packets were counted,
    /// whichever numbers `nft` gave, and in whatever order tables and elements were printed.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut fields: Vec<String> = Vec::new();
        for backend in &self.backends {
            fields.push(format!("source {}", backend.source));
            match &backend.ruleset {
                Some(ruleset) => digest_fields(ruleset, &mut fields),
                None => fields.push("could not be read".to_owned()),
            }
        }
        let mut sets: Vec<_> = self.ipsets.iter().collect();
        sets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for set in sets {
            fields.push(format!("ipset {} {} {}", set.name, set.kind, set.options.join(" ")));
            let mut members: Vec<String> = set.members.iter().map(content).collect();
            members.sort_unstable();
            fields.append(&mut members);
        }
        Digest::of_fields(fields.iter().map(String::as_str))
    }
}

fn digest_fields(ruleset: &Ruleset, fields: &mut Vec<String>) {
    let mut tables: Vec<&Table> = ruleset.tables.iter().collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    for table in tables {
        let flags = table.flags.as_ref().map(key::content).unwrap_or_default();
        fields.push(format!("table {} {} {flags}", table.name, table.dormant));
        let mut chains: Vec<_> = table.chains.iter().collect();
        chains.sort_by(|a, b| a.name.cmp(&b.name));
        for chain in chains {
            let policy = chain.policy.as_deref().unwrap_or("-").to_ascii_lowercase();
            let base = chain.base.as_ref().map(|base| {
                let device = base.device.as_ref().map(key::content).unwrap_or_default();
                format!("{} {} {} {device}", base.kind, base.hook, base.priority)
            });
            fields.push(format!("chain {} {policy} {}", chain.name, base.unwrap_or_default()));
            fields.extend(chain.rules.iter().map(key::rule));
        }
        for set in &table.sets {
            fields.push(format!("set {} {} {}", set.name, set.is_map, key::object(&set.about)));
            let mut elements: Vec<String> = set.elements.iter().map(key::member).collect();
            elements.sort_unstable();
            fields.append(&mut elements);
        }
        for object in &table.objects {
            fields.push(format!("{} {} {}", object.kind, object.name, key::object(&object.about)));
        }
    }
}

/// What becomes of a packet on a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostAnswer {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The source that decided; absent where none stops it, or where that is open.
    pub source: Option<&'static str>,
    /// What each backend makes of it, alone.
    pub answers: Vec<BackendAnswer>,
    /// What would change the answer.
    pub undecided: Vec<String>,
}

/// What one backend makes of a packet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackendAnswer {
    /// The source whose rules gave the answer, such as `nft`.
    pub source: &'static str,
    /// What this backend does with the packet.
    #[serde(flatten)]
    pub answer: Answer,
}

/// Says what becomes of a packet: every backend has to let it pass.
///
/// # Errors
/// Fails where no backend understands the description of the packet.
pub fn walk_host(host: &Host, packet: &Packet) -> Result<HostAnswer, PacketError> {
    let six = packet.src.is_ipv6();
    let mut answers = Vec::new();
    for (source, ruleset) in host.rulesets() {
        if ruleset.format == Format::Save && (ruleset.family == "ipv6") != six {
            continue;
        }
        answers.push(BackendAnswer { source, answer: walk(ruleset, packet)? });
    }
    let mut undecided: Vec<String> = Vec::new();
    let stops: Vec<&BackendAnswer> =
        answers.iter().filter(|own| matches!(own.answer.verdict, Verdict::Drop | Verdict::Reject)).collect();
    let open = answers.iter().filter(|own| own.answer.verdict == Verdict::Indeterminate);
    let first = stops.first().map(|own| (own.answer.verdict, own.source));
    let verdict = match first {
        Some((verdict, _)) if stops.iter().all(|own| own.answer.verdict == verdict) => {
            // Another backend may refuse it with a word, or swallow it first.
            verdict
        }
        Some(_) => {
            undecided.push("which backend is asked first: one drops it, another rejects it".to_owned());
            Verdict::Indeterminate
        }
        None => {
            for own in open {
                undecided.extend(own.answer.undecided.iter().map(|what| format!("{}: {what}", own.source)));
            }
            let other = if six { "iptables" } else { "ip6tables" };
            let unread =
                host.unread.iter().filter(|warning| !warning.place.starts_with(&format!("{other}-")));
            undecided.extend(unread.map(|warning| format!("{}: {}", warning.place, warning.what)));
            let absent = host.absent.iter().filter(|source| !source.starts_with(&format!("{other}-")));
            let reason = absent.filter(|source| !host.unread.iter().any(|warning| warning.place == **source));
            let silent: Vec<String> = reason.map(|source| format!("{source}: was not gathered")).collect();
            undecided.extend(silent);
            if undecided.is_empty() { Verdict::Accept } else { Verdict::Indeterminate }
        }
    };
    let source = first.filter(|_| verdict != Verdict::Indeterminate).map(|(_, source)| source);
    Ok(HostAnswer { verdict, source, answers, undecided })
}
