//! The tone of text, and whether it is shown in color.

use std::io::{self, IsTerminal as _};

use crate::config::Environment;
use ghost_shell::Verdict;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// A title, or the answer itself.
    Strong,
    /// What works.
    Good,
    /// What does not.
    Bad,
    /// What is odd or not decided.
    Odd,
    /// What matters least.
    Faint,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Odd => "33",
            Self::Faint => "2",
        }
    }

    /// Returns a text in this tone.
    pub fn paint(self, text: &str) -> String {
        match self.code() {
            "" => text.to_owned(),
            code => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// Tells whether standard output shows color: it is a terminal that did not ask for none.
pub fn is_colored() -> bool {
    colors_wanted() && io::stdout().is_terminal()
}

/// Tells whether the environment asks for no colors.
pub fn colors_wanted() -> bool {
    let environment = Environment::read();
    let refused = environment.text("NO_COLOR").is_some_and(|value| !value.is_empty())
        || environment.text("TERM") == Some("dumb");
    !refused
}

/// Paints a verdict: what is BLOCKED is bad, what asks is odd, what is SAFE is good.
pub fn verdict(verdict: Verdict, colored: bool) -> String {
    let tone = match verdict {
        Verdict::Safe => Tone::Good,
        Verdict::Risky => Tone::Odd,
        Verdict::Blocked => Tone::Bad,
    };
    if colored { tone.paint(verdict.as_str()) } else { verdict.as_str().to_owned() }
}

/// Paints the words with which lines begin, where standard output shows color. The text steers no terminal itself.
pub fn tinted(text: &str, words: &[(&str, Tone)]) -> String {
    let text = super::input::harmless(text);
    if is_colored() { painted(&text, words) } else { text }
}

fn painted(text: &str, words: &[(&str, Tone)]) -> String {
    let line = |line: &str| {
        let begin = line.trim_start_matches([' ', '-']);
        if begin.starts_with("# ") || begin.starts_with("## ") {
            return Tone::Strong.paint(line);
        }
        let gap = line.strip_suffix(begin).unwrap_or_default();
        let painted = words.iter().find_map(|(word, tone)| {
            begin.strip_prefix(word).map(|rest| format!("{gap}{}{rest}", tone.paint(word)))
        });
        painted.unwrap_or_else(|| line.to_owned())
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_lines_begin_with_are_painted_and_nothing_is_lost() {
        let text = "# Title\nDROP by rule 1\n  -A DROP\n- DROP it\nnothing";
        let text_out = painted(text, &[("DROP", Tone::Bad)]);
        assert_eq!(
            text_out,
            "\x1b[1m# Title\x1b[0m\n\x1b[31mDROP\x1b[0m by rule 1\n  -A DROP\n- \x1b[31mDROP\x1b[0m it\nnothing"
        );
    }
}
