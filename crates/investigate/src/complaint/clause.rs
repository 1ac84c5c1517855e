//! A text, cut where one statement ends and the next begins, and what each is by its words alone.

use std::collections::BTreeSet;

use super::ellipsis::{Ellipsis, denies_verb, ellipsis};
use super::fold::fold;
use super::history::{history_cuts, is_history};
use super::port;
use super::scope::{parts, role_of_part};
use super::token::{Kind, Token, tokens};
use super::vocabulary::WORDS;
use crate::symptom_text::Symptom;

/// What stands before a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Boundary {
    /// A comma, a semicolon, `but`.
    Clause,
    /// The end of a sentence.
    Sentence,
    /// A blank line.
    Paragraph,
    /// `Also`, `2)`: what follows is something else.
    Next,
}

/// A statement, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// Its words.
    pub(super) text: String,
    /// The same in the letters that are compared.
    pub(super) folded: String,
    pub(super) boundary: Boundary,
    /// What somebody sees.
    pub(super) symptoms: BTreeSet<Symptom>,
    /// What somebody believes: it says nothing about what is.
    pub(super) is_guess: bool,
    /// Something works.
    pub(super) is_healthy: bool,
    pub(super) is_question: bool,
    /// It is about ping.
    pub(super) is_ping: bool,
    /// It is about what was, and says nothing about what is.
    pub(super) is_history: bool,
    /// It only says of an end that it does, or that it does not: `but B does not`.
    pub(super) ellipsis: Option<Ellipsis>,
}

/// Symptoms of a flow. The others are about something else.
pub(super) const TROUBLE: [Symptom; 5] =
    [Symptom::Unreachable, Symptom::Hanging, Symptom::Refused, Symptom::Slow, Symptom::Lossy];

impl Clause {
    /// Tells whether it speaks of trouble with a flow.
    pub(super) fn is_trouble(&self) -> bool {
        TROUBLE.iter().any(|symptom| self.symptoms.contains(symptom))
    }
}

/// Cuts a text into clauses.
pub(super) fn clauses(text: &str) -> Vec<Clause> {
    let original: Vec<char> = text.chars().collect();
    let folded: Vec<char> = fold(text).chars().collect();
    let mut found = Vec::new();
    for sentence in sentences(&original, &folded) {
        for (from, to, boundary) in segments(&original, &folded, &sentence) {
            let own: String = original.get(from..to).unwrap_or_default().iter().collect();
            let own_folded: String = folded.get(from..to).unwrap_or_default().iter().collect();
            if own_folded.chars().any(char::is_alphanumeric) {
                let ends = folded.get(to.saturating_sub(1)..=to.min(folded.len().saturating_sub(1)));
                let is_question = ends.is_some_and(|ends| ends.contains(&'?')) || sentence.is_question;
                found.push(clause(own.trim().to_owned(), own_folded, boundary, is_question));
            }
        }
    }
    found
}

/// A sentence, by its characters.
struct Sentence {
    from: usize,
    to: usize,
    is_question: bool,
    /// A number or a bullet stands before it.
    is_item: bool,
    /// A blank line stands before it.
    is_paragraph: bool,
}

fn sentences(original: &[char], folded: &[char]) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut is_item = false;
    let mut at = 0;
    let mut close = |from: usize, to: usize, is_item: bool, is_question: bool| {
        // A line without words only parts what stands around it.
        if folded.get(from..to).is_some_and(|part| part.iter().any(|char| !char.is_whitespace())) {
            let blank =
                folded.get(..from).unwrap_or_default().iter().rev().take_while(|char| char.is_whitespace());
            let inside =
                folded.get(from..to).unwrap_or_default().iter().take_while(|char| char.is_whitespace());
            let is_paragraph = blank.chain(inside).filter(|char| **char == '\n').count() > 1;
            found.push(Sentence { from, to, is_question, is_item, is_paragraph });
        }
    };
    while let Some(char) = folded.get(at) {
        if let Some(length) = item(original, folded, at) {
            close(from, at, is_item, false);
            (from, is_item) = (at + length, true);
            at = from;
            continue;
        }
        let next = folded.get(at + 1);
        let gap = next.is_none_or(|next| next.is_whitespace() || "\")'*".contains(*next));
        let ends = match char {
            '\n' | '。' | '¡' | '¿' => true,
            '！' | '？' | '।' | '؟' | '…' => true,
            '?' | '!' => gap || !next.is_some_and(|next| next.is_ascii_alphanumeric() || *next == '/'),
            '.' => gap && !is_short(folded, at),
            _ => false,
        };
        if ends {
            close(from, at + 1, is_item, matches!(char, '?' | '？' | '؟'));
            (from, is_item) = (at + 1, false);
        }
        at += 1;
    }
    close(from, folded.len(), is_item, false);
    found
}

