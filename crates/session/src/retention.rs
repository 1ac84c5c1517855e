//! How long what is kept: the text of sessions, their evidence, captures.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::erase::{EraseError, delete, each, finish, in_text, remove, trouble, unfinished};
use ghost_base::{Digest, SessionId, Timestamp};
use ghost_investigate::event::read;
use ghost_investigate::state::{FoldError, State};
use ghost_store::Store;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A lifetime for each kind of thing, in days; zero is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// What was said and done in a session, from its end on.
    pub thread_days: u32,
    /// Whole outputs, from when they were seen on.
    pub evidence_days: u32,
    /// Packet captures, from when they were fetched on.
    pub capture_days: u32,
}

/// A session, as far as its lifetime goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub session: SessionId,
    /// When it ended; `None` while it runs, and where that is not known.
    pub ended: Option<Timestamp>,
}

/// A file, as far as its lifetime goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredItem<T> {
    pub what: T,
    /// Since when it is there.
    pub since: Timestamp,
    /// Whether a session needs it that still runs.
    pub needed: bool,
}

impl Lifetimes {
    /// Returns the sessions whose text is due. One that runs never is.
    #[must_use]
    pub fn threads_due(&self, threads: &[Thread], now: Timestamp) -> Vec<SessionId> {
        let over = |thread: &&Thread| thread.ended.is_some_and(|ended| is_over(self.thread_days, ended, now));
        threads.iter().filter(over).map(|thread| thread.session.clone()).collect()
    }

    /// Returns the texts that are due. What a running session needs never is.
    pub fn evidence_due<'a, T>(
        &self,
        kept: &'a [StoredItem<T>],
        now: Timestamp,
    ) -> impl Iterator<Item = &'a T> {
        due(self.evidence_days, kept, now)
    }

    /// Returns the captures that are due. What a running session needs never is.
    pub fn captures_due<'a, T>(
        &self,
        kept: &'a [StoredItem<T>],
        now: Timestamp,
    ) -> impl Iterator<Item = &'a T> {
        due(self.capture_days, kept, now)
    }
}

fn due<T>(days: u32, kept: &[StoredItem<T>], now: Timestamp) -> impl Iterator<Item = &T> {
    let over = move |kept: &&StoredItem<T>| !kept.needed && is_over(days, kept.since, now);
    kept.iter().filter(over).map(|kept| &kept.what)
}

fn is_over(days: u32, since: Timestamp, now: Timestamp) -> bool {
    days > 0 && now.since(since) >= DAY * days
}

/// What a sweep removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// The sessions of which only the chain is left now.
    pub sessions: Vec<SessionId>,
    /// How many texts went.
    pub evidence: usize,
    /// How many files of captures went.
    pub captures: usize,
}

impl Swept {
    /// Counts what was removed elsewhere, too.
    pub fn add(&mut self, more: Self) {
        let Self { sessions, evidence, captures } = more;
        self.sessions.extend(sessions);
        self.evidence += evidence;
        self.captures += captures;
    }
}

