//! A text that the shell of a caller will run: SAFE only if every shell reads the words that were judged.

use super::alike;
use crate::policy::{Policy, shorten};
use crate::text;
use crate::{Impact, Ruling, Verdict};

impl Policy {
    /// Judges a text for a caller that runs it in a shell of its own: bash, zsh, dash, ksh, busybox sh or fish, with any options.
    ///
    /// `ruling` is the judgement of the text for the gate, which runs words and no shell. A text that is SAFE there asks if a shell could
    /// read other words, or if a command built into a shell does more than the program of that name.
    #[must_use]
    pub fn for_caller(&self, command: &str, ruling: Ruling) -> Ruling {
        if ruling.verdict != Verdict::Safe {
            return ruling;
        }
        let (script, literal) = self.read(command);
        if literal {
            // To a shell a backtick is no JMESPath.
            return self.rule(command, &text::read(command));
        }
        let asks = |rule: &'static str, reason: String| Ruling {
            verdict: Verdict::Risky,
            rule: rule.into(),
            reason: reason.into(),
            impact: Some(Impact::Change),
            ..ruling.clone()
        };
        let commands = match alike::read(command, &self.callers) {
            Ok(commands) => commands,
            Err(what) => {
                return asks(Ruling::EXPANDED, format!("{what}; quote it, and it is a word like any other"));
            }
        };
        let same = commands.len() == script.commands.len()
            && commands
                .iter()
                .zip(&script.commands)
                .all(|(words, command)| words.iter().eq(command.words.iter().map(|word| &word.text)));
        if !same {
            return asks(Ruling::EXPANDED, "the shells do not read this text alike".to_owned());
        }
        let differs = |words: &&Vec<String>| {
            words.split_first().is_some_and(|(name, arguments)| self.callers.differs(name, arguments))
        };
        match commands.iter().find(differs).and_then(|words| words.first()) {
            Some(name) => asks(
                Ruling::BUILT_IN,
                format!("a shell has a `{}` of its own, which can do more with these words", shorten(name)),
            ),
            None => ruling,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(command: &str) -> (Verdict, Ruling) {
        let policy = Policy::builtin().unwrap();
        let ruling = policy.classify(command);
        (ruling.verdict, policy.for_caller(command, ruling))
    }

    #[test]
    fn each_row_of_the_table_keeps_its_promises() {
        let policy = Policy::builtin().unwrap();
        let mut problems = Vec::new();
        for example in policy.callers.examples() {
            let (gate, caller) = judged(&example.command);
            if gate != Verdict::Safe || caller.verdict != example.verdict {
                problems.push(format!("{}: {gate}, {} {}", example.command, caller.verdict, caller.reason));
            }
        }
        assert!(problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn what_shells_read_otherwise_asks_for_a_caller_alone() {
        for (command, rule) in [
            (r"grep -c 'a\\b' /var/log/syslog", Ruling::EXPANDED),
            (r"grep -c 'a\' /var/log/syslog", Ruling::EXPANDED),
            ("grep -c 'a''b' /var/log/syslog", Ruling::EXPANDED),
            ("grep -c a\\nb /var/log/syslog", Ruling::EXPANDED),
            ("grep -c \"a$\" /var/log/syslog", Ruling::EXPANDED),
            ("grep -c a$ /var/log/syslog", Ruling::EXPANDED),
            ("grep -c \"a!b\" /var/log/syslog", Ruling::EXPANDED),
            ("grep -c \"$=HOME\" /var/log/syslog", Ruling::EXPANDED),
            ("2>/dev/null ss -s", Ruling::EXPANDED),
            ("ss -tn >/dev/null | wc -l", Ruling::EXPANDED),
            ("ss -tn | wc -l </dev/null", Ruling::EXPANDED),
            ("ss -s >/dev/null >/dev/null", Ruling::EXPANDED),
            ("ss -s; printf '%d' 1", Ruling::BUILT_IN),
            ("ss -s | wc -l; printf '%n' x", Ruling::BUILT_IN),
        ] {
            let (gate, caller) = judged(command);
            assert_eq!((gate, caller.verdict), (Verdict::Safe, Verdict::Risky), "{command}");
            assert_eq!((caller.rule.as_ref(), caller.impact), (rule, Some(Impact::Change)), "{command}");
        }
    }

    #[test]
    fn a_backtick_is_a_command_to_a_caller_and_jmespath_to_the_gate() {
        let query = |inside: &str| format!("az vm list --query \"[?name=={inside}]\"");
        let (gate, caller) = judged(&query("`web`"));
        assert_eq!((gate, caller.verdict), (Verdict::Safe, Verdict::Risky));
        assert_eq!(judged(&query("`reboot`")).1.verdict, Verdict::Blocked);
        assert_eq!(judged("az vm list --query '[?name==`web`]'").1.verdict, Verdict::Safe);
    }

    #[test]
    fn what_every_shell_reads_alike_stays_safe() {
        for command in [
            "ss -tlnp 2>/dev/null | grep ':5432' && ip -br addr; uptime",
            "ip route get 10.0.0.4 2>&1 | head -n 3",
            "ip -br link \\\n  show",
            "ss -tn >/dev/null 2>&1",
            "curl -s -m 5 -o /dev/null -w '%{http_code}\\n' 'http://10.0.0.5/health'",
            "curl -s -H \"Accept: text/plain\" --max-time=5 http://10.0.0.5:8080/",
            "grep -E \"a|b\" /var/log/syslog | tail -n 5",
            "grep -c \"a! b != c\" /var/log/syslog",
            "ping -c 1 '10.0.0.4'\nping -c 1 10.0.0.5",
            "ss -tn state established '( dport = :443 )'",
            "az vm list -g rg --query \"[].name\" -o tsv",
            "echo 'it'\\''s up'",
            "/usr/bin/printf '%d' 5",
            "timeout 5 printf '%d' 5",
        ] {
            let (gate, caller) = judged(command);
            assert_eq!(
                (gate, caller.verdict),
                (Verdict::Safe, Verdict::Safe),
                "{command}: {}",
                caller.reason
            );
        }
    }

    #[test]
    fn a_reason_names_the_word_and_what_becomes_of_it() {
        let reason = judged("iptables-nft -L [-]Z").1.reason;
        assert_eq!(reason, "a shell expands `[-]Z` to file names; quote it, and it is a word like any other");
    }
}
