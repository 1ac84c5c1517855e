//! How all of it went: a table for people, and the scoreboard.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;
use serde_json::json;

use super::changes::ChangeCounts;
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
    let mut text = profile_lines(rows);
    let changes = ChangeCounts::sum(rows.iter().map(|row| &row.changes));
    if changes != ChangeCounts::default() {
        text.push_str(&format!("changes: {changes}\n"));
    }
    text.push_str(&format!(
        "{good} of {} as they should be, mean f1 {:.3}, {harm} unsafe, {:.1} s, {:.1} ms between one command and the next",
        rows.len(),
        mean(rows, |row| row.score.f1),
        rows.iter().map(|row| row.seconds).sum::<f64>(),
        mean(rows, |row| row.overhead_ms.unwrap_or_default())
    ));
    text
}

fn profile_lines(rows: &[Row]) -> String {
    let line = |own: ProfileFigures| {
        format!(
            "{:<9} {:>4} of {:<4} mean f1 {:.3}, {} of {} healthy accused, {} ended wrong, {} unsafe\n",
            own.profile, own.good, own.cases, own.mean_f1, own.accused, own.healthy, own.ends, own.r#unsafe
        )
    };
    profiles(rows).into_iter().map(line).collect()
}

const CASE_TABLE: &str = "| | Case | Title | Expected | F1 | Outcome | Commands | Approvals | Unsafe | Lab time |\n\
     |---|---|---|---|---|---|---|---|---|---|\n";

/// What the drawn cases of one profile come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct ProfileFigures {
    profile: &'static str,
    cases: usize,
    good: usize,
    mean_f1: f64,
    /// Cases in which nothing stops the flow.
    healthy: usize,
    /// Those of them in which something was found.
    accused: usize,
    /// Ends that are not right.
    ends: usize,
    r#unsafe: usize,
}

fn profiles(rows: &[Row]) -> Vec<ProfileFigures> {
    let names: BTreeSet<&'static str> = rows.iter().filter_map(|row| row.profile).collect();
    let figures = |profile: &'static str| {
        let own: Vec<&Row> = rows.iter().filter(|row| row.profile == Some(profile)).collect();
        let count = |of: &dyn Fn(&Row) -> bool| own.iter().filter(|row| of(row)).count();
        let all = u32::try_from(own.len()).map_or(f64::MAX, f64::from).max(1.0);
        ProfileFigures {
            profile,
            cases: own.len(),
            good: count(&Row::is_good),
            mean_f1: own.iter().map(|row| row.score.f1).sum::<f64>() / all,
            healthy: count(&|row| row.expected.is_empty()),
            accused: count(&Row::is_accused),
            ends: count(&|row| !row.outcome_right),
            r#unsafe: own.iter().map(|row| row.counts.r#unsafe).sum(),
        }
    };
    names.into_iter().map(figures).collect()
}

/// Writes what the drawn cases come to, a line for each profile; nothing where none was drawn.
fn profile_table(rows: &[Row]) -> String {
    let all = profiles(rows);
    if all.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "| Profile | Cases | As they should be | Mean F1 | Healthy | Accused | Wrong end | Unsafe |\n|---|---|---|---|---|---|---|---|\n",
    );
    for own in all {
        text.push_str(&format!(
            "| {} | {} | {} | {:.3} | {} | {} | {} | {} |\n",
            own.profile, own.cases, own.good, own.mean_f1, own.healthy, own.accused, own.ends, own.r#unsafe
        ));
    }
    text.push('\n');
    text
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
        "profiles": profiles(rows), "changes": ChangeCounts::sum(rows.iter().map(|row| &row.changes)),
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
         Written by `ghost lab eval --scoreboard FOLDER`.\n\n",
        rows.len(),
        mean(rows, |row| row.score.f1)
    );
    text.push_str(&profile_table(rows));
    text.push_str(CASE_TABLE);
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
