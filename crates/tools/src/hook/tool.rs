//! What a tool call would do, by the names that the clients give to their tools.

use super::call::{Call, CallError, Client};
use super::patch;

/// What a tool call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolAction {
    /// Run a command.
    Shell {
        /// The whole command.
        command: String,
        /// Why, in the agent's words, where it says.
        reasoning: Option<String>,
    },
    /// Read files.
    Read(Vec<String>),
    /// Write, move or delete files.
    Write(Vec<String>),
    /// Ask for a page; nothing where the tool asks whoever it wants.
    Fetch(Option<String>),
    /// Use a tool of an MCP server.
    Mcp,
    /// Nothing outside of the conversation; what a subagent does comes here by itself.
    Nothing,
    /// Nobody knows.
    Other,
}

/// Tools of Claude Code that reach nothing but the conversation. What agents below do is asked about by itself.
const CLAUDE_HARMLESS: [&str; 17] = [
    "Agent",
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "KillShell",
    "ListMcpResourcesTool",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];

/// Tools of Codex that reach nothing but the conversation.
const CODEX_HARMLESS: [&str; 2] = ["request_user_input", "update_plan"];

/// Says what a call would do.
///
/// # Errors
/// Fails where a tool that is known is not given what it needs.
pub(super) fn action(client: Client, call: &Call) -> Result<ToolAction, CallError> {
    match client {
        Client::Claude => claude(call),
        Client::Codex => codex(call),
        Client::Generic => generic(call),
    }
}

fn claude(call: &Call) -> Result<ToolAction, CallError> {
    let one = |name| Ok::<_, CallError>(vec![call.text(name)?.to_owned()]);
    Ok(match call.tool.as_str() {
        "Bash" => shell(call, "description")?,
        "Read" => ToolAction::Read(one("file_path")?),
        "NotebookRead" => ToolAction::Read(one("notebook_path")?),
        "LS" => ToolAction::Read(one("path")?),
        "Glob" | "Grep" => ToolAction::Read(searched(call)?),
        "Write" | "Edit" | "MultiEdit" => ToolAction::Write(one("file_path")?),
        "NotebookEdit" => ToolAction::Write(one("notebook_path")?),
        "WebFetch" => ToolAction::Fetch(Some(call.text("url")?.to_owned())),
        "WebSearch" => ToolAction::Fetch(None),
        name if CLAUDE_HARMLESS.contains(&name) => ToolAction::Nothing,
        name if name.starts_with("mcp__") => ToolAction::Mcp,
        _ => ToolAction::Other,
    })
}

fn codex(call: &Call) -> Result<ToolAction, CallError> {
    Ok(match call.tool.as_str() {
        "Bash" => shell(call, "description")?,
        "apply_patch" => match patch::files(call.text("command")?) {
            Some(files) => ToolAction::Write(files),
            None => ToolAction::Other,
        },
        "view_image" => ToolAction::Read(vec![call.text("path")?.to_owned()]),
        name if CODEX_HARMLESS.contains(&name) => ToolAction::Nothing,
        name if name.starts_with("mcp__") => ToolAction::Mcp,
        _ => ToolAction::Other,
    })
}

fn generic(call: &Call) -> Result<ToolAction, CallError> {
    Ok(match call.tool.as_str() {
        "shell" => shell(call, "reasoning")?,
        "read" => ToolAction::Read(vec![call.text("path")?.to_owned()]),
        "write" => ToolAction::Write(vec![call.text("path")?.to_owned()]),
        "fetch" => ToolAction::Fetch(Some(call.text("url")?.to_owned())),
        name if name.starts_with("mcp__") => ToolAction::Mcp,
        _ => ToolAction::Other,
    })
}

fn shell(call: &Call, why: &'static str) -> Result<ToolAction, CallError> {
    let command = call.text("command")?.to_owned();
    let reasoning = call.text(why).ok().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    Ok(ToolAction::Shell { command, reasoning })
}

/// Returns where a search reads: in its folder, and where its pattern leads.
fn searched(call: &Call) -> Result<Vec<String>, CallError> {
    let mut places = vec![call.text("path").map_or_else(|_| ".".to_owned(), str::to_owned)];
    // The pattern of the one is a path, that of the other a text; its `glob` is a path again.
    let patterns = match call.tool.as_str() {
        "Glob" => Some(call.text("pattern")?),
        _ => call.text("glob").ok(),
    };
    let out = |pattern: &&str| {
        pattern.starts_with(['/', '~'])
            || pattern.contains("..")
            || pattern.contains("{/")
            || pattern.contains(",/")
    };
    places.extend(patterns.filter(out).map(|pattern| format!("/{pattern}")));
    Ok(places)
}
