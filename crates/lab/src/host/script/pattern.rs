//! `*`, `?` and `[a-z]`.

/// Whether a text is what a pattern describes. A backslash before a character makes it itself.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut from) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at) == Some(&'*') {
            back = Some((at, from));
            at += 1;
            continue;
        }
        let here = text.get(from).copied();
        match (step(&pattern, at, here), here) {
            (Some(next), Some(_)) => {
                at = next;
                from += 1;
                continue;
            }
            (_, None) if at >= pattern.len() => return true,
            _ => {}
        }
        // A star takes one more.
        match back {
            Some((star, taken)) if taken < text.len() => {
                back = Some((star, taken + 1));
                at = star + 1;
                from = taken + 1;
            }
            _ => return false,
        }
    }
}

/// Matches one character; returns where the pattern goes on.
fn step(pattern: &[char], at: usize, here: Option<char>) -> Option<usize> {
    let here = here?;
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&here)).then_some(at + 2),
        '[' => match set(pattern, at, here) {
            Some((holds, next)) => holds.then_some(next),
            None => (here == '[').then_some(at + 1),
        },
        char => (*char == here).then_some(at + 1),
    }
}

/// Reads `[…]`: whether the character is in it, and where the pattern goes on.
fn set(pattern: &[char], at: usize, here: char) -> Option<(bool, usize)> {
    let mut next = at + 1;
    let negated = matches!(pattern.get(next), Some('!' | '^'));
    next += usize::from(negated);
    let begun = next;
    let mut holds = false;
    loop {
        match *pattern.get(next)? {
            ']' if next > begun => return Some((holds != negated, next + 1)),
            low => {
                let range = pattern.get(next + 1) == Some(&'-');
                match pattern.get(next + 2) {
                    Some(high) if range && *high != ']' => {
                        holds |= (low..=*high).contains(&here);
                        next += 3;
                    }
                    _ => {
                        holds |= low == here;
                        next += 1;
                    }
                }
            }
        }
    }
}

/// Whether a text is a pattern at all.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Makes every character of a text itself.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        if "*?[]\\".contains(char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_describe_what_a_shell_says() {
        for (pattern, text, wanted) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("?", "", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("[", "[", true),
            ("*.txt", "a.txt", true),
            ("/tmp/fw_??", "/tmp/fw_ab", true),
        ] {
            assert_eq!(matches(pattern, text), wanted, "{pattern} {text}");
        }
        let long = "a".repeat(2_000);
        assert!(!matches(&"*a".repeat(50), &format!("{long}b")));
    }
}
