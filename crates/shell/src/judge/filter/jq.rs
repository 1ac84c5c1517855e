//! `jq`: any filter that reads its input only.

use super::scan::Scan;
use crate::policy::{Given, Refusal, shorten};

/// Words of the language that reach beyond the input, or load code.
const REACHES: [&str; 5] = ["env", "ENV", "import", "include", "modulemeta"];

/// Words that a filter can use to go on without end, or for as long as nobody waits. Versions before 1.7 replace an empty match for ever.
const ENDLESS: [&str; 9] =
    ["def", "repeat", "until", "while", "recurse", "range", "combinations", "sub", "gsub"];

/// Accepts one filter, or none: then jq prints its input. If nothing `ends` it, a filter that may go on for ever is
/// refused.
pub(in crate::judge) fn check(given: &Given<'_>, ends: bool) -> Result<(), Refusal> {
    given.operands.first().map_or(Ok(()), |filter| reach(filter, ends)).map_err(|what| {
        Refusal::new("value", format!("`{}` in a filter of jq is not known to be harmless", shorten(&what)))
    })
}

/// Names the first thing in a filter that reaches beyond the input.
fn reach(filter: &str, ends: bool) -> Result<(), String> {
    let mut scan = Scan::new(filter);
    // The open parentheses; `true` where the parenthesis stands in a string, which goes on behind it.
    let mut open: Vec<bool> = Vec::new();
    let mut before = ' ';
    while let Some(next) = scan.peek() {
        if next.is_ascii_alphabetic() || next == '_' {
            let name = scan.name();
            let reaches =
                REACHES.contains(&name) || name.starts_with("input") || (!ends && ENDLESS.contains(&name));
            // Behind `.` it is a field, but not behind `..` or the point of a number.
            if reaches && before != '.' {
                return Err(name.to_owned());
            }
            before = 'a';
            continue;
        }
        scan.next();
        match next {
            '"' => string(&mut scan, &mut open)?,
            '(' => open.push(false),
            ')' if open.pop() == Some(true) => string(&mut scan, &mut open)?,
            // Versions differ on where a comment ends, and modules have no place here.
            '#' => return Err("#".to_owned()),
            ':' if scan.peek() == Some(':') => return Err("::".to_owned()),
            _ if !next.is_ascii() || (next.is_ascii_control() && next != '\t') => {
                return Err(next.to_string());
            }
            _ => {}
        }
        before = if next == '.' && (before == '.' || before.is_ascii_digit()) { ' ' } else { next };
    }
    Ok(())
}

/// Takes the rest of a string, up to its end or to code in it.
fn string(scan: &mut Scan<'_>, open: &mut Vec<bool>) -> Result<(), String> {
    while let Some(next) = scan.next() {
        match next {
            '"' => return Ok(()),
            '\\' if scan.next() == Some('(') => {
                open.push(true);
                return Ok(());
            }
            _ => {}
        }
    }
    Err("\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    fn read(words: &[&str], ends: bool) -> Result<(), Refusal> {
        let policy = Policy::embedded().unwrap();
        let given = policy.filter("jq").unwrap().grammar.read(words, &policy.files)?;
        check(&given, ends)
    }

    #[test]
    fn a_filter_that_examines_its_input_is_understood() {
        for arguments in [
            &["."][..],
            &["-r", ".[] | .ifname"],
            &["-rc", ".a.env | .input_port? // .x.include"],
            &["--arg", "env", "x", ".[] | select(.name == $env_name)"],
            &["--indent", "2", "--", ".a"],
            &["-n", "[range(3)]"],
            &[],
            &["-r"],
            &[".a | \"env input \\(.b | (.c)) env\""],
            &["getpath([\"env\"]), $__loc__, @base64, .[\"import\"]"],
            &["[.[] | {a, b: .c}] | sort_by(.a) | .[2:3]"],
            &["[range(3)] | until(. > 3; . + 1)"],
        ] {
            assert_eq!(read(arguments, true), Ok(()), "{arguments:?}");
        }
    }

    #[test]
    fn a_filter_that_reaches_further_asks() {
        for filter in [
            "env",
            "$ENV",
            "$ENV.HOME",
            "$ ENV",
            ". | env",
            ". env",
            "..env",
            "1.env",
            "env.HOME",
            "input",
            "[inputs]",
            "input_filename",
            "input_line_number",
            "import \"a\" as a; .",
            "include \"a\"; .",
            "\"a\" | modulemeta",
            "a::b",
            "\"\\(env)\"",
            "\"\\(\"\\(env)\")\"",
            "\"\\((1) | env)\"",
            "\"a\" , env",
            "\"\\\"\" | env",
            ". # \\\nenv",
            ".\nx",
            "\"a",
            "{env}",
            ".[input:]",
            "é",
        ] {
            assert!(read(&[filter], true).is_err(), "{filter}");
        }
        for arguments in [
            &["-f", "x"][..],
            &["-rf", "x"],
            &["--from-file", "x"],
            &["--slurpfile", "a", "x", "."],
            &["--rawfile", "a", "x", "."],
            &["--argfile", "a", "x", "."],
            &["-L", "x", "."],
            &["-L/x", "."],
            &[".", "/etc/passwd"],
            &[".", "-"],
            &["--", ".", "x"],
            &["--raw", "."],
            &["--run-tests"],
            &["-n", "--args", "$ARGS.positional", "x"],
            &["--arg", "a"],
            &["--indent", "x", "."],
        ] {
            assert!(read(arguments, true).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn where_nothing_ends_it_a_filter_has_to_end_by_itself() {
        for filter in [
            "repeat(.)",
            "[range(1e9)]",
            "until(false; .)",
            "def f: f; f",
            "recurse(.)",
            "[0,1] | combinations(99)",
            "gsub(\"\"; \"x\")",
        ] {
            assert!(read(&[filter], false).is_err() && read(&[filter], true).is_ok(), "{filter}");
        }
        assert!(read(&[".. | .range"], false).is_ok());
    }
}
