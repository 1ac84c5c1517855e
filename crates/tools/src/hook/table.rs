//! What the site says about tool calls that are no shell commands.

use std::collections::BTreeMap;
use std::path::Path;

use super::place::{Place, Project};
use super::tool::ToolAction;
use crate::config::{Hook, ToolRule};

/// What holds for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableRuling {
    /// What becomes of it.
    pub rule: ToolRule,
    /// Stable name of what decided.
    pub name: &'static str,
    /// Why, in words.
    pub reason: String,
}

/// Files of a project by which clients, editors and version control run something, or switch hooks off.
const SETTINGS: [&str; 12] = [
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".envrc",
    ".gemini",
    ".git",
    ".github",
    ".husky",
    ".mcp.json",
    ".opencode",
    ".vscode",
];

/// Judges a call by the table. Of several rows that fit the strictest counts; where none fits, what holds for the kind.
pub(super) fn judge(hook: &Hook, tool: &str, action: &ToolAction, project: &Project) -> TableRuling {
    let named = named(&hook.tools, tool);
    let ruling = |rule, name, reason: &str| TableRuling { rule, name, reason: reason.to_owned() };
    match action {
        ToolAction::Nothing => ruling(
            named.unwrap_or(ToolRule::Pass),
            "hook.harmless",
            "it reaches nothing but the conversation",
        ),
        ToolAction::Read(files) => files
            .iter()
            .map(|file| read(hook, named, &project.locate(file), project))
            .max_by_key(|ruling| ruling.rule)
            .unwrap_or_else(|| ruling(ToolRule::Ask, "hook.read", "it does not say which file it reads")),
        ToolAction::Write(files) => files
            .iter()
            .map(|file| write(hook, named, &project.locate(file), project))
            .max_by_key(|ruling| ruling.rule)
            .unwrap_or_else(|| ruling(ToolRule::Ask, "hook.write", "it does not say which file it writes")),
        ToolAction::Fetch(url) => fetch(hook, named, url.as_deref()),
        ToolAction::Mcp => ruling(named.unwrap_or(hook.mcp), "hook.mcp", "it is a tool of an MCP server"),
        ToolAction::Other => {
            ruling(named.unwrap_or(hook.other), "hook.other", "nobody here knows what this tool does")
        }
        // The policy judges it; a row can only forbid the tool.
        ToolAction::Shell { .. } => {
            let rule = named.filter(|rule| *rule == ToolRule::Deny).unwrap_or(ToolRule::Pass);
            ruling(rule, "hook.tools", "[hook.tools] forbids this tool")
        }
    }
}

fn read(hook: &Hook, named: Option<ToolRule>, place: &Place, project: &Project) -> TableRuling {
    let row = strictest(named, by_path(&hook.paths, place, project));
    let path = place.path.display();
    match &place.inside {
        Some(_) => TableRuling {
            rule: row.unwrap_or(hook.read),
            name: "hook.read",
            reason: format!("it reads {path}, in the project"),
        },
        None => TableRuling {
            rule: row.unwrap_or(hook.read_outside),
            name: "hook.read.outside",
            reason: format!("it reads {path}, outside of the project"),
        },
    }
}

fn write(hook: &Hook, named: Option<ToolRule>, place: &Place, project: &Project) -> TableRuling {
    let row = strictest(named, by_path(&hook.paths, place, project));
    let path = place.path.display();
    match &place.inside {
        Some(inside) if is_setting(inside) => TableRuling {
            rule: row.unwrap_or(hook.write).max(ToolRule::Ask),
            name: "hook.write.settings",
            reason: format!("it writes {path}, by which other programs are set up"),
        },
        Some(_) => TableRuling {
            rule: row.unwrap_or(hook.write),
            name: "hook.write",
            reason: format!("it writes {path}, in the project"),
        },
        None => TableRuling {
            rule: row.unwrap_or(hook.write_outside),
            name: "hook.write.outside",
            reason: format!("it writes {path}, outside of the project"),
        },
    }
}

fn fetch(hook: &Hook, named: Option<ToolRule>, url: Option<&str>) -> TableRuling {
    let Some(url) = url else {
        let reason = "it searches the web with words of the agent's choice".to_owned();
        return TableRuling { rule: named.unwrap_or(hook.fetch), name: "hook.fetch", reason };
    };
    let Some(host) = host(url) else {
        let reason = "it asks for a page of a host that cannot be read from its address".to_owned();
        return TableRuling { rule: hook.fetch.max(ToolRule::Ask), name: "hook.fetch", reason };
    };
    let fits = |pattern: &str| match pattern.strip_prefix("*.") {
        Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => pattern == host,
    };
    let rows = hook.hosts.iter().filter(|(pattern, _)| fits(&pattern.to_ascii_lowercase()));
    let row = strictest(named, rows.map(|(_, rule)| *rule).max());
    TableRuling {
        rule: row.unwrap_or(hook.fetch),
        name: "hook.fetch",
        reason: format!("it asks {host} for a page"),
    }
}

fn strictest(one: Option<ToolRule>, other: Option<ToolRule>) -> Option<ToolRule> {
    one.max(other)
}

/// Returns what the rows say of a tool, of those that fit the strictest.
fn named(rows: &BTreeMap<String, ToolRule>, tool: &str) -> Option<ToolRule> {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => pattern == tool,
    };
    rows.iter().filter(|(pattern, _)| fits(pattern)).map(|(_, rule)| *rule).max()
}

fn by_path(rows: &BTreeMap<String, ToolRule>, place: &Place, project: &Project) -> Option<ToolRule> {
    let fits = |row: &str| {
        let row = Path::new(row);
        match (row.is_absolute(), project.root()) {
            (true, _) => place.path.starts_with(row),
            (false, Some(root)) => place.path.starts_with(root.join(row)),
            (false, None) => false,
        }
    };
    rows.iter().filter(|(row, _)| fits(row)).map(|(_, rule)| *rule).max()
}

