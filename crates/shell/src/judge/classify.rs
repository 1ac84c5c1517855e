//! One text, one ruling.

use super::allow::{self, Allowed, CommandContext};
use super::cost::Cost;
use super::forbidden::{Forbidden, find_forbidden};
use super::list::{self, AllowedList, Refused};
use super::{MAX_COMMAND_BYTES, cloud, destination, impact};
use crate::policy::{Policy, Refusal};
use crate::text::{self, Command, Script};
use crate::{Impact, Ruling, Stage, Tier, Verdict};

impl Policy {
    /// Judges one command line. The strictest part decides; what is not understood asks.
    #[must_use]
    pub fn classify(&self, command: &str) -> Ruling {
        let (script, literal) = self.read(command);
        let ruling = self.rule(command, &script);
        // Only what is SAFE, or is but words, runs without a shell; to a shell a backtick is no JMESPath.
        let sees_a_shell = ruling.verdict != Verdict::Safe && !script.is_plain();
        if literal && sees_a_shell { self.rule(command, &text::read(command)) } else { ruling }
    }

    /// Reads a text, and tells whether backticks in it were taken for JMESPath: in `--query` of `az`, as long as no
    /// shell is needed.
    pub(super) fn read(&self, command: &str) -> (Script, bool) {
        let script = text::read_without_shell(command);
        let literal = |command: &Command| command.words.iter().any(|word| word.backtick);
        if !script.commands.iter().any(literal) {
            return (script, false);
        }
        let own = script.commands.iter().all(|command| self.asks_az(command));
        match own && (script.is_plain() || script.list().is_some()) {
            true => (script, true),
            false => (text::read(command), false),
        }
    }

    /// Tells whether every backtick in a command stands in the value of `--query` of `az` itself.
    fn asks_az(&self, command: &Command) -> bool {
        let words = list::words(command);
        let Some(first) = command.words.iter().position(|word| word.backtick) else { return true };
        let own =
            allow::peel(self, &words).ok().filter(|peeled| peeled.is_az()).map(|peeled| peeled.words.len());
        own.is_some_and(|own| {
            let start = words.len() - own;
            first > start && !words.iter().take(first).any(|word| *word == "--")
        })
    }

    pub(super) fn rule(&self, command: &str, script: &Script) -> Ruling {
        let argv =
            script.is_plain().then(|| script.commands.first().map(list::run_words).unwrap_or_default());
        if let Some(forbidden) = find_forbidden(self, script, command.len()) {
            return blocked(forbidden, argv);
        }
        if let Err((rule, what)) = self.understands(command, script) {
            let asks = asks(Tier::Text, rule.into(), what, Impact::Change);
            return Ruling { argv, ..asks };
        }
        // Sums that are beyond the bounds already are not worth a look at every command.
        if let Err(refusal) = Cost::of_parts(script.parts()).check(command.len()) {
            return Ruling { argv, ..beyond(&refusal) };
        }
        match script.commands.as_slice() {
            [only] if script.is_plain() => self.rule_words(&list::words(only), script, argv),
            _ => self.rule_list(script),
        }
    }

    /// Says why a text is none that could be judged command by command.
    fn understands(&self, command: &str, script: &Script) -> Result<(), (&'static str, String)> {
        if command.len() > MAX_COMMAND_BYTES {
            return Err(("text.long", "the command is longer than any that could run".to_owned()));
        }
        if let Some(opened) = script.broken {
            return Err(("text.unbalanced", format!("{opened} is not closed")));
        }
        if let Some((rule, what)) = text::oddity(command) {
            return Err((rule, format!("the text holds {what}")));
        }
        if script.is_plain() {
            let is_empty = script.commands.is_empty();
            return if is_empty { Err(("text.empty", "there is no command".to_owned())) } else { Ok(()) };
        }
        if command.contains('\r') {
            return Err(("text.control", "the text holds a control character".to_owned()));
        }
        if script.dangling {
            return Err(("text.operator", "an operator lacks what belongs beside it".to_owned()));
        }
        match (script.list(), script.needs.shell()) {
            (Some(_), _) => Ok(()),
            (None, Some((rule, what))) => Err((rule, format!("{what} needs a shell"))),
            (None, None) => Err(("text.empty", "there is no command".to_owned())),
        }
    }

