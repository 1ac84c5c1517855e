//! What changed between two commands, word by word.

/// More words than this on either side are told as one change.
const MOST_WORDS: usize = 300;

/// One run of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// On both sides.
    Same(String),
    /// Only in the old one.
    Gone(String),
    /// Only in the new one.
    New(String),
}

/// Compares two commands. Blanks between words are a change of no word and are not told.
pub(super) fn diff(old: &str, new: &str) -> Vec<Piece> {
    let (old, new) = (words(old), words(new));
    let front = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (same, old) = old.split_at(front);
    let new = new.get(front..).unwrap_or_default();
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, tail) = old.split_at(old.len() - back);
    let (new, _) = new.split_at(new.len() - back);
    let mut pieces = Vec::new();
    same.iter().for_each(|word| push(&mut pieces, Piece::Same((*word).to_owned())));
    middle(old, new, &mut pieces);
    tail.iter().for_each(|word| push(&mut pieces, Piece::Same((*word).to_owned())));
    pieces
}

fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().collect()
}

fn middle(old: &[&str], new: &[&str], pieces: &mut Vec<Piece>) {
    let common = if old.len() > MOST_WORDS || new.len() > MOST_WORDS { Vec::new() } else { common(old, new) };
    let (mut from, mut to) = (0, 0);
    for (left, right) in common.into_iter().chain([(old.len(), new.len())]) {
        for word in old.get(from..left).unwrap_or_default() {
            push(pieces, Piece::Gone((*word).to_owned()));
        }
        for word in new.get(to..right).unwrap_or_default() {
            push(pieces, Piece::New((*word).to_owned()));
        }
        if let Some(word) = old.get(left) {
            push(pieces, Piece::Same((*word).to_owned()));
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

fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), &piece) {
        (Some(Piece::Same(run)), Piece::Same(word))
        | (Some(Piece::Gone(run)), Piece::Gone(word))
        | (Some(Piece::New(run)), Piece::New(word)) => {
            run.push(' ');
            run.push_str(word);
        }
        _ => pieces.push(piece),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let told = diff(old, new).into_iter().map(|piece| match piece {
            Piece::Same(words) => words,
            Piece::Gone(words) => format!("[-{words}-]"),
            Piece::New(words) => format!("{{+{words}+}}"),
        });
        assert_eq!(told.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_change_is_told_by_its_words() {
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
            for piece in diff(&old, &new) {
                match piece {
                    Piece::Same(words) => { left.push(words.clone()); right.push(words); }
                    Piece::Gone(words) => left.push(words),
                    Piece::New(words) => right.push(words),
                }
            }
            prop_assert_eq!(left.join(" "), old.trim());
            prop_assert_eq!(right.join(" "), new.trim());
        }
    }
}
