//! Text that nobody vouches for, made so that it says what it says and does nothing.

/// Replaces a backtick in code, which Slack has no escape for.
const TICK: char = '\u{2cb}';

/// Escapes the three characters that Slack gives a meaning to: no mention, link or special word is left.
///
/// ```
/// assert_eq!(ghost_slack::text::escape("<!channel> & co"), "&lt;!channel&gt; &amp; co");
/// ```
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            char => out.push(char),
        }
    }
    out
}

/// Puts a text on one line into code, in Slack's markup: it is not formatted, and links, emoji and mentions in it are letters.
#[must_use]
pub fn code(text: &str) -> String {
    let line: String = spelled(text)
        .chars()
        .map(|char| match char {
            '`' => TICK,
            '\n' | '\t' => ' ',
            char => char,
        })
        .collect();
    // A span without anything in it would be two backticks.
    if line.trim().is_empty() { "` `".to_owned() } else { format!("`{}`", escape(&line)) }
}

/// Puts a text of any number of lines into a block of code, in Slack's markup.
#[must_use]
pub fn fence(text: &str) -> String {
    let text = spelled(text).replace("```", &TICK.to_string().repeat(3));
    let text = text.trim_end_matches('\n');
    // A backtick at the end would join the fence.
    let text = text.strip_suffix('`').map_or_else(|| text.to_owned(), |rest| format!("{rest}{TICK}"));
    format!("```\n{}\n```", escape(&text))
}

/// Makes a text harmless among words in Slack's markup: nothing in it is formatted, quoted, linked or an emoji. Letters that would
/// do it are replaced by ones that look alike; what is to be copied belongs into [`code`].
#[must_use]
pub fn plain(text: &str) -> String {
    let text = escape(&spelled(text)).replace("://", "[:]//");
    let chars: Vec<char> = text.chars().collect();
    let get = |at: usize| chars.get(at).copied();
    let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len());
    let mut line_begins = true;
    let mut at = 0;
    while let Some(char) = get(at) {
        let before = at.checked_sub(1).and_then(get);
        // Inside a word these three do nothing, and names of hosts and interfaces stay as they are.
        let inside = is_word(before) && is_word(get(at + 1));
        match char {
            '*' if !inside => out.push('∗'),
            '_' if !inside => out.push('\u{2cd}'),
            '~' if !inside => out.push('∼'),
            '`' => out.push(TICK),
            ':' if !is_word(before) && is_emoji(chars.get(at + 1..).unwrap_or_default()) => {
                out.push('\u{a789}')
            }
            '&' if line_begins && chars.get(at..at + 4) == Some(&['&', 'g', 't', ';']) => {
                out.push('›');
                at += 3;
            }
            char => out.push(char),
        }
        line_begins = char == '\n' || (line_begins && char == ' ');
        at += 1;
    }
    out
}

/// Tells whether a colon stands before these, and they read like the name of an emoji.
fn is_emoji(rest: &[char]) -> bool {
    let name = rest.iter().take_while(|char| {
        char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '_' | '-' | '+' | '\'')
    });
    let length = name.count();
    length > 0 && rest.get(length) == Some(&':')
}

/// Takes from a Markdown text what would speak to Slack in place of its reader: mentions, pings, dates, and what cannot be seen.
///
/// Blocks of Markdown know headings, lists, tables, code and links, and those stay.
#[must_use]
pub fn quiet(markdown: &str) -> String {
    let text = spelled(markdown);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('<', Some('!' | '@' | '#')) => out.push('‹'),
            (char, _) => out.push(char),
        }
    }
    out
}

/// Tells whether a character has no business in a text that a human decides about.
fn is_odd(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        _ if char.is_control() => true,
        // Soft hyphen, marks of direction, embeddings and isolates, joiners and spaces without width, line separators.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' => true,
        '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        // Variation selectors, annotations, tags and private use.
        '\u{fe00}'..='\u{fe0e}'
        | '\u{fff9}'..='\u{fffc}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{e000}'..='\u{f8ff}' => true,
        '\u{f0000}'..='\u{10ffff}' => true,
        _ => false,
    }
}

/// Spells out what cannot be seen: a character of control or direction becomes its number, `\u{202e}` for instance. A carriage
/// return before a line end is dropped.
#[must_use]
pub fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.peek() == Some(&'\n') => {}
            char if is_odd(char) => out.extend(char.escape_unicode()),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn evidence_cannot_mention_ping_link_or_format() {
        assert_eq!(plain("<!channel> <@U1> <#C1>"), "&lt;!channel&gt; &lt;@U1&gt; &lt;#C1&gt;");
        assert_eq!(plain("*bold* _it_ ~gone~ `code`"), "∗bold∗ \u{2cd}it\u{2cd} ∼gone∼ ˋcodeˋ");
        assert_eq!(plain("> said\n >> twice"), "› said\n ›› twice".replacen("››", "›&gt;", 1));
        assert_eq!(plain("see https://evil.example/x"), "see https[:]//evil.example/x");
        assert_eq!(plain("deny :white_check_mark: now"), "deny ꞉white_check_mark: now");
    }

    #[test]
    fn names_and_addresses_stay_as_they_are() {
        for text in ["my_host_name", "2*3", "fe80::1", "2001:b:1::a", "12:30:45", "10.0.0.0/8", "a~b"] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("a`*b*` <!here>\nc"), "`aˋ*b*ˋ &lt;!here&gt; c`");
        assert_eq!(code(""), "` `");
        assert_eq!(fence("x\n```\n*y*`"), "```\nx\nˋˋˋ\n*y*ˋ\n```");
    }

    #[test]
    fn markdown_keeps_its_form_and_loses_its_voice() {
        assert_eq!(
            quiet("# A\n- <@U1> <!here> <!date^1^x|y>\n`a < b`"),
            "# A\n- ‹@U1> ‹!here> ‹!date^1^x|y>\n`a < b`"
        );
    }

    proptest! {
        #[test]
        fn nothing_that_speaks_to_slack_is_left(text in "[<>!@#&*`:a-z\\n\u{202e} /]{0,60}") {
            for made in [plain(&text), code(&text), fence(&text), escape(&text)] {
                prop_assert!(!made.contains('<') && !made.contains('>'));
            }
            prop_assert_eq!(code(&text).matches('`').count(), 2);
            prop_assert_eq!(fence(&text).matches("```").count(), 2);
            prop_assert!(!plain(&text).contains('`') && !plain(&text).contains("://"));
            let quiet = quiet(&text);
            let speaks = ["<!", "<@", "<#", "\u{202e}"].iter().any(|sign| quiet.contains(sign));
            prop_assert!(!speaks);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        assert_eq!(spelled("rm\u{202e}txt"), "rm\\u{202e}txt");
        assert_eq!(spelled("a\u{1b}[31mb\u{0}\u{200b}\r\nc\td"), "a\\u{1b}[31mb\\u{0}\\u{200b}\nc\td");
        assert_eq!(spelled("ok\u{e0041}\u{feff}"), "ok\\u{e0041}\\u{feff}");
    }

    #[test]
    fn words_of_any_language_stay() {
        for text in ["Zürich – naïve", "東京", "مرحبا", "👍🏽", "emoji ❤\u{fe0f}"] {
            assert_eq!(spelled(text), text);
        }
    }
}