/// `e.g.`, `z.B.`, `bzw.`: a dot that ends nothing.
fn is_short(folded: &[char], at: usize) -> bool {
    let start = folded.get(..at).unwrap_or_default().iter().rposition(|char| char.is_whitespace());
    let word: String =
        folded.get(start.map_or(0, |start| start + 1)..at).unwrap_or_default().iter().collect();
    ["e.g", "i.e", "z.b", "bzw", "ca", "approx", "vs", "incl", "resp", "p.ej", "t.ex", "etc"]
        .contains(&word.as_str())
}

/// Returns the length of `2)`, `(1)`, `3.`, `-` at the begin of a line or of a statement.
fn item(original: &[char], folded: &[char], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).and_then(|before| folded.get(before));
    let starts_line = before.is_none_or(|before| *before == '\n');
    if before.is_some_and(|before| !before.is_whitespace()) {
        return None;
    }
    let is_space = |at: usize| folded.get(at).is_some_and(|char| char.is_whitespace());
    if starts_line && matches!(original.get(at), Some('-' | '*' | '•' | '–' | '·')) && is_space(at + 1) {
        return Some(2);
    }
    let open = usize::from(folded.get(at) == Some(&'('));
    // `a) … b) …`, `(i) … (ii) …`, where the first two are there.
    if let Some(length) = LETTERS.iter().find_map(|letters| lettered(folded, at + open, letters)) {
        return Some(open + length);
    }
    let digits = folded.get(at + open..)?.iter().take_while(|char| char.is_ascii_digit()).count();
    let end = at + open + digits;
    let sign = *folded.get(end)?;
    let is_sign = sign == ')'
        || (open == 0 && sign == ':')
        || (open == 0 && sign == '.' && (starts_line || ends_sentence(folded, at)));
    // A parenthesis may hold a port; small numbers count.
    ((1..=2).contains(&digits) && is_sign && is_space(end + 1) && is_small(folded, at + open, digits))
        .then_some(open + digits + 1)
}

/// What counts the items of a list beside numbers.
const LETTERS: [[&str; 5]; 2] = [["a)", "b)", "c)", "d)", "e)"], ["i)", "ii)", "iii)", "iv)", "v)"]];

/// Returns the length of such a mark, where the list has more than one.
fn lettered(folded: &[char], at: usize, letters: &[&str; 5]) -> Option<usize> {
    let stands = |at: usize, mark: &str| {
        let end = at + mark.len();
        let is_same = folded.get(at..end).is_some_and(|part| part.iter().copied().eq(mark.chars()));
        let is_free = |char: Option<&char>| char.is_none_or(|char| char.is_whitespace() || *char == '(');
        is_same
            && is_free(folded.get(end))
            && is_free(at.checked_sub(1).and_then(|before| folded.get(before)))
    };
    let mark = letters.iter().find(|mark| stands(at, mark))?;
    let others = letters.iter().take(2).all(|mark| (0..folded.len()).any(|at| stands(at, mark)));
    others.then_some(mark.len())
}

fn is_small(folded: &[char], at: usize, digits: usize) -> bool {
    let number: String = folded.get(at..at + digits).unwrap_or_default().iter().collect();
    number.parse::<u8>().is_ok_and(|number| (1..=12).contains(&number))
}

fn ends_sentence(folded: &[char], at: usize) -> bool {
    let before = folded.get(..at).unwrap_or_default().iter().rev().find(|char| !char.is_whitespace());
    before.is_none_or(|char| ".!?:。".contains(*char))
}

