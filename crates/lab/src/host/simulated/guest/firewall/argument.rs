//! The words behind `iptables`: a command and a rule.

use super::module::{Kind, Row, doing, matching};
use super::refusal::Refusal;
use super::spec::{Opt, Part, RuleCommand, Spec};
use super::value::{normal, prefix, protocol};

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::host::simulated) struct Arguments {
    /// `A`, `I`, `D` and so on.
    pub(super) command: Option<char>,
    pub(super) chain: Option<String>,
    /// The place, or the second name.
    pub(super) second: Option<String>,
    pub(super) table: String,
    pub(super) spec: Spec,
    /// Whether the words describe a rule.
    pub(super) ruled: bool,
    pub(super) numeric: bool,
    pub(super) verbose: bool,
    pub(super) numbers: bool,
    pub(super) exact: bool,
    pub(super) version: bool,
    pub(super) counters: Option<(u64, u64)>,
}

const COMMANDS: [(&str, &str, char); 14] = [
    ("-A", "--append", 'A'),
    ("-D", "--delete", 'D'),
    ("-I", "--insert", 'I'),
    ("-R", "--replace", 'R'),
    ("-L", "--list", 'L'),
    ("-S", "--list-rules", 'S'),
    ("-F", "--flush", 'F'),
    ("-Z", "--zero", 'Z'),
    ("-N", "--new-chain", 'N'),
    ("-X", "--delete-chain", 'X'),
    ("-E", "--rename-chain", 'E'),
    ("-P", "--policy", 'P'),
    ("-C", "--check", 'C'),
    ("-V", "--version", 'V'),
];

/// Reads the words behind the program's name.
pub(super) fn read(words: &[String], six: bool) -> Result<Arguments, Refusal> {
    let words = apart(words);
    let mut reader =
        Reader { words: &words, at: 0, six, negated: false, made: Arguments::default(), current: None };
    reader.made.table = "filter".to_owned();
    reader.all()?;
    reader.finish()
}

/// Takes letters apart that stand together, as in `-nvL` and `-tnat`.
fn apart(words: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for word in words {
        let letters =
            word.strip_prefix('-').filter(|rest| rest.chars().count() > 1 && !rest.starts_with('-'));
        match letters {
            Some(letters) if letters.chars().all(|char| "nvxwLSFZXNAIDPh0123456789".contains(char)) => {
                out.extend(letters.chars().map(|letter| {
                    if letter.is_ascii_digit() { letter.to_string() } else { format!("-{letter}") }
                }));
            }
            Some(letters) if letters.starts_with('t') => {
                out.push("-t".to_owned());
                out.push(letters.chars().skip(1).collect());
            }
            _ => out.push(word.clone()),
        }
    }
    out
}

