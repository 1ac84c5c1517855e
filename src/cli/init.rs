//! `ghost init`: five questions, each checked at once, and the file that they make.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;

use super::config::{Part, PartFinding, check_part};
use ghost_base::{write_private, write_private_new};
use ghost_tools::global::Global;
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::setup::Setup;

/// After so many answers that are none, nobody is answering.
const MAX_TRIES: usize = 5;

/// The arguments of `ghost init`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost init\n  ghost init --to /etc/ghost/ghost.toml\n  printf '\\n-\\n\\n\\n\\n' | ghost init --to ghost.toml --offline\n\nAn empty answer takes what stands in brackets. Secrets are never asked for: files and variables are named that hold them."
)]
pub(super) struct Arguments {
    /// The file to write; nothing that is there is replaced.
    #[arg(long, value_name = "FILE", default_value = "ghost.toml")]
    to: PathBuf,
    /// Check what this machine's own files tell, and ask nobody else.
    #[arg(long)]
    offline: bool,
}

/// What is asked, in order.
const QUESTIONS: [Question; 5] = [
    Question {
        part: Part::Store,
        ask: "1 of 5 · Where are sessions kept? [a file on this machine], or redis://HOST:6379 for several replicas",
        read: store,
    },
    Question {
        part: Part::Slack,
        ask: "2 of 5 · Which files hold Slack's tokens? BOT_FILE APP_FILE, [$SLACK_BOT_TOKEN and $SLACK_APP_TOKEN], or - for no Slack",
        read: tokens,
    },
    Question {
        part: Part::Cloud,
        ask: "3 of 5 · Who reads Azure? [whoever az is signed in as], managed, or the folder of a second az sign-in",
        read: identities,
    },
    Question {
        part: Part::Model,
        ask: "4 of 5 · Who investigates? [playbook] (no model, no key), or PROVIDER MODEL KEY_FILE with anthropic, gemini or openai",
        read: model,
    },
    Question {
        part: Part::Approvers,
        ask: "5 of 5 · Who approves? Ids of people (U…) and user groups (S…), with blanks between; [nobody yet: every card can only be denied]",
        read: approvers,
    },
];

struct Question {
    part: Part,
    ask: &'static str,
    /// Turns an answer into sections of the file, or says what an answer is.
    read: ReadAnswer,
}

/// Turns an answer into text of the file, or says what an answer is.
type ReadAnswer = fn(&str) -> Result<String, String>;

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    if arguments.to.exists() {
        let error = anyhow::anyhow!("{} is there already", arguments.to.display());
        return Err(Hinted::new(error, "name another file with --to, or move that one away").into());
    }
    let mut text = String::from(
        "# Written by `ghost init`. `ghost config check` tells every problem at once; secrets are not in here.\n",
    );
    let mut left: Vec<String> = Vec::new();
    for question in &QUESTIONS {
        let (section, open) = asked(question, &text, arguments, global)?;
        text.push_str(&section);
        left.extend(open);
    }
    write_private_new(&arguments.to, text.as_bytes())
        .with_context(|| format!("writing {}", arguments.to.display()))?;
    let file = arguments.to.display();
    line(&format!("Written: {file}"))?;
    if left.is_empty() {
        line("Nothing is left to do.")?;
    } else {
        line("What is left:")?;
        left.iter().try_for_each(|finding| line(&format!("  {finding}")))?;
    }
    line(&format!(
        "Next: `ghost config check --config {file}`, then `ghost investigate --config {file} 'SYMPTOM'` or `ghost bot --config {file}`"
    ))?;
    Ok(0)
}

/// Asks until the answer can be used; returns its sections, and what its check left open.
fn asked(
    question: &Question,
    before: &str,
    arguments: &Arguments,
    global: &Global,
) -> anyhow::Result<(String, Vec<String>)> {
    for _ in 0..MAX_TRIES {
        let Some(answer) = prompt(question.ask)? else {
            bail!("the input ended before all questions were answered; nothing was written");
        };
        let section = match (question.read)(&answer) {
            Ok(section) => section,
            Err(hint) => {
                note(&format!("  {hint}"));
                continue;
            }
        };
        let findings = match checked(&format!("{before}{section}"), question.part, arguments, global) {
            Ok(findings) => findings,
            Err(error) => {
                note(&format!("  {error:#}"));
                continue;
            }
        };
        findings.iter().for_each(|one| note(&format!("  {}", one.text.replace('\n', "\n  "))));
        let open = findings.into_iter().filter(|one| one.is_open).map(|one| one.line);
        return Ok((section, open.collect()));
    }
    bail!("no answer could be used; nothing was written")
}

/// Checks one part of the file as it would be.
fn checked(
    text: &str,
    part: Part,
    arguments: &Arguments,
    global: &Global,
) -> anyhow::Result<Vec<PartFinding>> {
    let draft = beside(&arguments.to)?;
    write_private(&draft, text.as_bytes()).context("writing the answers so far")?;
    let found = Setup::new(&Global { config: Some(draft.clone()), ..global.clone() })
        .and_then(|setup| check_part(&setup, part, arguments.offline));
    std::fs::remove_file(&draft).context("removing the answers so far")?;
    found
}

