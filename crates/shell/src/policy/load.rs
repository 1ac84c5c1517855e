//! Reading the policy files, once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::document::{BLOCK, CALLER, CLOUD, CORE, DESTINATION, FAMILIES, Part, SCRIPT};
use super::entry::RawEntry;
use super::impact::{ImpactRow, RawImpact};
use super::script::{self, Script};
use super::site::{self, Tighten};
use super::{Block, Callers, Cloud, CommandPattern, Destinations, Entry, Example, Files, Page, Wrapper};
use crate::{Impact, Ruling, Verdict};
use ghost_base::Digest;

static EMBEDDED: LazyLock<Result<Policy, PolicyError>> =
    LazyLock::new(|| Policy::load(Part::WithoutExamples));
static BUILTIN: LazyLock<Result<Policy, PolicyError>> = LazyLock::new(|| {
    let policy = Policy::load(Part::Whole)?;
    policy.check_examples()?;
    policy.check_callers()?;
    Ok(policy)
});
static DIGEST: LazyLock<Digest> = LazyLock::new(|| {
    let others = [&CLOUD, &CORE, &BLOCK, &CALLER, &DESTINATION];
    Digest::of_fields(FAMILIES.iter().chain(others).map(|document| document.text))
});

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A file is not of the form that the policy has.
    #[error("{file}: {what}")]
    Syntax {
        /// Which file.
        file: &'static str,
        /// What is wrong, with the line.
        what: String,
    },
    /// An entry cannot be compiled.
    #[error("{file}: {what}")]
    Entry {
        /// Which file.
        file: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A site may not speak of this program.
    #[error(
        "site policy: entry `{entry}` may not allow `{name}`: its arguments are programs, or tier 0 speaks of it"
    )]
    Forbidden {
        /// The name of the entry in the policy file.
        entry: String,
        /// The program.
        name: String,
    },
    /// A site's entry has no examples.
    #[error("site policy: entry `{entry}` needs at least one example under `safe` and one under `asks`")]
    NoExamples {
        /// The name of the entry in the policy file.
        entry: String,
    },
    /// An approved command would not have the impact that an example says.
    #[error("entry `{entry}` promises `{promised}` for `{command}`, but the answer is {answer}")]
    ImpactExample {
        /// The name of the entry in the policy file.
        entry: String,
        /// The command line of the example.
        command: String,
        /// What the entry promises.
        promised: &'static str,
        /// What the policy answers.
        answer: &'static str,
    },
    /// An entry does not do what its examples say.
    #[error("entry `{entry}` promises {promised} for `{command}`, but the answer is {answer} ({reason})")]
    Example {
        /// The name of the entry in the policy file.
        entry: String,
        /// The command line of the example.
        command: String,
        /// What the entry promises.
        promised: Verdict,
        /// What the policy answers.
        answer: Verdict,
        /// Why it answers so.
        reason: String,
    },
}

/// Everything by which commands are judged.
#[derive(Debug, Clone)]
pub struct Policy {
    programs: HashMap<String, Vec<Entry>>,
    transparent: HashMap<String, Entry>,
    remote: HashMap<String, Entry>,
    filters: HashMap<String, Entry>,
    wrappers: Vec<Wrapper>,
    impacts: Vec<ImpactRow>,
    interpreters: Vec<String>,
    pages: Vec<Page>,
    pub(crate) files: Files,
    pub(crate) cloud: Cloud,
    pub(crate) block: Block,
    pub(crate) callers: Callers,
    destinations: HashMap<String, Destinations>,
    pub(super) scripts: Vec<Script>,
    pub(super) carriers: Vec<Vec<String>>,
    pub(crate) captures_account: Option<String>,
    /// The subscriptions that alone are read; any, where none is named.
    pub(crate) kept_to: Vec<String>,
    pub(super) tighten: Vec<Tighten>,
    pub(super) examples: Vec<Example>,
    /// The digest of every file, where a site added one of its own.
    site_digest: Option<Digest>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Family {
    program: Vec<RawEntry>,
    transparent: Vec<RawEntry>,
    remote: Vec<RawEntry>,
    filter: Vec<RawEntry>,
    wrapper: Vec<Wrapper>,
    impact: Vec<RawImpact>,
    interpreters: Vec<String>,
    page: Vec<Page>,
    readable: Option<Files>,
}

impl Policy {
    /// Returns the embedded policy, its examples checked.
    ///
    /// # Errors
    /// Fails where an embedded file is broken, which a test of this crate would have found.
    pub fn builtin() -> Result<&'static Self, PolicyError> {
        BUILTIN.as_ref().map_err(Clone::clone)
    }

