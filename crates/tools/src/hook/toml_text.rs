//! The hook in settings of Codex: lines are added to the file, and all others stay as they are.

use toml::{Table, Value};

use super::call::Client;
use super::entry::{Installed, SettingsError};
use super::line::is_ours;

const BEGIN: &str = "# ghost hook: begin";
const END: &str = "# ghost hook: end";

/// Puts the hook into settings of Codex. `folder` is where the program lies; it is named in the administrator's settings alone.
pub(super) fn into_codex(
    text: &str,
    command: &str,
    timeout: u64,
    folder: Option<&str>,
) -> Result<String, SettingsError> {
    let before = read(text)?;
    let mut lines = without_block(text)?;
    if let Some(other) = in_codex(&lines)?.first() {
        return Err(SettingsError::Foreign(other.command.clone()));
    }
    let features = before.get("features").and_then(Value::as_table);
    if features.and_then(|features| features.get("hooks")).and_then(Value::as_bool) == Some(false) {
        return Err(SettingsError::Contrary("[features] hooks = false"));
    }
    if let Some(folder) = folder {
        if before.get("allow_managed_hooks_only").and_then(Value::as_bool) == Some(false) {
            return Err(SettingsError::Contrary("allow_managed_hooks_only = false"));
        }
        lines = with_key(&lines, None, "allow_managed_hooks_only", "true")?;
        lines = with_key(&lines, Some("features"), "hooks", "true")?;
        lines = with_key(&lines, Some("hooks"), "managed_dir", &quoted(folder))?;
    }
    if !lines.is_empty() && !lines.ends_with("\n\n") {
        lines.push_str(if lines.ends_with('\n') { "\n" } else { "\n\n" });
    }
    lines.push_str(&format!(
        "{BEGIN}\n[[hooks.PreToolUse]]\nmatcher = \".*\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = {}\ntimeout = {timeout}\n{END}\n",
        quoted(command)
    ));
    let after = read(&lines)?;
    let kept = before.iter().filter(|(name, _)| name.as_str() != "hooks").all(|(name, value)| {
        after.get(name) == Some(value) || (name == "features" && keeps(value, after.get(name)))
    });
    let installed = in_codex(&lines)?;
    if kept && installed.len() == 1 { Ok(lines) } else { Err(SettingsError::Form("the document")) }
}

/// Finds hooks of Ghost's in settings of Codex.
pub(super) fn in_codex(text: &str) -> Result<Vec<Installed>, SettingsError> {
    let settings = read(text)?;
    let entries = settings.get("hooks").and_then(|hooks| hooks.get("PreToolUse")).and_then(Value::as_array);
    let mut found = Vec::new();
    for entry in entries.into_iter().flatten() {
        for hook in entry.get("hooks").and_then(Value::as_array).into_iter().flatten() {
            let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
            let command = text(hook, "command").filter(|command| is_ours(command, Client::Codex));
            found.extend(command.map(|command| Installed {
                command,
                timeout:
                    hook.get("timeout").and_then(Value::as_integer).and_then(|time| time.try_into().ok()),
                matcher: text(entry, "matcher").unwrap_or_default(),
                blocks_on_failure: false,
            }));
        }
    }
    Ok(found)
}

/// Tells whether settings of Codex switch hooks off.
pub(super) fn switches_off(text: &str) -> bool {
    let off = |settings: Table| settings.get("features")?.get("hooks")?.as_bool();
    read(text).ok().and_then(off) == Some(false)
}

fn read(text: &str) -> Result<Table, SettingsError> {
    text.parse().map_err(|error: toml::de::Error| {
        SettingsError::Unreadable("TOML", error.to_string().trim_end().replace('\n', " "))
    })
}

/// Tells whether a table still holds everything that it held.
fn keeps(before: &Value, after: Option<&Value>) -> bool {
    let (Some(before), Some(after)) = (before.as_table(), after.and_then(Value::as_table)) else {
        return false;
    };
    before.iter().all(|(name, value)| after.get(name) == Some(value))
}

/// Takes out what an earlier `install` wrote.
fn without_block(text: &str) -> Result<String, SettingsError> {
    let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
        return Ok(text.to_owned());
    };
    let rest = text
        .get(end + END.len()..)
        .filter(|_| begin < end)
        .ok_or(SettingsError::Form("the block of Ghost's"))?;
    let before = text.get(..begin).unwrap_or_default();
    Ok(format!("{before}{}", rest.strip_prefix('\n').unwrap_or(rest)))
}

/// Adds a key where it is missing.
fn with_key(
    text: &str,
    table: Option<&'static str>,
    key: &'static str,
    value: &str,
) -> Result<String, SettingsError> {
    let settings = read(text)?;
    let place = match table {
        None => Some(&settings),
        Some(name) => settings.get(name).and_then(Value::as_table),
    };
    if place.is_some_and(|place| place.contains_key(key)) {
        return Ok(text.to_owned());
    }
    let Some(name) = table else { return Ok(format!("{key} = {value}\n{text}")) };
    let header = format!("[{name}]");
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.split('#').next().unwrap_or_default().trim() == header {
            let (before, behind) = text.split_at(at);
            let end = if before.ends_with('\n') { "" } else { "\n" };
            return Ok(format!("{before}{end}{key} = {value}\n{behind}"));
        }
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{text}{end}\n{header}\n{key} = {value}\n"))
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "/opt/ghost hook codex --data-dir '/d' || { echo 'x' >&2; exit 2; }";

    #[test]
    fn every_line_that_stood_there_stays_and_twice_is_once() {
        let before = "# mine\nmodel = \"m\" # best\n\n[features]\nfast = true\n\n[[hooks.PreToolUse]]\nmatcher = \"^x$\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n";
        for folder in [None, Some("/opt/it's")] {
            let once = into_codex(before, LINE, 600, folder).unwrap();
            assert_eq!(into_codex(&once, LINE, 600, folder).unwrap(), once);
            let newer = into_codex(&once, &LINE.replace("/d", "/e"), 700, folder).unwrap();
            let lines: Vec<&str> = newer.lines().collect();
            assert!(before.lines().all(|line| lines.contains(&line)), "{newer}");
            let found = in_codex(&newer).unwrap();
            assert_eq!((found.len(), found[0].timeout), (1, Some(700)));
            assert_eq!(found[0].command, LINE.replace("/d", "/e"));
            assert_eq!(newer.contains("allow_managed_hooks_only = true"), folder.is_some());
        }
    }

    #[test]
    fn an_empty_file_gets_all_that_the_administrator_needs() {
        let text = into_codex("", LINE, 600, Some("/opt")).unwrap();
        let settings = read(&text).unwrap();
        assert_eq!(settings["allow_managed_hooks_only"].as_bool(), Some(true));
        assert_eq!(settings["features"]["hooks"].as_bool(), Some(true));
        assert_eq!(settings["hooks"]["managed_dir"].as_str(), Some("/opt"));
    }

    #[test]
    fn what_is_broken_contrary_or_somebody_elses_is_left_alone() {
        let foreign = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"ghost hook codex\"\n";
        for text in [
            "model = ",
            "[features]\nhooks = false\n",
            foreign,
            "hooks = { PreToolUse = [] }\n",
            "hooks = 1\n",
            "# ghost hook: end\n# ghost hook: begin\n",
        ] {
            assert!(into_codex(text, LINE, 600, None).is_err(), "{text}");
        }
        assert!(into_codex("allow_managed_hooks_only = false\n", LINE, 600, Some("/opt")).is_err());
        assert!(switches_off("[features]\nhooks = false\n") && !switches_off(""));
    }
}
