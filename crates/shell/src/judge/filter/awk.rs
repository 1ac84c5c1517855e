//! `awk`: one `CONDITION{print …}`, and nothing that could write, read or start anything.

use super::scan::Scan;
use crate::policy::Refusal;

/// How deep parentheses may stand in a condition.
const MAX_DEPTH: usize = 8;

/// Accepts `-F SEPARATOR` and one program.
pub(in crate::judge) fn check(arguments: &[&str]) -> Result<(), Refusal> {
    let mut words = arguments.iter().copied();
    let mut program = None;
    while let Some(word) = words.next() {
        match word {
            "-F" => drop(words.next().ok_or_else(|| Refusal::missing("-F"))?),
            "--" => {
                program = words.next();
                break;
            }
            word if word.starts_with("-F") => {}
            word if word.starts_with('-') => return Err(Refusal::option(word)),
            word => {
                program = Some(word);
                break;
            }
        }
    }
    if let Some(file) = words.next() {
        return Err(Refusal::operand(file));
    }
    let program = program.ok_or_else(|| Refusal::missing("a program"))?;
    let understood = !program.chars().any(char::is_control) && is_program(program);
    let wrong =
        || Refusal::new("value", "of awk only one `CONDITION{print …}` of fields and strings is understood");
    understood.then_some(()).ok_or_else(wrong)
}

fn is_program(text: &str) -> bool {
    let mut scan = Scan::new(text);
    scan.blanks();
    if scan.peek() != Some('{') && !condition(&mut scan, 0) {
        return false;
    }
    scan.blanks();
    if !scan.take("{") {
        return false;
    }
    scan.blanks();
    if scan.name() != "print" || !items(&mut scan) {
        return false;
    }
    scan.take(";");
    scan.blanks();
    let closed = scan.take("}");
    scan.blanks();
    closed && scan.is_done()
}

/// Takes what `print` prints: fields and strings, one behind another or with commas between them.
fn items(scan: &mut Scan<'_>) -> bool {
    let mut wanted = false;
    loop {
        scan.blanks();
        match scan.peek() {
            Some(';' | '}') => return !wanted,
            Some(',') if !wanted => {
                scan.next();
                wanted = true;
            }
            Some('$' | '"' | 'N') => {
                if !operand(scan) {
                    return false;
                }
                wanted = false;
            }
            _ => return false,
        }
        // `print , $1` has nothing in front of its comma, which no awk takes: nobody has to guess what it would print.
    }
}

/// Takes a field, a string, a number, `NR` or `NF`.
fn operand(scan: &mut Scan<'_>) -> bool {
    match scan.peek() {
        Some('$') => {
            scan.next();
            field(scan)
        }
        Some('"') => {
            scan.next();
            string(scan)
        }
        Some('0'..='9') => {
            let whole = scan.number();
            let part = !scan.take(".") || scan.number();
            whole
                && part
                && !scan.peek().is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '.'))
        }
        _ => matches!(scan.name(), "NR" | "NF"),
    }
}

/// Takes what stands behind `$`: a number, `NF`, or `(NF-1)`.
fn field(scan: &mut Scan<'_>) -> bool {
    match scan.peek() {
        Some('0'..='9') => {
            scan.number() && !scan.peek().is_some_and(|next| next.is_alphabetic() || next == '_')
        }
        Some('N') => scan.name() == "NF",
        Some('(') => {
            scan.next();
            scan.blanks();
            let mut good = scan.name() == "NF";
            scan.blanks();
            if scan.take("-") {
                scan.blanks();
                good &= scan.number();
                scan.blanks();
            }
            good && scan.take(")")
        }
        _ => false,
    }
}

fn string(scan: &mut Scan<'_>) -> bool {
    while let Some(next) = scan.next() {
        match next {
            '"' => return true,
            '\\' if scan.next().is_none() => return false,
            _ => {}
        }
    }
    false
}

/// Takes comparisons and patterns, joined by `&&` and `||`.
fn condition(scan: &mut Scan<'_>, depth: usize) -> bool {
    loop {
        if depth > MAX_DEPTH || !term(scan, depth) {
            return false;
        }
        scan.blanks();
        if !scan.take("&&") && !scan.take("||") {
            return true;
        }
    }
}