    /// Returns the embedded policy without its examples: they are as much part of the program as what they check, and a test judges them. It
    /// is for whoever starts a process for every command.
    ///
    /// # Errors
    /// Fails where an embedded file is broken.
    pub fn embedded() -> Result<&'static Self, PolicyError> {
        EMBEDDED.as_ref().map_err(Clone::clone)
    }

    /// Reads what [`Policy::embedded`] returns once more, as one's own: that takes less time than to read it and copy it.
    ///
    /// # Errors
    /// Fails where an embedded file is broken.
    pub fn embedded_once() -> Result<Self, PolicyError> {
        Self::load(Part::WithoutExamples)
    }

    /// Returns the embedded policy with a site's file on top, every example checked.
    ///
    /// # Errors
    /// Fails where the file is broken, speaks of what a site may not allow, or breaks the promise of an example.
    pub fn with_site(text: &str) -> Result<Self, PolicyError> {
        let mut policy = Self::builtin()?.clone();
        site::extend(&mut policy, text)?;
        policy.site_digest = Some(Digest::of_fields([policy.digest().to_string().as_str(), text]));
        policy.check_examples()?;
        Ok(policy)
    }

    /// Returns the digest of every file that makes up this policy.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.site_digest.unwrap_or_else(|| *DIGEST)
    }

    /// Returns the examples by which the policy is checked; a policy that was read without them knows them all the same.
    #[must_use]
    pub fn examples(&self) -> &[Example] {
        let checked = || BUILTIN.as_ref().map_or(&[][..], |policy| &policy.examples);
        if self.examples.is_empty() { checked() } else { &self.examples }
    }

    pub(super) fn load(part: Part) -> Result<Self, PolicyError> {
        let cloud = Cloud { core: CORE.read(part)?, ..CLOUD.read(part)? };
        let block: Block = BLOCK.read(part)?;
        let mut policy = Self {
            programs: HashMap::new(),
            transparent: HashMap::new(),
            remote: HashMap::new(),
            filters: HashMap::new(),
            wrappers: Vec::new(),
            impacts: Vec::new(),
            interpreters: Vec::new(),
            pages: Vec::new(),
            files: Files::default(),
            examples: fixed_examples(&cloud, &block),
            cloud,
            block,
            callers: CALLER.read(part)?,
            destinations: Destinations::by_program(DESTINATION.read(part)?),
            scripts: script::declared(SCRIPT.read(part)?)?,
            carriers: Vec::new(),
            captures_account: None,
            kept_to: Vec::new(),
            tighten: Vec::new(),
            site_digest: None,
        };
        for document in &FAMILIES {
            policy.add_family(document.name, document.read(part)?)?;
        }
        Ok(policy)
    }

    fn add_family(&mut self, name: &'static str, family: Family) -> Result<(), PolicyError> {
        let compile = |raw: &RawEntry, wraps| {
            let read = if raw.manual.is_empty() {
                Err(format!(
                    "entry `{}`: `manual` must name the page in which its options were looked up",
                    raw.id
                ))
            } else {
                raw.compile(name, wraps)
            };
            read.map_err(|what| PolicyError::Entry { file: name, what })
        };
        for raw in &family.program {
            let entry = compile(raw, false)?;
            self.examples.extend(Example::all(&entry.id, Verdict::Safe, &raw.safe));
            self.examples.extend(Example::all(&entry.id, Verdict::Risky, &raw.asks));
            self.add_program(entry);
        }
        for raw in &family.transparent {
            let entry = compile(raw, true)?;
            self.examples.extend(Example::all(&entry.id, Verdict::Safe, &raw.safe));
            self.examples.extend(Example::all(&entry.id, Verdict::Risky, &raw.asks));
            add(&mut self.transparent, &entry);
        }
        for (raws, table, before) in
            [(&family.remote, &mut self.remote, ""), (&family.filter, &mut self.filters, "ss -s | ")]
        {
            for raw in raws {
                let entry = compile(raw, false)?;
                let guest = |commands: &[String]| {
                    commands.iter().map(|command| invoke(&format!("{before}{command}"))).collect::<Vec<_>>()
                };
                self.examples.extend(Example::all(&entry.id, Verdict::Safe, &guest(&raw.safe)));
                self.examples.extend(Example::all(&entry.id, Verdict::Risky, &guest(&raw.asks)));
                add(table, &entry);
            }
        }
        for wrapper in family.wrapper {
            let id = format!("wrapper.{}", wrapper.names.first().map_or("", String::as_str));
            self.examples.extend(Example::all(&id, Verdict::Blocked, &wrapper.blocked));
            self.examples.extend(Example::all(&id, Verdict::Risky, &wrapper.asks));
            self.wrappers.push(wrapper);
        }
        for raw in &family.impact {
            let like = |id: &str| self.programs.values().flatten().find(|entry| entry.id == id);
            let row = raw.compile(like).map_err(|what| PolicyError::Entry { file: name, what })?;
            self.examples.extend(raw.examples());
            self.impacts.push(row);
        }
        self.interpreters.extend(family.interpreters);
        for page in family.page {
            self.examples.extend(Example::all("page", Verdict::Safe, &page.safe()));
            self.examples.extend(Example::all("page", Verdict::Risky, &page.asks()));
            self.pages.push(page);
        }
        if let Some(files) = family.readable {
            self.files = files;
        }
        Ok(())
    }

    pub(super) fn add_program(&mut self, entry: Entry) {
        for name in &entry.names {
            self.programs.entry(name.clone()).or_default().push(entry.clone());
        }
    }

    /// Returns the entries that speak of a program.
    pub(crate) fn entries(&self, name: &str) -> &[Entry] {
        self.programs.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the entry of a program that runs the command in its arguments, with that command's verdict.
    pub(crate) fn transparent(&self, name: &str, arguments: &[&str]) -> Option<&Entry> {
        let begins = |entry: &&Entry| {
            entry.after.len() <= arguments.len()
                && entry.after.iter().zip(arguments).all(|(word, given)| word == given)
        };
        self.transparent.get(name).filter(begins)
    }

    pub(crate) fn remote(&self, name: &str) -> Option<&Entry> {
        self.remote.get(name)
    }

    pub(crate) fn filter(&self, name: &str) -> Option<&Entry> {
        self.filters.get(name)
    }

    /// Returns which words of a program name hosts, where the table speaks of it.
    pub(crate) fn destinations(&self, name: &str) -> Option<&Destinations> {
        self.destinations.get(name)
    }

    /// Returns the rows that say what an approved command does to the world.
    pub(crate) fn impacts(&self) -> &[ImpactRow] {
        &self.impacts
    }

    pub(crate) fn wrappers(&self) -> &[Wrapper] {
        &self.wrappers
    }

    /// Returns the pages of web servers that print secrets.
    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    pub(crate) fn tightened(&self) -> &[Tighten] {
        &self.tighten
    }

    /// Returns the entries for local programs, and those that run another program, each once.
    pub(super) fn local_entries(&self) -> (Vec<&Entry>, Vec<&Entry>) {
        (once(self.programs.values().flatten().collect()), once(self.transparent.values().collect()))
    }

    /// Returns every entry of the allow list once, for printing.
    pub(crate) fn all_entries(&self) -> Vec<&Entry> {
        let lists = self.programs.values().flatten().chain(self.transparent.values());
        once(lists.chain(self.remote.values()).chain(self.filters.values()).collect())
    }

    /// Tells whether a site may put a program on its allow list.
    pub(super) fn may_extend(&self, name: &str) -> bool {
        let fits = |pattern: &String| {
            pattern.strip_suffix('*').map_or(pattern == name, |stem| name.starts_with(stem))
        };
        let wraps = self
            .wrappers
            .iter()
            .filter(|wrapper| wrapper.after.is_empty())
            .flat_map(|wrapper| &wrapper.names);
        // What tier 0 blocks by its words stays blocked whatever a site allows; other commands of such a program may be read-only.
        let harms = self.block.rules.iter().flat_map(|rule| {
            let whole = |command: &&CommandPattern| rule.check.is_some() || command.is_whole_program();
            rule.commands.iter().filter(whole).flat_map(|command| &command.programs)
        });
        let plain = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'));
        plain && !wraps.chain(harms).chain(&self.interpreters).any(fits)
    }

    fn check_examples(&self) -> Result<(), PolicyError> {
        Self::check(self.examples.iter().map(|example| {
            let ruling = self.classify(&example.command);
            (Cow::Borrowed(example), ruling)
        }))
    }

    /// Checks the table of callers, which no site changes.
    fn check_callers(&self) -> Result<(), PolicyError> {
        Self::check(self.callers.examples().map(|example| {
            let ruling = self.for_caller(&example.command, self.classify(&example.command));
            (Cow::Owned(example), ruling)
        }))
    }

    fn check<'e>(judged: impl Iterator<Item = (Cow<'e, Example>, Ruling)>) -> Result<(), PolicyError> {
        for (example, ruling) in judged {
            if ruling.verdict != example.verdict {
                return Err(PolicyError::Example {
                    entry: example.entry.clone(),
                    command: example.command.clone(),
                    promised: example.verdict,
                    answer: ruling.verdict,
                    reason: ruling.reason.into_owned(),
                });
            }
            let word = |impact: Option<Impact>| impact.map_or("none", Impact::as_str);
            if example.impact.is_some() && example.impact != ruling.impact {
                return Err(PolicyError::ImpactExample {
                    entry: example.entry.clone(),
                    command: example.command.clone(),
                    promised: word(example.impact),
                    answer: word(ruling.impact),
                });
            }
        }
        Ok(())
    }
}