/// Cuts a sentence at commas behind which something else is said, before `but`, and before what begins a statement of its own.
fn segments(original: &[char], folded: &[char], sentence: &Sentence) -> Vec<(usize, usize, Boundary)> {
    let text: String = folded.get(sentence.from..sentence.to).unwrap_or_default().iter().collect();
    // By bytes of the folded sentence, and whether nothing that stands before can keep it together.
    let mut cuts: Vec<(usize, Boundary, bool)> = Vec::new();
    for (at, char) in text.char_indices() {
        let (before, behind) =
            (text.get(..at).unwrap_or_default(), text.get(at + char.len_utf8()..).unwrap_or_default());
        let is_cut = match char {
            ';' | '；' | '，' | '—' | '–' => true,
            ',' | '、' => {
                !(before.ends_with(|char: char| char.is_ascii_digit())
                    && behind.trim_start().starts_with(|char: char| char.is_ascii_digit()))
            }
            '-' => before.ends_with(' ') && behind.starts_with(' '),
            _ => false,
        };
        if is_cut {
            cuts.push((at + char.len_utf8(), Boundary::Clause, false));
        }
    }
    let opens = |at: usize| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        before.is_empty()
            || before.ends_with([',', ';', ':', '，', '、', '-'])
            || WORDS.boundary.and.end(before)
    };
    let is_capital = |at: usize| {
        let chars = text.get(..at).unwrap_or_default().chars().count();
        original.get(sentence.from + chars).is_some_and(|char| char.is_uppercase())
    };
    for place in WORDS.boundary.next.find_all(&text) {
        let words = text.get(place.start..place.end).unwrap_or_default();
        if opens(place.start) || words.contains(' ') || is_capital(place.start) {
            cuts.push((place.start, Boundary::Next, false));
        }
    }
    cuts.extend(WORDS.boundary.list.find_all(&text).iter().map(|place| (place.end, Boundary::Next, false)));
    // `B aber nicht`: the word stands within what it begins elsewhere.
    let stands_within = |at: usize| {
        let right = text.get(at..).unwrap_or_default().split([',', ';']).next().unwrap_or_default();
        !names_something(right) && ellipsis(right).is_some()
    };
    let buts = WORDS.boundary.but.find_all(&text).into_iter().filter(|place| !stands_within(place.start));
    let sure = |at: usize| text.get(..at).is_some_and(|left| count(left) > 1);
    cuts.extend(buts.map(|place| (place.start, Boundary::Clause, sure(place.start))));
    // A belief begins where somebody has said something before it.
    let said = |at: &usize| {
        let left = text.get(..*at).unwrap_or_default();
        let begun = left.rsplit([',', ';', ':']).next().unwrap_or_default();
        (names_something(left) || has_verdict(left)) && !WORDS.history.past.are_in(begun)
    };
    let starters = WORDS.guess.starters.find_all(&text);
    cuts.extend(starters.iter().map(|place| place.start).filter(said).map(|at| (at, Boundary::Clause, true)));
    cuts.extend(verdict_cuts(&text).into_iter().map(|at| (at, Boundary::Clause, true)));
    cuts.extend(history_cuts(&text).into_iter().map(|at| (at, Boundary::Clause, true)));
    cuts.sort_by_key(|(at, boundary, _)| (*at, std::cmp::Reverse(*boundary)));
    let first = match (sentence.is_item, sentence.is_paragraph) {
        (true, _) => Boundary::Next,
        (false, true) => Boundary::Paragraph,
        (false, false) => Boundary::Sentence,
    };
    let mut found = Vec::new();
    let (mut from, mut boundary) = (0, first);
    for (at, next, is_sure) in cuts {
        let left = text.get(from..at).unwrap_or_default();
        if at <= from {
            boundary = boundary.max(next);
            continue;
        }
        let joint = left.trim();
        if is_sure && (WORDS.boundary.but.hold(joint) || WORDS.boundary.and.hold(joint)) {
            continue;
        }
        // `from A, 02:30 fine`: a time at which it worked is said of nothing that is named.
        let right = text.get(at..).unwrap_or_default().split([',', ';']).next().unwrap_or_default();
        let is_aside =
            is_healthy(right) && names_something(left) && (!names_something(right) || count(left) > 1);
        let is_elliptic = names_something(left)
            && names_something(right)
            && (ellipsis(right).is_some() || denies_verb(left, right));
        let is_kept = is_sure || is_aside || is_elliptic;
        if !is_kept && is_open(left) && (next == Boundary::Clause || !has_content(left)) {
            boundary = boundary.max(if has_content(left) { boundary } else { next });
            continue;
        }
        found.push((from, at, boundary));
        (from, boundary) = (at, next);
    }
    found.push((from, text.len(), boundary));
    let chars = |at: usize| sentence.from + text.get(..at).map_or(0, |text| text.chars().count());
    found.into_iter().map(|(from, to, boundary)| (chars(from), chars(to), boundary)).collect()
}