/// Removes what is due from the store, the data folder and the folder of captures. Cut off anywhere, the next sweep does the rest.
///
/// # Errors
/// Fails where the store does not answer, or a file cannot be removed.
pub async fn sweep(
    store: &dyn Store,
    (data, captures): (&Path, &Path),
    lifetimes: &Lifetimes,
    now: Timestamp,
) -> Result<Swept, EraseError> {
    let mut swept = Swept::default();
    for session in unfinished(data)? {
        // Only what is a skeleton by now: the deletion of another may be running, or was given up.
        let lines = store.read(&session, 0).await?;
        if lines.iter().all(|line| line.ends_with(r#""body":null}"#)) {
            swept.evidence += finish(store, &session, data).await?;
        }
    }
    let mut threads = Vec::new();
    let mut running = Needed::default();
    each(store, |session, lines| {
        let ended = ended(session, lines);
        if ended == SessionEnd::No {
            running.running.insert(session.clone());
            running.texts.extend(lines.iter().flat_map(|line| in_text(line)));
        }
        if let SessionEnd::At(at) = ended {
            threads.push(Thread { session: session.clone(), ended: Some(at) });
        }
    })
    .await?;
    for session in lifetimes.threads_due(&threads, now) {
        match delete(store, &session, data, false).await {
            Ok(erased) => {
                swept.evidence += erased.evidence;
                swept.sessions.push(session);
            }
            // Whoever took it up again, or deleted it meanwhile, has it.
            Err(EraseError::Driven { .. } | EraseError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    swept.add(sweep_files((data, captures), lifetimes, now, &running)?);
    Ok(swept)
}

/// What the sessions need that still run.
#[derive(Debug, Clone, Default)]
pub struct Needed {
    running: BTreeSet<SessionId>,
    texts: BTreeSet<Digest>,
}

/// Removes the files that are due and that no session needs: whole outputs, captures, and what clients asked for.
///
/// # Errors
/// Fails where a file cannot be removed.
pub fn sweep_files(
    (data, captures): (&Path, &Path),
    lifetimes: &Lifetimes,
    now: Timestamp,
    needed: &Needed,
) -> Result<Swept, EraseError> {
    let mut swept = Swept::default();
    let folder = data.join("evidence");
    let files = texts(&folder, |digest| needed.texts.contains(&digest))?;
    for name in lifetimes.evidence_due(&files, now) {
        remove(&folder.join(name))?;
        swept.evidence += 1;
    }
    let files = captured(captures, &needed.running)?;
    for name in lifetimes.captures_due(&files, now) {
        remove(&captures.join(name))?;
        swept.captures += 1;
    }
    let folder = data.join("approvals");
    for name in due(lifetimes.thread_days, &asked(&folder)?, now) {
        remove(&folder.join(name))?;
    }
    Ok(swept)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionEnd {
    At(Timestamp),
    No,
    Erased,
}

/// Says when a session ended. What cannot be understood counts as running: nothing of it is removed.
fn ended(session: &SessionId, lines: &[String]) -> SessionEnd {
    let Ok(recorded) = read(session, lines.iter().map(String::as_str)) else { return SessionEnd::No };
    match State::fold(session, &recorded) {
        Ok(state) if state.is_over() => SessionEnd::At(state.last_at),
        Err(FoldError::Erased) => SessionEnd::Erased,
        Ok(_) | Err(_) => SessionEnd::No,
    }
}

/// Returns the files of a folder that are ours with their age, in order of their names; `needed` says of one that is whether a session
/// needs it.
fn files(
    folder: &Path,
    needed: impl Fn(&str) -> Option<bool>,
) -> Result<Vec<StoredItem<String>>, EraseError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(trouble("reading", folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(needed) = needed(&name) else { continue };
        let file = entry.metadata().ok().filter(fs::Metadata::is_file);
        let modified = file.and_then(|file| file.modified().ok());
        let age = modified.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
        let Some(age) = age.and_then(|age| i64::try_from(age.as_millis()).ok()) else { continue };
        found.push(StoredItem { what: name, since: Timestamp::from_millis(age), needed });
    }
    found.sort_by(|one, other| one.what.cmp(&other.what));
    Ok(found)
}

/// Returns the texts in the evidence folder with their age.
fn texts(folder: &Path, needed: impl Fn(Digest) -> bool) -> Result<Vec<StoredItem<String>>, EraseError> {
    files(folder, |name| Some(needed(name.strip_suffix(".txt")?.parse().ok()?)))
}

/// Returns what clients asked for, one file for a request. An answer comes within minutes, or none comes: nothing needs them for days.
fn asked(folder: &Path) -> Result<Vec<StoredItem<String>>, EraseError> {
    let is_ours = |name: &str| name.strip_suffix(".json").is_some_and(|id| id.parse::<SessionId>().is_ok());
    files(folder, |name| is_ours(name).then_some(false))
}

/// How the files begin that Ghost makes of a capture: `ghost-SESSION-NUMBER`.
const BEGIN: &str = "ghost-";
/// How they end: packets, and what was read out of them.
const ENDS: [&str; 4] = [".cap", ".png", "_semantic.json", "_forensic_report.md"];

/// Returns the files of captures in a folder with their age. Files of another name are not ours; what a session made that still runs
/// is needed.
fn captured(folder: &Path, running: &BTreeSet<SessionId>) -> Result<Vec<StoredItem<String>>, EraseError> {
    files(folder, |name| {
        let is_ours = name.starts_with(BEGIN) && ENDS.iter().any(|end| name.ends_with(end));
        is_ours.then(|| running.iter().any(|session| name.starts_with(&format!("{BEGIN}{session}-"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: u64) -> Timestamp {
        Timestamp::from_millis(0).plus(DAY * u32::try_from(number).unwrap())
    }

    #[test]
    fn a_session_is_due_when_its_days_are_over_and_never_while_it_runs() {
        let lifetimes = Lifetimes { thread_days: 90, evidence_days: 0, capture_days: 0 };
        let thread = |name: &str, ended| Thread { session: name.parse().unwrap(), ended };
        let threads = [thread("old", Some(day(0))), thread("new", Some(day(1))), thread("runs", None)];
        assert_eq!(lifetimes.threads_due(&threads, day(90)), ["old".parse().unwrap()]);
        let ever = Lifetimes { thread_days: 0, ..lifetimes };
        assert_eq!(ever.threads_due(&threads, day(9_000)), []);
    }

    #[test]
    fn a_file_is_due_when_its_days_are_over_unless_it_is_needed() {
        let lifetimes = Lifetimes { thread_days: 0, evidence_days: 2, capture_days: 1 };
        let kept = |what, since, needed| StoredItem { what, since: day(since), needed };
        let files = [kept("old", 0, false), kept("needed", 0, true), kept("new", 1, false)];
        assert_eq!(lifetimes.evidence_due(&files, day(2)).collect::<Vec<_>>(), [&"old"]);
        assert_eq!(lifetimes.captures_due(&files, day(2)).collect::<Vec<_>>(), [&"old", &"new"]);
    }

    #[test]
    fn files_of_another_name_are_not_ours_and_those_of_running_sessions_are_needed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ghost-s1-1.cap", "ghost-s2-1.cap", "ghost-s2-1_flow.png", "ghost-s2-1.txt", "mine.cap"]
        {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let found = captured(folder.path(), &BTreeSet::from(["s1".parse().unwrap()])).unwrap();
        let found_names: Vec<(&str, bool)> =
            found.iter().map(|kept| (kept.what.as_str(), kept.needed)).collect();
        assert_eq!(
            found_names,
            [("ghost-s1-1.cap", true), ("ghost-s2-1.cap", false), ("ghost-s2-1_flow.png", false)]
        );
        assert!(captured(&folder.path().join("none"), &BTreeSet::new()).unwrap().is_empty());
    }
}
