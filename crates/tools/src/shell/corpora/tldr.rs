//! A tldr page: examples of a program with what they are for.

/// What stands for a placeholder that has one of these parts in its name; the first that fits.
const VALUES: [(&str, &str); 26] = [
    ("mac", "00:00:5e:00:53:01"),
    ("ipv6", "2001:db8::10"),
    ("url", "https://www.example.com/"),
    ("cidr", "192.0.2.0/24"),
    ("subnet", "192.0.2.0/24"),
    ("port", "443"),
    ("interface", "eth0"),
    ("interfaces", "eth0"),
    ("ethx", "eth0"),
    ("iface", "eth0"),
    ("ip", "192.0.2.10"),
    ("ipv4", "192.0.2.10"),
    ("address", "192.0.2.10"),
    ("gateway", "192.0.2.1"),
    ("host", "www.example.com"),
    ("hostname", "www.example.com"),
    ("domain", "www.example.com"),
    ("server", "www.example.com"),
    ("pid", "4242"),
    ("count", "5"),
    ("number", "5"),
    ("n", "5"),
    ("seconds", "5"),
    ("interval", "5"),
    ("size", "64"),
    ("ttl", "64"),
];

/// Tells whether a text has the form of such a page.
pub(super) fn is_page(text: &str) -> bool {
    text.starts_with("# ") && text.lines().any(|line| example(line).is_some())
}

/// Returns the examples in their order, with each placeholder filled.
pub(super) fn read(text: &str) -> Vec<String> {
    text.lines().filter_map(example).map(filled).collect()
}

/// A line that is nothing but code is an example.
fn example(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix('`')?.strip_suffix('`').filter(|code| !code.is_empty())
}

fn filled(example: &str) -> String {
    let mut out = String::new();
    let mut rest = example;
    while let Some((before, after)) = rest.split_once("{{") {
        // Braces of the command itself have backslashes before them.
        let Some(end) = after.find("}}").filter(|_| !before.ends_with('\\')) else {
            out.push_str(before);
            out.push_str("{{");
            rest = after;
            continue;
        };
        // A brace of the value may stand before those of the place.
        let end =
            end + after.get(end + 2..).map_or(0, |rest| rest.len() - rest.trim_start_matches('}').len());
        let (inside, behind) =
            (after.get(..end).unwrap_or_default(), after.get(end + 2..).unwrap_or_default());
        out.push_str(before);
        out.push_str(value(inside));
        rest = behind;
    }
    out.push_str(rest);
    out.replace("\\{", "{").replace("\\}", "}")
}

/// Returns what stands for a placeholder: the first of its alternatives, and for a name of something such a thing.
fn value(inside: &str) -> &str {
    let option =
        inside.strip_prefix('[').and_then(|inside| inside.strip_suffix(']')).filter(|i| i.contains('|'));
    let first = option.unwrap_or(inside).split('|').next().unwrap_or_default();
    let first = first.trim_end_matches("...").trim_end();
    let name = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    if option.is_some() || first.starts_with('-') || !first.chars().all(name) {
        return first;
    }
    let part = |wanted: &str| {
        first.split(['_', '-']).any(|part| {
            let bare = part.trim_end_matches(|char: char| char.is_ascii_digit());
            [part, bare].iter().any(|part| part.eq_ignore_ascii_case(wanted))
        })
    };
    let known = VALUES.iter().find(|(name, _)| part(name));
    known.map_or(first, |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(example: &str, expected: &str) {
        assert_eq!(filled(example), expected);
    }

    #[test]
    fn examples_are_the_lines_of_code() {
        let page = "# spin\n\n> Spins `things`.\n\n- Spin:\n\n`spin {{file}}`\n\n- Ask `it`:\n\n`spin -q`\n";
        assert!(is_page(page));
        assert_eq!(read(page), ["spin file", "spin -q"]);
        assert!(!is_page("# a comment\nss -s\n"));
    }

    #[test]
    fn the_first_alternative_stands_for_all() {
        check("spin {{[-o|--output]}} {{a|b|c}} {{x1 x2 ...}}", "spin -o a x1 x2");
        check("spin {{[-o|--output]}}={{path/to/file}}", "spin -o=path/to/file");
    }

    #[test]
    fn a_name_of_something_becomes_such_a_thing() {
        check("spin {{remote_host}}:{{port1}} {{ip_address}}", "spin www.example.com:443 192.0.2.10");
        check("spin {{ethX}} {{eth0}} {{10}}", "spin eth0 eth0 10");
        check("spin {{ipv6_address}} {{description}}", "spin 2001:db8::10 description");
    }

    #[test]
    fn braces_of_the_command_stay() {
        check("spin --format '\\{\\{.ID\\}\\}' {{x}}", "spin --format '{{.ID}}' x");
        check("spin {{a{1,2}}} b", "spin a{1,2} b");
        check("spin {{never closed", "spin {{never closed");
    }
}
