//! What changed between two commands, word by word.

/// More words than this on either side are shown as one change.
const MAX_WORDS: usize = 300;

/// One run of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffSegment {
    /// On both sides.
    Same(String),
    /// Only in the old one.
    Gone(String),
    /// Only in the new one.
    New(String),
}

/// Compares two commands. Blanks between words are no change.
pub(super) fn diff(old: &str, new: &str) -> Vec<DiffSegment> {
    let (old, new) = (words(old), words(new));
    let front = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (same, old) = old.split_at(front);
    let new = new.get(front..).unwrap_or_default();
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, tail) = old.split_at(old.len() - back);
    let (new, _) = new.split_at(new.len() - back);
    let mut segments = Vec::new();
    same.iter().for_each(|word| push(&mut segments, DiffSegment::Same((*word).to_owned())));
    middle(old, new, &mut segments);
    tail.iter().for_each(|word| push(&mut segments, DiffSegment::Same((*word).to_owned())));
    segments
}

fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().collect()
}

fn middle(old: &[&str], new: &[&str], segments: &mut Vec<DiffSegment>) {
    let common = if old.len() > MAX_WORDS || new.len() > MAX_WORDS { Vec::new() } else { common(old, new) };
    let (mut from, mut to) = (0, 0);
    for (left, right) in common.into_iter().chain([(old.len(), new.len())]) {
        for word in old.get(from..left).unwrap_or_default() {
            push(segments, DiffSegment::Gone((*word).to_owned()));
        }
        for word in new.get(to..right).unwrap_or_default() {
            push(segments, DiffSegment::New((*word).to_owned()));
        }
        if let Some(word) = old.get(left) {
            push(segments, DiffSegment::Same((*word).to_owned()));
        }
        (from, to) = (left + 1, right + 1);
    }
}

/// Returns the places of a longest common row of words.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let at = |lengths: &[u32], left: usize, right: usize| {
        lengths.get(left * width + right).copied().unwrap_or_default()
    };
    for (left, one) in old.iter().enumerate().rev() {
        for (right, other) in new.iter().enumerate().rev() {
            let length = if one == other {
                at(&lengths, left + 1, right + 1) + 1
            } else {
                at(&lengths, left + 1, right).max(at(&lengths, left, right + 1))
            };
            if let Some(cell) = lengths.get_mut(left * width + right) {
                *cell = length;
            }
        }
    }
    let (mut left, mut right, mut found) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (old.get(left), new.get(right)) {
        if one == other {
            found.push((left, right));
            (left, right) = (left + 1, right + 1);
        } else if at(&lengths, left + 1, right) >= at(&lengths, left, right + 1) {
            left += 1;
        } else {
            right += 1;
        }
    }
    found
}

fn push(segments: &mut Vec<DiffSegment>, segment: DiffSegment) {
    match (segments.last_mut(), &segment) {
        (Some(DiffSegment::Same(run)), DiffSegment::Same(word))
        | (Some(DiffSegment::Gone(run)), DiffSegment::Gone(word))
        | (Some(DiffSegment::New(run)), DiffSegment::New(word)) => {
            run.push(' ');
            run.push_str(word);
        }
        _ => segments.push(segment),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let marked = diff(old, new).into_iter().map(|segment| match segment {
            DiffSegment::Same(words) => words,
            DiffSegment::Gone(words) => format!("[-{words}-]"),
            DiffSegment::New(words) => format!("{{+{words}+}}"),
        });
        assert_eq!(marked.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_change_is_shown_word_by_word() {
        check("a b c", "a b c", "a b c");
        check("a --t 60 c", "a --t 30 c", "a --t [-60-] {+30+} c");
        check("a b", "a b --x 1", "a b {+--x 1+}");
        check("a b c d", "b d e", "[-a-] b [-c-] d {+e+}");
        check("", "a", "{+a+}");
        check("a", "", "[-a-]");
    }

    #[test]
    fn a_great_change_is_one_change() {
        let old = (0..400).map(|at| format!("a{at} ")).collect::<String>();
        assert_eq!(diff(&old, "b").len(), 2);
    }

    proptest! {
        #[test]
        fn both_commands_can_be_read_from_the_change(old in "([ab] ){0,12}", new in "([abc] ){0,12}") {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for segment in diff(&old, &new) {
                match segment {
                    DiffSegment::Same(words) => { left.push(words.clone()); right.push(words); }
                    DiffSegment::Gone(words) => left.push(words),
                    DiffSegment::New(words) => right.push(words),
                }
            }
            prop_assert_eq!(left.join(" "), old.trim());
            prop_assert_eq!(right.join(" "), new.trim());
        }
    }
}
