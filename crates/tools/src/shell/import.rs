//! `ghost shell policy import`: rules of others as a site's policy file, as far as they tighten.
//!
//! Nothing of them opens what asks here: a rule that allows is judged and reported, and never taken.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::corpora::{Decision, Rules};
use crate::input;
use crate::print::{Hinted, line, note};
use crate::setup::Setup;
use ghost_shell::{Policy, Verdict, plain_commands, quote};

/// A longer file holds something else.
const MAX_FILE_BYTES: usize = 1 << 20;

/// A pattern with more spellings than this is not spelled out.
const MAX_SPELLINGS: usize = 500;

/// Something was not taken as it was written.
const CONFLICTS: u8 = 3;

/// The arguments of `ghost shell policy import`.
#[derive(Debug, Args)]
#[command(
    after_help = "It reads execpolicy rules (`prefix_rule(…)`) or settings of Claude Code (`{\"permissions\":{\"allow\",\"ask\",\"deny\"}}`), prints the site policy that they come to on standard output, and every conflict on standard error. What they allow is never taken.\n\nExit codes: 0 all of it holds here, 3 something was not taken as it was written, 1 the file could not be read.\n\nExamples:\n  ghost shell policy import team.rules > site.toml\n  ghost shell policy import .claude/settings.json --json"
)]
pub(super) struct Arguments {
    /// A file of execpolicy rules, or settings of Claude Code; `-` is standard input.
    file: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// One rule of others, in words that begin a command.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Foreign {
    decision: Decision,
    words: Vec<String>,
    why: String,
    /// As it is written there.
    written: String,
    examples: Vec<(String, bool)>,
}

/// A row of the site's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Tighten {
    words: Vec<String>,
    verdict: Verdict,
    reason: String,
}

/// What was not taken as it was written, or holds otherwise here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Conflict {
    /// The rule, as it is written there.
    rule: String,
    /// What is in its place here, and why.
    what: String,
}

/// What came of a file.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Imported {
    tighten: Vec<Tighten>,
    /// Rules that say what holds here already.
    same: usize,
    conflicts: Vec<Conflict>,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let text = input::text(&arguments.file, MAX_FILE_BYTES)?;
    let policy = setup.judged_policy()?;
    let mut conflicts = Vec::new();
    let rules = read(&text, &mut conflicts)
        .with_context(|| format!("reading {}", arguments.file.display()))
        .map_err(|error| Hinted::new(error, "it is a file of prefix_rule(…), or settings of Claude Code"))?;
    let mut imported = import(&rules, &policy)?;
    imported.conflicts.splice(0..0, conflicts);
    let site = toml(&imported.tighten);
    if arguments.json {
        let document = json!({
            "format": 1, "site": site, "tighten": imported.tighten, "same": imported.same,
            "conflicts": imported.conflicts,
        });
        line(&document.to_string())?;
    } else {
        line(site.trim_end())?;
        for Conflict { rule, what } in &imported.conflicts {
            note(&format!("conflict: {rule}: {what}"));
        }
        note(&format!(
            "{} rows tighten, {} say what holds already, {} conflicts",
            imported.tighten.len(),
            imported.same,
            imported.conflicts.len()
        ));
    }
    Ok(if imported.conflicts.is_empty() { 0 } else { CONFLICTS })
}

fn read(text: &str, conflicts: &mut Vec<Conflict>) -> anyhow::Result<Vec<Foreign>> {
    if text.trim_start().starts_with('{') { claude(text, conflicts) } else { execpolicy(text, conflicts) }
}

fn execpolicy(text: &str, conflicts: &mut Vec<Conflict>) -> anyhow::Result<Vec<Foreign>> {
    let mut rules = Rules::default();
    rules.add(text)?;
    let mut all = Vec::new();
    for rule in rules.all() {
        let shown = rule.pattern.iter().map(|words| words.join("|")).collect::<Vec<_>>().join(" ");
        let written = format!("{} `{shown}`", word(rule.decision));
        let Some(spellings) = spellings(&rule.pattern) else {
            let what = format!("it has more than {MAX_SPELLINGS} spellings, and was not taken");
            conflicts.push(Conflict { rule: written, what });
            continue;
        };
        let quoted = |words: &[String]| words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
        // The examples are the rule's, not those of one spelling.
        let mut examples: Vec<_> =
            rule.examples.iter().map(|(words, matches)| (quoted(words), *matches)).collect();
        for words in spellings {
            all.push(Foreign {
                decision: rule.decision,
                words,
                why: rule.why.clone().unwrap_or_else(|| "imported from execpolicy rules".to_owned()),
                written: written.clone(),
                examples: std::mem::take(&mut examples),
            });
        }
    }
    Ok(all)
}

