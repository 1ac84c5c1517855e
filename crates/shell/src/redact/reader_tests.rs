//! What patterns need is proved from the patterns themselves.

use proptest::prelude::*;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::name::{cloud_id, meaning};
use super::reader::{LONG, Needs, Pattern, Reader, Rule, SHORT_TOKENS, STEMS, is_of_token, pattern};
use super::{scan, shape};

/// More spellings than these are not followed.
const MAX_SPELLINGS: usize = 4_000;

fn patterns() -> impl Iterator<Item = &'static Pattern> {
    let all = scan::RULES.iter().flat_map(|(rules, _)| rules.iter()).chain(&shape::TOKENS);
    all.filter_map(|rule| match rule {
        Rule::Match(pattern) => Some(pattern),
        Rule::Walk(_) => None,
    })
}

/// Makes the letter that a character counts as.
fn folded(char: char) -> char {
    match char {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    }
}

fn members(class: &Class) -> Option<Vec<String>> {
    let chars: Vec<char> = match class {
        Class::Unicode(class) => {
            let few = class.ranges().iter().map(|range| range.len()).sum::<usize>() <= 12;
            few.then(|| class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect())?
        }
        Class::Bytes(class) => {
            let few = class.ranges().iter().map(|range| range.len()).sum::<usize>() <= 12;
            few.then(|| {
                class.ranges().iter().flat_map(|range| range.start()..=range.end()).map(char::from).collect()
            })?
        }
    };
    let mut spellings: Vec<String> = chars.into_iter().map(|char| folded(char).to_string()).collect();
    spellings.sort();
    spellings.dedup();
    Some(spellings)
}

fn joined(before: &[String], behind: &[String]) -> Option<Vec<String>> {
    let few = before.len() * behind.len() <= MAX_SPELLINGS;
    few.then(|| before.iter().flat_map(|a| behind.iter().map(move |b| format!("{a}{b}"))).collect())
}

/// Returns everything that a part can match, in lower case, where that is little.
fn spellings(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(vec![String::new()]),
        HirKind::Literal(literal) => {
            Some(vec![String::from_utf8_lossy(&literal.0).chars().map(folded).collect()])
        }
        HirKind::Class(class) => members(class),
        HirKind::Capture(capture) => spellings(&capture.sub),
        HirKind::Repetition(repetition) => {
            let once = spellings(&repetition.sub)?;
            match (repetition.min, repetition.max) {
                (0, Some(1)) => Some(once.into_iter().chain([String::new()]).collect()),
                (1, Some(1)) => Some(once),
                _ => None,
            }
        }
        HirKind::Concat(parts) => {
            parts.iter().try_fold(vec![String::new()], |before, part| joined(&before, &spellings(part)?))
        }
        HirKind::Alternation(branches) => {
            let all: Option<Vec<_>> = branches.iter().map(spellings).collect();
            all.map(|all| all.concat())
        }
    }
}

/// Returns how many characters of a token a part matches at least, where it matches no others.
fn word(hir: &Hir) -> Option<usize> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => {
            literal.0.iter().all(|byte| is_of_token(*byte)).then_some(literal.0.len())
        }
        HirKind::Class(Class::Unicode(class)) => {
            let of_token = |char: char| u8::try_from(char).is_ok_and(is_of_token);
            class.ranges().iter().all(|range| (range.start()..=range.end()).all(of_token)).then_some(1)
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().all(|range| (range.start()..=range.end()).all(is_of_token)).then_some(1)
        }
        HirKind::Capture(capture) => word(&capture.sub),
        HirKind::Repetition(repetition) => {
            Some(word(&repetition.sub)? * usize::try_from(repetition.min).unwrap())
        }
        HirKind::Concat(parts) => parts.iter().map(word).sum(),
        HirKind::Alternation(branches) => {
            branches.iter().map(word).collect::<Option<Vec<_>>>()?.into_iter().min()
        }
    }
}

fn flat<'h>(hir: &'h Hir, out: &mut Vec<&'h Hir>) {
    if let HirKind::Capture(capture) = hir.kind() {
        flat(&capture.sub, out);
    } else if let HirKind::Concat(parts) = hir.kind() {
        parts.iter().for_each(|part| flat(part, out));
    } else {
        out.push(hir);
    }
}

