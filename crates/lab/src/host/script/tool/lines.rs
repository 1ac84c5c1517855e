//! Lines: first, last, counted, sorted, cut.

use super::options::{Options, lines, texts};
use crate::host::script::run::{Io, Shell};

macro_rules! options {
    ($shell:ident, $io:ident, $tool:literal, $arguments:expr, $alone:literal, $valued:literal, $long:expr) => {
        match Options::read($arguments, $alone, $valued, &$long) {
            Ok(options) => options,
            Err(what) => return $shell.complain($io, &format!("{}: {what}", $tool), 1),
        }
    };
}

/// Makes `-5` what it means.
fn with_number(arguments: &[String]) -> Vec<String> {
    let number = |word: &String| {
        word.strip_prefix('-')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    arguments
        .iter()
        .map(|word| if number(word) { format!("-n{}", word.trim_start_matches('-')) } else { word.clone() })
        .collect()
}

pub(super) fn head(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = options!(shell, io, "head", &with_number(arguments), "qvz", "nc", ["lines", "bytes"]);
    let bytes = options.value("c").or_else(|| options.value("bytes"));
    let count = bytes.or_else(|| options.value("n")).or_else(|| options.value("lines")).unwrap_or("10");
    let Ok(number) = count.trim_start_matches('-').parse::<usize>() else {
        return shell.complain(io, &format!("head: invalid number of lines: ‘{count}’"), 1);
    };
    let (content, code) = shell.input("head", &options.rest, io);
    let all_but = count.starts_with('-');
    let end = if bytes.is_some() {
        if all_but { content.len().saturating_sub(number) } else { number.min(content.len()) }
    } else {
        let total = lines(&content).len();
        let wanted = if all_but { total.saturating_sub(number) } else { number };
        let ends = content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        if wanted == 0 { 0 } else { ends.take(wanted).nth(wanted - 1).unwrap_or(content.len()) }
    };
    shell.put(io, 1, content.get(..end).unwrap_or_default());
    code
}

pub(super) fn tail(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = options!(shell, io, "tail", &with_number(arguments), "fFqz", "nc", ["lines", "bytes"]);
    let bytes = options.value("c").or_else(|| options.value("bytes"));
    let count = bytes.or_else(|| options.value("n")).or_else(|| options.value("lines")).unwrap_or("10");
    let Ok(number) = count.trim_start_matches(['-', '+']).parse::<usize>() else {
        return shell.complain(io, &format!("tail: invalid number of lines: ‘{count}’"), 1);
    };
    let (content, code) = shell.input("tail", &options.rest, io);
    let from_there = count.starts_with('+');
    let begin = if bytes.is_some() {
        if from_there { number.saturating_sub(1) } else { content.len().saturating_sub(number) }
    } else {
        let total = lines(&content).len();
        let skipped = if from_there { number.saturating_sub(1) } else { total.saturating_sub(number) };
        let ends = content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        if skipped == 0 { 0 } else { ends.take(skipped).nth(skipped - 1).unwrap_or(content.len()) }
    };
    shell.put(io, 1, content.get(begin.min(content.len())..).unwrap_or_default());
    code
}

pub(super) fn count(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = options!(shell, io, "wc", arguments, "lwcm", "", ["lines", "bytes", "words", "chars"]);
    let named = !options.rest.is_empty();
    let (inputs, code) = shell.inputs("wc", &options.rest, io);
    for (name, content) in inputs {
        let text = String::from_utf8_lossy(&content);
        let counts = [
            ("l", "lines", content.iter().filter(|byte| **byte == b'\n').count()),
            ("w", "words", text.split_whitespace().count()),
            ("c", "bytes", content.len()),
            ("m", "chars", text.chars().count()),
        ];
        let asked: Vec<usize> = counts
            .iter()
            .filter(|(short, long, _)| {
                options.has(short) || options.has(long) || (options.flags.is_empty() && *short != "m")
            })
            .map(|(_, _, count)| *count)
            .collect();
        let mut line = match asked.as_slice() {
            [one] => one.to_string(),
            many => many.iter().map(|count| format!("{count:7}")).collect::<Vec<_>>().join(" "),
        };
        if named {
            line = format!("{line} {name}");
        }
        shell.say(io, &line);
    }
    code
}

pub(super) fn sort(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options =
        options!(shell, io, "sort", arguments, "nrubfhV", "kto", ["numeric-sort", "reverse", "unique"]);
    let (content, code) = shell.input("sort", &options.rest, io);
    let mut all = texts(&content);
    let field = options.value("k").and_then(|key| {
        key.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<usize>().ok()
    });
    let numeric = options.has("n")
        || options.has("h")
        || options.has("numeric-sort")
        || options.value("k").is_some_and(|key| key.contains('n'));
    let separator = options.value("t").and_then(|text| text.chars().next());
    let key = |line: &str| -> String {
        let Some(field) = field.and_then(|field| field.checked_sub(1)) else { return line.to_owned() };
        match separator {
            Some(separator) => line.split(separator).skip(field).collect::<Vec<_>>().join(" "),
            None => line.split_whitespace().skip(field).collect::<Vec<_>>().join(" "),
        }
    };
    let number = |text: &str| {
        let text = text.trim_start();
        let length = text
            .char_indices()
            .take_while(|(at, char)| char.is_ascii_digit() || *char == '.' || (*at == 0 && *char == '-'))
            .count();
        text.get(..length).and_then(|digits| digits.parse::<f64>().ok()).unwrap_or(0.0)
    };
    all.sort_by(|left, right| {
        let (one, other) = (key(left), key(right));
        let order = if numeric { number(&one).total_cmp(&number(&other)) } else { one.cmp(&other) };
        order.then_with(|| left.cmp(right))
    });
    if options.has("r") || options.has("reverse") || options.value("k").is_some_and(|key| key.contains('r')) {
        all.reverse();
    }
    if options.has("u") || options.has("unique") {
        all.dedup();
    }
    all.iter().for_each(|line| shell.say(io, line));
    code
}

pub(super) fn uniq(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = options!(shell, io, "uniq", arguments, "cdu", "", ["count"]);
    let (content, code) = shell.input("uniq", &options.rest, io);
    let mut groups: Vec<(String, usize)> = Vec::new();
    for line in texts(&content) {
        match groups.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => groups.push((line, 1)),
        }
    }
    for (line, count) in groups {
        if (options.has("d") && count < 2) || (options.has("u") && count > 1) {
            continue;
        }
        let counted = options.has("c") || options.has("count");
        shell.say(io, &if counted { format!("{count:7} {line}") } else { line });
    }
    code
}

