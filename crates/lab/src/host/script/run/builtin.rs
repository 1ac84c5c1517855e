//! The shell's own commands.

use super::shell::{Flow, Io, Shell};
use crate::host::script::tool;

const OWN: [&str; 22] = [
    ":", ".", "source", "break", "cd", "command", "continue", "eval", "exit", "export", "hash", "local",
    "pwd", "read", "readonly", "return", "set", "shift", "trap", "type", "unset", "wait",
];

impl Shell<'_> {
    /// Runs one of the shell's own commands; nothing where it is none.
    pub(super) fn builtin(&mut self, name: &str, arguments: &[String], io: &Io) -> Option<Flow> {
        let first = arguments.first().map(String::as_str);
        let number = || first.and_then(|word| word.parse::<i64>().ok());
        let mut flow = Flow::Next;
        self.status = match name {
            ":" | "hash" | "trap" | "wait" | "umask" | "ulimit" => 0,
            "declare" | "let" | "mapfile" | "readarray" | "getopts" | "shopt" => {
                self.protest(io, &format!("{name}: not known here"), 2)
            }
            "exit" | "return" => {
                let before = self.status;
                flow = if name == "exit" { Flow::Exit } else { Flow::Return };
                match (first, number()) {
                    (None, _) => before,
                    (_, Some(number)) => u8::try_from(number & 0xff).unwrap_or(0),
                    (Some(word), None) => {
                        self.protest(io, &format!("{name}: {word}: numeric argument required"), 2)
                    }
                }
            }
            "break" | "continue" => {
                let count = number().and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
                flow = if name == "break" { Flow::Break(count) } else { Flow::Continue(count) };
                0
            }
            "shift" => {
                let count = number().and_then(|count| usize::try_from(count).ok()).unwrap_or(1);
                if count > self.arguments.len() {
                    1
                } else {
                    self.arguments.drain(..count);
                    0
                }
            }
            "cd" => {
                let target = first.map_or_else(|| "/root".to_owned(), |folder| self.path(folder));
                if self.is_folder(&target) {
                    self.variables.insert("PWD".to_owned(), target);
                    0
                } else {
                    self.protest(
                        io,
                        &format!("cd: {}: No such file or directory", first.unwrap_or_default()),
                        1,
                    )
                }
            }
            "pwd" => {
                let here = self.value("PWD").unwrap_or_else(|| "/root".to_owned());
                self.say(io, &here);
                0
            }
            "eval" => return Some(self.inner(&arguments.join(" "), io)),
            "." | "source" => match first.map(|path| self.content(path)) {
                Some(Ok(content)) => return Some(self.inner(&String::from_utf8_lossy(&content), io)),
                _ => self.protest(io, &format!("{}: No such file or directory", first.unwrap_or(".")), 1),
            },
            "export" | "readonly" | "local" => {
                for argument in arguments.iter().filter(|argument| !argument.starts_with('-')) {
                    if let Some((name, value)) = argument.split_once('=') {
                        self.variables.insert(name.to_owned(), value.to_owned());
                    } else if name == "local" {
                        self.variables.insert(argument.clone(), String::new());
                    }
                }
                0
            }
            "unset" => {
                for argument in arguments {
                    self.variables.remove(argument);
                    self.functions.remove(argument);
                }
                0
            }
            "set" => self.set(arguments, io),
            "read" => self.read(arguments, io),
            "command" if matches!(first, Some("-v" | "-V")) => {
                self.which(arguments.get(1..).unwrap_or_default(), io, false)
            }
            "type" | "which" => self.which(arguments, io, name == "type"),
            _ => return None,
        };
        Some(flow)
    }

    fn set(&mut self, arguments: &[String], io: &Io) -> u8 {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let Some(on) =
                argument.chars().next().filter(|sign| matches!(sign, '-' | '+')).map(|sign| sign == '-')
            else {
                self.arguments = std::iter::once(argument).chain(rest).cloned().collect();
                return 0;
            };
            if argument == "--" {
                self.arguments = rest.cloned().collect();
                return 0;
            }
            for letter in argument.chars().skip(1) {
                match letter {
                    'e' => self.options.errexit = on,
                    'u' => self.options.nounset = on,
                    'x' => self.options.trace = on,
                    'f' | 'h' | 'm' | 'b' | 'a' | 'E' => {}
                    'o' => match rest.next().map(String::as_str) {
                        Some("pipefail") => self.options.pipefail = on,
                        Some("errexit") => self.options.errexit = on,
                        Some("nounset") => self.options.nounset = on,
                        Some("xtrace") => self.options.trace = on,
                        Some("noglob" | "posix" | "errtrace") | None => {}
                        Some(other) => {
                            return self.protest(io, &format!("set: {other}: invalid option name"), 2);
                        }
                    },
                    _ => return self.protest(io, &format!("set: -{letter}: invalid option"), 2),
                }
            }
        }
        0
    }

    fn read(&mut self, arguments: &[String], io: &Io) -> u8 {
        let mut names: Vec<&str> = Vec::new();
        let (mut raw, mut skip) = (false, false);
        for argument in arguments {
            if std::mem::take(&mut skip) {
                continue;
            }
            match argument.as_str() {
                "-r" => raw = true,
                "-t" | "-p" | "-n" | "-d" => skip = true,
                name => names.push(name),
            }
        }
        if names.is_empty() {
            names.push("REPLY");
        }
        let Some((line, ended)) = io.input.borrow_mut().line() else {
            for name in names {
                self.variables.insert(name.to_owned(), String::new());
            }
            return 1;
        };
        let line = String::from_utf8_lossy(&line).into_owned();
        let line = if raw { line } else { line.replace('\\', "") };
        let separators = self.variables.get("IFS").cloned().unwrap_or_else(|| " \t\n".to_owned());
        let blank: Vec<char> = separators.chars().filter(|char| char.is_whitespace()).collect();
        let mut rest = line.trim_matches(blank.as_slice());
        let last = names.len() - 1;
        for (at, name) in names.into_iter().enumerate() {
            let value = if at == last {
                std::mem::take(&mut rest)
            } else {
                let end = rest.find(|char| separators.contains(char)).unwrap_or(rest.len());
                let (value, behind) = rest.split_at(end);
                let mut chars = behind.chars();
                chars.next();
                rest = chars.as_str().trim_start_matches(blank.as_slice());
                value
            };
            self.variables.insert(name.to_owned(), value.to_owned());
        }
        u8::from(!ended)
    }

    /// Says where programs lie.
    fn which(&mut self, names: &[String], io: &Io, wordy: bool) -> u8 {
        let mut code = 0;
        for name in names.iter().filter(|name| !name.starts_with('-')) {
            let own = OWN.contains(&name.as_str()) || self.functions.contains_key(name);
            let found = if own {
                Some(name.clone())
            } else {
                let own_tool = || tool::find(name).map(|_| format!("/usr/bin/{name}"));
                self.calls.find(name).or_else(own_tool)
            };
            match found {
                Some(_) if wordy && own => self.say(io, &format!("{name} is a shell builtin")),
                Some(place) if wordy => self.say(io, &format!("{name} is {place}")),
                Some(place) => self.say(io, &place),
                None => {
                    code = 1;
                    if wordy {
                        self.protest(io, &format!("type: {name}: not found"), 1);
                    }
                }
            }
        }
        code
    }
}
