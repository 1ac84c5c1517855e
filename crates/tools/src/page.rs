//! A text for people: aligned, with color at a terminal, and nothing of a document in it that would steer one.

use std::fmt::Display;

use super::input::harmless;
use super::print::line;
pub use super::tone::Tone;
use super::tone::is_colored;

/// Wider cells push the rest of their row aside instead of the whole table.
const WIDEST: usize = 44;

/// So many warnings are shown to people.
const WARNINGS: usize = 30;

/// Some text and its tone.
pub type Cell = (Tone, String);

/// Says that a text is meant as it is.
pub fn plain(text: impl Into<String>) -> Cell {
    (Tone::Plain, text.into())
}

/// Says how many of something there are.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, what: &str) -> String {
    if number == N::from(1) { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Names the first of some texts, and how many more there are.
pub fn few<T: AsRef<str>>(texts: &[T], most: usize) -> String {
    let first: Vec<&str> = texts.iter().take(most).map(AsRef::as_ref).collect();
    match texts.len().checked_sub(most) {
        None | Some(0) => first.join(", "),
        Some(more) => format!("{} and {more} more", first.join(", ")),
    }
}

/// A text in the making.
pub struct Page {
    text: String,
    color: bool,
}

impl Page {
    /// Begins a text for standard output: color only at a terminal that did not ask for none.
    pub fn for_output() -> Self {
        Self { text: String::new(), color: is_colored() }
    }

    /// Adds some text.
    pub fn add(&mut self, tone: Tone, text: &str) -> &mut Self {
        let text = harmless(text);
        self.text.push_str(&if self.color { tone.paint(&text) } else { text });
        self
    }

    /// Ends a line.
    pub fn end(&mut self) -> &mut Self {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self
    }

    /// Adds an empty line and a title.
    pub fn title(&mut self, text: &str) -> &mut Self {
        self.end().add(Tone::Strong, text).end()
    }

    /// Adds rows whose columns stand below one another, indented.
    pub fn rows(&mut self, rows: &[Vec<Cell>]) -> &mut Self {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|(_, text)| text.chars().count())
                .filter(|width| *width <= WIDEST)
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in rows {
            for ((tone, text), width) in row.iter().zip(&widths) {
                let gap = width.saturating_sub(text.chars().count()) + 2;
                self.add(Tone::Plain, "  ").add(*tone, text);
                self.text.push_str(&" ".repeat(gap.saturating_sub(2)));
            }
            self.end();
        }
        self
    }

    /// Adds the first of some rows, and says how many more there are.
    pub fn first<T>(&mut self, rows: &[T], most: usize, cells: impl Fn(&T) -> Vec<Cell>) -> &mut Self {
        self.rows(&rows.iter().take(most).map(cells).collect::<Vec<_>>());
        if rows.len() > most {
            let more = format!("  and {} more; --json has them all", rows.len() - most);
            self.add(Tone::Faint, &more).end();
        }
        self
    }

    /// Adds a line below the headline about the whole of what was read.
    pub fn remark(&mut self, text: Option<&str>) -> &mut Self {
        if let Some(text) = text {
            self.add(Tone::Odd, &format!("  {text}")).end();
        }
        self
    }

    /// Adds what could not be read.
    pub fn unread(&mut self, warnings: &[ghost_inspect::net::Warning]) -> &mut Self {
        if !warnings.is_empty() {
            self.title("Not read");
            self.first(warnings, WARNINGS, |warning| vec![(Tone::Odd, warning.to_string())]);
        }
        self
    }

    /// Prints the text.
    ///
    /// # Errors
    /// Fails where standard output is closed.
    pub fn print(&self) -> anyhow::Result<()> {
        line(self.text())
    }

    /// Returns the text as it is printed.
    pub fn text(&self) -> &str {
        self.text.trim_matches('\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_one_another_and_a_document_adds_no_color() {
        let mut page = Page { text: String::new(), color: false };
        page.rows(&[vec![plain("a"), plain("b")], vec![(Tone::Bad, "long\x1b[2J".into()), plain("c")]]);
        assert_eq!(page.text, "  a         b\n  long\u{fffd}[2J  c\n");
    }

    #[test]
    fn color_ends_with_its_text() {
        let mut page = Page { text: String::new(), color: true };
        page.add(Tone::Bad, "DENY").add(Tone::Plain, " x").end();
        assert_eq!(page.text, "\x1b[31mDENY\x1b[0m x\n");
    }
}
