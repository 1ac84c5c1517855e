//! One posted message, read by the form of its program.

use super::form::{FORMS, Form, Words};
use super::pattern::behind;

/// The status stands in one of these first lines.
const HEAD_LINES: usize = 4;

/// At most this many lines are searched for a status or a name.
const MAX_LINES: usize = 60;

/// A longer word is no name of an alert.
const MAX_ID: usize = 80;

const MAX_TITLE: usize = 300;

/// How an alert stands, as its program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostedStatus {
    Firing,
    /// Somebody has taken it on; it is not over.
    Acknowledged,
    Resolved,
}

/// An alert in a message of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The program, in a word of `forms.toml`.
    pub source: &'static str,
    /// The program's name for people.
    pub shown: &'static str,
    pub status: PostedStatus,
    /// What all messages about this alert have in common.
    pub identity: String,
    pub title: String,
    /// How many alerts it says it is about.
    pub alerts: u64,
}

/// Reads a message: the name under which it was posted, its words, and the addresses in it. Nothing if it has the form of no alert.
#[must_use]
pub fn posted(author: &str, text: &str, links: &[String]) -> Option<Posted> {
    let lines: Vec<String> =
        text.lines().map(undecorated).filter(|line| !line.is_empty()).take(MAX_LINES).collect();
    let author = author.to_lowercase();
    let is_named = |form: &&Form| form.names.iter().any(|name| author.contains(name.as_str()));
    let named = FORMS.form.iter().filter(is_named);
    let nameless = FORMS.form.iter().filter(|form| form.names.is_empty());
    // A program may post under any name: the forms of others come last, those without a name before them.
    let others = FORMS.form.iter().filter(|form| !form.names.is_empty() && !is_named(form));
    let owner = FORMS.form.iter().find(is_named);
    let found =
        named.chain(nameless).chain(others).find_map(|form| head(form, &lines).map(|found| (form, found)));
    let by_line = lines.iter().find_map(|line| status_line(line));
    let by_ending = lines.first().and_then(|line| ending(line));
    let first = lines.first()?;
    let (form, (status, title, alerts)) = match (found, by_line.or(by_ending)) {
        // "INC-7: db-1 unreachable" with "Status: Resolved" below is over.
        (Some((form, (PostedStatus::Firing, title, alerts))), Some(status)) => {
            (form, (status, title, alerts))
        }
        (Some(found), _) => found,
        (None, Some(status)) => (owner.or_else(|| FORMS.form.last())?, (status, first.clone(), 1)),
        (None, None) => return None,
    };
    let form = owner.unwrap_or(form);
    let title = if bare(&title).is_empty() { lines.get(1).unwrap_or(first).clone() } else { title };
    let identity = id_of(form, &lines, links).unwrap_or_else(|| bare(without_ending(&title)));
    let title = title.chars().take(MAX_TITLE).collect();
    Some(Posted { source: &form.source, shown: &form.shown, status, identity, title, alerts })
}

/// Takes emoji, markup and marks off the beginning of a line, and markup out of the rest.
fn undecorated(line: &str) -> String {
    let mut rest = line.trim();
    loop {
        let before = rest;
        rest = rest.trim_start_matches(|char: char| {
            !(char.is_alphanumeric() || matches!(char, '[' | '#' | '(' | '<' | '/' | '"'))
        });
        // `:fire:` loses its first colon above.
        if before.trim_start_matches(['*', '_', '>', ' ']).starts_with(':')
            && let Some((word, behind)) = rest.split_once(':')
            && !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte))
        {
            rest = behind;
        }
        if rest == before {
            break;
        }
    }
    let kept: String = rest.chars().filter(|char| !matches!(char, '*' | '`' | '~')).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

type Head = (PostedStatus, String, u64);

