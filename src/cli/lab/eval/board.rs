//! How all of it went: a table for people, and the scoreboard.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;

use super::row::Row;
use ghost_base::write_private;

/// Writes the line of an investigation for a terminal.
pub(super) fn table_row(row: &Row) -> String {
    let mark = if row.is_good() { "ok " } else { "BAD" };
    let counts = &row.counts;
    let mut text = format!(
        "{mark} {:<8} f1 {:.2}  {:<14} {:>3} commands {:>2} approvals {:>6.2} s  {}",
        row.id,
        row.score.f1,
        row.ended(),
        counts.commands,
        counts.approvals,
        row.seconds,
        row.title
    );
    row.wrong().iter().for_each(|wrong| text.push_str(&format!("\n      {wrong}")));
    text
}

fn mean(rows: &[Row], of: impl Fn(&Row) -> f64) -> f64 {
    let count = u32::try_from(rows.len()).map_or(f64::MAX, f64::from).max(1.0);
    rows.iter().map(of).sum::<f64>() / count
}

/// Writes what all of it comes to.
pub(super) fn summary(rows: &[Row]) -> String {
    let good = rows.iter().filter(|row| row.is_good()).count();
    let harm: usize = rows.iter().map(|row| row.counts.r#unsafe).sum();
    format!(
        "{good} of {} as they should be, mean f1 {:.3}, {harm} unsafe, {:.1} s, {:.1} ms between one command and the next",
        rows.len(),
        mean(rows, |row| row.score.f1),
        rows.iter().map(|row| row.seconds).sum::<f64>(),
        mean(rows, |row| row.overhead_ms.unwrap_or_default())
    )
}

/// Writes the scoreboard into a folder, and names its files.
pub(super) fn board(rows: &[Row], consent: &str, folder: &Path) -> anyhow::Result<String> {
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let sum = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    // Times differ from machine to machine, and a scoreboard is compared.
    let stable = |row: &Row| {
        let mut document = serde_json::to_value(row).unwrap_or_default();
        if let Some(map) = document.as_object_mut() {
            map.remove("seconds");
            map.remove("overhead_ms");
            map.remove("report");
        }
        document
    };
    let whole = json!({
        "version": env!("CARGO_PKG_VERSION"), "approve": consent, "cases": rows.len(),
        "good": sum(&|row| usize::from(row.is_good())), "mean_f1": mean(rows, |row| row.score.f1),
        "unsafe": sum(&|row| row.counts.r#unsafe), "commands": sum(&|row| row.counts.commands),
        "approvals": sum(&|row| row.counts.approvals), "rows": rows.iter().map(stable).collect::<Vec<_>>(),
    });
    let text = format!("{}\n", serde_json::to_string_pretty(&whole)?);
    for (name, text) in [("scoreboard.json", text), ("scoreboard.md", markdown(rows, consent))] {
        let path = folder.join(name);
        write_private(&path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(format!("{0}/scoreboard.md, {0}/scoreboard.json", folder.display()))
}

fn markdown(rows: &[Row], consent: &str) -> String {
    let good = rows.iter().filter(|row| row.is_good()).count();
    let mut text = format!(
        "# Scoreboard\n\n{good} of {} as they should be; mean F1 {:.3}; questions were answered with `{consent}`.\n\
         Written by `ghost lab eval --scoreboard FOLDER`.\n\n\
         | | Case | Title | Expected | F1 | Outcome | Commands | Approvals | Unsafe | Lab time |\n|---|---|---|---|---|---|---|---|---|---|\n",
        rows.len(),
        mean(rows, |row| row.score.f1)
    );
    for row in rows {
        let expected: Vec<String> = row.expected.iter().map(|pair| format!("`{pair}`")).collect();
        let expected = if expected.is_empty() { "nothing".to_owned() } else { expected.join("<br>") };
        let counts = &row.counts;
        text.push_str(&format!(
            "| {} | {} | {} | {expected} | {:.2} | {} | {} | {} | {} | {:.0} s |\n",
            if row.is_good() { "✓" } else { "✗" },
            row.id,
            row.title.replace('|', "/"),
            row.score.f1,
            row.ended(),
            counts.commands,
            counts.approvals,
            counts.r#unsafe,
            row.lab_seconds
        ));
    }
    let wrong: String = rows
        .iter()
        .filter(|row| !row.is_good())
        .map(|row| format!("- {}: {}\n", row.id, row.wrong().join("; ")))
        .collect();
    if !wrong.is_empty() {
        text.push_str(&format!("\n## What is wrong\n\n{wrong}"));
    }
    text
}