/// Tells whether every match of a part holds one of the texts, or a long word.
fn assured(hir: &Hir, texts: &[&str], long: Option<usize>) -> bool {
    let has = |spelling: &String| texts.iter().any(|text| spelling.contains(text));
    if spellings(hir).is_some_and(|all| all.iter().all(has)) {
        return true;
    }
    let is_long = |length: usize| long.is_some_and(|long| length >= long);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Class(_) => false,
        HirKind::Alternation(branches) => branches.iter().all(|branch| assured(branch, texts, long)),
        HirKind::Repetition(repetition) => {
            repetition.min > 0 && (assured(&repetition.sub, texts, long) || word(hir).is_some_and(is_long))
        }
        HirKind::Capture(_) | HirKind::Concat(_) => {
            let mut parts = Vec::new();
            flat(hir, &mut parts);
            if parts.iter().any(|part| !std::ptr::eq(*part, hir) && assured(part, texts, long)) {
                return true;
            }
            let (mut run, mut length) = (vec![String::new()], 0);
            for part in parts.iter().copied() {
                run = spellings(part)
                    .and_then(|next| joined(&run, &next))
                    .unwrap_or_else(|| vec![String::new()]);
                length = word(part).map_or(0, |next| length + next);
                if run.iter().all(has) || is_long(length) {
                    return true;
                }
            }
            // Each branch by itself may be long enough with what stands around it.
            let split = parts.iter().enumerate().find_map(|(at, part)| {
                if let HirKind::Alternation(branches) = part.kind() { Some((at, branches)) } else { None }
            });
            split.is_some_and(|(at, branches)| {
                branches.iter().all(|branch| {
                    let with =
                        |place: usize, part: &Hir| if place == at { branch.clone() } else { part.clone() };
                    let parts = parts.iter().enumerate().map(|(place, part)| with(place, part)).collect();
                    assured(&Hir::concat(parts), texts, long)
                })
            })
        }
    }
}

#[test]
fn every_match_of_a_pattern_holds_what_the_pattern_needs() {
    let (mut seen, mut problems) = (0, Vec::new());
    for pattern in patterns() {
        seen += 1;
        let hir = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern.source).unwrap();
        let holds = match pattern.needs {
            Needs::Text(texts) => assured(&hir, texts, None),
            Needs::LongWord => assured(&hir, &SHORT_TOKENS, Some(LONG)),
            // Its function goes by the name; the test below is about names.
            Needs::Stem => true,
        };
        problems.extend((!holds).then_some(pattern.source));
    }
    assert!(seen > 70 && problems.is_empty(), "{problems:#?}");
}

#[test]
fn a_need_that_is_not_one_is_noticed() {
    let parsed = |source: &str| regex_syntax::parse(source).unwrap();
    assert!(assured(&parsed(r"\b(?:ab|xab)+c\S"), &["ab"], None));
    assert!(!assured(&parsed(r"\b(?:ab)?c"), &["ab"], None) && !assured(&parsed("ab|c"), &["ab"], None));
    assert!(assured(&parsed("(?i)psk"), &["psk"], None) && assured(&parsed("a(b=)\t"), &["=\t"], None));
    assert!(assured(&parsed("x[a-z]{23}"), &[], Some(24)) && !assured(&parsed("x[a-z ]{23}"), &[], Some(24)));
}

#[test]
fn every_pattern_compiles() {
    patterns().for_each(|rule| drop(pattern(rule.source)));
}

#[test]
fn a_short_text_compiles_few_patterns() {
    let held = |text: &str| patterns().filter(|pattern| Reader::new(text).holds(pattern.needs)).count();
    for text in
        ["ls -la /var/log", "claude in /home/ana/project: list files", "uname -s", "git status --short"]
    {
        assert!(held(text) <= 8, "{text}: {}", held(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A name without a stem means nothing, so that a rule that asks about names needs one.
    #[test]
    fn a_name_without_a_stem_means_nothing(
        name in "([a-z]{1,4}|access|account|api|master|private|shared|connection|primary|id|guid|[A-Z][a-z]{1,6}|[_. -]){1,6}",
    ) {
        let lower = name.to_ascii_lowercase();
        prop_assume!(!STEMS.iter().any(|stem| lower.contains(stem)));
        prop_assert!(meaning(&name).is_none(), "{name}");
        let cloud = ["subscription", "tenant", "tid", "directory"];
        prop_assert!(cloud.iter().any(|word| lower.replace(['_', '-', '.', ' '], "").contains(word)) || cloud_id(&name).is_none());
    }
}
