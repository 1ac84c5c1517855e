//! The counts of a corpus, by each of the judges.

use serde::Serialize;

use super::corpus::{Command, Corpus};
use super::execpolicy::{Decision, Rules};
use super::lines::FirstWords;
use super::selection::Selection;
use ghost_shell::{Policy, Ruling, Verdict};

pub(super) struct Judges<'j> {
    /// Ghost's policy.
    pub policy: &'j Policy,
    /// The rules of another, where some were given.
    pub rules: Option<&'j Rules>,
    /// A list of first words.
    pub words: &'j FirstWords,
    /// Which commands are meant; all, unless said.
    pub selection: Option<&'j Selection>,
}

/// One row of the table.
#[derive(Debug, Serialize, Default, PartialEq, Eq)]
pub(super) struct Row {
    /// The path of the corpus.
    pub corpus: String,
    /// How many files were read.
    pub files: usize,
    /// How many files have none of the formats.
    pub skipped: usize,
    /// How many commands were judged.
    pub commands: usize,
    /// By Ghost's policy.
    pub ghost: Ghost,
    /// By the rules of another.
    pub execpolicy: Option<Execpolicy>,
    /// By the list of first words.
    pub first_words: RuleWords,
    /// Of a selection: those that should run at once, and of them those that do.
    pub selection: Option<Selected>,
}

/// The verdicts of Ghost's policy.
#[derive(Debug, Serialize, Default, PartialEq, Eq)]
pub(super) struct Ghost {
    pub safe: usize,
    pub risky: usize,
    pub blocked: usize,
}

/// The decisions of an execpolicy.
#[derive(Debug, Serialize, Default, PartialEq, Eq)]
pub(super) struct Execpolicy {
    pub allow: usize,
    pub prompt: usize,
    pub forbidden: usize,
}

/// The answers of a list of first words.
#[derive(Debug, Serialize, Default, PartialEq, Eq)]
pub(super) struct RuleWords {
    pub allow: usize,
    pub ask: usize,
}

/// What a selection expects.
#[derive(Debug, Serialize, Default, PartialEq, Eq)]
pub(super) struct Selected {
    /// So many should run at once.
    pub should_run: usize,
    /// So many of them do.
    pub runs: usize,
    /// So many have to ask.
    pub has_to_ask: usize,
    /// So many of them do not.
    pub does_not: usize,
    /// What it names and the corpus lacks.
    pub missing: Vec<String>,
}

impl Judges<'_> {
    /// Counts a corpus; `seen` hears of every command that counts, with its ruling.
    pub(super) fn count(
        &self,
        corpus: &Corpus,
        mut seen: impl FnMut(&Command, &Ruling) -> anyhow::Result<()>,
    ) -> anyhow::Result<Row> {
        let mut row = Row {
            corpus: corpus.name.clone(),
            files: corpus.files,
            skipped: corpus.skipped.len(),
            execpolicy: self.rules.map(|_| Execpolicy::default()),
            selection: self
                .selection
                .map(|list| Selected { missing: list.missing(&corpus.commands), ..Selected::default() }),
            ..Row::default()
        };
        for command in &corpus.commands {
            let asks = self.selection.map(|list| list.asks(command));
            if asks == Some(None) {
                continue;
            }
            let ruling = self.policy.classify(&command.text);
            self.add(&mut row, &command.text, ruling.verdict);
            if let (Some(selected), Some(asks)) = (&mut row.selection, asks.flatten()) {
                selected.add(asks, ruling.verdict);
            }
            seen(command, &ruling)?;
        }
        Ok(row)
    }

    fn add(&self, row: &mut Row, text: &str, verdict: Verdict) {
        row.commands += 1;
        *match verdict {
            Verdict::Safe => &mut row.ghost.safe,
            Verdict::Risky => &mut row.ghost.risky,
            Verdict::Blocked => &mut row.ghost.blocked,
        } += 1;
        if let (Some(rules), Some(counts)) = (self.rules, &mut row.execpolicy) {
            *match rules.judge(text) {
                Decision::Allow => &mut counts.allow,
                Decision::Prompt => &mut counts.prompt,
                Decision::Forbidden => &mut counts.forbidden,
            } += 1;
        }
        let counts = &mut row.first_words;
        *(if self.words.allows(text) { &mut counts.allow } else { &mut counts.ask }) += 1;
    }
}

impl Selected {
    fn add(&mut self, asks: bool, verdict: Verdict) {
        let safe = usize::from(verdict == Verdict::Safe);
        if asks {
            self.has_to_ask += 1;
            self.does_not += safe;
        } else {
            self.should_run += 1;
            self.runs += safe;
        }
    }
}