/// `8443 times out and 8080 is refused`, `8080 ok 8443 timeout`: cut where a side of its own has a verdict of its own.
fn verdict_cuts(text: &str) -> Vec<usize> {
    let all = tokens(text);
    let ports = port::ports(text, &all);
    let until = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.split([',', ';']).next().unwrap_or_default()
    };
    let mut cuts = Vec::new();
    for port in ports.iter().filter(|port| !port.is_bound) {
        let earlier = ports.iter().any(|other| other.end <= port.start && other.port != port.port);
        if earlier && has_verdict(until(port.start)) {
            let before = text.get(..port.start).unwrap_or_default();
            // `…, app -> db 5432 refused`: what stands between the comma and the port belongs to it.
            let begins = before.rsplit([',', ';']).next().unwrap_or_default();
            let is_alone = begins.len() == before.len() || !(names_something(begins) || has_arrow(begins));
            if has_verdict(before) && is_alone {
                cuts.push(port.start);
            }
        }
    }
    // `… times out ping works`: what works is said of ping alone.
    for token in all.iter().filter(|token| is_ping_word(token.text)) {
        let (left, right) = (text.get(..token.start).unwrap_or_default(), until(token.start));
        if (names_something(left) || has_verdict(left)) && is_healthy(right) && !names_something(right) {
            cuts.push(token.start);
        }
    }
    let joints = WORDS.boundary.and.find_all(text).into_iter().map(|place| (place.start, place.end));
    let signs = [" & ", " / ", " nor "]
        .into_iter()
        .flat_map(|sign| text.match_indices(sign).map(move |(at, sign)| (at, at + sign.len())));
    for (start, end) in joints.chain(signs) {
        let (left, right) = (text.get(..start).unwrap_or_default(), until(end));
        let both = (has_verdict(left) && has_verdict(right) && names_something(right))
            || (pairs(left) && pairs(right));
        if both {
            cuts.push(start);
        }
    }
    cuts
}

/// A name alone, before a comma, goes on behind it; so does what says nothing yet.
fn is_open(left: &str) -> bool {
    !has_verdict(left) && !WORDS.guess.subjects.are_in(left)
}

fn has_content(left: &str) -> bool {
    names_something(left) || left.split_whitespace().count() > 2
}

/// Tells whether somebody says that something fails, works, or is repaired.
pub(super) fn has_verdict(text: &str) -> bool {
    symptoms(text).iter().any(|symptom| TROUBLE.contains(symptom))
        || WORDS.healthy.values().any(|words| words.are_in(text))
        || WORDS.history.over.are_in(text)
}

fn has_arrow(text: &str) -> bool {
    tokens(text).iter().any(|token| matches!(token.kind, Kind::Arrow | Kind::BackArrow))
}

/// Returns how many ends and ports stand there.
fn count(text: &str) -> usize {
    let all = tokens(text);
    all.iter().filter(|token| is_end_like(token)).count()
        + port::ports(text, &all).iter().filter(|port| !port.is_bound).count()
}

/// Tells whether two ends and a port stand there: a flow of its own.
fn pairs(text: &str) -> bool {
    let all = tokens(text);
    all.iter().filter(|token| is_end_like(token)).count() > 1 && !port::ports(text, &all).is_empty()
}

