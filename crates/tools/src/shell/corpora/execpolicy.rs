//! The rules of Codex's execpolicy, as far as they speak of commands.

use anyhow::{Context as _, bail, ensure};

use super::star::{self, Call, Value};
use ghost_shell::plain_commands;

/// What rules decide, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decision {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Prompt,
    /// It never runs.
    Forbidden,
}

/// All rules of some files.
#[derive(Debug, Default)]
pub(crate) struct Rules(Vec<Rule>);

/// What holds for commands that begin with some words.
#[derive(Debug)]
pub(crate) struct Rule {
    /// For each of the first words, what it may be.
    pub pattern: Vec<Vec<String>>,
    pub decision: Decision,
    /// Why, where it says.
    pub why: Option<String>,
    /// Commands that it speaks of, and some that it does not.
    pub examples: Vec<(Vec<String>, bool)>,
}

impl Rules {
    /// Adds the rules of a file.
    pub(crate) fn add(&mut self, text: &str) -> anyhow::Result<()> {
        for call in star::read(text)? {
            match call.name.as_str() {
                "prefix_rule" => {
                    let rule = rule(&call).with_context(|| format!("the rule on line {}", call.line))?;
                    self.0.push(rule);
                }
                // Which hosts may be reached, and where a program lies: neither decides over a command.
                "network_rule" | "host_executable" => {}
                other => bail!("line {}: `{other}` is no rule", call.line),
            }
        }
        Ok(())
    }

    /// Returns the rules, in their order.
    pub(crate) fn all(&self) -> &[Rule] {
        &self.0
    }

    /// How many rules there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Judges a text: the strictest rule of its strictest command. Where none speaks of a command, and for what needs a
    /// shell, somebody is asked.
    pub(crate) fn judge(&self, text: &str) -> Decision {
        let commands = plain_commands(text).unwrap_or_default();
        let each = commands.iter().map(|words| self.decision(words).unwrap_or(Decision::Prompt));
        each.max().unwrap_or(Decision::Prompt)
    }

    fn decision(&self, words: &[String]) -> Option<Decision> {
        self.0.iter().filter(|rule| rule.matches(words)).map(|rule| rule.decision).max()
    }
}

impl Rule {
    fn matches(&self, words: &[String]) -> bool {
        words.len() >= self.pattern.len()
            && self.pattern.iter().zip(words).all(|(alternatives, word)| alternatives.contains(word))
    }

    /// A rule brings examples; one that does not hold says that it was read wrongly, or written so.
    fn check(&mut self, examples: &[Value], expected: bool) -> anyhow::Result<()> {
        for example in examples {
            let words = match example {
                Value::List(_) => words(example)?,
                Value::Text(text) => {
                    plain_commands(text).and_then(|mut all| all.pop()).context("an example needs a shell")?
                }
            };
            ensure!(self.matches(&words) == expected, "its example `{}` does not hold", words.join(" "));
            self.examples.push((words, expected));
        }
        Ok(())
    }
}

fn rule(call: &Call) -> anyhow::Result<Rule> {
    let mut pattern = Vec::new();
    let (mut decision, mut why) = (Decision::Allow, None);
    let mut examples: Vec<(&[Value], bool)> = Vec::new();
    for (name, value) in &call.arguments {
        match (name.as_str(), value) {
            ("pattern", Value::List(places)) => {
                pattern = places.iter().map(words).collect::<anyhow::Result<_>>()?;
            }
            ("decision", Value::Text(text)) => decision = decided(text)?,
            ("match", Value::List(list)) => examples.push((list, true)),
            ("not_match", Value::List(list)) => examples.push((list, false)),
            ("justification", Value::Text(text)) => why = Some(text.clone()),
            (other, _) => bail!("`{other}` is not understood"),
        }
    }
    ensure!(!pattern.is_empty(), "it has no pattern");
    let mut rule = Rule { pattern, decision, why, examples: Vec::new() };
    examples.iter().try_for_each(|(list, expected)| rule.check(list, *expected))?;
    Ok(rule)
}

fn decided(text: &str) -> anyhow::Result<Decision> {
    match text {
        "allow" => Ok(Decision::Allow),
        "prompt" => Ok(Decision::Prompt),
        "forbidden" => Ok(Decision::Forbidden),
        other => bail!("`{other}` is no decision"),
    }
}

/// Returns a word, or a list of them.
fn words(value: &Value) -> anyhow::Result<Vec<String>> {
    match value {
        Value::Text(word) => Ok(vec![word.clone()]),
        Value::List(list) => list
            .iter()
            .map(|one| match one {
                Value::Text(word) => Ok(word.clone()),
                Value::List(_) => bail!("a list of words has a list in it"),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        let mut rules = Rules::default();
        rules.add(text).unwrap();
        rules
    }

    #[track_caller]
    fn fails(text: &str, why: &str) {
        let error = format!("{:#}", Rules::default().add(text).unwrap_err());
        assert!(error.contains(why), "{error}");
    }

    const RULES: &str = "
prefix_rule(pattern = ['spin', ['-q', '--query']], match = ['spin -q x', ['spin', '--query']], not_match = ['spin'])
prefix_rule(pattern = ['spin', '-q', 'all'], decision = 'prompt', justification = 'slow')
prefix_rule(pattern = ['stop'], decision = 'forbidden')
host_executable(name = 'spin', paths = ['/usr/bin/spin'])
";

    #[test]
    fn the_strictest_rule_of_the_strictest_command_decides() {
        let rules = rules(RULES);
        assert_eq!(rules.len(), 3);
        assert_eq!(rules.judge("spin -q x"), Decision::Allow);
        assert_eq!(rules.judge("spin '--query'; spin -q y"), Decision::Allow);
        assert_eq!(rules.judge("spin -q all"), Decision::Prompt);
        assert_eq!(rules.judge("spin -q x && stop"), Decision::Forbidden);
    }

    #[test]
    fn what_no_rule_speaks_of_asks() {
        let rules = rules(RULES);
        for text in ["spin", "turn", "", "spin -q x | turn", "spin -q $x", "spin -q x > y"] {
            assert_eq!(rules.judge(text), Decision::Prompt, "{text}");
        }
    }

    #[test]
    fn a_rule_that_was_not_understood_is_an_error() {
        fails("prefix_rule(decision = 'allow')", "no pattern");
        fails("prefix_rule(pattern = ['a'], decision = 'maybe')", "`maybe` is no decision");
        fails("prefix_rule(pattern = ['a'], match = ['b'])", "its example `b` does not hold");
        fails("prefix_rule(pattern = ['a'], not_match = [['a', 'b']])", "does not hold");
        fails("prefix_rule(pattern = ['a'], unless = ['b'])", "`unless` is not understood");
        fails("\nsuffix_rule(pattern = ['a'])", "line 2: `suffix_rule` is no rule");
        fails("prefix_rule(pattern = [['a', ['b']]])", "has a list in it");
    }
}