/// Spells out what a pattern stands for; nothing where that is too much.
fn spellings(pattern: &[Vec<String>]) -> Option<Vec<Vec<String>>> {
    let mut all = vec![Vec::new()];
    for alternatives in pattern {
        if all.len().saturating_mul(alternatives.len()) > MAX_SPELLINGS {
            return None;
        }
        all = all
            .iter()
            .flat_map(|begun| {
                alternatives.iter().map(|word| begun.iter().chain([word]).cloned().collect::<Vec<_>>())
            })
            .collect();
    }
    Some(all)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    permissions: Permissions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Permissions {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

fn claude(text: &str, conflicts: &mut Vec<Conflict>) -> anyhow::Result<Vec<Foreign>> {
    let Settings { permissions: Permissions { allow, ask, deny } } = serde_json::from_str(text)?;
    let lists = [(deny, Decision::Forbidden), (ask, Decision::Prompt), (allow, Decision::Allow)];
    let mut all = Vec::new();
    for (rules, decision) in lists {
        for rule in rules {
            let written = format!("{} `{rule}`", word(decision));
            match bash(&rule) {
                Ok(words) => all.push(Foreign {
                    decision,
                    words,
                    why: "imported from the settings of Claude Code".to_owned(),
                    written,
                    examples: Vec::new(),
                }),
                // What is allowed elsewhere opens nothing here.
                Err(_) if decision == Decision::Allow => {
                    conflicts
                        .push(Conflict { rule: written, what: "what it allows is not taken".to_owned() });
                }
                Err(what) => conflicts.push(Conflict { rule: written, what: what.to_owned() }),
            }
        }
    }
    Ok(all)
}

/// Reads the first words of a rule about commands: `Bash(git push:*)`, `Bash(git push *)` or `Bash(git push)`.
fn bash(rule: &str) -> Result<Vec<String>, &'static str> {
    const ELSEWHERE: &str =
        "it is about no command; [hook.tools], [hook.paths] and [hook.hosts] hold such rules, by hand";
    if rule == "Bash" {
        return Err("it is about every command; a site policy names programs");
    }
    let inner = rule.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')')).ok_or(ELSEWHERE)?;
    let begin = inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *")).unwrap_or(inner);
    if begin.contains('*') {
        return Err("a `*` elsewhere than at the end cannot be written as first words; it was not taken");
    }
    let commands = plain_commands(begin).unwrap_or_default();
    match <[Vec<String>; 1]>::try_from(commands) {
        Ok([words]) if !words.is_empty() => Ok(words),
        Ok(_) | Err(_) => Err("it is not the beginning of one plain command; it was not taken"),
    }
}

/// Takes what tightens, and reports everything that holds otherwise here.
fn import(rules: &[Foreign], policy: &Policy) -> anyhow::Result<Imported> {
    let mut imported = Imported::default();
    for rule in rules {
        let own = policy.classify(&command(&rule.words));
        let wanted = verdict(rule.decision);
        if wanted == Verdict::Safe {
            continue;
        }
        // What begins so may be SAFE with more words, so that a row is left out only where nobody could be asked anyway.
        if own.verdict == Verdict::Blocked {
            imported.same += 1;
            continue;
        }
        let row = Tighten { words: rule.words.clone(), verdict: wanted, reason: rule.why.clone() };
        match imported.tighten.iter_mut().find(|known| known.words == row.words) {
            // Of two rules about the same words the stricter one counts.
            Some(known) if known.verdict < row.verdict => *known = row,
            Some(_) => imported.same += 1,
            None => imported.tighten.push(row),
        }
    }
    // The order of rows decides here, there the strictest does.
    imported.tighten.sort_by_key(|row| std::cmp::Reverse(row.verdict));
    let tightened = Policy::with_site(&toml(&imported.tighten))?;
    for rule in rules {
        conflicts(rule, policy, &tightened, &mut imported.conflicts);
    }
    Ok(imported)
}

/// Lets the judge say what becomes of a rule and of its examples.
fn conflicts(rule: &Foreign, before: &Policy, after: &Policy, found: &mut Vec<Conflict>) {
    let wanted = verdict(rule.decision);
    let mut add = |what: String| {
        let conflict = Conflict { rule: rule.written.clone(), what };
        if !found.contains(&conflict) {
            found.push(conflict);
        }
    };
    let own = command(&rule.words);
    let matching = rule.examples.iter().filter(|(_, matches)| *matches).map(|(text, _)| text);
    for text in std::iter::once(&own).chain(matching) {
        let ruling = after.classify(text);
        match wanted {
            Verdict::Safe if ruling.verdict != Verdict::Safe => {
                add(format!(
                    "`{text}` is {} here and stays so: {} ({})",
                    ruling.verdict, ruling.reason, ruling.rule
                ));
            }
            Verdict::Risky | Verdict::Blocked if ruling.verdict < wanted => {
                add(format!("`{text}` is {} here all the same ({})", ruling.verdict, ruling.rule));
            }
            Verdict::Safe | Verdict::Risky | Verdict::Blocked => {}
        }
    }
    for (text, _) in rule.examples.iter().filter(|(_, matches)| !matches) {
        let (old, new) = (before.classify(text).verdict, after.classify(text).verdict);
        if old != new {
            add(format!("`{text}` is meant to be left alone, and becomes {new}"));
        }
    }
}