/// Tells whether something stands there that may be an end or a port.
pub(super) fn names_something(text: &str) -> bool {
    let all = tokens(text);
    !port::ports(text, &all).is_empty()
        || all.iter().any(is_end_like)
        || WORDS.role.values().any(|role| role.words.are_in(text))
}

/// Tells whether a token may be an end by its form.
pub(super) fn is_end_like(token: &Token<'_>) -> bool {
    match &token.kind {
        Kind::Address(..) | Kind::Host(..) => true,
        Kind::Word => {
            let text = token.text;
            let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
            let says_kind = |part: &String| {
                role_of_part(part).is_some() || ["vm", "srv", "host", "node"].contains(&part.as_str())
            };
            letters > 1
                && text.contains(['-', '_', '.'])
                && (text.bytes().any(|byte| byte.is_ascii_digit())
                    || parts(text).iter().any(says_kind)
                    || text.matches('.').count() > 1)
                && !is_group(text)
        }
        Kind::Number(_) | Kind::Range(..) | Kind::Other | Kind::Port(..) | Kind::Arrow | Kind::BackArrow => {
            false
        }
    }
}

/// Tells whether a word names a resource group by its form.
pub(super) fn is_group(text: &str) -> bool {
    text.ends_with("-rg") || text.starts_with("rg-") || text.ends_with("_rg")
}

fn clause(text: String, folded: String, boundary: Boundary, is_question: bool) -> Clause {
    let mut symptoms = symptoms(&folded);
    let is_guess = is_guess(&folded, &symptoms);
    let is_healthy = is_healthy(&folded);
    if is_guess {
        symptoms.retain(|symptom| {
            matches!(symptom, Symptom::NothingChanged | Symptom::RolledBack | Symptom::Exposure)
        });
    }
    let is_ping = is_ping(&folded);
    let is_history = is_history(&folded);
    let ellipsis = ellipsis(&folded);
    Clause {
        text,
        folded,
        boundary,
        symptoms,
        is_guess,
        is_healthy,
        is_question,
        is_ping,
        is_history,
        ellipsis,
    }
}

fn is_ping_word(word: &str) -> bool {
    WORDS.ping.words.iter().any(|known| known == word)
}

fn is_ping(text: &str) -> bool {
    tokens(text).iter().any(|token| is_ping_word(token.text)) || WORDS.ping.within.are_in(text)
}

/// Returns what somebody sees.
pub(super) fn symptoms(text: &str) -> BTreeSet<Symptom> {
    let seen = |symptom: &Symptom| {
        WORDS.symptom.get(symptom).into_iter().flat_map(|languages| languages.values()).any(|words| {
            words.find_all(text).into_iter().any(|place| {
                let before = text.get(..place.start).unwrap_or_default().trim_end();
                let behind = text.get(place.end..).unwrap_or_default();
                let is_denied = WORDS.negation.of_symptoms.end(before)
                    || (is_subject(*symptom) && begins_healthy(behind));
                !is_denied && !is_within_name(text, place.start, place.end)
            })
        })
    };
    let mut found: BTreeSet<Symptom> = Symptom::ALL.into_iter().filter(seen).collect();
    // `failure in name resolution` is about names alone, `open to the internet` about who is let in.
    if found.contains(&Symptom::Names) {
        found.retain(|symptom| !TROUBLE.contains(symptom));
    }
    if found.contains(&Symptom::Exposure) {
        found.remove(&Symptom::InternetLost);
    }
    found
}

/// Symptoms that are named by what they are about: `DNS works` says that there is none.
fn is_subject(symptom: Symptom) -> bool {
    matches!(
        symptom,
        Symptom::Names | Symptom::InternetLost | Symptom::StorageUnreachable | Symptom::Containers
    )
}

/// `down` in `down-1` or `gw.slow.corp` is a name.
fn is_within_name(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let behind = text.get(end..).unwrap_or_default();
    let joins = |char: Option<char>| char.is_some_and(|char| char == '-' || char == '_' || char == '.');
    let letter = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric());
    let mut left = before.chars().rev();
    let mut right = behind.chars();
    (joins(left.next()) && letter(left.next())) || (joins(right.next()) && letter(right.next()))
}