fn term(scan: &mut Scan<'_>, depth: usize) -> bool {
    scan.blanks();
    while scan.take("!") {
        scan.blanks();
    }
    match scan.peek() {
        Some('(') => {
            scan.next();
            let inside = condition(scan, depth + 1);
            scan.blanks();
            inside && scan.take(")")
        }
        Some('/') => {
            scan.next();
            scan.pattern('/')
        }
        _ => {
            if !operand(scan) {
                return false;
            }
            scan.blanks();
            if scan.take("!~") || scan.take("~") {
                scan.blanks();
                if scan.take("/") {
                    return scan.pattern('/');
                }
                return operand(scan);
            }
            let compares = ["==", "!=", "<=", ">=", "<", ">"].iter().any(|sign| scan.take(sign));
            scan.blanks();
            !compares || operand(scan)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_picks_fields_is_understood() {
        for arguments in [
            &["{print $1}"][..],
            &["{print}"],
            &["{ print $1, $NF ; }"],
            &["NR>1{print $4}"],
            &["NR > 1 {print $4}"],
            &["/ESTAB/{print $5}"],
            &["$1 == \"tcp\" && $4 ~ /:443$/ {print $4 \" -> \" $5}"],
            &["!/Recv-Q/ || NF>=5{print $0}"],
            &["(NR==1||/x/)&&$2!=\"a\"{print $(NF-1),NR}"],
            &["$3>0.5{print $1}"],
            &["-F:", "{print $1}"],
            &["-F", "[ :]", "--", "{print $1}"],
            &["/a\\/b[0-9]/{print \"a | b > c; getline\"}"],
        ] {
            assert_eq!(check(arguments), Ok(()), "{arguments:?}");
        }
    }

    #[test]
    fn what_writes_reads_or_starts_something_asks() {
        for program in [
            "{print > \"/tmp/x\"}",
            "{print $1 > \"x\"}",
            "{print $1 >> \"x\"}",
            "{print | \"sh\"}",
            "{print $1 | \"sh\"}",
            "{print |& \"sh\"}",
            "{system(\"id\")}",
            "{print system(\"id\")}",
            "{\"id\" | getline; print}",
            "\"id\" | getline {print}",
            "{print $1; getline x < \"/etc/passwd\"; print x}",
            "{getline x < \"/etc/passwd\"; print x}",
            "{print}{print > \"x\"}",
            "{print};{system(\"id\")}",
            "BEGIN{print ENVIRON[\"HOME\"]}",
            "BEGIN{print}",
            "END{print NR}",
            "@load \"filefuncs\"; {print}",
            "@include \"x\"{print}",
            "{@f()}",
            "{print $1; close(\"x\")}",
            "{printf \"%s\", $1}",
            "{printf \"x\" > \"y\"}",
            "{print $1 $system}",
            "{print $(system(\"id\"))}",
            "{print $NR}",
            "{print $1 + 1}",
            "{print -1}",
            "{print ($1)}",
            "{print \"a\" \"b\"",
            "{print \"a}",
            "{print \"a\\\"}",
            "function f(){system(\"id\")} {print}",
            "/[/]{print > \"x\"}/{print}",
            "/a/,/b/{print}",
            "$1=system(\"id\"){print}",
            "$1=1{print}",
            "NR++{print}",
            "x{print}",
            "{print $1}#",
            "{print $1}\n{system(\"id\")}",
            "{print $1\n}",
            "{printx}",
            "{print,}",
            "{print $1,}",
            "",
            "{}",
            "print",
            "/x/",
            "NR>1",
            "((((((((((NR))))))))))",
            "((((((((((NR==1)))))))))){print}",
        ] {
            assert!(check(&[program]).is_err(), "{program}");
        }
        for arguments in [
            &["-f", "x"][..],
            &["-fx"],
            &["-v", "x=1", "{print}"],
            &["--file=x"],
            &["-e", "{print}"],
            &["-i", "inplace", "{print}"],
            &["-l", "x", "{print}"],
            &["-E", "x"],
            &["{print}", "/etc/passwd"],
            &["{print}", "-"],
            &["-F"],
            &[],
            &["--"],
            &["-"],
        ] {
            assert!(check(arguments).is_err(), "{arguments:?}");
        }
    }
}
