//! Whether two texts say the same. Slack sends most messages twice: as text, and as blocks.

/// Returns the letters and digits of a text, folded, so that markup and blanks do not count.
fn bare(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    // Of a link that has a label the address is left out on neither side, as either may leave the other out.
    while let Some((before, behind)) = rest.split_once('<') {
        shown.push_str(before);
        let Some((inside, after)) = behind.split_once('>') else {
            rest = behind;
            continue;
        };
        shown.push_str(inside.split_once('|').map_or(inside, |(_, label)| label));
        rest = after;
    }
    shown.push_str(rest);
    let shown = shown.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    shown.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Tells whether a text holds all of another one.
pub(super) fn holds(whole: &str, part: &str) -> bool {
    let part = bare(part);
    !part.is_empty() && bare(whole).contains(&part)
}

/// Joins the text of a message with that of its blocks, so that each line is said once.
pub(super) fn merged(text: &str, blocks: &str) -> String {
    let (text, blocks) = (text.trim(), blocks.trim());
    if blocks.is_empty() || holds(text, blocks) && text.len() >= blocks.len() {
        return text.to_owned();
    }
    // Blocks keep the addresses of links that the text may show by their labels alone.
    if text.is_empty() || holds(blocks, text) {
        return blocks.to_owned();
    }
    let mut lines: Vec<&str> = text.lines().filter(|line| !holds(blocks, line)).collect();
    lines.extend(blocks.lines());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_text_and_blocks_both_say_is_said_once() {
        for (text, blocks, wanted) in [
            ("web-1 is down", "web-1 is down", "web-1 is down"),
            ("*web-1* is down", "web-1 is\ndown", "*web-1* is down"),
            ("New alert", "web-1 cannot reach db-1", "New alert\nweb-1 cannot reach db-1"),
            ("", "only blocks", "only blocks"),
            ("only text", "", "only text"),
            (
                "see <https://a.example|the page>",
                "see <https://a.example|the page>",
                "see <https://a.example|the page>",
            ),
            ("New alert\nsince noon", "since noon\non web-1", "New alert\nsince noon\non web-1"),
        ] {
            assert_eq!(merged(text, blocks), wanted, "{text:?} {blocks:?}");
        }
    }

    #[test]
    fn nothing_is_held_by_nothing() {
        assert!(!holds("web-1", "") && !holds("web-1", "…") && !holds("", "web-1"));
        assert!(holds("<@U1> web-1", "web-1") && holds("a <b", "b"));
    }
}