fn head(form: &Form, lines: &[String]) -> Option<Head> {
    let statuses = [
        (PostedStatus::Resolved, &form.resolved),
        (PostedStatus::Acknowledged, &form.acknowledged),
        (PostedStatus::Firing, &form.firing),
    ];
    for line in lines.iter().take(HEAD_LINES) {
        let small = line.to_lowercase();
        for (status, patterns) in statuses {
            let longest = patterns
                .iter()
                .filter_map(|pattern| behind(&small, pattern).map(|rest| (rest.len(), pattern)))
                .min_by_key(|(rest, _)| *rest);
            let Some((left, _)) = longest else { continue };
            // Small letters may be longer than capital ones; then the small ones are the title.
            let title = match small.len() == line.len() {
                true => line.get(line.len() - left..).unwrap_or_default(),
                false => small.get(small.len() - left..).unwrap_or_default(),
            };
            let title = title.trim_matches([' ', ':', '-', '|', '–', '—', '*', ']', '"']).to_owned();
            return Some((status, title, count(&small)));
        }
    }
    None
}

/// `[firing:3]`
fn count(line: &str) -> u64 {
    let inside =
        line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or("", |(inside, _)| inside);
    inside.split_once(':').and_then(|(_, number)| number.trim().parse().ok()).unwrap_or(1)
}

fn status_of(words: &Words, says: impl Fn(&String) -> bool) -> Option<PostedStatus> {
    if words.resolved.iter().any(&says) {
        Some(PostedStatus::Resolved)
    } else if words.acknowledged.iter().any(&says) {
        Some(PostedStatus::Acknowledged)
    } else {
        words.firing.iter().any(says).then_some(PostedStatus::Firing)
    }
}

/// `Status: Resolved`
fn status_line(line: &str) -> Option<PostedStatus> {
    let small = line.to_lowercase();
    let (name, value) = small.split_once([':', '='])?;
    let words = &FORMS.status;
    if !words.names.iter().any(|known| known == name.trim()) {
        return None;
    }
    // `firing → resolved`: the last one counts.
    let value = value.rsplit(['→', '>']).next().unwrap_or_default();
    let value = value.trim_matches(|char: char| !char.is_alphanumeric());
    status_of(words, |known| value == known || value.starts_with(&format!("{known} ")))
}

fn ending(line: &str) -> Option<PostedStatus> {
    let small = line.to_lowercase();
    let small = small.trim_end_matches(|char: char| !char.is_alphanumeric());
    status_of(&FORMS.ending, |known| small.ends_with(known.as_str()))
}

/// Takes off how a title ends, so that "db-1 is down" and "db-1 is up" are one alert.
fn without_ending(title: &str) -> &str {
    let end = title.trim_end_matches(|char: char| !char.is_alphanumeric());
    let small = end.to_lowercase();
    let all = FORMS.ending.firing.iter().chain(&FORMS.ending.resolved);
    let longest = all.filter(|known| small.ends_with(known.as_str())).map(String::len).max();
    longest.and_then(|length| end.get(..end.len().checked_sub(length)?)).unwrap_or(title)
}

/// Returns the letters and digits of a title, so that markup does not make two alerts of one.
fn bare(title: &str) -> String {
    let mut words = Vec::new();
    for word in title.to_lowercase().split_whitespace() {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        if !word.is_empty() {
            words.push(word.to_owned());
        }
    }
    words.join(" ")
}

/// Returns what names the alert, where the program says it.
fn id_of(form: &Form, lines: &[String], links: &[String]) -> Option<String> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    let word = |text: &str| -> Option<String> {
        let text = text.trim_start_matches([' ', '#', ':', '"']);
        let id: String = text.chars().take_while(|char| is_word(*char)).take(MAX_ID).collect();
        (id.chars().any(|char| char.is_ascii_digit())).then_some(id)
    };
    for mark in &form.ids {
        for line in lines {
            let small = line.to_lowercase();
            let at = small.find(mark.as_str()).map(|at| at + mark.len());
            if let Some(id) = at.and_then(|at| small.get(at..)).and_then(word) {
                return Some(format!("{} {id}", form.source));
            }
        }
    }
    for mark in &form.links {
        for link in links {
            let small = link.to_lowercase();
            let at = small.find(mark.as_str()).map(|at| at + mark.len());
            if let Some(id) = at.and_then(|at| small.get(at..)).and_then(word) {
                return Some(format!("{} {id}", form.source));
            }
        }
    }
    None
}
