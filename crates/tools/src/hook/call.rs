//! One tool call, as a client writes it to its hook.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Calls hold whole files; what is longer than any file that an agent should write is refused.
pub(super) const MAX_INPUT_BYTES: u64 = 16 << 20;

/// Whose form a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    /// Claude Code.
    Claude,
    Codex,
    /// A script, in the form of this program's own documents.
    Generic,
}

impl Client {
    /// Returns the word of the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Generic => "generic",
        }
    }

    /// Returns the name that people know it by.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Generic => "an agent",
        }
    }
}

/// What the client is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookEvent {
    /// It is about to use a tool.
    PreToolUse,
    /// It is about to ask whoever sits in front of it.
    PermissionRequest,
}

/// Why a call is refused without being judged.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("reading the call: {0}")]
    Input(#[from] std::io::Error),
    #[error("nothing was sent on standard input; a hook gets the call there as JSON")]
    Empty,
    #[error("the call is longer than {MAX_INPUT_BYTES} bytes")]
    TooLong,
    #[error("the call is no JSON of the expected form: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("the event {0:?} is none that this hook answers; it answers PreToolUse and PermissionRequest")]
    WrongEvent(String),
    #[error("the call names no tool")]
    NoTool,
    #[error("the call of {0} holds no text under {1:?}")]
    Missing(String, &'static str),
    #[error("the call names no folder, or none that is absolute")]
    NoFolder,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// What is about to happen.
    pub event: HookEvent,
    /// The client's name of its session; empty where it names none.
    pub session: String,
    /// The folder in which it happens.
    pub folder: PathBuf,
    /// The agent within the client, where it says.
    pub agent: Option<String>,
    pub tool: String,
    /// What it is given.
    pub input: Map<String, Value>,
}

impl Call {
    /// Returns a text that the tool is given.
    pub(super) fn text(&self, name: &'static str) -> Result<&str, CallError> {
        let text = self.input.get(name).and_then(Value::as_str);
        text.ok_or_else(|| CallError::Missing(self.tool.clone(), name))
    }
}

/// What the clients send. They add fields with every version: what is not known here is passed over.
#[derive(Deserialize)]
struct Sent {
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    cwd: PathBuf,
    hook_event_name: String,
    #[serde(default)]
    agent_type: Option<String>,
    #[serde(default)]
    tool_name: String,
    tool_input: Fields,
}

/// What a script sends.
#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    session: String,
    cwd: PathBuf,
    #[serde(default)]
    agent: Option<String>,
    tool: String,
    input: Fields,
}

/// The fields of an object. A name that stands twice is refused: readers differ in which one counts.
struct Fields(Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Fields;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Map::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if fields.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("{name:?} stands there twice")));
                    }
                    fields.insert(name, value);
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(Reader)
    }
}

/// Reads a call to its end.
pub(super) fn read(client: Client, input: impl Read) -> Result<Call, CallError> {
    let mut bytes = Vec::new();
    input.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_INPUT_BYTES) {
        return Err(CallError::TooLong);
    }
    parse(client, &bytes)
}

/// Understands a call.
pub(super) fn parse(client: Client, bytes: &[u8]) -> Result<Call, CallError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(CallError::Empty);
    }
    // The reader would also take a list of the fields in their order.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(serde_json::Error::custom("it is no object").into());
    }
    let call = match client {
        Client::Claude | Client::Codex => {
            let sent: Sent = serde_json::from_slice(bytes)?;
            Call {
                event: event(&sent.hook_event_name)?,
                session: sent.session_id,
                folder: sent.cwd,
                agent: sent.agent_type,
                tool: sent.tool_name,
                input: sent.tool_input.0,
            }
        }
        Client::Generic => {
            let asked: Asked = serde_json::from_slice(bytes)?;
            Call {
                event: HookEvent::PreToolUse,
                session: asked.session,
                folder: asked.cwd,
                agent: asked.agent,
                tool: asked.tool,
                input: asked.input.0,
            }
        }
    };
    if call.tool.is_empty() {
        return Err(CallError::NoTool);
    }
    if !is_folder(&call.folder) {
        return Err(CallError::NoFolder);
    }
    Ok(call)
}

fn event(name: &str) -> Result<HookEvent, CallError> {
    match name {
        "PreToolUse" => Ok(HookEvent::PreToolUse),
        "PermissionRequest" => Ok(HookEvent::PermissionRequest),
        other => Err(CallError::WrongEvent(other.chars().take(60).collect())),
    }
}

fn is_folder(path: &Path) -> bool {
    path.is_absolute() && !path.as_os_str().as_encoded_bytes().contains(&0)
}
