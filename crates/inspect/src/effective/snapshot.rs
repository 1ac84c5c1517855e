//! A snapshot: raw answers with a chain of digests, from the answers to their content to the file.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bundle::{Answer, Bundle};
use super::nic::State;
use super::{Error, NicError, Which, seal};
use ghost_base::{Digest, SessionId, Timestamp};

const KIND: &str = "ghost.effective.snapshot";

/// The form of the file, and of the content that its digests cover.
const VERSION: u64 = 1;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scope {
    /// `vm`, `nic` or `vnet`.
    pub kind: Option<String>,
    /// The name of the machine, the interface or the network.
    pub name: Option<String>,
    /// The resource group of the interfaces, where the snapshot is of one.
    pub resource_group: Option<String>,
}

impl Scope {
    /// Tells whether two scopes say of the same thing that they are about different things.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        let differ = |own: &Option<String>, other: &Option<String>| {
            own.as_ref().zip(other.as_ref()).is_some_and(|(own, other)| !own.eq_ignore_ascii_case(other))
        };
        differ(&self.kind, &other.kind)
            || differ(&self.name, &other.name)
            || differ(&self.resource_group, &other.resource_group)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> = [&self.kind, &self.name].into_iter().flatten().map(String::as_str).collect();
        out.write_str(if parts.is_empty() { "whatever was given" } else { "" })?;
        out.write_str(&parts.join(" "))?;
        self.resource_group.iter().try_for_each(|group| write!(out, " in {group}"))
    }
}

/// When, by whom and with what a snapshot was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its name.
    pub session: SessionId,
    /// Whether later states are to be compared with it.
    pub baseline: bool,
    /// What was asked for.
    pub scope: Scope,
    /// When it was sealed.
    pub at: Timestamp,
    /// When the oldest of the answers was printed, as far as the machine says.
    pub answers_at: Option<Timestamp>,
    /// Who, as far as the machine says.
    pub by: Option<String>,
    /// The program and its version.
    pub tool: String,
}

/// A snapshot that nobody changed.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// When, by whom and with what it was taken.
    pub taken: Taken,
    /// The digest of the whole file.
    pub digest: Digest,
    /// The digest of what was read from the raw answers; it covers their digest.
    pub content: Digest,
    /// The digest of the raw answers.
    pub raw: Digest,
    pub(super) state: State,
}

#[derive(Serialize, Deserialize)]
struct File<E> {
    kind: String,
    version: u64,
    tool: String,
    session: String,
    baseline: bool,
    scope: Scope,
    taken_at: String,
    answers_at: Option<String>,
    taken_by: Option<String>,
    incomplete: Option<String>,
    nics: Vec<E>,
    raw_sha256: String,
    content_sha256: String,
}

#[derive(Deserialize)]
struct Entry {
    nic: Option<String>,
    routes: Value,
    nsg: Value,
    error: Option<String>,
    raw_sha256: String,
}

/// The same entry where it is written: answers are large, and not copied.
#[derive(Serialize)]
struct Written<'a> {
    nic: Option<&'a str>,
    routes: &'a Value,
    nsg: &'a Value,
    error: Option<&'a str>,
    raw_sha256: String,
}

impl<'a> Written<'a> {
    fn of((answer, raw_sha256): (&'a Answer, &String)) -> Self {
        Self {
            nic: answer.nic.as_deref(),
            routes: &answer.routes,
            nsg: &answer.nsg,
            error: answer.error.as_deref(),
            raw_sha256: raw_sha256.clone(),
        }
    }
}

impl Snapshot {
    /// Makes the text of a snapshot file, and the snapshot that it is.
    ///
    /// # Errors
    /// Fails for a baseline of which nothing could be read.
    pub fn seal(bundle: &Bundle, taken: Taken) -> Result<(String, Self), Error> {
        let state = State::read(bundle);
        if taken.baseline && !state.entries().any(super::nic::Nic::is_whole) {
            return Err(Error::NothingRead);
        }
        let each: Vec<String> = bundle.nics.iter().map(|answer| raw_digest(answer).to_string()).collect();
        let (raw, content) = digests(&each, bundle.incomplete.as_deref(), &state);
        let file = File {
            kind: KIND.to_owned(),
            version: VERSION,
            tool: taken.tool.clone(),
            session: taken.session.to_string(),
            baseline: taken.baseline,
            scope: taken.scope.clone(),
            taken_at: taken.at.to_string(),
            answers_at: taken.answers_at.map(|at| at.to_string()),
            taken_by: taken.by.clone(),
            incomplete: bundle.incomplete.clone(),
            nics: bundle.nics.iter().zip(&each).map(Written::of).collect(),
            raw_sha256: raw.to_string(),
            content_sha256: content.to_string(),
        };
        let (text, digest) = seal::seal(&file)?;
        Ok((text, Self { taken, digest, content, raw, state }))
    }

