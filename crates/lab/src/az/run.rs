//! A command line, run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::environment::{Environment, MemoryEnvironment, Wire};
use super::failure::Failure;
use super::flatten;
use super::line::{Line, parts_missing};
use super::network::kind;
use super::option::{OptionArgument, OptionSpec, known};
use super::output::{Answered, Query, json, table, tsv};
use super::profile::Profile;
use super::reference::apply;
use super::session::Session;
use super::table::{Call, Command, CommandMatch, CommandResult, all, find};
use ghost_base::Timestamp;

/// What a command prints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandOutput {
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
    /// The exit code.
    pub exit: u8,
}

/// The forms of output.
const FORMS: [&str; 5] = ["json", "jsonc", "table", "tsv", "none"];

/// Runs a command line, its first word `az` left out, and prints as the real one prints.
pub fn az(environment: &mut dyn Environment, profile: &mut Profile, words: &[String]) -> CommandOutput {
    let mut warnings = Vec::new();
    let done = parsed(profile, words).and_then(|parsed| match parsed {
        Parsed::Help(text) => Ok(text.into_bytes()),
        Parsed::Command(command, line) => printed(environment, profile, &command, &line, &mut warnings),
    });
    let mut err: String = warnings.iter().map(|warning| format!("WARNING: {warning}\n")).collect();
    match done {
        Ok(out) => CommandOutput { out, err, exit: 0 },
        Err(Failure { exit, text }) => {
            err.push_str(&text);
            err.push('\n');
            CommandOutput { out: Vec::new(), err, exit }
        }
    }
}

/// Runs a command line over `wire` for somebody who is signed in; returns the document, before it is printed.
///
/// # Errors
/// Fails as the real one does: with what it prints, and its exit code.
pub fn run(
    wire: &mut Wire<'_>,
    base: &str,
    subscription: &str,
    line: &[String],
    now: Timestamp,
) -> Result<Option<Value>, Failure> {
    let about = serde_json::json!({"subscriptionId": subscription, "tenantId": "", "displayName": "lab", "state": "Enabled"});
    let mut profile = Profile::lab(base, &format!("{base}/msi/token"), &about);
    match parsed(&profile, line)? {
        Parsed::Help(text) => Ok(Some(Value::from(text))),
        Parsed::Command(command, line) => {
            let mut within = MemoryEnvironment::new(wire, now);
            let result = execute(&mut within, &mut profile, command.command, &line, &mut Vec::new())?.0;
            Ok(result.filter(|_| line.one("--output") != Some("none")))
        }
    }
}

/// What a line asks for.
enum Parsed {
    Help(String),
    Command(SelectedCommand, Line),
}

/// A command, and how to show what it says.
struct SelectedCommand {
    command: &'static Command,
    form: String,
    query: Option<Query>,
    quiet: bool,
}

fn parsed(profile: &Profile, words: &[String]) -> Result<Parsed, Failure> {
    let (command, from) = match find(words) {
        CommandMatch::Command(command, from) => (command, from),
        CommandMatch::Group(group) => return group_help(&group, words).map(Parsed::Help),
        CommandMatch::Unknown(word) => return Err(unknown(&word, words)),
    };
    let mut line = Line::read(command, words.get(from..).unwrap_or_default())?;
    if line.has("--help") {
        return Ok(Parsed::Help(command_help(command)));
    }
    for (option, name) in [("--resource-group", "group"), ("--location", "location")] {
        let takes = known(command.options).iter().any(|known| known.name() == option);
        if let Some(value) =
            profile.setting("defaults", name).filter(|_| takes && !line.has(option) && !line.has("--ids"))
        {
            line.set(option, value);
        }
    }
    let form = line.one("--output").map(str::to_owned).or_else(|| profile.setting("core", "output"));
    let form = form.unwrap_or_else(|| "json".to_owned());
    if !FORMS.contains(&form.as_str()) {
        let name = command.name;
        let text = format!(
            "az {name}: '{form}' is not a valid value for '--output'. Allowed values: {}.",
            FORMS.join(", ")
        );
        return Err(Failure::usage(text));
    }
    let query = line.one("--query").map(Query::read).transpose()?;
    let quiet = line.has("--only-show-errors")
        || profile
            .setting("core", "only_show_errors")
            .is_some_and(|result| matches!(result.as_str(), "1" | "true" | "yes" | "on"));
    Ok(Parsed::Command(SelectedCommand { command, form, query, quiet }, line))
}

