//! Names of hosts in one spelling.

/// The longest name and the longest label of the domain name system.
const MAX_NAME_LEN: usize = 253;
const MAX_LABEL_LEN: usize = 63;

/// Returns a name in lower case, without its final dot, its labels in ASCII; nothing where it cannot be a name.
pub(super) fn normal(name: &str) -> Option<String> {
    let name = name.replace(['\u{3002}', '\u{ff0e}', '\u{ff61}'], ".");
    let name = name.strip_suffix('.').unwrap_or(&name);
    let labels: Option<Vec<String>> = name.split('.').map(label).collect();
    labels.map(|labels| labels.join(".")).filter(|name| name.len() <= MAX_NAME_LEN)
}

fn label(label: &str) -> Option<String> {
    let lower = label.to_lowercase();
    let fits = |char: char| char.is_alphanumeric() || char == '-' || char == '_';
    if lower.is_empty() || lower.starts_with('-') || !lower.chars().all(fits) {
        return None;
    }
    let ascii = if lower.is_ascii() { lower } else { format!("xn--{}", punycode(&lower)?) };
    (ascii.len() <= MAX_LABEL_LEN).then_some(ascii)
}

/// Writes a label in ASCII (RFC 3492).
fn punycode(label: &str) -> Option<String> {
    const DELIMITER_AT: u32 = 128;
    let chars: Vec<u32> = label.chars().map(u32::from).collect();
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(out.len()).ok()?;
    let (mut handled, mut next, mut delta, mut bias) = (basic, DELIMITER_AT, 0_u32, 72_u32);
    if basic > 0 {
        out.push('-');
    }
    while usize::try_from(handled).ok()? < chars.len() {
        let least = chars.iter().copied().filter(|code| *code >= next).min()?;
        delta = delta.checked_add((least - next).checked_mul(handled + 1)?)?;
        next = least;
        for code in &chars {
            if *code < next {
                delta = delta.checked_add(1)?;
            } else if *code == next {
                variable(&mut out, delta, bias)?;
                bias = adapt(delta, handled + 1, handled == basic);
                (delta, handled) = (0, handled + 1);
            }
        }
        (delta, next) = (delta.checked_add(1)?, next + 1);
    }
    Some(out)
}

/// Writes a number in digits whose weights follow the bias.
fn variable(out: &mut String, mut number: u32, bias: u32) -> Option<()> {
    let digit = |value: u32| {
        char::from_digit(value, 36).map(|digit| match value {
            // Letters come before figures.
            0..=25 => char::from(b'a' + u8::try_from(value).unwrap_or(0)),
            _ => char::from_digit(value - 26, 10).unwrap_or(digit),
        })
    };
    let mut weight = 36;
    loop {
        let threshold = weight.min(bias + 26).saturating_sub(bias).clamp(1, 26);
        if number < threshold {
            out.push(digit(number)?);
            return Some(());
        }
        out.push(digit(threshold + (number - threshold) % (36 - threshold))?);
        number = (number - threshold) / (36 - threshold);
        weight += 36;
    }
}

fn adapt(delta: u32, points: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / points;
    let mut bias = 0;
    while delta > 455 {
        delta /= 35;
        bias += 36;
    }
    bias + 36 * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, wanted: Option<&str>) {
        assert_eq!(normal(name).as_deref(), wanted, "{name}");
    }

    #[test]
    fn a_name_has_one_spelling() {
        check("Web-1.Example.", Some("web-1.example"));
        check("münchen.example", Some("xn--mnchen-3ya.example"));
        check("BÜCHER.example", Some("xn--bcher-kva.example"));
        check("例え.テスト", Some("xn--r8jz45g.xn--zckzah"));
        check("пример.испытание", Some("xn--e1afmkfd.xn--80akhbyknj4f"));
        check("_sip._tcp.example", Some("_sip._tcp.example"));
    }

    #[test]
    fn what_cannot_be_a_name_is_none() {
        for text in ["", ".", "a..b", "-x", "a b", "a/b", "a*b", &"a".repeat(64), &vec!["abcd"; 60].join(".")]
        {
            check(text, None);
        }
    }
}
