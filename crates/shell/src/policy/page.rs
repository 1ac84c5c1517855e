//! Pages of web servers that print secrets, as data.

use serde::Deserialize;

use super::script::quote;

/// Pages that ask, and why.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// What they show.
    pub(crate) why: String,
    /// Patterns of their paths.
    paths: Vec<String>,
    safe: Vec<String>,
    asks: Vec<String>,
}

impl Page {
    /// True if a path, taken apart, is one of these pages or below one.
    pub(crate) fn holds(&self, parts: &[&str]) -> bool {
        self.paths.iter().any(|pattern| match pattern.strip_prefix('/') {
            Some(pattern) => begins(&split(pattern), parts),
            None => {
                let pattern = split(pattern);
                (0..parts.len()).any(|start| begins(&pattern, parts.get(start..).unwrap_or_default()))
            }
        })
    }

    pub(super) fn safe(&self) -> Vec<String> {
        self.safe.iter().map(|path| request(path)).collect()
    }

    pub(super) fn asks(&self) -> Vec<String> {
        self.asks.iter().map(|path| request(path)).collect()
    }
}

fn request(path: &str) -> String {
    format!("curl {}", quote(&format!("http://10.0.0.5:8080{path}")))
}

fn split(pattern: &str) -> Vec<&str> {
    pattern.split('/').collect()
}

fn begins(pattern: &[&str], parts: &[&str]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((&"**", rest)) => {
            (0..=parts.len()).any(|skipped| begins(rest, parts.get(skipped..).unwrap_or_default()))
        }
        Some((first, rest)) => {
            parts.split_first().is_some_and(|(part, behind)| fits(first, part) && begins(rest, behind))
        }
    }
}

/// Matches one part; each `*` stands for any run.
fn fits(pattern: &str, part: &str) -> bool {
    let Some((front, rest)) = pattern.split_once('*') else { return pattern == part };
    let Some(behind) = part.strip_prefix(front) else { return false };
    let (middle, back) = rest.rsplit_once('*').map_or((None, rest), |(middle, back)| (Some(middle), back));
    let Some(inside) = behind.strip_suffix(back) else { return false };
    middle.is_none_or(|middle| {
        let found = middle
            .split('*')
            .try_fold(inside, |left, word| left.find(word).and_then(|at| left.get(at + word.len()..)));
        found.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run_in_one_part() {
        for (pattern, part) in [
            ("a", "a"),
            ("a*", "a"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("*b*", "abc"),
            ("*b*", "b"),
            ("a*c*e", "abcde"),
            ("*", ""),
            ("*.sql.*", "x.sql.gz"),
        ] {
            assert!(fits(pattern, part), "{pattern} does not fit {part}");
        }
        for (pattern, part) in
            [("a", "ab"), ("a*", "ba"), ("ab*ba", "aba"), ("*b*", "ac"), ("a*c*e", "aec"), ("a*a", "a")]
        {
            assert!(!fits(pattern, part), "{pattern} fits {part}");
        }
    }

    #[test]
    fn a_pattern_begins_anywhere_unless_it_begins_with_a_slash() {
        let page = |path: &str| Page {
            why: String::new(),
            paths: vec![path.to_owned()],
            safe: vec![],
            asks: vec![],
        };
        assert!(page("b/**/e").holds(&["a", "b", "c", "d", "e", "f"]));
        assert!(page("b/**/c").holds(&["b", "c"]));
        assert!(page("/a/b").holds(&["a", "b", "c"]));
        assert!(!page("/b").holds(&["a", "b"]));
        assert!(!page("b/**/e").holds(&["e", "b"]));
        assert!(!page("a/b").holds(&["a"]));
    }
}