fn beside(to: &Path) -> anyhow::Result<PathBuf> {
    let name = to.file_name().context("the file has no name")?.to_string_lossy();
    Ok(to.with_file_name(format!(".{name}.{}", std::process::id())))
}

fn prompt(question: &str) -> anyhow::Result<Option<String>> {
    let mut err = io::stderr().lock();
    write!(err, "\n{question}\n> ").and_then(|()| err.flush()).context("asking")?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer).context("reading the answer")?;
    if !io::stdin().is_terminal() {
        writeln!(err).context("asking")?;
    }
    Ok((read > 0).then(|| answer.trim().to_owned()))
}

/// Quotes a text for the file.
fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn absolute(path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        Ok(quoted(path))
    } else {
        Err(format!("{path}: write the whole path, from `/`"))
    }
}

fn store(answer: &str) -> Result<String, String> {
    match answer {
        "" => Ok(String::new()),
        url if url.contains("://") => Ok(format!("\n[store]\nurl = {}\n", quoted(url))),
        _ => Err("an empty answer, or an address such as redis://10.0.0.8:6379".to_owned()),
    }
}

fn tokens(answer: &str) -> Result<String, String> {
    match answer.split_whitespace().collect::<Vec<_>>().as_slice() {
        [] | ["-"] => Ok(String::new()),
        [token, ..] if token.starts_with("xox") || token.starts_with("xapp") => {
            Err("that is a token: put it into a file that only you can read, and name the file".to_owned())
        }
        [bot, app] => Ok(format!(
            "\n[slack]\nbot_token_file = {}\napp_token_file = {}\n",
            absolute(bot)?,
            absolute(app)?
        )),
        _ => Err("two files, the bot's token first; an empty answer; or -".to_owned()),
    }
}

fn identities(answer: &str) -> Result<String, String> {
    match answer {
        "" => Ok(String::new()),
        "managed" => Ok("\n[azure.reader]\nsign_in = \"managed\"\n".to_owned()),
        folder => Ok(format!("\n[azure.reader]\nsign_in = \"folder\"\nfolder = {}\n", absolute(folder)?)),
    }
}

fn model(answer: &str) -> Result<String, String> {
    match answer.split_whitespace().collect::<Vec<_>>().as_slice() {
        [] | ["playbook"] => Ok("\n[model]\nbrain = \"playbook\"\n".to_owned()),
        [provider @ ("anthropic" | "gemini" | "openai"), model, rest @ ..] => {
            let mut text = format!(
                "\n[model]\nbrain = {}\n\n[model.{provider}]\nmodel = {}\n",
                quoted(provider),
                quoted(model)
            );
            if let [file] = rest {
                writeln!(text, "key_file = {}", absolute(file)?).map_err(|error| error.to_string())?;
            }
            Ok(text)
        }
        _ => {
            Err("an empty answer, or for example: anthropic MODEL /etc/ghost/secret/anthropic.key".to_owned())
        }
    }
}

fn approvers(answer: &str) -> Result<String, String> {
    let ids: Vec<&str> = answer.split([' ', ',']).filter(|id| !id.is_empty()).collect();
    let plain =
        |id: &&str| id.len() > 1 && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    if let Some(odd) = ids.iter().find(|id| !plain(id) || !id.starts_with(['U', 'W', 'S'])) {
        return Err(format!(
            "{odd}: an id begins with U, W or S; Slack shows it in a profile under \"Copy member ID\""
        ));
    }
    let listed = |groups: bool| {
        let list: Vec<String> =
            ids.iter().filter(|id| id.starts_with('S') == groups).map(|id| quoted(id)).collect();
        list.join(", ")
    };
    if ids.is_empty() {
        return Ok(String::new());
    }
    let sections = ["measurement", "outage", "change"].map(|class| {
        format!("\n[approval.{class}]\nusers = [{}]\ngroups = [{}]\n", listed(false), listed(true))
    });
    Ok(sections.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_tools::config::Config;

    #[test]
    fn every_answer_makes_a_file_that_is_read() {
        let answers: [(ReadAnswer, &[&str]); 5] = [
            (store, &["", "redis://10.0.0.8:6379"]),
            (tokens, &["", "-", "/run/bot /run/app"]),
            (identities, &["", "managed", "/home/ops/.azure-reader"]),
            (model, &["", "playbook", "anthropic some-model /run/key", "gemini some-model"]),
            (approvers, &["", "U01 S02", "U01,W03"]),
        ];
        for (read, all) in answers {
            for answer in all {
                let text = read(answer).unwrap();
                let config: Result<Config, _> = toml::from_str(&text);
                assert!(config.is_ok(), "{answer}: {config:?}");
            }
        }
    }

    #[test]
    fn an_answer_that_is_none_gets_a_hint_and_a_token_is_never_kept() {
        assert!(store("here").is_err() && identities("me").is_err() && model("gpt").is_err());
        assert!(tokens("xoxb-1 xapp-1").unwrap_err().contains("only you can read"));
        assert!(approvers("@ben").unwrap_err().contains("Copy member ID"));
    }
}