fn printed(
    environment: &mut dyn Environment,
    profile: &mut Profile,
    chosen: &SelectedCommand,
    line: &Line,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, Failure> {
    let done = execute(environment, profile, chosen.command, line, warnings);
    if chosen.quiet {
        warnings.clear();
    }
    let (document, mut out) = done?;
    let Some(document) = document.filter(|document| !document.is_null()) else { return Ok(out) };
    let answered = match &chosen.query {
        Some(query) => query.ask(document)?,
        None => Answered::whole(document),
    };
    if answered.document.is_null() {
        return Ok(out);
    }
    let text = match chosen.form.as_str() {
        "none" => String::new(),
        "tsv" => tsv(&answered),
        "table" => table(&answered, chosen.command.row, chosen.command.rows),
        _ => json(&answered.document),
    };
    out.extend_from_slice(text.as_bytes());
    Ok(out)
}

/// Runs a command, once for each identifier that was named.
fn execute(
    environment: &mut dyn Environment,
    profile: &mut Profile,
    command: &'static Command,
    line: &Line,
    warnings: &mut Vec<String>,
) -> Result<(Option<Value>, Vec<u8>), Failure> {
    let mut session = Session {
        environment,
        profile,
        command,
        options: line.names(),
        hurry: line.wants("--no-wait") == Some(true),
        chosen: None,
        warnings: Vec::new(),
        bytes: Vec::new(),
        tokens: BTreeMap::new(),
    };
    let done = each(&mut session, line);
    warnings.append(&mut session.warnings);
    Ok((done?, session.bytes))
}

fn each(session: &mut Session<'_>, line: &Line) -> CommandResult {
    // What sets the subscription is given one that may not be there.
    if let Some(name) = line.one("--subscription").filter(|_| session.command.name != "account set") {
        session.settle(name)?;
    }
    let by_id = known(session.command.options).iter().any(|option| option.part);
    let Some(ids) = line.many("--ids").filter(|_| by_id) else {
        parts_missing(session.command, line)?;
        return one(session, line);
    };
    let mut all = Vec::new();
    for id in ids.iter().flat_map(|ids| ids.split_whitespace()) {
        let mut line = line.clone();
        line.forget("--ids");
        apply(session, &mut line, id)?;
        all.extend(one(session, &line)?);
    }
    Ok(match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Value::Array(all)),
    })
}

fn one(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let mut result = match session.command.call {
        Call::List => kind::list(session, line),
        Call::Show => kind::show(session, line),
        Call::Delete => kind::delete(session, line),
        Call::Own(own) => own(session, line),
    }?;
    if let Some(document) = &mut result {
        flatten::known(session.command.name, document);
    }
    Ok(result)
}

/// Tells what a group holds. Without the wish for help a group alone is an error.
pub(super) fn group_help(name: &str, words: &[String]) -> Result<String, Failure> {
    let asked = words.is_empty() || words.iter().any(|word| word == "--help" || word == "-h");
    if name.is_empty() && words.iter().any(|word| word == "--version" || word == "-v") {
        return Ok("azure-cli    2.91.0 (built in)\n".to_owned());
    }
    if !asked {
        return Err(Failure::usage("the following arguments are required: _subcommand"));
    }
    let within = |command: &&Command| name.is_empty() || command.name.starts_with(&format!("{name} "));
    let mut lines: Vec<&str> = all().filter(within).map(|command| command.name).collect();
    lines.sort_unstable();
    let lines: String = lines.into_iter().map(|line| format!("    az {line}\n")).collect();
    let of = if name.is_empty() { String::new() } else { format!(" {name}") };
    Ok(format!("\nGroup\n    az{of}\n\nCommands:\n{lines}\n"))
}

/// Tells what a command takes.
pub(super) fn command_help(command: &Command) -> String {
    let line = |option: &OptionSpec| {
        let takes = match option.takes {
            OptionArgument::Nothing => "",
            OptionArgument::Maybe => " [true|false]",
            OptionArgument::One => " VALUE",
            OptionArgument::Number => " NUMBER",
            OptionArgument::Several => " VALUE [VALUE ...]",
        };
        let needed = if option.needed { " [Required]" } else { "" };
        format!("    {}{takes}{needed}\n", option.names.join(" "))
    };
    let lines: String = known(command.options).iter().map(line).collect();
    format!("\nCommand\n    az {}\n\nArguments\n{lines}\n", command.name)
}

/// Says that a word is not known.
pub(super) fn unknown(word: &str, words: &[String]) -> Failure {
    let mut text = format!("'{word}' is misspelled or not recognized by the system.");
    if words.first().is_some_and(|first| first == word) {
        text.push_str("\nIf the command is from an extension, please make sure the corresponding extension is installed. The az of the lab has no extensions: `ghost lab az -- --help` lists what it knows.");
    }
    Failure::usage(text)
}