fn is_setting(inside: &Path) -> bool {
    // Where upper and lower case are one, another spelling is the same file.
    inside.components().any(|part| {
        let part = part.as_os_str().to_string_lossy().to_ascii_lowercase();
        SETTINGS.contains(&part.as_str())
    })
}

/// Returns the host of a plain web address, in lower case; nothing where readers could differ.
fn host(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    let whole = !url.chars().any(|char| char.is_control() || char.is_whitespace() || char == '\\');
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    (!host.is_empty() && plain(host) && digits && whole).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(text: &str) -> Hook {
        toml::from_str(text).unwrap()
    }

    #[track_caller]
    fn check(config: &str, tool: &str, action: &ToolAction, expected: (ToolRule, &str)) {
        let root = tempfile::tempdir().unwrap();
        let project = Project::new(root.path(), None, None);
        let ruling = judge(&hook(config), tool, action, &project);
        assert_eq!((ruling.rule, ruling.name), expected, "{ruling:?}");
    }

    fn read(path: &str) -> ToolAction {
        ToolAction::Read(vec![path.to_owned()])
    }

    fn write(path: &str) -> ToolAction {
        ToolAction::Write(vec![path.to_owned()])
    }

    fn fetch(url: &str) -> ToolAction {
        ToolAction::Fetch(Some(url.to_owned()))
    }

    #[test]
    fn the_project_passes_and_everything_else_asks() {
        use ToolRule::{Ask, Pass};
        check("", "Read", &read("a"), (Pass, "hook.read"));
        check("", "Read", &read("/etc/shadow"), (Ask, "hook.read.outside"));
        check("", "Write", &write("a"), (Pass, "hook.write"));
        check("", "Write", &write("../a"), (Ask, "hook.write.outside"));
        check("", "WebFetch", &fetch("https://example.com/"), (Ask, "hook.fetch"));
        check("", "WebSearch", &ToolAction::Fetch(None), (Ask, "hook.fetch"));
        check("", "mcp__x__y", &ToolAction::Mcp, (Ask, "hook.mcp"));
        check("", "NewTool", &ToolAction::Other, (Ask, "hook.other"));
        check("", "TodoWrite", &ToolAction::Nothing, (Pass, "hook.harmless"));
        check("", "Read", &ToolAction::Read(vec![]), (Ask, "hook.read"));
    }

    #[test]
    fn what_sets_up_other_programs_asks_whatever_the_site_passes() {
        for file in [".claude/settings.json", ".git/hooks/pre-commit", ".MCP.json", "sub/.envrc", ".codex/x"]
        {
            check("[tools]\nWrite = 'pass'", "Write", &write(file), (ToolRule::Ask, "hook.write.settings"));
        }
        check("write = 'deny'", "Write", &write(".git/x"), (ToolRule::Deny, "hook.write.settings"));
        check("", "Read", &read(".git/config"), (ToolRule::Pass, "hook.read"));
    }

    #[test]
    fn the_strictest_row_that_fits_counts() {
        use ToolRule::{Ask, Deny, Pass};
        let rows = "[tools]\n'mcp__git__*' = 'pass'\n'mcp__git__push' = 'deny'";
        check(rows, "mcp__git__log", &ToolAction::Mcp, (Pass, "hook.mcp"));
        check(rows, "mcp__git__push", &ToolAction::Mcp, (Deny, "hook.mcp"));
        check(rows, "mcp__gitx", &ToolAction::Mcp, (Ask, "hook.mcp"));
        let paths = "[paths]\nsecrets = 'deny'\n'/opt/docs' = 'pass'";
        check(paths, "Read", &read("secrets/key"), (Deny, "hook.read"));
        check(paths, "Read", &read("secretsx"), (Pass, "hook.read"));
        check(paths, "Read", &read("/opt/docs/a"), (Pass, "hook.read.outside"));
        let both = ToolAction::Read(vec!["a".to_owned(), "/etc/x".to_owned()]);
        check(paths, "Read", &both, (Ask, "hook.read.outside"));
    }

    #[test]
    fn a_host_counts_only_where_every_reader_finds_the_same() {
        use ToolRule::{Ask, Pass};
        let rows = "[hosts]\n'docs.rs' = 'pass'\n'*.example.com' = 'pass'";
        for url in ["https://docs.rs/x", "http://DOCS.rs:80/", "https://a.example.com?q"] {
            check(rows, "WebFetch", &fetch(url), (Pass, "hook.fetch"));
        }
        for url in [
            "https://docs.rs@evil.example/",
            "https://evil.example/docs.rs",
            "https://docs.rs.evil.example/",
            "https://example.com/",
            "https://xexample.com/",
            "ftp://docs.rs/",
            "https://docs.rs\\@evil.example/",
            "https://docs.rs\t/",
            "https:docs.rs",
            "",
        ] {
            check(rows, "WebFetch", &fetch(url), (Ask, "hook.fetch"));
        }
        check("fetch = 'pass'", "WebFetch", &fetch("https://a@b/"), (Ask, "hook.fetch"));
    }

    #[test]
    fn a_row_cannot_open_the_gate_for_commands_and_can_close_it() {
        let shell = ToolAction::Shell { command: "reboot".to_owned(), reasoning: None };
        check("[tools]\n'*' = 'pass'", "Bash", &shell, (ToolRule::Pass, "hook.tools"));
        check("[tools]\nBash = 'deny'", "Bash", &shell, (ToolRule::Deny, "hook.tools"));
    }
}
