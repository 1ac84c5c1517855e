//! What a tool call would do, by the names that the clients give to their tools.

use serde_json::Value;

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

/// The form that a member of a tool's input must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    /// A whole number, not below zero.
    Count,
    Flag,
    /// A flag that must not be set: it takes a protection off.
    Off,
    List,
    /// Anything: the tool that takes it reaches nothing but the conversation.
    Any,
}

/// What a tool does with its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Runs `command`; the member says why.
    Runs(&'static str),
    /// Applies the patch in `command`.
    Patches,
    /// Reads the file that the member names.
    Reads(&'static str),
    /// Reads below `path` what a pattern selects; the member holds the pattern.
    Searches(&'static str),
    /// Writes the file that the member names.
    Writes(&'static str),
    /// Asks for the page at `url`.
    Fetches,
    /// Asks any site it likes.
    AsksTheWeb,
    /// Reaches nothing but the conversation. What agents below do is asked about by itself.
    Nothing,
}

/// A tool, by the name that its client gives it, with every member of its input that Ghost knows.
struct Tool(&'static str, Does, &'static [(&'static str, Form)]);

/// Claude Code 2.1.330. A tool's members are those that its calls were seen with, and those that its description names.
const CLAUDE: [Tool; 29] = {
    use Does::{AsksTheWeb, Fetches, Nothing, Reads, Runs, Searches, Writes};
    use Form::{Any, Count, Flag, List, Off, Text};
    const AGENT: &[(&str, Form)] = &[
        ("description", Text),
        ("prompt", Text),
        ("subagent_type", Text),
        ("model", Text),
        ("run_in_background", Flag),
        ("resume", Text),
        ("name", Text),
    ];
    [
        Tool(
            "Bash",
            Runs("description"),
            &[
                ("command", Text),
                ("description", Text),
                ("timeout", Count),
                ("run_in_background", Flag),
                ("dangerouslyDisableSandbox", Off),
            ],
        ),
        Tool(
            "Read",
            Reads("file_path"),
            &[("file_path", Text), ("offset", Count), ("limit", Count), ("pages", Text)],
        ),
        Tool("NotebookRead", Reads("notebook_path"), &[("notebook_path", Text), ("cell_id", Text)]),
        Tool("LS", Reads("path"), &[("path", Text), ("ignore", List)]),
        Tool("Glob", Searches("pattern"), &[("pattern", Text), ("path", Text)]),
        Tool(
            "Grep",
            Searches("glob"),
            &[
                ("pattern", Text),
                ("path", Text),
                ("glob", Text),
                ("type", Text),
                ("output_mode", Text),
                ("-A", Count),
                ("-B", Count),
                ("-C", Count),
                ("context", Count),
                ("-n", Flag),
                ("-i", Flag),
                ("-o", Flag),
                ("head_limit", Count),
                ("offset", Count),
                ("multiline", Flag),
            ],
        ),
        Tool("Write", Writes("file_path"), &[("file_path", Text), ("content", Text)]),
        Tool(
            "Edit",
            Writes("file_path"),
            &[("file_path", Text), ("old_string", Text), ("new_string", Text), ("replace_all", Flag)],
        ),
        Tool("MultiEdit", Writes("file_path"), &[("file_path", Text), ("edits", List)]),
        Tool(
            "NotebookEdit",
            Writes("notebook_path"),
            &[
                ("notebook_path", Text),
                ("cell_id", Text),
                ("new_source", Text),
                ("cell_type", Text),
                ("edit_mode", Text),
            ],
        ),
        Tool("WebFetch", Fetches, &[("url", Text), ("prompt", Text)]),
        Tool(
            "WebSearch",
            AsksTheWeb,
            &[("query", Text), ("allowed_domains", List), ("blocked_domains", List)],
        ),
        Tool("Agent", Nothing, AGENT),
        Tool("Task", Nothing, AGENT),
        Tool(
            "AskUserQuestion",
            Nothing,
            &[("questions", Any), ("answers", Any), ("annotations", Any), ("metadata", Any)],
        ),
        Tool("BashOutput", Nothing, &[("bash_id", Text), ("filter", Text)]),
        Tool("EnterPlanMode", Nothing, &[]),
        Tool("ExitPlanMode", Nothing, &[("plan", Text)]),
        Tool("KillShell", Nothing, &[("shell_id", Text)]),
        Tool("ListMcpResourcesTool", Nothing, &[("server", Text)]),
        Tool(
            "TaskCreate",
            Nothing,
            &[("subject", Text), ("description", Text), ("activeForm", Text), ("metadata", Any)],
        ),
        Tool("TaskGet", Nothing, &[("taskId", Text)]),
        Tool("TaskList", Nothing, &[]),
        Tool("TaskOutput", Nothing, &[("task_id", Text), ("block", Flag), ("timeout", Count)]),
        Tool("TaskStop", Nothing, &[("task_id", Text), ("shell_id", Text)]),
        Tool(
            "TaskUpdate",
            Nothing,
            &[
                ("taskId", Text),
                ("status", Text),
                ("subject", Text),
                ("description", Text),
                ("activeForm", Text),
                ("owner", Text),
                ("addBlocks", List),
                ("addBlockedBy", List),
                ("metadata", Any),
            ],
        ),
        Tool("TodoRead", Nothing, &[]),
        Tool("TodoWrite", Nothing, &[("todos", Any)]),
        Tool("ToolSearch", Nothing, &[("query", Text), ("max_results", Count)]),
    ]
};

/// Codex 0.169.0.
const CODEX: [Tool; 5] = [
    Tool("Bash", Does::Runs("description"), &[("command", Form::Text), ("description", Form::Text)]),
    Tool("apply_patch", Does::Patches, &[("command", Form::Text), ("description", Form::Text)]),
    Tool("view_image", Does::Reads("path"), &[("path", Form::Text)]),
    Tool("request_user_input", Does::Nothing, &[("questions", Form::Any)]),
    Tool("update_plan", Does::Nothing, &[("explanation", Form::Text), ("plan", Form::Any)]),
];

/// A script.
const GENERIC: [Tool; 4] = [
    Tool("shell", Does::Runs("reasoning"), &[("command", Form::Text), ("reasoning", Form::Text)]),
    Tool("read", Does::Reads("path"), &[("path", Form::Text)]),
    Tool("write", Does::Writes("path"), &[("path", Form::Text), ("content", Form::Text)]),
    Tool("fetch", Does::Fetches, &[("url", Form::Text)]),
];

fn known(client: Client, name: &str) -> Option<&'static Tool> {
    let tools: &'static [Tool] = match client {
        Client::Claude => &CLAUDE,
        Client::Codex => &CODEX,
        Client::Generic => &GENERIC,
    };
    tools.iter().find(|tool| tool.0 == name)
}

/// Says what a call would do.
///
/// # Errors
/// Fails where a tool that is known is not given what it needs.
pub(super) fn action(client: Client, call: &Call) -> Result<ToolAction, CallError> {
    let Some(Tool(_, does, _)) = known(client, &call.tool) else {
        let mcp = call.tool.starts_with("mcp__");
        return Ok(if mcp { ToolAction::Mcp } else { ToolAction::Other });
    };
    let file = |name| Ok::<_, CallError>(vec![call.text(name)?.to_owned()]);
    Ok(match *does {
        Does::Runs(why) => shell(call, why)?,
        Does::Patches => match patch::files(call.text("command")?) {
            Some(files) => ToolAction::Write(files),
            None => ToolAction::Other,
        },
        Does::Reads(name) => ToolAction::Read(file(name)?),
        Does::Searches(name) => ToolAction::Read(searched(call, name)?),
        Does::Writes(name) => ToolAction::Write(file(name)?),
        Does::Fetches => ToolAction::Fetch(Some(call.text("url")?.to_owned())),
        Does::AsksTheWeb => ToolAction::Fetch(None),
        Does::Nothing => ToolAction::Nothing,
    })
}

/// Says which member of a known tool's input Ghost cannot judge: one that it does not know, or a value of another form.
///
/// A tool that is not known is ruled as a whole.
pub(super) fn odd_member(client: Client, call: &Call) -> Option<String> {
    let Tool(name, _, members) = known(client, &call.tool)?;
    call.input.iter().find_map(|(member, value)| {
        let shown: String = member.chars().take(MAX_SHOWN_CHARS).collect();
        match members.iter().find(|(known, _)| known == member) {
            None => Some(format!("Ghost does not know what {shown:?} changes in a call of {name}")),
            Some((_, form)) if form.takes(value) => None,
            Some((_, Form::Off)) => Some(format!("{shown:?} takes a protection off {name}")),
            Some(_) => Some(format!("{shown:?} has a value that {name} does not take")),
        }
    })
}

/// A longer name of a member is cut.
const MAX_SHOWN_CHARS: usize = 60;

impl Form {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Count => value.is_u64(),
            Self::Flag => value.is_boolean(),
            Self::Off => value == &Value::Bool(false),
            Self::List => value.is_array(),
            Self::Any => true,
        }
    }
}

fn shell(call: &Call, why: &'static str) -> Result<ToolAction, CallError> {
    let command = call.text("command")?.to_owned();
    let reasoning = call.text(why).ok().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    Ok(ToolAction::Shell { command, reasoning })
}

/// Returns where a search reads: in its folder, and where its pattern leads.
fn searched(call: &Call, name: &'static str) -> Result<Vec<String>, CallError> {
    let mut places = vec![call.text("path").map_or_else(|_| ".".to_owned(), str::to_owned)];
    // What Glob finds has to have a pattern; Grep reads everything without one.
    let patterns = if name == "pattern" { Some(call.text(name)?) } else { call.text(name).ok() };
    // What `!` leaves out is not read.
    places.extend(patterns.filter(|pattern| !pattern.starts_with('!')).map(str::to_owned));
    let out = |pattern: &&str| {
        pattern.starts_with(['/', '~'])
            || pattern.contains("..")
            || pattern.contains("{/")
            || pattern.contains(",/")
    };
    places.extend(patterns.filter(out).map(|pattern| format!("/{pattern}")));
    Ok(places)
}
