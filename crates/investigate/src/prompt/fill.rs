//! What a section may hold besides text: conditions and values.
//!
//! A section that begins with `---`, `needs: TOOL` and `---` is there only with that tool; more than one tool means all of
//! them. A line that begins with `[+TOOL] ` is there only with the tool, one with `[-TOOL] ` only without it. In a line
//! `{TOOL|WORDS}` is the tool's name, as code, where it is there and the words where it is not, and `{NAME}` is a value.

/// Fills a section; `None` where a tool that it needs is not there.
pub(super) fn fill(
    text: &str,
    has: &dyn Fn(&str) -> bool,
    value: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let (needs, text) = needs(text);
    if !needs.split([' ', ',']).filter(|tool| !tool.is_empty()).all(has) {
        return None;
    }
    let lines = text.lines().filter_map(|line| kept(line, has)).map(|line| filled(line, has, value));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Takes the tools off the head of a section.
fn needs(text: &str) -> (&str, &str) {
    let head = text.strip_prefix("---\nneeds:").and_then(|rest| rest.split_once("\n---\n"));
    head.unwrap_or(("", text))
}

/// Returns a line without its condition, where that holds.
fn kept<'a>(line: &'a str, has: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let (wanted, rest) = if let Some(rest) = line.strip_prefix("[+") {
        (true, rest)
    } else if let Some(rest) = line.strip_prefix("[-") {
        (false, rest)
    } else {
        return Some(line);
    };
    match rest.split_once("] ") {
        Some((tool, rest)) => (has(tool) == wanted).then(|| kept(rest, has)).flatten(),
        None => Some(line),
    }
}

fn filled(line: &str, has: &dyn Fn(&str) -> bool, value: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = behind.split_once('}') else {
            rest = behind;
            out.push('{');
            continue;
        };
        match name.split_once('|') {
            Some((tool, _)) if has(tool) => {
                out.push('`');
                out.push_str(tool);
                out.push('`');
            }
            Some((_, words)) => out.push_str(words),
            None => out.push_str(&value(name).unwrap_or_else(|| format!("{{{name}}}"))),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let value = |name: &str| (name == "turns").then(|| "50".to_owned());
        assert_eq!(fill(text, &|tool| tool == "meter", &value).as_deref(), expected);
    }

    #[test]
    fn a_section_is_there_with_all_that_it_needs() {
        check("---\nneeds: meter\n---\n# A\n", Some("# A"));
        check("---\nneeds: meter, other\n---\n# A\n", None);
        check("# A\n---\nneeds: other\n---\n", Some("# A\n---\nneeds: other\n---"));
    }

    #[test]
    fn a_line_is_there_where_its_condition_holds() {
        check("[+meter] - a\n[-meter] - b\n[+other] - c\n[-other] - d\n", Some("- a\n- d"));
        check("[+meter] [+other] a\n[+meter] [-other] b", Some("b"));
        check("[+meter]\n[-x", Some("[+meter]\n[-x"));
    }

    #[test]
    fn a_value_and_a_choice_are_filled_in() {
        check("{turns} turns, {meter|ping}, {other|`tc -s`}", Some("50 turns, `meter`, `tc -s`"));
        check("{what} {open", Some("{what} {open"));
    }
}
