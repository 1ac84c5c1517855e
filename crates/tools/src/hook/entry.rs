//! The hook in settings: put there, and found again.

use serde_json::Number;

use super::call::Client;
use super::line::is_ours;
use crate::json::Json;

/// One hook of Ghost's, as settings have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Installed {
    /// The line that is run.
    pub command: String,
    /// How long it may take, in seconds.
    pub timeout: Option<u64>,
    /// Which tools it is asked about.
    pub matcher: String,
    /// Whether the client stops where the hook fails, where it knows that.
    pub blocks_on_failure: bool,
}

/// Why settings are left as they are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SettingsError {
    #[error("it is no {0}: {1}")]
    Unreadable(&'static str, String),
    #[error("{0} is not what the client expects there")]
    Form(&'static str),
    #[error("{0} says otherwise")]
    Contrary(&'static str),
    #[error("a hook of Ghost's stands there that `install` did not write: {0}")]
    Foreign(String),
}

/// Puts the hook into settings of Claude Code. Everything else stays.
pub(super) fn into_claude(
    text: &str,
    command: &str,
    timeout: u64,
    managed: bool,
) -> Result<String, SettingsError> {
    let mut settings = read(text)?;
    if settings.get("disableAllHooks") == Some(&Json::Bool(true)) {
        return Err(SettingsError::Contrary("disableAllHooks = true"));
    }
    let mut hooks = settings.get("hooks").cloned().unwrap_or(Json::Object(Vec::new()));
    if !matches!(hooks, Json::Object(_)) {
        return Err(SettingsError::Form("hooks"));
    }
    let before = match hooks.get("PreToolUse") {
        None => Vec::new(),
        Some(Json::Array(entries)) => entries.clone(),
        Some(_) => return Err(SettingsError::Form("hooks.PreToolUse")),
    };
    let entry = claude_entry(command, timeout);
    // In place where it stands already; what else an entry of somebody's holds stays.
    let (mut entries, mut placed) = (Vec::new(), false);
    for mut old in before {
        let inner = old.get("hooks").and_then(Json::array).unwrap_or_default();
        let kept: Vec<Json> = inner.iter().filter(|hook| !is_ghosts(hook)).cloned().collect();
        if kept.len() == inner.len() {
            entries.push(old);
            continue;
        }
        if !kept.is_empty() {
            old.set("hooks", Json::Array(kept));
            entries.push(old);
        } else if !placed {
            placed = true;
            entries.push(entry.clone());
        }
    }
    if !placed {
        entries.push(entry);
    }
    hooks.set("PreToolUse", Json::Array(entries));
    settings.set("hooks", hooks);
    if managed {
        settings.set("allowManagedHooksOnly", Json::Bool(true));
    }
    let text = serde_json::to_string_pretty(&settings)
        .map_err(|error| SettingsError::Unreadable("JSON", error.to_string()))?;
    Ok(text + "\n")
}

/// Finds hooks of Ghost's in settings of Claude Code.
pub(super) fn in_claude(text: &str) -> Result<Vec<Installed>, SettingsError> {
    let settings = read(text)?;
    let entries = settings.get("hooks").and_then(|hooks| hooks.get("PreToolUse")).and_then(Json::array);
    let mut found = Vec::new();
    for entry in entries.unwrap_or_default() {
        let hooks = entry.get("hooks").and_then(Json::array).unwrap_or_default();
        for hook in hooks.iter().filter(|hook| is_ghosts(hook)) {
            found.push(Installed {
                command: hook.get("command").and_then(Json::text).unwrap_or_default().to_owned(),
                timeout: hook.get("timeout").and_then(Json::number),
                matcher: entry.get("matcher").and_then(Json::text).unwrap_or_default().to_owned(),
                blocks_on_failure: hook.get("onFailure").and_then(Json::text) == Some("block"),
            });
        }
    }
    Ok(found)
}

/// Tells whether settings of Claude Code switch every hook off.
pub(super) fn switches_off(text: &str) -> bool {
    read(text).is_ok_and(|settings| settings.get("disableAllHooks") == Some(&Json::Bool(true)))
}

fn read(text: &str) -> Result<Json, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Json::Object(Vec::new()));
    }
    let settings: Json =
        serde_json::from_str(text).map_err(|error| SettingsError::Unreadable("JSON", error.to_string()))?;
    if matches!(settings, Json::Object(_)) { Ok(settings) } else { Err(SettingsError::Form("the document")) }
}

fn is_ghosts(hook: &Json) -> bool {
    hook.get("command").and_then(Json::text).is_some_and(|line| is_ours(line, Client::Claude))
}

fn claude_entry(command: &str, timeout: u64) -> Json {
    let text = |text: &str| Json::Text(text.to_owned());
    let hook = Json::Object(vec![
        ("type".to_owned(), text("command")),
        ("command".to_owned(), text(command)),
        ("timeout".to_owned(), Json::Number(Number::from(timeout))),
        ("onFailure".to_owned(), text("block")),
    ]);
    Json::Object(vec![("matcher".to_owned(), text("*")), ("hooks".to_owned(), Json::Array(vec![hook]))])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "/opt/ghost hook claude --data-dir /d || { echo 'x' >&2; exit 2; }";

    #[test]
    fn what_else_stands_there_stays_and_twice_is_once() {
        let before = "{\n  \"zeta\": 1.5,\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"mine\"\n          }\n        ]\n      }\n    ]\n  },\n  \"alpha\": \"x\"\n}\n";
        let once = into_claude(before, LINE, 600, false).unwrap();
        assert_eq!(into_claude(&once, LINE, 600, false).unwrap(), once);
        let lost: Vec<&str> =
            before.lines().filter(|line| !once.contains(line.trim_end_matches(','))).collect();
        assert_eq!(lost, [""; 0]);
        assert!(!once.contains("allowManagedHooksOnly"));
        let found = in_claude(&once).unwrap();
        let expected = Installed {
            command: LINE.to_owned(),
            timeout: Some(600),
            matcher: "*".to_owned(),
            blocks_on_failure: true,
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn an_older_line_is_replaced_and_what_shares_its_entry_stays() {
        let older = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"ghost hook claude"},{"type":"command","command":"mine"}]}]}}"#;
        let text = into_claude(older, LINE, 600, true).unwrap();
        assert_eq!(in_claude(&text).unwrap().len(), 1);
        assert!(text.contains("\"mine\"") && text.contains("\"allowManagedHooksOnly\": true"));
    }

    #[test]
    fn what_is_broken_or_contrary_is_left_alone() {
        for text in [
            "{",
            "[]",
            "{\"hooks\":[]}",
            "{\"hooks\":{\"PreToolUse\":{}}}",
            "{\"disableAllHooks\":true}",
            "// x\n{}",
        ] {
            assert!(into_claude(text, LINE, 600, false).is_err(), "{text}");
        }
        assert!(into_claude("", LINE, 600, false).is_ok());
        assert!(switches_off("{\"disableAllHooks\":true}") && !switches_off("{}"));
    }
}
