//! What a rule asks, and what it does.

use super::value::quoted;

/// The parts of a rule, in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Spec {
    pub(super) src: Option<RuleCommand>,
    pub(super) dst: Option<RuleCommand>,
    pub(super) input: Option<RuleCommand>,
    pub(super) output: Option<RuleCommand>,
    pub(super) protocol: Option<RuleCommand>,
    pub(super) fragment: Option<bool>,
    pub(super) matches: Vec<Part>,
    pub(super) target: Option<String>,
    pub(super) goto: bool,
    pub(super) options: Vec<Opt>,
}

/// A value that is asked for, or anything but it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleCommand {
    pub(super) negated: bool,
    pub(super) value: String,
}

/// A match module with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) module: String,
    pub(super) options: Vec<Opt>,
}

/// An option of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opt {
    pub(super) negated: bool,
    pub(super) name: &'static str,
    pub(super) values: Vec<String>,
    /// Whether its value is printed in quotes where it has to be.
    pub(super) text: bool,
}

impl Part {
    pub(super) fn option(&self, name: &str) -> Option<&Opt> {
        self.options.iter().find(|option| option.name == name)
    }
}

impl Opt {
    pub(super) fn value(&self) -> &str {
        self.values.first().map_or("", String::as_str)
    }

    fn write(&self, out: &mut String) {
        if self.negated {
            out.push_str(" !");
        }
        out.push(' ');
        out.push_str(self.name);
        for value in &self.values {
            out.push(' ');
            out.push_str(&if self.text { quoted(value) } else { value.clone() });
        }
    }
}

impl Spec {
    /// Writes the rule as `iptables-save` does, without the chain.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let asked = [
            ("-s", &self.src),
            ("-d", &self.dst),
            ("-i", &self.input),
            ("-o", &self.output),
            ("-p", &self.protocol),
        ];
        for (name, asked) in asked {
            let Some(asked) = asked else { continue };
            out.push_str(if asked.negated { " ! " } else { " " });
            out.push_str(name);
            out.push(' ');
            out.push_str(&asked.value);
        }
        if let Some(plain) = self.fragment {
            out.push_str(if plain { " -f" } else { " ! -f" });
        }
        for part in &self.matches {
            out.push_str(" -m ");
            out.push_str(&part.module);
            part.options.iter().for_each(|option| option.write(&mut out));
        }
        if let Some(target) = &self.target {
            out.push_str(if self.goto { " -g " } else { " -j " });
            out.push_str(target);
            self.options.iter().for_each(|option| option.write(&mut out));
        }
        out
    }

    pub(super) fn part(&self, module: &str) -> Option<&Part> {
        self.matches.iter().find(|part| part.module == module)
    }
}
