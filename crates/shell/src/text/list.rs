//! Lists: plain commands in a row, with redirections that lead nowhere.

use std::ops::Range;

use super::script::{
    Command, Link, Need, OF_A_LIST, OF_THE_GATE, Redirect, RedirectKind, Script, Word, WordFill,
};
use crate::{Stderr, Stdout, When};

/// One command of a list, with where its output goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListCommand<'s> {
    pub(crate) command: &'s Command,
    /// Where its standard output goes.
    pub(crate) stdout: Stdout,
    /// Where its standard error goes.
    pub(crate) stderr: Stderr,
}

/// Commands joined by `|`.
#[derive(Debug, Clone)]
pub(crate) struct Row<'s> {
    /// When they run.
    pub(crate) when: When,
    /// The commands; never empty.
    pub(crate) steps: Vec<ListCommand<'s>>,
}

/// How deep `<( … )` nests.
const MAX_DEPTH: usize = 4;

/// How many `<( … )` one text holds: as many as commands that a person can review.
const MAX_OUTPUTS: usize = 64;

impl Script {
    /// Returns the rows of a list that the gate runs; `None` for what only a shell could run.
    ///
    /// What [`Word::fill`](super::script::Word::fill) says the gate puts in the place of a word, only the gate does.
    pub(crate) fn list(&self) -> Option<Vec<Row<'_>>> {
        let shape = [OF_A_LIST.as_slice(), &OF_THE_GATE, &[Need::Pattern]].concat();
        if self.broken.is_some() || self.dangling || !self.needs.only(&shape) {
            return None;
        }
        self.rows(0..self.commands.len(), 0)
    }

    /// Returns the rows of a list that every shell runs as the gate would.
    pub(crate) fn plain_list(&self) -> Option<Vec<Row<'_>>> {
        self.list().filter(|_| OF_THE_GATE.iter().all(|need| !self.needs.has(*need)))
    }

    /// Returns the rows of `<( … )`.
    pub(crate) fn rows_of(&self, commands: Range<usize>) -> Vec<Row<'_>> {
        self.rows(commands, 0).unwrap_or_default()
    }

    fn rows(&self, commands: Range<usize>, depth: usize) -> Option<Vec<Row<'_>>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut rows: Vec<Row<'_>> = Vec::new();
        let all = self.commands.get(commands.clone())?;
        let inside = outputs(all);
        if inside.len() > MAX_OUTPUTS {
            return None;
        }
        for (at, command) in commands.zip(all) {
            if inside.iter().any(|range| range.contains(&at)) {
                continue;
            }
            for output in outputs(std::slice::from_ref(command)) {
                self.rows(output, depth + 1)?;
            }
            if command.words.is_empty() {
                return None;
            }
            let (step, no_input) = step(command)?;
            let when = match command.before {
                Link::Pipe => {
                    let steps = &mut rows.last_mut()?.steps;
                    if no_input {
                        // What stands before writes to nobody.
                        steps.iter_mut().next_back().into_iter().for_each(silence);
                    }
                    steps.push(step);
                    continue;
                }
                Link::And => When::Succeeded,
                Link::Or => When::Failed,
                Link::Edge | Link::Then => When::Always,
                Link::Background => return None,
            };
            rows.push(Row { when, steps: vec![step] });
        }
        (!rows.is_empty()).then_some(rows)
    }
}

/// Lists what stands in the `<( … )` of commands.
fn outputs(commands: &[Command]) -> Vec<Range<usize>> {
    let words = commands.iter().flat_map(|command| &command.words);
    let output = |word: &Word| match &word.fill {
        Some(WordFill::Output(commands)) => Some(commands.clone()),
        Some(WordFill::Pattern(_)) | None => None,
    };
    words.filter_map(output).collect()
}

/// Splits a text into the words of its commands, one after the other; `None` where only a shell could run it.
///
/// For judges that look at nothing but words. What this one decides by is [`Policy::classify`](crate::Policy::classify).
#[must_use]
pub fn plain_commands(text: &str) -> Option<Vec<Vec<String>>> {
    let script = super::read_without_shell(text);
    let words = |command: &Command| command.words.iter().map(|word| word.text.clone()).collect();
    script
        .plain_list()
        .map(|rows| rows.iter().flat_map(|row| &row.steps).map(|step| words(step.command)).collect())
}

fn silence(step: &mut ListCommand<'_>) {
    step.stdout = Stdout::Null;
    if step.stderr == Stderr::Next {
        step.stderr = Stderr::Null;
    }
}