fn once(mut entries: Vec<&Entry>) -> Vec<&Entry> {
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    entries.dedup_by(|a, b| a.id == b.id);
    entries
}

fn add(table: &mut HashMap<String, Entry>, entry: &Entry) {
    for name in &entry.names {
        table.insert(name.clone(), entry.clone());
    }
}

fn invoke(script: &str) -> String {
    let script = script::quote(script);
    format!("az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts {script}")
}

fn fixed_examples(cloud: &Cloud, block: &Block) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    all.extend(Example::all("cloud", Verdict::Safe, &cloud.examples.safe));
    all.extend(Example::all("cloud", Verdict::Risky, &cloud.examples.asks));
    all.extend(Example::all("cloud", Verdict::Blocked, &cloud.examples.blocked));
    all.extend(Example::all("block.credential", Verdict::Blocked, &block.credentials.blocked));
    all.extend(Example::all("block.credential", Verdict::Risky, &block.credentials.asks));
    for rule in &block.rules {
        let id = format!("block.{}", rule.id);
        all.extend(Example::all(&id, Verdict::Blocked, &rule.blocked));
        all.extend(Example::all(&id, Verdict::Risky, &rule.asks));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(manual: &str) -> Family {
        let entry = format!(
            "[[program]]\nid = \"probe\"\nnames = [\"probe\"]\nwhy = \"asks\"\n{manual}operands = []\n"
        );
        toml::from_str(&entry).unwrap()
    }

    #[test]
    fn an_embedded_entry_without_the_page_of_its_options_is_refused() {
        let mut policy = Policy::load(Part::Whole).unwrap();
        let error = policy.add_family("reach", family("")).unwrap_err();
        assert!(error.to_string().contains("entry `probe`: `manual` must name the page"), "{error}");
        policy.add_family("reach", family("manual = \"probe(1), probe 1.0\"\n")).unwrap();
    }
}