struct Reader<'a> {
    words: &'a [String],
    at: usize,
    six: bool,
    negated: bool,
    made: Arguments,
    /// The target whose options are read, once it is named.
    current: Option<&'static [Row]>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<String> {
        let next = self.words.get(self.at).cloned();
        self.at += usize::from(next.is_some());
        next
    }

    fn value(&mut self, of: &str) -> Result<String, Refusal> {
        let mut value = self.next();
        // An exclamation mark behind the option is the old form of negation.
        if value.as_deref() == Some("!") {
            self.negated = true;
            value = self.next();
        }
        value.ok_or_else(|| Refusal::usage(format!("option \"{of}\" requires an argument")))
    }

    /// Returns the next word, if it is no option.
    fn optional(&mut self) -> Option<String> {
        let word = self.words.get(self.at).filter(|word| !word.starts_with('-') && *word != "!")?.clone();
        self.at += 1;
        Some(word)
    }

    fn asked(&mut self, value: String) -> RuleCommand {
        RuleCommand { negated: std::mem::take(&mut self.negated), value }
    }

    fn all(&mut self) -> Result<(), Refusal> {
        while let Some(word) = self.next() {
            if word == "!" {
                self.negated = true;
                continue;
            }
            if let Some((_, _, letter)) =
                COMMANDS.iter().find(|(short, long, _)| word == *short || word == *long)
            {
                self.command(*letter, &word)?;
                continue;
            }
            self.option(&word)?;
        }
        Ok(())
    }

    fn command(&mut self, letter: char, word: &str) -> Result<(), Refusal> {
        if letter == 'V' {
            self.made.version = true;
            return Ok(());
        }
        if let Some(before) = self.made.command.filter(|before| !(*before == 'Z' || letter == 'Z')) {
            return Err(Refusal::usage(format!("Cannot use -{letter} with -{before}\n")));
        }
        if !(letter == 'Z' && self.made.command.is_some()) {
            self.made.command = Some(letter);
        }
        match letter {
            'L' | 'S' | 'F' | 'Z' | 'X' => {
                if let Some(chain) = self.optional() {
                    self.made.chain = Some(chain);
                }
                if letter == 'S' || letter == 'L' {
                    self.made.second = self.optional();
                }
            }
            _ => {
                self.made.chain = Some(self.value(word)?);
                let number = |word: &String| word.chars().all(|char| char.is_ascii_digit());
                let wants = match letter {
                    'D' | 'I' | 'R' => self.words.get(self.at).is_some_and(number),
                    'P' | 'E' => true,
                    _ => false,
                };
                if wants {
                    self.made.second = Some(self.value(word)?);
                }
            }
        }
        Ok(())
    }

    fn option(&mut self, word: &str) -> Result<(), Refusal> {
        let six = self.six;
        match word {
            "-t" | "--table" => self.made.table = self.value(word)?,
            "-n" | "--numeric" => self.made.numeric = true,
            "-v" | "--verbose" => self.made.verbose = true,
            "-x" | "--exact" => self.made.exact = true,
            "--line-numbers" => self.made.numbers = true,
            "-4" | "--ipv4" | "-6" | "--ipv6" => {}
            "-w" | "--wait" | "-W" | "--wait-interval" => {
                let number = self.words.get(self.at).is_some_and(|word| word.parse::<u32>().is_ok());
                self.at += usize::from(number);
            }
            "-c" | "--set-counters" => {
                let (packets, bytes) = (self.value(word)?, self.value(word)?);
                let number = |text: String| {
                    text.parse()
                        .map_err(|_| Refusal::usage(format!("-c packet counter `{text}' not numeric")))
                };
                self.made.counters = Some((number(packets)?, number(bytes)?));
            }
            "-p" | "--protocol" | "--proto" => {
                let value = self.value(word)?;
                let asked = protocol(&value)?;
                self.made.spec.protocol = asked.map(|value| self.asked(value));
                self.negated = false;
                self.made.ruled = true;
            }
            "-s" | "--source" | "--src" | "-d" | "--destination" | "--dst" => {
                let value = self.value(word)?;
                let asked = prefix(&value, six)?.map(|value| self.asked(value));
                self.negated = false;
                if matches!(word, "-s" | "--source" | "--src") {
                    self.made.spec.src = asked;
                } else {
                    self.made.spec.dst = asked;
                }
                self.made.ruled = true;
            }
            "-i" | "--in-interface" | "-o" | "--out-interface" => {
                let value = self.value(word)?;
                let everything = value == "+";
                let asked = Some(self.asked(value)).filter(|_| !everything);
                if word == "-i" || word == "--in-interface" {
                    self.made.spec.input = asked;
                } else {
                    self.made.spec.output = asked;
                }
                self.made.ruled = true;
            }
            "-f" | "--fragment" if !six => self.made.spec.fragment = Some(!std::mem::take(&mut self.negated)),
            "-m" | "--match" => {
                let module = self.value(word)?;
                if matching(&module).is_none() {
                    return Err(Refusal::usage(format!(
                        "Couldn't load match `{module}':No such file or directory\n"
                    )));
                }
                self.made.spec.matches.push(Part { module, options: Vec::new() });
                self.made.ruled = true;
            }
            "-j" | "--jump" | "-g" | "--goto" => {
                let target = self.value(word)?;
                self.made.spec.goto = word == "-g" || word == "--goto";
                self.current = if self.made.spec.goto { None } else { doing(&target) };
                self.made.spec.target = Some(target);
                self.made.ruled = true;
            }
            _ => self.module_option(word)?,
        }
        Ok(())
    }

    /// Gives an option to the target, to the last match that knows it, or to the match of the protocol.
    fn module_option(&mut self, word: &str) -> Result<(), Refusal> {
        let (name, inside) = match word.split_once('=') {
            Some((name, value)) if word.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ => (word.to_owned(), None),
        };
        let find = |rows: &'static [Row]| rows.iter().find(|(own, ..)| *own == name).copied();
        if let Some(row) = self.current.and_then(find) {
            let option = self.read_option(row, inside)?;
            self.made.spec.options.push(option);
            return Ok(());
        }
        let known = self
            .made
            .spec
            .matches
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, part)| Some((at, find(matching(&part.module)?)?)));
        let (at, row) = match known {
            Some(found) => found,
            None => {
                // The protocol brings its own match.
                let protocol = self
                    .made
                    .spec
                    .protocol
                    .as_ref()
                    .filter(|asked| !asked.negated)
                    .map(|asked| asked.value.as_str());
                let module = match protocol {
                    Some("ipv6-icmp") => "icmp6",
                    Some(other) => other,
                    None => "",
                };
                let row = matching(module).filter(|_| !matches!(module, "comment" | "mark")).and_then(find);
                let row = row.ok_or_else(|| {
                    let what = if word.starts_with('-') {
                        format!("unknown option \"{name}\"")
                    } else {
                        format!("Bad argument `{word}'")
                    };
                    Refusal::usage(what)
                })?;
                self.made.spec.matches.push(Part { module: module.to_owned(), options: Vec::new() });
                (self.made.spec.matches.len() - 1, row)
            }
        };
        let option = self.read_option(row, inside)?;
        if let Some(part) = self.made.spec.matches.get_mut(at) {
            part.options.retain(|own| own.name != option.name);
            part.options.push(option);
        }
        Ok(())
    }

    fn read_option(&mut self, (name, printed, kind): Row, inside: Option<String>) -> Result<Opt, Refusal> {
        let count = match kind {
            Kind::Flag | Kind::Syn => 0,
            Kind::Flags | Kind::Two => 2,
            Kind::Word
            | Kind::Text
            | Kind::Port
            | Kind::Ports
            | Kind::States
            | Kind::Mark
            | Kind::Rate
            | Kind::Burst
            | Kind::IcmpType
            | Kind::Chance
            | Kind::Number
            | Kind::SetMark
            | Kind::Upper
            | Kind::User
            | Kind::RejectWith
            | Kind::LogLevel => 1,
        };
        let mut values: Vec<String> = inside.into_iter().collect();
        while values.len() < count {
            let value = self.value(name)?;
            values.push(value);
        }
        let values = normal(name, kind, &values, self.six)?;
        Ok(Opt {
            negated: std::mem::take(&mut self.negated),
            name: printed,
            values,
            text: kind == Kind::Text,
        })
    }

    fn finish(mut self) -> Result<Arguments, Refusal> {
        let six = self.six;
        for part in &mut self.made.spec.matches {
            let rows = matching(&part.module).unwrap_or_default();
            part.options
                .sort_by_key(|option| rows.iter().position(|(_, printed, _)| *printed == option.name));
            // The default is not printed.
            if part.module == "limit" {
                part.options.retain(|option| !(option.name == "--limit-burst" && option.value() == "5"));
                if part.option("--limit").is_none() {
                    let limit = Opt {
                        negated: false,
                        name: "--limit",
                        values: vec!["3/hour".to_owned()],
                        text: false,
                    };
                    part.options.insert(0, limit);
                }
            }
            let empty = part.options.is_empty()
                && !matches!(part.module.as_str(), "tcp" | "udp" | "sctp" | "udplite" | "dccp");
            if empty
                && matches!(part.module.as_str(), "conntrack" | "state" | "multiport" | "comment" | "mark")
            {
                let what = match part.module.as_str() {
                    "state" => "You must specify \"--state\"".to_owned(),
                    "multiport" => "multiport expection an option".to_owned(),
                    "comment" => "comment: option \"--comment\" must be specified".to_owned(),
                    "mark" => "mark: option \"--mark\" must be specified".to_owned(),
                    _ => "conntrack: At least one option is required".to_owned(),
                };
                return Err(Refusal::usage(what));
            }
            if empty && part.module == "icmp" {
                let kind =
                    Opt { negated: false, name: "--icmp-type", values: vec!["any".to_owned()], text: false };
                part.options.push(kind);
            }
        }
        self.target(six)?;
        let needs = self
            .made
            .spec
            .matches
            .iter()
            .find(|part| matches!(part.module.as_str(), "tcp" | "udp" | "multiport"));
        if let Some(part) = needs {
            let protocol = self.made.spec.protocol.as_ref().map(|asked| asked.value.as_str());
            let good = match part.module.as_str() {
                "multiport" => matches!(protocol, Some("tcp" | "udp" | "udplite" | "sctp" | "dccp")),
                module => protocol == Some(module),
            };
            if !good {
                return Err(if part.module == "multiport" {
                    Refusal::usage("multiport needs `-p tcp', `-p udp', `-p udplite', `-p sctp' or `-p dccp'")
                } else {
                    Refusal {
                        what: "Invalid argument. Run `dmesg' for more information.".to_owned(),
                        code: 4,
                        usage: false,
                    }
                });
            }
        }
        if self.made.command.is_none() && !self.made.version {
            return Err(Refusal::usage("no command specified"));
        }
        Ok(self.made)
    }

    /// Brings the options of the target into the order and the form in which they are printed.
    fn target(&mut self, six: bool) -> Result<(), Refusal> {
        let spec = &mut self.made.spec;
        let name = spec.target.clone().unwrap_or_default();
        let Some(rows) = doing(&name).filter(|_| !spec.goto) else { return Ok(()) };
        spec.options.sort_by_key(|option| rows.iter().position(|(_, printed, _)| *printed == option.name));
        let text = |name: &'static str, value: &str| Opt {
            negated: false,
            name,
            values: vec![value.to_owned()],
            text: false,
        };
        match name.as_str() {
            "REJECT" if spec.options.is_empty() => {
                let kind = if six { "icmp6-port-unreachable" } else { "icmp-port-unreachable" };
                spec.options.push(text("--reject-with", kind));
            }
            "LOG" => spec.options.retain(|option| !(option.name == "--log-level" && option.value() == "4")),
            "SNAT" | "DNAT" | "MARK" | "TCPMSS" if spec.options.is_empty() => {
                let what = match name.as_str() {
                    "SNAT" => "SNAT: option \"--to-source\" must be specified",
                    "DNAT" => "DNAT: option \"--to-destination\" must be specified",
                    "MARK" => "MARK: One of the --set-xmark, --{and,or,xor,set}-mark options is required",
                    _ => "TCPMSS target: At least one parameter is required",
                };
                return Err(Refusal::usage(what));
            }
            _ => {}
        }
        Ok(())
    }
}
