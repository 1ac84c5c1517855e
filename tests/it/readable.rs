//! What people read is easy to read: each sentence of ours in threads, cards, answers and reports, by the grade of Flesch and Kincaid.
//!
//! The grade grows with the words of a sentence and the syllables of a word; 8 is what most newspapers aim at. Names of machines and
//! commands count as one short word, since nobody can choose them.

use std::path::{Path, PathBuf};

/// Where the words of people are written.
const PLACES: [&str; 5] = [
    "src/bot/show",
    "src/bot/handle",
    "crates/investigate/src/playbook",
    "crates/investigate/src/report",
    "crates/investigate/src/finding",
];

/// No sentence is harder than this.
const MAX_GRADE: f64 = 12.0;

/// No sentence is longer than this.
const MAX_WORDS: usize = 32;

/// What is shorter is a label, and no sentence.
const MIN_WORDS: usize = 6;

/// Half of all sentences are easier than this.
const MAX_MEDIAN: f64 = 5.0;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Returns the texts that a source holds, without those of its tests.
fn texts(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap();
    let skipped = |line: &&str| {
        let line = line.trim();
        !line.starts_with("//") && !line.contains("reason =") && !line.starts_with("#[")
    };
    let code: String = code.lines().filter(skipped).collect::<Vec<_>>().join("\n");
    let (mut all, mut text, mut inside) = (Vec::new(), String::new(), false);
    let mut chars = code.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, inside) {
            ('\'', false) if chars.peek() == Some(&'"') => {
                chars.next();
            }
            ('"', false) => inside = true,
            ('"', true) => {
                inside = false;
                all.push(std::mem::take(&mut text));
            }
            ('\\', true) => match chars.next() {
                Some('n') => text.push('\n'),
                // A line that goes on: its indentation is none of the text.
                Some('\n') => while chars.next_if(|next| next.is_whitespace()).is_some() {},
                Some(other) => text.push(other),
                None => {}
            },
            (_, true) => text.push(char),
            (_, false) => {}
        }
    }
    all
}

/// Puts a short word in the place of what nobody can choose: code, and what is filled in.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        out.push_str(if at % 2 == 1 { "it" } else { part });
    }
    while let Some((before, rest)) = out.split_once('{') {
        let Some((_, after)) = rest.split_once('}') else { break };
        out = format!("{before}it{after}");
    }
    out
}

fn sentences(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let ends = char == '\n'
            || matches!(char, '.' | '?' | '!' | ';') && chars.peek().is_none_or(|next| next.is_whitespace());
        all.last_mut().unwrap().push(char);
        if ends {
            all.push(String::new());
        }
    }
    all
}

fn syllables(word: &str) -> usize {
    let word = word.to_lowercase();
    let vowel = |char: char| "aeiouy".contains(char);
    let mut before = false;
    let mut count = 0;
    for char in word.chars() {
        count += usize::from(vowel(char) && !before);
        before = vowel(char);
    }
    if word.ends_with('e') && !word.ends_with("le") && count > 1 {
        count -= 1;
    }
    count.max(1)
}

/// Returns the grade of a sentence and its number of words; `None` for what is too short to be one.
fn grade(sentence: &str) -> Option<(f64, usize)> {
    let words: Vec<&str> = sentence
        .split(|char: char| !(char.is_ascii_alphabetic() || matches!(char, '\'' | '’' | '-')))
        .filter(|word| word.starts_with(|char: char| char.is_ascii_alphabetic()))
        .collect();
    if words.len() < MIN_WORDS {
        return None;
    }
    let syllables: usize = words.iter().map(|word| syllables(word)).sum();
    let (count, syllables) = (words.len() as f64, syllables as f64);
    Some((0.39 * count + 11.8 * syllables / count - 15.59, words.len()))
}

#[test]
fn sentences_that_people_read_are_short_and_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    PLACES.iter().for_each(|place| sources(&root.join(place), &mut files));
    let mut all: Vec<(f64, usize, String)> = Vec::new();
    for file in files {
        for text in texts(&std::fs::read_to_string(&file).unwrap()) {
            for sentence in sentences(&plain(&text)) {
                if let Some((grade, words)) = grade(&sentence) {
                    all.push((grade, words, sentence.trim().to_owned()));
                }
            }
        }
    }
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    all.dedup_by(|one, other| one.2 == other.2);
    assert!(all.len() > 300, "only {} sentences were found", all.len());
    let median = all[all.len() / 2].0;
    let worst: Vec<String> = all
        .iter()
        .take(10)
        .map(|(grade, words, text)| format!("{grade:.1}, {words} words: {text}"))
        .collect();
    let hard: Vec<&(f64, usize, String)> =
        all.iter().filter(|(grade, words, _)| *grade > MAX_GRADE || *words > MAX_WORDS).collect();
    assert!(
        hard.is_empty() && median < MAX_MEDIAN,
        "{hard:#?}\nmedian {median:.1}, the hardest:\n{}",
        worst.join("\n")
    );
}

#[test]
fn a_grade_grows_with_the_length_of_sentences_and_words() {
    let easy = grade("The rule drops all of it at once.").unwrap();
    let hard =
        grade("Administrative configuration modifications necessitate authorization beforehand.").unwrap();
    assert!(easy.0 < 3.0 && hard.0 > 20.0, "{easy:?} {hard:?}");
    assert_eq!(grade("Not checked"), None);
    assert_eq!(plain("a `long command` of {machine}."), "a it of it.");
    assert_eq!(texts("x(\"one \\\n      two\", '\"', \"three\")"), ["one two", "three"]);
}