fn begins_healthy(behind: &str) -> bool {
    let rest = behind.trim_start();
    let rest =
        ["is ", "are ", "seems ", "looks "].iter().find_map(|verb| rest.strip_prefix(verb)).unwrap_or(rest);
    WORDS.healthy.values().any(|words| words.begin(rest)) && is_healthy(rest)
}

/// Tells whether somebody says that something works.
pub(super) fn is_healthy(text: &str) -> bool {
    WORDS.healthy.values().flat_map(|words| words.find_all(text)).any(|place| {
        let before = text.get(..place.start).unwrap_or_default();
        let behind = text.get(place.end..).unwrap_or_default().trim_start();
        let glued = WORDS.negation.before.end(before.trim_end())
            || before.split_whitespace().rev().take(3).any(|word| WORDS.negation.before.hold(word));
        let taken_back = behind
            .split(|char: char| !char.is_alphanumeric() && char != '\'')
            .take(2)
            .any(|word| WORDS.negation.behind.hold(word));
        !glued && !taken_back && !is_within_name(text, place.start, place.end)
    })
}

/// Tells whether a clause is what somebody believes, and nothing that anybody saw.
fn is_guess(text: &str, symptoms: &BTreeSet<Symptom>) -> bool {
    let guess = &WORDS.guess;
    if symptoms.contains(&Symptom::Names) || !guess.subjects.are_in(text) {
        return false;
    }
    let is_belief = guess.speculation.are_in(text) || guess.checked.are_in(text) || guess.rules.are_in(text);
    let all = tokens(text);
    let content = all.iter().filter(|token| is_end_like(token)).count() + port::ports(text, &all).len();
    let trouble = TROUBLE.iter().any(|symptom| symptoms.contains(symptom));
    // `on web-1 the firewall is fine`: an end that is given a part is no belief.
    let direction = &WORDS.direction;
    let has_part = all.iter().filter(|token| is_end_like(token)).any(|token| {
        let before = text.get(..token.start).unwrap_or_default().trim_end();
        direction.from.end(before)
    });
    is_belief && !has_part && content < if trouble { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        clauses(text).into_iter().map(|clause| clause.text).collect()
    }

    #[test]
    fn what_works_stands_apart_from_what_does_not() {
        assert_eq!(texts("8443 times out, 8080 is ok"), ["8443 times out,", "8080 is ok"]);
        assert_eq!(texts("8443 times out but 8080 is ok"), ["8443 times out", "but 8080 is ok"]);
        assert_eq!(texts("8080 ok 8443 timeout"), ["8080 ok", "8443 timeout"]);
    }

    #[test]
    fn names_in_a_list_stay_together() {
        assert_eq!(texts("web-1, web-2 and web-3 cannot reach db-1").len(), 1);
    }

    #[test]
    fn items_of_a_list_are_statements_of_their_own() {
        let all = clauses("Two things: (1) 5432 on db-1 times out. (2) 8443 is refused.\n3) slow");
        let next = all.iter().filter(|clause| clause.boundary == Boundary::Next).count();
        assert_eq!(next, 4, "{all:#?}");
    }

    #[test]
    fn beliefs_are_guesses() {
        for text in [
            "must be DNS again",
            "It is always DNS",
            "fail2ban maybe?",
            "NSG is fine",
            "We already checked the NSG twice",
            "I see deny rules in the NSG",
            "default policy is DROP there",
            "Probably the last kernel update",
            "All traffic goes through our firewall appliance by design",
            "Routing is ok",
            "NSGs on both look right",
        ] {
            let all = clauses(text);
            assert!(
                all.iter().all(|clause| clause.is_guess && clause.symptoms.is_empty()),
                "{text}: {all:#?}"
            );
        }
    }

    #[test]
    fn names_that_fail_are_no_guess() {
        for text in [
            "names do not resolve on web-1",
            "web-1: Temporary failure in name resolution",
            "DNS is broken on web-1",
            "dial tcp: lookup db-1 on 168.63.129.16:53: no such host",
        ] {
            assert!(clauses(text).iter().any(|clause| clause.symptoms.contains(&Symptom::Names)), "{text}");
        }
    }
}
