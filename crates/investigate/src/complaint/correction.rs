//! "Sorry, I meant port 8080": a word of an earlier complaint is taken back, and another one stands in its place.

use super::clause::{is_end_like, is_group};
use super::fold::fold;
use super::outline::outline;
use super::port;
use super::token::tokens;
use super::vocabulary::WORDS;

/// A correction is short; more words are a message of their own.
const MAX_CORRECTION: usize = 300;

/// Two names are meant for the same end if they begin alike for this many letters.
const MIN_ALIKE: usize = 2;

/// Returns the complaint as a correction leaves it; nothing if the words correct nothing, or not plainly.
#[must_use]
pub fn corrected(before: &str, said: &str) -> Option<String> {
    let folded = fold(said);
    let is_marked = WORDS.thread.correction.are_in(&folded) || said.trim_start().starts_with('*');
    if said.len() > MAX_CORRECTION || !is_marked {
        return None;
    }
    let named = outline(said);
    // Who says all of it again says it again.
    if named.is_trouble && named.ends.len() > 1 {
        return Some(said.trim().to_owned());
    }
    let port = new_and_old(places_of_ports(said));
    let end = new_and_old(places_of_ends(said));
    let mut text = before.to_owned();
    if let Some((new, old)) = &port {
        text = with_port(&text, new, old.as_deref())?;
    }
    if let Some((new, old)) = &end {
        text = with_end(&text, new, old.as_deref())?;
    }
    (text != before).then_some(text)
}

/// A word, and whether it is the one that is taken back.
struct Place {
    word: String,
    is_old: bool,
    start: usize,
}

/// Returns the one new word, and the old one where it is named. Several new ones are not plain.
fn new_and_old(places: Vec<Place>) -> Option<(String, Option<String>)> {
    let old = places.iter().find(|place| place.is_old).map(|place| place.word.clone());
    let mut new =
        places.into_iter().filter(|place| !place.is_old).map(|place| place.word).collect::<Vec<_>>();
    new.dedup();
    match new.as_slice() {
        [one] => Some((one.clone(), old)),
        _ => None,
    }
}

fn is_old(folded: &str, start: usize) -> bool {
    let before = folded.get(..start).unwrap_or_default().trim_end_matches([' ', ':', '"', '\'', '(']);
    let before =
        before.strip_suffix("port").or_else(|| before.strip_suffix("tcp/")).unwrap_or(before).trim_end();
    WORDS.thread.instead.end(before)
}

fn places_of_ports(text: &str) -> Vec<Place> {
    let folded = fold(text);
    let all = tokens(&folded);
    let of_ports = port::ports(&folded, &all);
    let mut found: Vec<Place> = of_ports
        .iter()
        .filter(|port| !port.is_word)
        .map(|port| Place {
            word: port.port.to_string(),
            is_old: is_old(&folded, port.start),
            start: port.start,
        })
        .collect();
    // "I meant 8080, not 5432": in a correction a bare number is a port.
    for token in &all {
        let known = found.iter().any(|place| place.start == token.start);
        if let super::token::Kind::Number(number) = token.kind
            && !known
            && (1..=65_535).contains(&number)
        {
            found.push(Place {
                word: number.to_string(),
                is_old: is_old(&folded, token.start),
                start: token.start,
            });
        }
    }
    found.sort_by_key(|place| place.start);
    found
}

fn places_of_ends(text: &str) -> Vec<Place> {
    let folded = fold(text);
    let original: Vec<char> = text.chars().collect();
    let all = tokens(&folded);
    let ends = all.iter().filter(|token| is_end_like(token) && !is_group(token.text));
    ends.map(|token| {
        let from = folded.get(..token.start).map_or(0, |before| before.chars().count());
        let word: String = original.iter().skip(from).take(token.text.chars().count()).collect();
        let word = word.rsplit_once(':').map_or(word.clone(), |(host, _)| host.to_owned());
        Place { word, is_old: is_old(&folded, token.start), start: token.start }
    })
    .collect()
}

