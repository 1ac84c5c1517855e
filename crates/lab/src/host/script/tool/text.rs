//! `echo`, `printf`, `test`.

use crate::host::script::run::{Io, Shell};

pub(super) fn test(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    match arguments.split_last() {
        Some((last, rest)) if last == "]" => shell.test(rest, io),
        _ => shell.test(arguments, io),
    }
}

pub(super) fn echo(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let (mut newline, mut escapes, mut from) = (true, false, 0);
    for word in arguments {
        match word.as_str() {
            "-n" => newline = false,
            "-e" => escapes = true,
            "-E" => escapes = false,
            "-ne" | "-en" => (newline, escapes) = (false, true),
            _ => break,
        }
        from += 1;
    }
    let mut text = arguments.get(from..).unwrap_or_default().join(" ");
    if escapes {
        text = escaped(&text);
    }
    if newline {
        text.push('\n');
    }
    shell.put(io, 1, text.as_bytes());
    0
}

/// Puts `\n`, `\t` and their relatives in their place.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('e') => out.push('\u{1b}'),
            Some('0') => {
                let rest = chars.as_str();
                let digits = rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                let (number, rest) = rest.split_at(digits);
                let byte = u32::from_str_radix(number, 8).unwrap_or(0);
                out.extend(char::from_u32(byte & 0xff));
                chars = rest.chars();
            }
            Some('\\') => out.push('\\'),
            Some(char) => {
                out.push('\\');
                out.push(char);
            }
            None => out.push('\\'),
        }
    }
    out
}

pub(super) fn printf(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    let Some((format, values)) = arguments.split_first() else {
        return shell.complain(io, "bash: printf: usage: printf [-v var] format [arguments]", 2);
    };
    let format = escaped(format);
    let mut values = values.iter();
    let mut code = 0;
    loop {
        let before = values.len();
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(char) = chars.next() {
            if char != '%' {
                out.push(char);
                continue;
            }
            let rest = chars.as_str();
            if rest.starts_with('%') {
                chars.next();
                out.push('%');
                continue;
            }
            let end = rest.find(|char: char| char.is_ascii_alphabetic());
            let Some((flags, kind)) =
                end.and_then(|end| Some((rest.get(..end)?, rest.get(end..)?.chars().next()?)))
            else {
                return shell.complain(io, &format!("bash: printf: `%{rest}': invalid format character"), 1);
            };
            chars = rest.get(flags.len() + 1..).unwrap_or_default().chars();
            let value = values.next();
            match conversion(flags, kind, value.map(String::as_str)) {
                Ok(text) => out.push_str(&text),
                Err(what) => code = shell.complain(io, &format!("bash: printf: {what}"), 1),
            }
        }
        shell.put(io, 1, out.as_bytes());
        // What is left goes through the format again.
        if values.len() == 0 || values.len() == before {
            return code;
        }
    }
}

fn conversion(flags: &str, kind: char, value: Option<&str>) -> Result<String, String> {
    let (width, precision) = flags.split_once('.').map_or((flags, None), |(width, rest)| (width, Some(rest)));
    let left = width.starts_with('-');
    let zero = width.trim_start_matches(['-', '+', ' ']).starts_with('0');
    let digits: String = width.chars().filter(char::is_ascii_digit).collect();
    let width = digits.parse::<usize>().unwrap_or(0).min(1_000);
    let precision = precision.map(|text| text.parse::<usize>().unwrap_or(0).min(60));
    let number = || -> Result<i64, String> {
        let text = value.unwrap_or("0").trim();
        if text.is_empty() {
            return Ok(0);
        }
        let hex = text.strip_prefix("0x").map(|hex| i64::from_str_radix(hex, 16));
        hex.unwrap_or_else(|| text.parse()).map_err(|_| format!("{text}: invalid number"))
    };
    let text = match kind {
        's' => {
            let value = value.unwrap_or_default();
            precision.map_or_else(|| value.to_owned(), |most| value.chars().take(most).collect())
        }
        'b' => escaped(value.unwrap_or_default()),
        'q' => format!("'{}'", value.unwrap_or_default()),
        'c' => value.unwrap_or_default().chars().take(1).collect(),
        'd' | 'i' | 'u' => number()?.to_string(),
        'x' => format!("{:x}", number()?),
        'X' => format!("{:X}", number()?),
        'o' => format!("{:o}", number()?),
        'f' | 'e' | 'g' => {
            let text = value.unwrap_or("0").trim();
            let number: f64 = text.parse().map_err(|_| format!("{text}: invalid number"))?;
            format!("{number:.*}", precision.unwrap_or(6))
        }
        other => return Err(format!("`{other}': invalid format character")),
    };
    let missing = width.saturating_sub(text.chars().count());
    Ok(match (left, zero && kind != 's') {
        (true, _) => format!("{text}{}", " ".repeat(missing)),
        (false, true) => format!("{}{text}", "0".repeat(missing)),
        (false, false) => format!("{}{text}", " ".repeat(missing)),
    })
}
