//! `[ … ]` and `[[ … ]]`.

use regex::Regex;

use super::shell::{Io, Shell};
use crate::host::script::pattern::matches;
use crate::host::script::tree::Word;

impl Shell<'_> {
    /// Answers `test` and `[`.
    pub(in crate::host::script) fn test(&mut self, arguments: &[String], io: &Io) -> u8 {
        let words: Vec<(String, String)> =
            arguments.iter().map(|word| (word.clone(), word.clone())).collect();
        self.judged(&words, false, io)
    }

    /// Answers `[[ … ]]`.
    pub(super) fn conditional_expression(&mut self, words: &[Word], io: &Io) -> u8 {
        let mut values = Vec::new();
        for word in words {
            match (self.text(word, io), self.pattern(word, io)) {
                (Ok(text), Ok(pattern)) => values.push((text, pattern)),
                _ => return 1,
            }
        }
        self.judged(&values, true, io)
    }

    fn judged(&mut self, words: &[(String, String)], double: bool, io: &Io) -> u8 {
        let mut question = TestExpression { words, at: 0, double, depth: 0 };
        let answer = question.either(self);
        match answer {
            Ok(answer) if question.at >= words.len() => u8::from(!answer),
            Ok(_) => self.protest(
                io,
                if double { "syntax error in conditional expression" } else { "[: too many arguments" },
                2,
            ),
            Err(what) => {
                let name = if double { "[[" } else { "[" };
                self.protest(io, &format!("{name}: {what}"), 2)
            }
        }
    }
}

struct TestExpression<'a> {
    words: &'a [(String, String)],
    at: usize,
    double: bool,
    depth: usize,
}

impl TestExpression<'_> {
    fn word(&self, ahead: usize) -> Option<&str> {
        self.words.get(self.at + ahead).map(|(text, _)| text.as_str())
    }

    fn take(&mut self, any: [&str; 2]) -> bool {
        let found = self.word(0).is_some_and(|word| any.contains(&word));
        self.at += usize::from(found);
        found
    }

    fn either(&mut self, shell: &mut Shell<'_>) -> Result<bool, String> {
        let mut answer = self.both(shell)?;
        while self.take(if self.double { ["||", "||"] } else { ["-o", "-o"] }) {
            answer |= self.both(shell)?;
        }
        Ok(answer)
    }

    fn both(&mut self, shell: &mut Shell<'_>) -> Result<bool, String> {
        let mut answer = self.one(shell)?;
        while self.take(if self.double { ["&&", "&&"] } else { ["-a", "-a"] }) {
            answer &= self.one(shell)?;
        }
        Ok(answer)
    }

    fn one(&mut self, shell: &mut Shell<'_>) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > 50 {
            return Err("too many arguments".to_owned());
        }
        let Some(first) = self.word(0).map(str::to_owned) else { return Ok(false) };
        let left = self.words.len() - self.at;
        if first == "!" && left > 1 {
            self.at += 1;
            let answer = !self.one(shell)?;
            self.depth -= 1;
            return Ok(answer);
        }
        if first == "(" && left > 2 {
            self.at += 1;
            let answer = self.either(shell)?;
            if !self.take([")", ")"]) {
                return Err("`)' expected".to_owned());
            }
            self.depth -= 1;
            return Ok(answer);
        }
        self.depth -= 1;
        if let (Some(operator), Some((right, pattern))) = (self.word(1), self.words.get(self.at + 2))
            && let Some(answer) = self.compare(&first, operator, right, pattern)
        {
            self.at += 3;
            return answer;
        }
        if first.len() == 2 && first.starts_with('-') && left > 1 {
            let value = self.word(1).unwrap_or_default().to_owned();
            let known = "zndfsrwxeLhp".contains(first.get(1..).unwrap_or_default());
            if !known {
                return Err(format!("{first}: unary operator expected"));
            }
            self.at += 2;
            return Ok(Self::alone(&first, &value, shell));
        }
        self.at += 1;
        Ok(!first.is_empty())
    }

    fn alone(operator: &str, value: &str, shell: &mut Shell<'_>) -> bool {
        match operator {
            "-z" => value.is_empty(),
            "-n" => !value.is_empty(),
            "-d" => shell.is_folder(value),
            "-f" => shell.is_there(value) && !shell.is_folder(value) && value != "/dev/null",
            "-s" => shell.content(value).is_ok_and(|content| !content.is_empty()),
            "-x" => {
                let path = shell.path(value);
                shell.calls.files().get(&path).is_none() && shell.is_there(value)
            }
            "-L" | "-h" | "-p" => false,
            _ => shell.is_there(value),
        }
    }

    fn compare(
        &self,
        left: &str,
        operator: &str,
        right: &str,
        pattern: &str,
    ) -> Option<Result<bool, String>> {
        let numbers = |holds: fn(i64, i64) -> bool| {
            let number = |text: &str| {
                text.trim().parse::<i64>().map_err(|_| format!("{text}: integer expression expected"))
            };
            Some(number(left).and_then(|left| number(right).map(|right| holds(left, right))))
        };
        match operator {
            "=" | "==" if self.double => Some(Ok(matches(pattern, left))),
            "!=" if self.double => Some(Ok(!matches(pattern, left))),
            "=~" if self.double => {
                Some(Regex::new(right).map(|regex| regex.is_match(left)).map_err(|error| error.to_string()))
            }
            "<" if self.double => Some(Ok(left < right)),
            ">" if self.double => Some(Ok(left > right)),
            "=" | "==" => Some(Ok(left == right)),
            "!=" => Some(Ok(left != right)),
            "-eq" => numbers(|left, right| left == right),
            "-ne" => numbers(|left, right| left != right),
            "-lt" => numbers(|left, right| left < right),
            "-le" => numbers(|left, right| left <= right),
            "-gt" => numbers(|left, right| left > right),
            "-ge" => numbers(|left, right| left >= right),
            _ => None,
        }
    }
}