    /// Reads a snapshot file and checks its digests, from the file down to the raw answers.
    ///
    /// # Errors
    /// Fails where the text is no snapshot, or one that was changed.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let value = crate::net::document(text)?;
        if seal::was_sealed(&value, text) {
            return Self::of(value, text);
        }
        Err(Error::WrongKind { expected: "snapshot" })
    }

    pub(super) fn of(value: Value, text: &str) -> Result<Self, Error> {
        let digest = opened(&value, text, KIND, "snapshot", VERSION)?;
        let mut file: File<Entry> = serde_json::from_value(value).map_err(Error::Field)?;
        let (mut bundle, mut parts) = (Bundle::default(), Vec::new());
        bundle.incomplete = file.incomplete.take();
        for Entry { nic, routes, nsg, error, raw_sha256 } in std::mem::take(&mut file.nics) {
            bundle.nics.push(Answer { nic, routes, nsg, error });
            parts.push(raw_sha256);
        }
        let each: Vec<String> = bundle.nics.iter().map(|answer| raw_digest(answer).to_string()).collect();
        let state = State::read(&bundle);
        let (raw, content) = digests(&each, bundle.incomplete.as_deref(), &state);
        for (what, fits) in [
            ("a digest of raw answers", parts == each),
            ("raw_sha256", file.raw_sha256 == raw.to_string()),
            ("content_sha256", file.content_sha256 == content.to_string()),
        ] {
            if !fits {
                return Err(Error::Contradiction { what: what.to_owned() });
            }
        }
        let odd = |what: &str| Error::Contradiction { what: what.to_owned() };
        let answers_at = file.answers_at.map(|at| at.parse::<Timestamp>());
        let taken = Taken {
            session: file.session.parse().map_err(|_| odd("session"))?,
            baseline: file.baseline,
            scope: file.scope,
            at: file.taken_at.parse().map_err(|_| odd("taken_at"))?,
            answers_at: answers_at.transpose().map_err(|_| odd("answers_at"))?,
            by: file.taken_by,
            tool: file.tool,
        };
        Ok(Self { taken, digest, content, raw, state })
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn nic_errors(&self, which: Which) -> Vec<NicError> {
        NicError::all(&self.state, which)
    }

    /// Returns how many network interfaces it is about.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.entries().count()
    }

    /// Tells whether it is about none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Checks kind, form and seal of a file of ours.
pub(super) fn opened(
    value: &Value,
    text: &str,
    kind: &str,
    expected: &'static str,
    known: u64,
) -> Result<Digest, Error> {
    // What was changed is reported as that, whatever the change made of it.
    let digest = seal::check(text)?;
    if value.get("kind").and_then(Value::as_str) != Some(kind) {
        return Err(Error::WrongKind { expected });
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(version) if version == known => Ok(digest),
        found => Err(Error::Version { found: found.unwrap_or_default(), known }),
    }
}

fn raw_digest(answer: &Answer) -> Digest {
    let (routes, nsg) = (answer.routes.to_string(), answer.nsg.to_string());
    let optional = |text: &Option<String>| text.as_ref().map_or_else(String::new, |text| format!("={text}"));
    Digest::of_fields([optional(&answer.nic).as_str(), &routes, &nsg, &optional(&answer.error)])
}

/// Returns the digest of all raw answers, and that of their content, which covers it.
fn digests(each: &[String], incomplete: Option<&str>, state: &State) -> (Digest, Digest) {
    let answers = each.iter().map(String::as_str).chain([incomplete.unwrap_or_default()]);
    let raw = Digest::of_fields(answers);
    let mut content = vec![raw.to_string()];
    content.extend(state.entries().flat_map(|nic| [nic.name.clone(), nic.digest().to_string()]));
    (raw, Digest::of_fields(content.iter().map(String::as_str)))
}