pub(super) fn cut(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = options!(shell, io, "cut", arguments, "s", "dfcb", ["output-delimiter"]);
    let list = options.value("f").or_else(|| options.value("c")).or_else(|| options.value("b"));
    let Some(ranges) = list.and_then(ranges) else {
        return shell.complain(io, "cut: you must specify a list of bytes, characters, or fields", 1);
    };
    let wanted = |number: usize| ranges.iter().any(|(from, to)| (*from..=*to).contains(&number));
    let (content, code) = shell.input("cut", &options.rest, io);
    let separator = options.value("d").unwrap_or("\t").to_owned();
    for line in texts(&content) {
        let cut: String = if options.value("f").is_some() {
            if !line.contains(&separator) {
                if !options.has("s") {
                    shell.say(io, &line);
                }
                continue;
            }
            let fields = line.split(separator.as_str()).enumerate().filter(|(at, _)| wanted(at + 1));
            fields.map(|(_, field)| field).collect::<Vec<_>>().join(&separator)
        } else {
            line.chars().enumerate().filter(|(at, _)| wanted(at + 1)).map(|(_, char)| char).collect()
        };
        shell.say(io, &cut);
    }
    code
}

fn ranges(text: &str) -> Option<Vec<(usize, usize)>> {
    let read = |part: &str| {
        let number =
            |text: &str, otherwise| if text.is_empty() { Some(otherwise) } else { text.parse().ok() };
        match part.split_once('-') {
            Some((from, to)) => Some((number(from, 1)?, number(to, usize::MAX)?)),
            None => part.parse().ok().map(|number| (number, number)),
        }
    };
    text.split(',').map(read).collect()
}

pub(super) fn translate(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = options!(shell, io, "tr", arguments, "dsc", "", ["delete", "squeeze-repeats"]);
    let (delete, squeeze) =
        (options.has("d") || options.has("delete"), options.has("s") || options.has("squeeze-repeats"));
    let Some(from) = options.rest.first().map(|text| characters(text)) else {
        return shell.complain(io, "tr: missing operand", 1);
    };
    let to = options.rest.get(1).map(|text| characters(text)).unwrap_or_default();
    if to.is_empty() && !delete && !squeeze {
        return shell.complain(io, "tr: missing operand after ‘{}’", 1);
    }
    let content = io.input.borrow_mut().rest();
    let text = String::from_utf8_lossy(&content).into_owned();
    let mut out = String::new();
    let mut last = None;
    for char in text.chars() {
        let found = from.iter().position(|own| *own == char);
        let found =
            if options.has("c") { if found.is_some() { None } else { Some(usize::MAX) } } else { found };
        let Some(at) = found else {
            out.push(char);
            last = None;
            continue;
        };
        if delete {
            continue;
        }
        let char = to.get(at).or(to.last()).copied().unwrap_or(char);
        if squeeze && last == Some(char) {
            continue;
        }
        last = Some(char);
        out.push(char);
    }
    shell.put(io, 1, out.as_bytes());
    0
}

/// Reads the character sets of `tr`: `a-z`, `\n`, `[:upper:]`.
fn characters(text: &str) -> Vec<char> {
    let text = text
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\r", "\r")
        .replace("\\0", "\0")
        .replace("[:upper:]", "A-Z")
        .replace("[:lower:]", "a-z")
        .replace("[:digit:]", "0-9")
        .replace("[:alpha:]", "A-Za-z")
        .replace("[:alnum:]", "A-Za-z0-9")
        .replace("[:space:]", " \t\n\r");
    let chars: Vec<char> = text.chars().collect();
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(char) = chars.get(at).copied() {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(to)) if char <= *to && all.len() < 4_096 => {
                all.extend((char..=*to).take(4_096));
                at += 3;
            }
            _ => {
                all.push(char);
                at += 1;
            }
        }
    }
    all
}

pub(super) fn seq(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let numbers: Option<Vec<i64>> = arguments.iter().map(|word| word.parse().ok()).collect();
    let (first, step, last) = match numbers.as_deref() {
        Some([last]) => (1, 1, *last),
        Some([first, last]) => (*first, 1, *last),
        Some([first, step, last]) if *step != 0 => (*first, *step, *last),
        _ => return shell.complain(io, "seq: invalid argument", 1),
    };
    let (mut at, mut out) = (first, String::new());
    while (step > 0 && at <= last) || (step < 0 && at >= last) {
        out.push_str(&format!("{at}\n"));
        if out.len() > 1 << 20 {
            break;
        }
        at = at.saturating_add(step);
    }
    shell.put(io, 1, out.as_bytes());
    0
}
