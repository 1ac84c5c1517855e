//! Programs that run other programs.

use std::time::Duration;

use super::shell::{Flow, Io, Shell};
use crate::host::script::parse::parse;

impl Shell<'_> {
    /// Runs what a wrapper wraps; nothing where the name is none of a wrapper.
    pub(super) fn wrapped(&mut self, name: &str, arguments: &[String], io: &Io) -> Option<Flow> {
        match name.rsplit('/').next().unwrap_or(name) {
            "sudo" => {
                let rest = past(arguments, &["-u", "-g", "-h", "-p", "-C"]);
                Some(self.with_variables(rest, io))
            }
            "env" => {
                let rest = past(arguments, &["-u", "-C"]);
                if rest.is_empty() {
                    let all: Vec<String> =
                        self.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    all.iter().for_each(|line| self.say(io, line));
                    self.status = 0;
                    return Some(Flow::Next);
                }
                Some(self.with_variables(rest, io))
            }
            "command" | "builtin" | "nohup" | "setsid" | "time" => {
                let rest = past(arguments, &[]);
                Some(if rest.is_empty() { Flow::Next } else { self.nested(rest, io) })
            }
            "exec" => {
                if arguments.is_empty() {
                    self.status = 0;
                    return Some(Flow::Next);
                }
                let flow = self.nested(arguments, io);
                Some(if flow == Flow::Next { Flow::Exit } else { flow })
            }
            "nice" | "ionice" => Some(self.nested(past(arguments, &["-n", "-c"]), io)),
            "stdbuf" => Some(self.nested(past(arguments, &["-o", "-i", "-e"]), io)),
            "timeout" => Some(self.timeout(arguments, io)),
            "bash" | "sh" | "dash" => Some(self.shell(arguments, io)),
            "xargs" => Some(self.xargs(arguments, io)),
            _ => None,
        }
    }

    fn nested(&mut self, argv: &[String], io: &Io) -> Flow {
        if let Err(flow) = self.deeper() {
            return flow;
        }
        let flow = self.argv(argv, io);
        self.shallower();
        flow
    }

    fn with_variables(&mut self, argv: &[String], io: &Io) -> Flow {
        let count =
            argv.iter().take_while(|word| word.contains('=') && !word.starts_with(['-', '/'])).count();
        let (set, argv) = argv.split_at(count);
        let set: Vec<(String, String)> = set
            .iter()
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let before = self.variables.clone();
        let changes = !set.is_empty();
        self.variables.extend(set);
        let flow = self.nested(argv, io);
        if changes {
            self.variables = before;
        }
        flow
    }

    fn timeout(&mut self, arguments: &[String], io: &Io) -> Flow {
        let rest = past(arguments, &["-k", "-s", "--signal", "--kill-after"]);
        let Some((time, argv)) = rest.split_first() else {
            self.status = self.complain(io, "timeout: missing operand", 125);
            return Flow::Next;
        };
        let Some(time) = duration(time) else {
            self.status = self.complain(io, &format!("timeout: invalid time interval ‘{time}’"), 125);
            return Flow::Next;
        };
        let before = self.limit;
        let limit = self.calls.now().plus(time);
        self.limit = Some(before.map_or(limit, |before| before.min(limit)));
        let flow = self.nested(argv, io);
        self.limit = before;
        if self.calls.now() >= limit && !time.is_zero() {
            self.status = 124;
        }
        if flow == Flow::Killed { flow } else { Flow::Next }
    }

    fn shell(&mut self, arguments: &[String], io: &Io) -> Flow {
        let flags: Vec<&String> = arguments.iter().take_while(|word| word.starts_with('-')).collect();
        let rest: Vec<String> = arguments.iter().skip(flags.len()).cloned().collect();
        let has = |letter: char| flags.iter().any(|flag| !flag.starts_with("--") && flag.contains(letter));
        let (text, arguments) = if has('c') {
            let Some((text, rest)) = rest.split_first() else {
                self.status = self.complain(io, "bash: -c: option requires an argument", 2);
                return Flow::Next;
            };
            (text.clone(), rest.get(1..).unwrap_or_default().to_vec())
        } else if has('s') || rest.is_empty() {
            (String::from_utf8_lossy(&io.input.borrow_mut().rest()).into_owned(), rest)
        } else {
            let path = rest.first().cloned().unwrap_or_default();
            match self.content(&path) {
                Ok(content) => (
                    String::from_utf8_lossy(&content).into_owned(),
                    rest.get(1..).unwrap_or_default().to_vec(),
                ),
                Err(why) => {
                    self.status = self.complain(io, &format!("bash: {path}: {why}"), 127);
                    return Flow::Next;
                }
            }
        };
        let before = self.options;
        (self.options.errexit, self.options.nounset, self.options.trace) = (has('e'), has('u'), has('x'));
        self.inner_script(&text, arguments, io);
        self.options = before;
        if self.status == 137 && self.step() == Flow::Killed { Flow::Killed } else { Flow::Next }
    }

    /// Runs a text as a shell of its own.
    pub(super) fn inner_script(&mut self, text: &str, arguments: Vec<String>, io: &Io) {
        let conditional = std::mem::take(&mut self.conditional);
        let _ = self.apart(|shell| {
            shell.arguments = arguments;
            shell.inner(text, io)
        });
        self.conditional = conditional;
    }

    /// Runs a text in this shell.
    pub(in crate::host::script) fn inner(&mut self, text: &str, io: &Io) -> Flow {
        if let Err(flow) = self.deeper() {
            return flow;
        }
        let flow = match parse(text, 1) {
            Ok(list) => {
                self.status = 0;
                self.list(&list, io)
            }
            Err(broken) => {
                self.status = self.broken(io, &broken);
                Flow::Next
            }
        };
        self.shallower();
        flow
    }

    fn xargs(&mut self, arguments: &[String], io: &Io) -> Flow {
        let one = arguments.windows(2).any(|pair| matches!(pair, [flag, one] if flag == "-n" && one == "1"));
        let place = arguments.windows(2).find_map(|pair| match pair {
            [flag, place] if flag == "-I" => Some(place.clone()),
            _ => None,
        });
        let rest = past(arguments, &["-n", "-I", "-P", "-L"]);
        let input = String::from_utf8_lossy(&io.input.borrow_mut().rest()).into_owned();
        let command: Vec<String> = if rest.is_empty() { vec!["echo".to_owned()] } else { rest.to_vec() };
        let calls: Vec<Vec<String>> = if let Some(place) = place {
            let each = |line: &str| command.iter().map(|word| word.replace(&place, line)).collect();
            input.lines().map(str::trim).filter(|line| !line.is_empty()).map(each).collect()
        } else if one {
            let each = |word: &str| command.iter().cloned().chain([word.to_owned()]).collect();
            input.split_whitespace().map(each).collect()
        } else {
            let words: Vec<String> = input.split_whitespace().map(str::to_owned).collect();
            if words.is_empty() && arguments.iter().any(|word| word == "-r" || word == "--no-run-if-empty") {
                Vec::new()
            } else {
                vec![command.into_iter().chain(words).collect()]
            }
        };
        let mut worst = 0;
        for argv in calls {
            let flow = self.step();
            if flow != Flow::Next {
                return flow;
            }
            let flow = self.nested(&argv, io);
            if flow == Flow::Killed {
                return flow;
            }
            if self.status != 0 {
                worst = 123;
            }
        }
        self.status = worst;
        Flow::Next
    }
}

/// Passes options; some of them take a value.
fn past<'a>(arguments: &'a [String], with_value: &[&str]) -> &'a [String] {
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|word| word.starts_with('-') && word.len() > 1) {
        at += 1;
        if word == "--" {
            break;
        }
        if with_value.contains(&word.as_str()) {
            at += 1;
        }
    }
    arguments.get(at..).unwrap_or_default()
}

/// Reads `5`, `0.5`, `2m`.
pub(in crate::host) fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = match text.chars().last()? {
        's' => (text.strip_suffix('s')?, 1.0),
        'm' => (text.strip_suffix('m')?, 60.0),
        'h' => (text.strip_suffix('h')?, 3_600.0),
        'd' => (text.strip_suffix('d')?, 86_400.0),
        _ => (text, 1.0),
    };
    if digits == "infinity" || text == "infinity" {
        return Some(Duration::from_secs(365 * 86_400));
    }
    let seconds = digits.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0 && *seconds < 1e9)?;
    Duration::try_from_secs_f64(seconds * unit).ok()
}
