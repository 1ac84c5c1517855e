//! Texts at random: commands of the policy whose words are written in every form that some shell reads differently.

use ghost_shell::{Policy, Verdict};

/// Commands that take any word; `@` stands for it.
const TEMPLATES: [&str; 9] = [
    "grep -c @ /var/log/syslog",
    "grep -e @ -e @ /var/log/syslog",
    "journalctl -n 5 -t @",
    "curl -s -A @ http://10.0.0.5/",
    "curl -s -H @ http://10.0.0.5/",
    "ip route show @",
    "kubectl get pods @",
    "ss -tn @",
    "ps @ @",
];

/// Filters behind a pipe.
const FILTERS: [&str; 5] = ["grep @", "wc -l", "head -n 3", "grep -v @ 2>/dev/null", "sort"];

/// What stands between two commands.
const JOINTS: [&str; 12] = [
    "; ",
    ";",
    " && ",
    "&&",
    " || ",
    "\n",
    " \\\n&& ",
    " 2>&1 | ",
    " | ",
    "|",
    " 2>/dev/null; ",
    " >/dev/null; ",
];

/// What some shell reads differently.
const ODD: [&str; 56] = [
    "?",
    "*",
    "[a]",
    "[-]Z",
    "~",
    "~root",
    "{a,b}",
    "{}",
    "{",
    "}",
    "]",
    "=",
    "=ls",
    "==ls",
    ":=ls",
    "a=~",
    "!",
    "!!",
    "!a",
    "^a",
    "^a^b",
    "#",
    "# a",
    "%",
    "%self",
    "%1",
    "$",
    "$x",
    "$=x",
    "$+x",
    "${x}",
    "$(touch made)",
    "`touch made`",
    "<(touch made)",
    "@(a)",
    "+(a)",
    "a(b)",
    "\\",
    "\\\\",
    "\\n",
    "\\x41",
    "\\'",
    "\\\"",
    "\\!",
    "\\$",
    "\\`",
    "'",
    "''",
    "\"",
    "\"\"",
    "$'a'",
    "$\"a\"",
    "\\\n",
    "é",
    "&",
    ">made",
];

/// Letters that mean nothing, and signs that mean nothing in most places.
const PLAIN: [&str; 22] = [
    "a", "b", "x", "Z", "1", "0", "-", "--", "a.b", "/", ":", ",", "+", "@", "_", "%", "=", "10.0.0.4",
    "error", " ", "\t", "a b",
];

pub(super) struct Drawn {
    state: u64,
    safe: Vec<String>,
}

impl Drawn {
    pub(super) fn new(seed: u64, policy: &Policy) -> Self {
        let safe = policy.examples().iter().filter(|example| example.verdict == Verdict::Safe);
        // A stub of `sudo` would record another program than the one that was judged.
        let safe = safe.map(|example| example.command.clone()).filter(|text| !text.contains("sudo"));
        let is_recorded = |text: &String| !super::shells::BUILTINS.iter().any(|name| text.starts_with(name));
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, safe: safe.filter(is_recorded).collect() }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let number = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % bound.max(1)
    }

    fn pick(&mut self, things: &[&'static str]) -> &'static str {
        things.get(self.below(things.len())).copied().unwrap_or_default()
    }

    /// Draws one text.
    pub(super) fn text(&mut self) -> String {
        let mut text = self.command();
        for _ in 0..self.below(3) {
            let joint = self.pick(&JOINTS);
            text.push_str(joint);
            let behind_pipe = joint.ends_with('|') || joint.ends_with("| ");
            let next = if behind_pipe { self.filled(&FILTERS) } else { self.command() };
            text.push_str(&next);
        }
        // Anywhere, the middle of a quote included.
        if self.below(3) == 0 {
            let odd = self.pick(&ODD);
            let at = (0..=self.below(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.insert_str(at, odd);
        }
        text
    }

    fn command(&mut self) -> String {
        match self.below(4) {
            0 => {
                let at = self.below(self.safe.len());
                self.safe.get(at).cloned().unwrap_or_default()
            }
            1 => format!("echo {}", self.word()),
            _ => self.filled(&TEMPLATES),
        }
    }

    fn filled(&mut self, templates: &[&'static str]) -> String {
        let mut parts = self.pick(templates).split('@');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            text += &self.word();
            text += part;
        }
        text
    }

    /// Draws one word of several parts, each written in a form of its own.
    fn word(&mut self) -> String {
        (0..=self.below(3)).map(|_| self.part()).collect()
    }

    fn part(&mut self) -> String {
        let inside: String = (0..=self.below(3)).map(|_| self.letters()).collect();
        match self.below(6) {
            0 | 1 => format!("'{inside}'"),
            2 | 3 => format!("\"{inside}\""),
            4 => inside.chars().map(|char| format!("\\{char}")).collect(),
            _ => inside,
        }
    }

    fn letters(&mut self) -> &'static str {
        if self.below(4) == 0 { self.pick(&ODD) } else { self.pick(&PLAIN) }
    }
}