fn command(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

fn verdict(decision: Decision) -> Verdict {
    match decision {
        Decision::Allow => Verdict::Safe,
        Decision::Prompt => Verdict::Risky,
        Decision::Forbidden => Verdict::Blocked,
    }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Prompt => "ask",
        Decision::Forbidden => "forbid",
    }
}

/// Writes the rows as a site's file.
fn toml(rows: &[Tighten]) -> String {
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut out = String::from("# Rules of others, as far as they tighten.\ntighten = [\n");
    for row in rows {
        let words = row.words.iter().map(|word| text(word)).collect::<Vec<_>>().join(", ");
        let line = format!(
            "    {{ words = [{words}], verdict = \"{}\", reason = {} }},\n",
            row.verdict.as_str(),
            text(&row.reason)
        );
        out.push_str(&line);
    }
    out.push_str("]\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(text: &str) -> (Imported, Vec<Conflict>) {
        let mut unread = Vec::new();
        let rules = read(text, &mut unread).unwrap();
        (import(&rules, Policy::builtin().unwrap()).unwrap(), unread)
    }

    #[test]
    fn what_tightens_is_taken_and_what_opens_is_not() {
        let rules = "prefix_rule(pattern = ['az', 'network', ['vnet', 'nic']], decision = 'prompt', justification = 'ask the \"network\" team', match = ['az network vnet list'], not_match = ['az vm list'])
prefix_rule(pattern = ['ss'], decision = 'forbidden')
prefix_rule(pattern = ['touch'], decision = 'allow', match = ['touch x'])
prefix_rule(pattern = ['reboot'], decision = 'forbidden')
prefix_rule(pattern = ['uname'], decision = 'allow')";
        let (came, unread) = imported(rules);
        assert_eq!(unread, []);
        let rows: Vec<_> = came.tighten.iter().map(|row| (row.words.join(" "), row.verdict)).collect();
        let row = |words: &str, verdict| (words.to_owned(), verdict);
        assert_eq!(
            rows,
            [
                row("ss", Verdict::Blocked),
                row("az network vnet", Verdict::Risky),
                row("az network nic", Verdict::Risky),
            ]
        );
        assert_eq!(came.same, 1);
        let about: Vec<_> = came.conflicts.iter().map(|conflict| conflict.rule.as_str()).collect();
        assert_eq!(about, ["allow `touch`", "allow `touch`"], "{:?}", came.conflicts);
        let policy = Policy::with_site(&toml(&came.tighten)).unwrap();
        for (command, verdict) in [
            ("az network nic list", Verdict::Risky),
            ("az vm list", Verdict::Safe),
            ("sudo ss -tln", Verdict::Blocked),
            ("touch x", Verdict::Risky),
        ] {
            assert_eq!(policy.classify(command).verdict, verdict, "{command}");
        }
    }

    #[test]
    fn permission_rules_are_read_as_far_as_they_are_first_words() {
        let settings = r#"{"permissions":{"allow":["Bash(uname:*)","Bash(rm:*)","Read(./x)"],"ask":["Bash(ip route *)"],
            "deny":["Bash(curl:*)","Bash(a * b)","WebFetch(domain:x.example)","Bash","Bash(ls && rm)"]},"other":1}"#;
        let (came, unread) = imported(settings);
        let rows: Vec<_> = came.tighten.iter().map(|row| (row.words.join(" "), row.verdict)).collect();
        assert_eq!(rows, [("curl".to_owned(), Verdict::Blocked), ("ip route".to_owned(), Verdict::Risky)]);
        let about = |all: &[Conflict]| all.iter().map(|one| one.rule.clone()).collect::<Vec<_>>();
        let expected = [
            "forbid `Bash(a * b)`",
            "forbid `WebFetch(domain:x.example)`",
            "forbid `Bash`",
            "forbid `Bash(ls && rm)`",
            "allow `Read(./x)`",
        ];
        assert_eq!(about(&unread), expected);
        assert_eq!(about(&came.conflicts), ["allow `Bash(rm:*)`"]);
    }

    #[test]
    fn of_two_rules_about_the_same_words_the_stricter_one_counts() {
        let rules = "prefix_rule(pattern = ['ss'], decision = 'prompt')\nprefix_rule(pattern = ['ss'], decision = 'forbidden')\nprefix_rule(pattern = ['ss', '-t'], decision = 'prompt')";
        let (came, _) = imported(rules);
        let policy = Policy::with_site(&toml(&came.tighten)).unwrap();
        assert_eq!(policy.classify("ss -t").verdict, Verdict::Blocked);
        assert_eq!(came.conflicts, []);
    }
}
