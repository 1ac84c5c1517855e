//! Lists: plain commands in a row, with redirections that lead nowhere.

use super::script::{Command, Link, Need, OF_A_LIST, Redirect, RedirectKind, Script};
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

impl Script {
    /// Returns the rows of a list; `None` for what only a shell could run.
    pub(crate) fn list(&self) -> Option<Vec<Row<'_>>> {
        let shape = [OF_A_LIST.as_slice(), &[Need::Pattern]].concat();
        if self.broken.is_some() || self.dangling || !self.needs.only(&shape) || self.commands.is_empty() {
            return None;
        }
        let mut rows: Vec<Row<'_>> = Vec::new();
        for command in &self.commands {
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
        Some(rows)
    }
}

/// Splits a text into the words of its commands, one after the other; `None` where only a shell could run it.
///
/// For judges that look at nothing but words. What this one decides by is [`Policy::classify`](crate::Policy::classify).
#[must_use]
pub fn plain_commands(text: &str) -> Option<Vec<Vec<String>>> {
    let script = super::read_without_shell(text);
    let words = |command: &Command| command.words.iter().map(|word| word.text.clone()).collect();
    script.list().map(|rows| rows.iter().flat_map(|row| &row.steps).map(|step| words(step.command)).collect())
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
        let rows = script.list()?;
        let step = |step: &ListCommand<'_>| {
            let words: Vec<&str> = step.command.words.iter().map(|word| word.text.as_str()).collect();
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
        Some(rows.iter().map(row).collect::<Vec<_>>().join(" "))
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
            "a | b *",
            "a; b {c,d}",
            "a; ~/b",
            "a; # b",
            "A=b c",
            "f() { a; }",
            "a | b <(c)",
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