/// Puts a port in the place of the one that a complaint names, or adds it if it names none.
fn with_port(text: &str, new: &str, old: Option<&str>) -> Option<String> {
    let folded = fold(text);
    let all = tokens(&folded);
    let mut named: Vec<u16> = port::ports(&folded, &all).iter().map(|port| port.port).collect();
    named.sort_unstable();
    named.dedup();
    let wanted = match (old, named.as_slice()) {
        (Some(old), _) => old.parse().ok()?,
        (None, [one]) => *one,
        (None, []) => {
            return Some(format!("{} on port {new}", text.trim_end().trim_end_matches(['.', '!', '?'])));
        }
        (None, _) => return None,
    };
    let mut places: Vec<(usize, usize)> = port::ports(&folded, &all)
        .iter()
        .filter(|port| port.port == wanted)
        .map(|port| (port.start, port.end))
        .collect();
    places.dedup();
    let digits = wanted.to_string();
    let mut chars: Vec<char> = text.chars().collect();
    for (start, end) in places.into_iter().rev() {
        let slice = folded.get(start..end)?;
        let (from, length) = match slice.rfind(&digits) {
            Some(at) => (start + at, digits.len()),
            None => (start, end - start),
        };
        let at = folded.get(..from)?.chars().count();
        let count = folded.get(from..from + length)?.chars().count();
        chars.splice(at..at + count, new.chars());
    }
    Some(chars.into_iter().collect())
}

/// Puts a name in the place of the one that was meant: the one that is named, else the only one that begins alike.
fn with_end(text: &str, new: &str, old: Option<&str>) -> Option<String> {
    let places = places_of_ends(text);
    if places.iter().any(|place| place.word.eq_ignore_ascii_case(new)) && old.is_none() {
        return Some(text.to_owned());
    }
    let alike = |word: &str| {
        word.chars().zip(new.chars()).take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
    };
    let wanted = match old {
        Some(old) => places.iter().find(|place| place.word.eq_ignore_ascii_case(old))?.word.clone(),
        None => {
            let best =
                places.iter().map(|place| alike(&place.word)).max().filter(|best| *best >= MIN_ALIKE)?;
            let mut best_words: Vec<&str> = places
                .iter()
                .filter(|place| alike(&place.word) == best)
                .map(|place| place.word.as_str())
                .collect();
            best_words.dedup();
            match best_words.as_slice() {
                [one] => (*one).to_owned(),
                _ => return None,
            }
        }
    };
    let folded = fold(text);
    let mut chars: Vec<char> = text.chars().collect();
    for place in places.iter().rev().filter(|place| place.word == wanted) {
        let at = folded.get(..place.start)?.chars().count();
        chars.splice(at..at + place.word.chars().count(), new.chars());
    }
    Some(chars.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "web-1 cannot reach db-1 on port 5432 since noon";

    #[test]
    fn a_port_or_an_end_is_taken_back() {
        for (said, wanted) in [
            ("sorry, I meant port 8080", "web-1 cannot reach db-1 on port 8080 since noon"),
            ("I meant 8080, not 5432", "web-1 cannot reach db-1 on port 8080 since noon"),
            ("typo: 5433", "web-1 cannot reach db-1 on port 5433 since noon"),
            ("correction, it is db-2", "web-1 cannot reach db-2 on port 5432 since noon"),
            ("I meant web-3 instead of web-1, sorry", "web-3 cannot reach db-1 on port 5432 since noon"),
            ("ich meinte Port 8080", "web-1 cannot reach db-1 on port 8080 since noon"),
            ("perdón, quise decir el puerto 8080", "web-1 cannot reach db-1 on port 8080 since noon"),
            ("je voulais dire db-2, pas db-1", "web-1 cannot reach db-2 on port 5432 since noon"),
            ("sorry: web-2 cannot reach app-1 on port 443", "sorry: web-2 cannot reach app-1 on port 443"),
        ] {
            assert_eq!(corrected(BEFORE, said).as_deref(), Some(wanted), "{said}");
        }
        assert_eq!(corrected("db-1:5432 times out", "I meant 5433").as_deref(), Some("db-1:5433 times out"));
        assert_eq!(
            corrected("db-1 times out.", "sorry, port 5433").as_deref(),
            Some("db-1 times out on port 5433")
        );
    }

    #[test]
    fn what_corrects_nothing_plainly_changes_nothing() {
        for said in [
            "sorry",
            "port 8080 is open",
            "sorry for the noise",
            "I meant what I said",
            "",
            "web-2 is fine",
            "sorry, I meant 8080 or 8081",
        ] {
            assert_eq!(corrected(BEFORE, said), None, "{said}");
        }
        assert_eq!(corrected("web-1 to db-1 on 5432 and 5433", "I meant 8080"), None);
        assert_eq!(corrected("app-1 cannot reach app-2", "sorry, I meant app-3"), None);
    }
}
