//! Slack's markup as plain text, so that it can be read as words of people.

/// What becomes of a link that has a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Label and address both stand there: a person may have put the failing address behind a label.
    Whole,
    /// Only the label: the links of a program's card lead to its own pages.
    Labels,
}

/// Returns a text without Slack's markup: links, dates, groups and channels by what people see, escapes undone. Mentions of people
/// stay as `<@U…>`, for whoever knows their names.
#[must_use]
pub fn readable(text: &str, links: Links) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once('<') {
        shown.push_str(&unescaped(before));
        let Some((inside, after)) = behind.split_once('>').filter(|(inside, _)| is_markup(inside)) else {
            shown.push('<');
            rest = behind;
            continue;
        };
        shown.push_str(&unescaped(&spelled_out(inside, links)));
        rest = after;
    }
    shown.push_str(&unescaped(rest));
    shown
}

/// `<` opens markup in front of a link, a mention or a command, and nothing else.
fn is_markup(inside: &str) -> bool {
    !inside.is_empty()
        && !inside.contains('\n')
        && (inside.starts_with(['@', '#', '!'])
            || inside.split_once(':').is_some_and(|(scheme, _)| {
                !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
            }))
}

fn spelled_out(inside: &str, links: Links) -> String {
    let (target, label) = inside.split_once('|').unwrap_or((inside, ""));
    if target.starts_with('@') {
        return format!("<{inside}>");
    }
    if let Some(channel) = target.strip_prefix('#') {
        return format!("#{}", if label.is_empty() { channel } else { label });
    }
    if let Some(command) = target.strip_prefix('!') {
        return match (label.is_empty(), command.split('^').next().unwrap_or_default()) {
            (false, _) => label.to_owned(),
            (true, word) => format!("@{word}"),
        };
    }
    let bare = target.strip_prefix("mailto:").or_else(|| target.strip_prefix("tel:"));
    if let Some(bare) = bare {
        return if label.is_empty() { bare.to_owned() } else { label.to_owned() };
    }
    // What Slack itself made a link of a name is the name.
    let address = target.split_once("://").map_or(target, |(_, behind)| behind).trim_end_matches('/');
    match (label.is_empty(), links) {
        (true, _) => target.to_owned(),
        (false, _) if label.trim_end_matches('/') == address || label == target => label.to_owned(),
        (false, Links::Labels) => label.to_owned(),
        (false, Links::Whole) => format!("{label} ({target})"),
    }
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_what_people_see() {
        for (text, whole, labels) in [
            ("<http://web-1.example|web-1.example> fails", "web-1.example fails", "web-1.example fails"),
            ("<https://api:8443/health|the check>", "the check (https://api:8443/health)", "the check"),
            ("<https://api:8443/health>", "https://api:8443/health", "https://api:8443/health"),
            (
                "<#C1|net> <!here> <!subteam^S1|@net> <mailto:a@b.c|a@b.c>",
                "#net @here @net a@b.c",
                "#net @here @net a@b.c",
            ),
            ("<!date^1700000000^{date}|14 Nov> <@U1>", "14 Nov <@U1>", "14 Nov <@U1>"),
            ("a &lt; b <3 c &amp;lt;", "a < b <3 c &lt;", "a < b <3 c &lt;"),
            ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
            ("<https://cut off", "<https://cut off", "<https://cut off"),
        ] {
            assert_eq!(readable(text, Links::Whole), whole, "{text}");
            assert_eq!(readable(text, Links::Labels), labels, "{text}");
        }
    }
}
