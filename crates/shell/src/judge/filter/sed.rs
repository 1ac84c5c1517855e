//! `sed`: addresses, `p`, `d`, `q` and `s///`, and nothing that reads, writes or starts anything.

use super::scan::Scan;
use crate::policy::{Given, Refusal};

/// What may stand around the pattern of `s` and of an address.
const MARKS: [char; 10] = ['/', '|', '#', ',', ':', '@', '!', '%', '_', '~'];

/// Accepts one script, or several behind `-e`.
pub(in crate::judge) fn check(given: &Given<'_>) -> Result<(), Refusal> {
    let mut scripts: Vec<&str> = given.values(&["-e", "--expression"]).collect();
    match (scripts.is_empty(), given.operands.first()) {
        (true, Some(script)) => scripts.push(script),
        (true, None) => return Err(Refusal::missing("a script")),
        (false, Some(file)) => return Err(Refusal::operand(file)),
        (false, None) => {}
    }
    let understood = |script: &&str| !script.chars().any(char::is_control) && is_script(script);
    if scripts.iter().all(understood) {
        return Ok(());
    }
    let what =
        "of sed only addresses, `p`, `d`, `q` and `s` with the flags g, p, I and numbers are understood";
    Err(Refusal::new("value", what))
}

fn is_script(text: &str) -> bool {
    let mut scan = Scan::new(text);
    let mut commands = 0;
    loop {
        scan.blanks();
        while scan.take(";") {
            scan.blanks();
        }
        if scan.is_done() {
            return commands > 0;
        }
        if !addresses(&mut scan) || !command(&mut scan) {
            return false;
        }
        commands += 1;
        scan.blanks();
        if !scan.is_done() && scan.peek() != Some(';') {
            return false;
        }
    }
}

/// Takes no address, one, or two.
fn addresses(scan: &mut Scan<'_>) -> bool {
    let Some(given) = address(scan) else { return false };
    scan.blanks();
    if given && scan.take(",") {
        scan.blanks();
        let counted = (scan.take("+") || scan.take("~")) && scan.number();
        if !counted && address(scan) != Some(true) {
            return false;
        }
        scan.blanks();
    }
    if scan.take("!") {
        scan.blanks();
        return given;
    }
    true
}

/// Takes one address: tells whether there is one, `None` where it is not understood.
fn address(scan: &mut Scan<'_>) -> Option<bool> {
    let pattern = |scan: &mut Scan<'_>, mark| {
        let good = scan.pattern(mark);
        scan.take("I");
        good.then_some(true)
    };
    match scan.peek() {
        Some('$') => {
            scan.next();
            Some(true)
        }
        Some('/') => {
            scan.next();
            pattern(scan, '/')
        }
        Some('\\') => {
            scan.next();
            let mark = scan.next().filter(|mark| MARKS.contains(mark))?;
            pattern(scan, mark)
        }
        Some('0'..='9') => {
            let good = scan.number() && (!scan.take("~") || scan.number());
            good.then_some(true)
        }
        _ => Some(false),
    }
}

fn command(scan: &mut Scan<'_>) -> bool {
    match scan.next() {
        Some('p' | 'd') => true,
        Some('q') => {
            scan.blanks();
            !scan.peek().is_some_and(|next| next.is_ascii_digit()) || scan.number()
        }
        Some('s') => substitution(scan),
        _ => false,
    }
}

/// Takes what stands behind `s`: a pattern, what takes its place, and flags that only print and pick.
fn substitution(scan: &mut Scan<'_>) -> bool {
    let Some(mark) = scan.next().filter(|mark| MARKS.contains(mark)) else { return false };
    if !scan.pattern(mark) || !replacement(scan, mark) {
        return false;
    }
    while scan.peek().is_some_and(|flag| matches!(flag, 'g' | 'p' | 'I' | '0'..='9')) {
        scan.next();
    }
    true
}

fn replacement(scan: &mut Scan<'_>, mark: char) -> bool {
    while let Some(next) = scan.next() {
        match next {
            _ if next == mark => return true,
            '\\' if scan.next().is_none() => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    fn read(words: &[&str]) -> Result<(), Refusal> {
        let policy = Policy::embedded().unwrap();
        let given = policy.filter("sed").unwrap().grammar.read(words, &policy.files)?;
        check(&given)
    }

    #[test]
    fn what_picks_and_replaces_is_understood() {
        for arguments in [
            &["-n", "1,5p"][..],
            &["5q"],
            &["q 1"],
            &["-n", "$p"],
            &["1!d"],
            &["1d;$d"],
            &["/^$/d"],
            &["-n", "/a/,/b/p"],
            &["-nE", "/a|b/Ip"],
            &["-n", "2~3p; 4,+2p;"],
            &["0,/x/d"],
            &[r"\,/var,d"],
            &["s/ESTAB/E/g"],
            &["s|/|_|2gp"],
            &[r"s/\(a\)/\1 & \//I"],
            &["s/[0-9]*//;s/w /r /"],
            &["--quiet", "--regexp-extended", "--", "s/(a)/b/p"],
            &["-e", "p"],
            &["-ne", "p"],
            &["-n", "-e", "/a/p", "-e", "s/a/b/p"],
            &["--expression=p"],
        ] {
            assert_eq!(read(arguments), Ok(()), "{arguments:?}");
        }
    }

    #[test]
    fn what_reads_writes_or_starts_something_asks() {
        for script in [
            "w /tmp/x",
            "1w file",
            "W x",
            "r /etc/passwd",
            "R x",
            "1e id",
            "e",
            "$!e",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/w f",
            "s/x/y/w f",
            "s/x/y/gw f",
            "s/x/y/;w f",
            "s/x/y/g w f",
            "s/[/]/w f/e",
            "s/[/]/x/w f",
            r"s/a\/b/e",
            "sxaxbxe",
            "sxaxbx",
            "s/a/b/m",
            "s/a/b/i",
            "p;e id",
            "{p}",
            "1{e id\n}",
            "p\ne id",
            "s/a/b\\\n/",
            "a x",
            "i\\x",
            "c x",
            "y/a/b/",
            "=",
            "n",
            "N",
            "F",
            "l",
            "v",
            "b",
            "t",
            ":a",
            "z",
            "Q",
            "x",
            "g",
            "D",
            "s/a/b",
            "s/a",
            "/a",
            "/a/e",
            "/a/,e",
            "/a/M",
            "!p",
            "1,p",
            "1,!p",
            "p p",
            "pp",
            "p#e",
            "#n",
            "",
            ";",
            "1",
            r"\",
            r"\xaxd",
            "s/a/b/\\",
            "1~p",
            "99999999999p",
        ] {
            assert!(read(&[script]).is_err(), "{script}");
        }
        for arguments in [
            &["-i", "s/a/b/"][..],
            &["-n", "-i.bak", "p"],
            &["-ni", "p"],
            &["-e", "p", "/etc/passwd"],
            &["-e", "p", "-e", "w x"],
            &["-e", "a\\", "-e", "p"],
            &["-n1p"],
            &["-f", "x"],
            &["--in-place", "p"],
            &["--quie", "p"],
            &["-s", "p"],
            &["-z", "p"],
            &["-u", "p"],
            &["p", "/etc/passwd"],
            &["p", "-"],
            &["-"],
            &["-n"],
            &[],
        ] {
            assert!(read(arguments).is_err(), "{arguments:?}");
        }
    }
}
