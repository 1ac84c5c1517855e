//! Lists: as a table, as JSON, as Markdown.

use clap::{Args, ValueEnum};

use ghost_investigate::report::{markdown, plain};

/// The last column of a table is cut behind so many characters.
const MAX_LAST: usize = 60;

/// The form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListForm {
    /// Columns with a header, for people.
    Table,
    /// One JSON document.
    Json,
    /// A table in Markdown.
    Markdown,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, Args)]
pub struct ListOutput {
    /// The form of the list.
    #[arg(short, long, value_enum, default_value_t = ListForm::Table, conflicts_with = "json")]
    output: ListForm,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

impl ListOutput {
    /// Returns the form that is asked for.
    pub fn form(self) -> ListForm {
        if self.json { ListForm::Json } else { self.output }
    }
}

impl ListForm {
    /// Returns the lines of a table, in text or in Markdown; an empty list has no line.
    pub fn lines(self, header: &[&str], rows: &[Vec<String>]) -> Vec<String> {
        if rows.is_empty() {
            return Vec::new();
        }
        match self {
            Self::Markdown => {
                let rows: Vec<Vec<String>> =
                    rows.iter().map(|row| row.iter().map(|cell| markdown::text(cell)).collect()).collect();
                markdown::table(header, &rows).lines().map(str::to_owned).collect()
            }
            Self::Table | Self::Json => table(header, rows),
        }
    }
}

fn table(header: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let cells: Vec<Vec<String>> = std::iter::once(header.iter().map(|name| (*name).to_owned()).collect())
        .chain(rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()))
        .collect();
    let widths: Vec<usize> = (0..header.len())
        .map(|at| {
            cells.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let last = row.len().saturating_sub(1);
        let padded = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at == last {
            true if cell.chars().count() > MAX_LAST => {
                cell.chars().take(MAX_LAST - 1).collect::<String>() + "…"
            }
            true => cell.clone(),
            false => format!("{cell:width$}"),
        });
        padded.collect::<Vec<_>>().join("  ")
    };
    cells.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_header_and_columns() {
        let rows = [vec!["ghost-1".to_owned(), "x".to_owned()], vec!["g".to_owned(), "a|b\u{1b}".to_owned()]];
        assert_eq!(
            ListForm::Table.lines(&["ID", "WHAT"], &rows),
            ["ID       WHAT", "ghost-1  x", "g        a|b\\u{1b}"]
        );
        assert_eq!(ListForm::Markdown.lines(&["ID", "WHAT"], &rows).len(), 4);
        assert!(ListForm::Table.lines(&["ID"], &[]).is_empty());
    }
}