/// Writes the rows as a table.
pub(super) fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.corpus.chars().count()).max().unwrap_or(0).max("corpus".len());
    let others = rows.iter().any(|row| row.execpolicy.is_some());
    let mut out = format!("{:<width$}            Ghost                   ", "");
    out.push_str(if others { "   execpolicy                 first words\n" } else { "   first words\n" });
    out.push_str(&format!("{:<width$}  commands    SAFE   RISKY BLOCKED", "corpus"));
    out.push_str(if others { "   allow  prompt forbidden   allow    ask\n" } else { "   allow    ask\n" });
    for row in rows {
        let Ghost { safe, risky, blocked } = row.ghost;
        out.push_str(&format!(
            "{:<width$}  {:>8} {safe:>7} {risky:>7} {blocked:>7}",
            row.corpus, row.commands
        ));
        if let Some(Execpolicy { allow, prompt, forbidden }) = row.execpolicy {
            out.push_str(&format!(" {allow:>7} {prompt:>7} {forbidden:>9}"));
        }
        out.push_str(&format!(" {:>7} {:>6}\n", row.first_words.allow, row.first_words.ask));
    }
    for selected in rows.iter().filter_map(|row| row.selection.as_ref()) {
        let Selected { should_run, runs, has_to_ask, does_not, missing } = selected;
        out.push_str(&format!(
            "\nof {should_run} that should run at once {runs} do{}",
            share(*runs, *should_run)
        ));
        out.push_str(&format!("; of {has_to_ask} that have to ask {does_not} do not\n"));
        out.extend(missing.iter().map(|one| format!("not in the corpus: {one}\n")));
    }
    out
}

fn share(part: usize, whole: usize) -> String {
    (part * 1000 + whole / 2)
        .checked_div(whole)
        .map_or_else(String::new, |permille| format!(" ({}.{} %)", permille / 10, permille % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(texts: &[&str]) -> Corpus {
        let command = |(text, number): (&&str, usize)| Command {
            page: "page".to_owned(),
            number,
            text: (*text).to_owned(),
        };
        Corpus {
            name: "here".to_owned(),
            files: 1,
            commands: texts.iter().zip(1..).map(command).collect(),
            ..Corpus::default()
        }
    }

    #[test]
    fn every_judge_counts_every_command() {
        let mut rules = Rules::default();
        rules
            .add("prefix_rule(pattern=['ss'])\nprefix_rule(pattern=['reboot'], decision='forbidden')")
            .unwrap();
        let judges = Judges {
            policy: Policy::builtin().unwrap(),
            rules: Some(&rules),
            words: &FirstWords::parse("ss\nip"),
            selection: None,
        };
        let mut seen = 0;
        let row = judges.count(&corpus(&["ss -t", "ip link set eth0 down", "reboot"]), |_, _| {
            seen += 1;
            Ok(())
        });
        let expected = Row {
            corpus: "here".to_owned(),
            files: 1,
            commands: 3,
            ghost: Ghost { safe: 1, risky: 1, blocked: 1 },
            execpolicy: Some(Execpolicy { allow: 1, prompt: 1, forbidden: 1 }),
            first_words: RuleWords { allow: 2, ask: 1 },
            ..Row::default()
        };
        assert_eq!((row.unwrap(), seen), (expected, 3));
    }

    #[test]
    fn a_selection_says_what_should_run_and_what_has_to_ask() {
        let list = Selection::parse("page 1 2\npage 3 asks it sends\npage 9\n").unwrap();
        let judges = Judges {
            policy: Policy::builtin().unwrap(),
            rules: None,
            words: &FirstWords::parse(""),
            selection: Some(&list),
        };
        let commands = corpus(&["ss -t", "unheard-of", "curl -d x http://x.example", "reboot"]);
        let row = judges.count(&commands, |_, _| Ok(())).unwrap();
        let expected = Selected {
            should_run: 2,
            runs: 1,
            has_to_ask: 1,
            does_not: 0,
            missing: vec!["page 9".to_owned()],
        };
        assert_eq!((row.selection.as_ref(), row.commands), (Some(&expected), 3));
        let table = table(&[row]);
        assert!(table.contains("of 2 that should run at once 1 do (50.0 %)"), "{table}");
        assert!(table.contains("not in the corpus: page 9"), "{table}");
    }

    #[test]
    fn nothing_has_no_share() {
        assert_eq!((share(0, 0), share(2, 3)), (String::new(), " (66.7 %)".to_owned()));
    }
}
