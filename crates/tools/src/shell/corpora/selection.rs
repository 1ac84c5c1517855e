//! Which commands of a corpus are meant, by page and number.

use anyhow::Context as _;

use super::corpus::Command;

/// A list of pages and numbers: `PAGE N N …` for what should run at once, `PAGE N asks WHY` for what has to ask.
#[derive(Debug, Default)]
pub(super) struct Selection {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    page: String,
    numbers: Vec<usize>,
    asks: bool,
}

impl Selection {
    /// Reads such a list.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let rows = text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(at, line)| row(line).with_context(|| format!("line {at} of the selection")))
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { rows })
    }

    /// Tells whether a command is meant, and if so, whether it has to ask. A page matches the end of a path.
    pub(super) fn asks(&self, command: &Command) -> Option<bool> {
        let meant = |row: &&Row| {
            let before = command.page.strip_suffix(&row.page);
            row.numbers.contains(&command.number) && before.is_some_and(|b| b.is_empty() || b.ends_with('/'))
        };
        self.rows.iter().find(meant).map(|row| row.asks)
    }

    /// Returns what stands in the list and in none of these commands.
    pub(super) fn missing(&self, commands: &[Command]) -> Vec<String> {
        let named = |row: &Row, number: usize| {
            let one = Self { rows: vec![Row { page: row.page.clone(), numbers: vec![number], asks: false }] };
            commands.iter().any(|command| one.asks(command).is_some())
        };
        let each = self.rows.iter().flat_map(|row| row.numbers.iter().map(move |number| (row, *number)));
        each.filter(|(row, number)| !named(row, *number))
            .map(|(row, number)| format!("{} {number}", row.page))
            .collect()
    }
}

fn row(line: &str) -> anyhow::Result<Row> {
    let mut words = line.split_whitespace();
    let page = words.next().unwrap_or_default().to_owned();
    let mut numbers = Vec::new();
    while let Some(word) = words.next() {
        if word == "asks" {
            anyhow::ensure!(words.next().is_some(), "what has to ask needs a reason behind `asks`");
            anyhow::ensure!(!numbers.is_empty(), "a number is missing");
            return Ok(Row { page, numbers, asks: true });
        }
        numbers.push(word.parse().with_context(|| format!("`{word}` is neither a number nor `asks`"))?);
    }
    anyhow::ensure!(!numbers.is_empty(), "a number is missing");
    Ok(Row { page, numbers, asks: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(page: &str, number: usize) -> Command {
        Command { page: page.to_owned(), number, text: String::new() }
    }

    #[test]
    fn a_page_is_found_by_the_end_of_its_path() {
        let list =
            Selection::parse("# reads\ncommon/spin 1 3\nspin 4 asks it sends a query string\n").unwrap();
        assert_eq!(list.asks(&command("pages/common/spin", 3)), Some(false));
        assert_eq!(list.asks(&command("common/spin", 4)), Some(true));
        assert_eq!(list.asks(&command("common/spin", 2)), None);
        assert_eq!(list.asks(&command("uncommon/spin", 1)), None);
        assert_eq!(list.missing(&[command("common/spin", 1), command("spin", 4)]), ["common/spin 3"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for text in ["spin", "spin x", "spin 1 asks", "spin asks why"] {
            assert!(Selection::parse(text).unwrap_err().to_string().contains("line 1"), "{text}");
        }
    }
}