/// Follows the redirections in their order, and tells whether the input is empty; `None` where one leads somewhere.
fn step(command: &Command) -> Option<(ListCommand<'_>, bool)> {
    let mut step = ListCommand { command, stdout: Stdout::Next, stderr: Stderr::Errors };
    let mut no_input = false;
    for redirect in &command.redirects {
        match harmless(redirect)? {
            Harmless::Output => step.stdout = Stdout::Null,
            Harmless::Errors => step.stderr = Stderr::Null,
            Harmless::Input => no_input = true,
            Harmless::Joined => {
                step.stderr = match step.stdout {
                    Stdout::Next => Stderr::Next,
                    Stdout::Null => Stderr::Null,
                }
            }
        }
    }
    Some((step, no_input))
}

enum Harmless {
    /// `>/dev/null`
    Output,
    /// `2>/dev/null`
    Errors,
    /// `</dev/null`
    Input,
    /// `2>&1`
    Joined,
}

fn harmless(redirect: &Redirect) -> Option<Harmless> {
    let nowhere = redirect.bare && redirect.target == "/dev/null";
    match (redirect.kind, redirect.descriptor.as_str()) {
        (RedirectKind::Write, "") if nowhere => Some(Harmless::Output),
        (RedirectKind::Write, "2") if nowhere => Some(Harmless::Errors),
        (RedirectKind::Read, "") if nowhere => Some(Harmless::Input),
        (RedirectKind::Duplicate, "2") if redirect.bare && redirect.target == "1" => Some(Harmless::Joined),
        (
            RedirectKind::Read
            | RedirectKind::Write
            | RedirectKind::Duplicate
            | RedirectKind::Document
            | RedirectKind::Text,
            _,
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::read;

    #[test]
    fn a_text_is_the_words_of_its_commands_or_needs_a_shell() {
        let words =
            |text| plain_commands(text).map(|all| all.iter().map(|one| one.join(",")).collect::<Vec<_>>());
        assert_eq!(words("ip 'a b' 2>/dev/null | head; id").unwrap(), ["ip,a b", "head", "id"]);
        assert_eq!((words("ip a > x"), words("ip $x"), words("ip '")), (None, None, None));
    }

    /// Writes a list down again, `None` where a shell is needed.
    fn shape(text: &str) -> Option<String> {
        let script = read(text);
        Some(written(&script, &script.list()?))
    }

    fn written(script: &Script, rows: &[Row<'_>]) -> String {
        let word = |word: &Word| match &word.fill {
            Some(WordFill::Output(commands)) => {
                format!("<{}>", written(script, &script.rows_of(commands.clone())))
            }
            Some(WordFill::Pattern(sample)) => sample.replace('\0', "%"),
            None => word.text.clone(),
        };
        let step = |step: &ListCommand<'_>| {
            let words: Vec<String> = step.command.words.iter().map(word).collect();
            let out = if step.stdout == Stdout::Null { " >" } else { "" };
            let err = match step.stderr {
                Stderr::Errors => "",
                Stderr::Next => " 2&",
                Stderr::Null => " 2>",
            };
            format!("{}{out}{err}", words.join(" "))
        };
        let row = |row: &Row<'_>| {
            let when = match row.when {
                When::Always => ";",
                When::Succeeded => "&&",
                When::Failed => "||",
            };
            format!("{when} {}", row.steps.iter().map(step).collect::<Vec<_>>().join(" | "))
        };
        rows.iter().map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_the_gate_puts_in_the_place_of_a_word_is_part_of_a_list() {
        for (text, list) in [
            ("a # b | c; $x", "; a"),
            ("a; # b", "; a"),
            ("# x\na | b # y", "; a | b"),
            ("a /x/*.log | b", "; a /x/%.log | b"),
            ("a /x/'b'\\ c*", "; a /x/b c%"),
            ("a /x/*/y /x/** /x/*? /x/.* x/* '/x/*' \\*", "; a /x/*/y /x/** /x/*? /x/.* x/* /x/* *"),
            ("a <(b c | d; e) f <(g 2>&1 || h) | i", "; a <; b c | d ; e> f <; g 2& || h> | i"),
            ("a <(b <(c))", "; a <; b <; c>>"),
            ("a && b <(c && d) || e", "; a && b <; c && d> || e"),
        ] {
            assert_eq!(shape(text).as_deref(), Some(list), "{text:?}");
        }
    }

    #[test]
    fn what_another_shell_does_otherwise_is_no_plain_list() {
        for text in ["a *", "a /x/*", "a <(b)"] {
            assert!(read(text).list().is_some() && read(text).plain_list().is_none(), "{text}");
            assert_eq!(plain_commands(text), None, "{text}");
        }
        assert!(read("a # b").plain_list().is_some());
    }

    #[test]
    fn plain_commands_in_a_row_are_a_list() {
        for (text, list) in [
            ("a b", "; a b"),
            ("a | b | c", "; a | b | c"),
            ("a && b || c; d\ne", "; a && b || c ; d ; e"),
            ("a |\n b &&\n\n c", "; a | b && c"),
            ("\n a;\n\n b;\n", "; a ; b"),
            ("a \\\n b", "; a b"),
            ("a\\\nb", "; ab"),
            ("a 'x | y' \";\" \\&", "; a x | y ; &"),
            ("a ? [x] {x}", "; a ? [x] {x}"),
        ] {
            assert_eq!(shape(text).as_deref(), Some(list), "{text:?}");
        }
    }

    #[test]
    fn redirections_are_followed_in_their_order() {
        for (text, list) in [
            ("a 2>&1 | b", "; a 2& | b"),
            ("a >/dev/null 2>&1", "; a > 2>"),
            ("a 2>&1 >/dev/null | b", "; a > 2& | b"),
            ("a 2> /dev/null | b", "; a 2> | b"),
            ("2>/dev/null a", "; a 2>"),
            ("a </dev/null", "; a"),
            ("a < '/dev/null'", "; a"),
            ("a 2>&1 | b </dev/null | c", "; a > 2> | b | c"),
        ] {
            assert_eq!(shape(text).as_deref(), Some(list), "{text:?}");
        }
    }

    #[test]
    fn a_redirection_that_leads_somewhere_needs_a_shell() {
        for redirect in [
            "> x",
            ">> /dev/null",
            ">| /dev/null",
            "<> /dev/null",
            "1>/dev/null",
            "3>/dev/null",
            "2>&-",
            "1>&2",
            ">&2",
            "2>&3",
            "2>&12",
            "&>/dev/null",
            ">&/dev/null",
            "0</dev/null",
            "< x",
            "<< x",
            "<<< x",
            "2>& 1",
            "2 >&1",
            "2>&1x",
            "> /dev/null/x",
            "> /dev//null",
            "> /dev/./null",
            ">",
            "2>",
            "> >/dev/null",
            "{fd}>/dev/null",
            "2<&1",
            "<&1",
        ] {
            assert_eq!(shape(&format!("a {redirect}")), None, "{redirect}");
            assert_eq!(shape(&format!("a {redirect} | b")), None, "{redirect}");
        }
    }

    #[test]
    fn an_operator_that_lacks_a_command_is_no_list() {
        for text in [
            "",
            "\n",
            ";",
            "; a",
            "a ;; b",
            "a ; ; b",
            "| a",
            "a |",
            "a | | b",
            "a || ",
            "a &&",
            "&& a",
            "a && ; b",
            "a\n| b",
            "a\n&& b",
            "a;\n;b",
            "a |; b",
            "a | && b",
            "a &&& b",
            "a ||| b",
            "a |\\\n| b",
            "a & b",
            "a |& b",
            "a \\\n&",
        ] {
            assert_eq!(shape(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_only_a_shell_understands_is_no_list() {
        for text in [
            ">/dev/null",
            "a; 2>&1",
            "a $x | b",
            "a | b `c`",
            "a; b $(c)",
            "a; (b)",
            "{ a; }",
            "a; if b; then c; fi",
            "! a",
            "a; b {c,d}",
            "a; ~/b",
            "a; #",
            "a # ",
            "A=b c",
            "f() { a; }",
            "a | b x<(c)",
            "a <(b)c",
            "a <(b)<(c)",
            "a ''<(b)",
            "a <(b)''",
            "a --x=<(b)",
            "a < <(b)",
            "<(a) b",
            "a <()",
            "a <(b &)",
            "a <(b; $x)",
            "a <(b > c)",
            "a >(b)",
            "a <(b <(c <(d <(e <(f <(g))))))",
            "a \"$\\\n(b)\"",
            "a 'b",
            "a | \"b",
            "a | b\\",
            "a; coproc b",
            "[[ a ]]",
            "a; { b",
            "a 'b\nc' | `d`",
        ] {
            assert_eq!(shape(text), None, "{text:?}");
        }
    }
}
