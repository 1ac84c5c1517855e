//! What there is, told to whoever asks or errs.

use super::failure::Failure;
use super::option::{OptionArgument, OptionSpec, known};
use super::table::{Command, all};

/// Tells what a group holds. Without the wish for help a group alone is an error.
pub(super) fn group(name: &str, words: &[String]) -> Result<String, Failure> {
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
pub(super) fn command(command: &Command) -> String {
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