    fn rule_words(&self, words: &[&str], script: &Script, argv: Option<Vec<String>>) -> Ruling {
        // A carriage return inside quotes is a control character like any other; a line end may part a guest's script.
        let cloud = tier_of(self, words) == Tier::Cloud;
        let quoted_end = words.iter().any(|word| word.contains('\r') || (word.contains('\n') && !cloud));
        if script.quoted_line_end && quoted_end {
            let what = "the text holds a line end inside quotes".to_owned();
            return Ruling { argv, ..asks(Tier::Text, "text.control".into(), what, Impact::Change) };
        }
        match allow::judge(self, words, CommandContext::default()).and_then(within) {
            Ok(allowed) => {
                let (rule, reason) = (allowed.rule.clone().into(), allowed.why.clone().into());
                Ruling {
                    verdict: Verdict::Safe,
                    tier: tier(&allowed),
                    rule,
                    reason,
                    argv,
                    profile: allowed.into_profile(),
                    destinations: destination::destinations(self, script),
                    ..Ruling::default()
                }
            }
            Err(refusal) => {
                let refused = Refused { words: words.to_vec(), refusal, is_filled: false };
                Ruling { argv, ..self.refuse(&[refused]) }
            }
        }
    }

    fn rule_list(&self, script: &Script) -> Ruling {
        let rows = script.list().unwrap_or_default();
        match list::judge(self, script, &rows, false) {
            Ok(AllowedList { list, mut reasons, cloud, cost }) => {
                if let Err(refusal) = cost.check(0) {
                    return Ruling { pipeline: list::pipeline(&rows), ..beyond(&refusal) };
                }
                reasons.dedup();
                let words = |stage: &Stage| stage.argv.clone();
                let pipeline = match list.pipelines.as_slice() {
                    [only] if list::pipeline(&rows).is_some() => {
                        Some(only.stages.iter().map(words).collect())
                    }
                    _ => None,
                };
                Ruling {
                    verdict: Verdict::Safe,
                    tier: if cloud { Tier::Cloud } else { Tier::Program },
                    rule: "list".into(),
                    reason: reasons.join("; ").into(),
                    list: Some(list),
                    pipeline,
                    destinations: destination::destinations(self, script),
                    ..Ruling::default()
                }
            }
            Err(refused) => match script.plain_list() {
                Some(_) => Ruling { pipeline: list::pipeline(&rows), ..self.refuse(&refused) },
                None => refuse_filled(script, &refused),
            },
        }
    }

    /// Asks for a human: the first refused command says why, the one with the greatest impact what for.
    fn refuse(&self, refused: &[Refused<'_>]) -> Ruling {
        let impact = refused.iter().map(|refused| impact::of_words(self, &refused.words)).max();
        let Some(first) = refused.first() else { return Ruling::default() };
        let refusal = &first.refusal;
        let tier = match refusal.part {
            "unknown" => Tier::Unknown,
            "control" | "sum" => Tier::Text,
            _ => tier_of(self, &first.words),
        };
        let rule = match tier {
            Tier::Text => format!("text.{}", refusal.part).into(),
            Tier::Cloud => format!("cloud.{}", refusal.part).into(),
            Tier::Program => format!("program.{}", refusal.part).into(),
            Tier::Unknown | Tier::Blocked => "default".into(),
        };
        asks(tier, rule, refusal.what.clone(), impact.unwrap_or(Impact::Change))
    }
}

/// Refuses one command whose own sums are beyond the bounds.
fn within(allowed: Allowed) -> Result<Allowed, Refusal> {
    allowed.cost.check(0).map(|()| allowed)
}

/// Asks because of a sum over the whole text.
fn beyond(refusal: &Refusal) -> Ruling {
    asks(Tier::Text, "text.sum".into(), refusal.what.clone(), Impact::Change)
}

/// Asks about a text that the gate does not run, and that only a shell could run as it stands.
fn refuse_filled(script: &Script, refused: &[Refused<'_>]) -> Ruling {
    let Some((rule, shell)) = script.needs.shell() else { return Ruling::default() };
    let what = match refused.first() {
        Some(Refused { refusal, is_filled, .. })
            if !is_filled || matches!(refusal.part, "glob" | "substitution") =>
        {
            refusal.what.clone()
        }
        Some(_) | None => format!("{shell} needs a shell here"),
    };
    asks(Tier::Text, rule.into(), what, Impact::Change)
}

fn tier(allowed: &Allowed) -> Tier {
    if allowed.cloud { Tier::Cloud } else { Tier::Program }
}

/// Returns the tier that speaks of a command.
fn tier_of(policy: &Policy, words: &[&str]) -> Tier {
    let az = allow::peel(policy, words)
        .map_or_else(|_| words.first().is_some_and(|program| cloud::is_az(program)), |peeled| peeled.is_az());
    if az { Tier::Cloud } else { Tier::Program }
}

fn asks(tier: Tier, rule: std::borrow::Cow<'static, str>, what: String, impact: Impact) -> Ruling {
    Ruling {
        verdict: Verdict::Risky,
        tier,
        rule,
        reason: what.into(),
        impact: Some(impact),
        ..Ruling::default()
    }
}

fn blocked(forbidden: Forbidden, argv: Option<Vec<String>>) -> Ruling {
    Ruling {
        verdict: Verdict::Blocked,
        tier: Tier::Blocked,
        rule: forbidden.rule,
        reason: forbidden.reason.into(),
        argv,
        ..Ruling::default()
    }
}
