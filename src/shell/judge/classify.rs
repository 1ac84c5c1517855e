//! One text, one ruling.

use super::hunt::hunt;
use super::{LONGEST_COMMAND, allow, cloud, impact};
use crate::shell::policy::{Policy, Refusal};
use crate::shell::text::{self, Script};
use crate::shell::{Ruling, Tier, Verdict};

impl Policy {
    /// Judges one command line. The strictest part decides; what is not understood asks.
    #[must_use]
    pub fn classify(&self, command: &str) -> Ruling {
        let script = text::read(command);
        let argv = script.is_plain().then(|| script.words());
        if let Some(forbidden) = hunt(self, &script, command.len()) {
            return Ruling {
                verdict: Verdict::Blocked,
                tier: Tier::Blocked,
                rule: forbidden.rule,
                reason: forbidden.reason.into(),
                argv,
                ..Ruling::default()
            };
        }
        match self.allows(command, &script) {
            Ok((tier, allowed)) => {
                let (rule, reason) = (allowed.rule.clone().into(), allowed.why.clone().into());
                Ruling {
                    verdict: Verdict::Safe,
                    tier,
                    rule,
                    reason,
                    argv,
                    profile: allowed.into_profile(),
                    ..Ruling::default()
                }
            }
            Err((tier, refusal)) => Ruling {
                verdict: Verdict::Risky,
                tier,
                rule: refusal_rule(tier, refusal.part),
                reason: refusal.what.into(),
                argv,
                impact: Some(impact::impact(self, &script)),
                ..Ruling::default()
            },
        }
    }

    fn allows(&self, command: &str, script: &Script) -> Result<(Tier, allow::Allowed), (Tier, Refusal)> {
        let text = |rule: &'static str, what: String| Err((Tier::Text, Refusal::new(rule, what)));
        if command.len() > LONGEST_COMMAND {
            return text("text.long", "the command is longer than any that could run".to_owned());
        }
        if let Some(opened) = script.broken {
            return text("text.unbalanced", format!("{opened} is not closed"));
        }
        if let Some((rule, what)) = text::oddity(command) {
            return text(rule, format!("the text holds {what}"));
        }
        if let Some((rule, what)) = script.needs.shell() {
            return text(rule, format!("{what} needs a shell"));
        }
        let Some(only) = script.commands.first() else {
            return text("text.empty", "there is no command".to_owned());
        };
        let words: Vec<&str> = only.words.iter().map(|word| word.text.as_str()).collect();
        let tier = words
            .first()
            .map_or(Tier::Unknown, |program| if cloud::is_az(program) { Tier::Cloud } else { Tier::Program });
        // A carriage return inside quotes is a control character like any other; a line end may part a guest's script.
        let quoted_end =
            words.iter().any(|word| word.contains('\r') || (word.contains('\n') && tier != Tier::Cloud));
        if script.quoted_line_end && quoted_end {
            return text("text.control", "the text holds a line end inside quotes".to_owned());
        }
        allow::judge(self, &words)
            .map(|allowed| (if allowed.cloud { Tier::Cloud } else { Tier::Program }, allowed))
            .map_err(|refusal| {
                let tier = if refusal.part == "unknown" { Tier::Unknown } else { tier };
                (tier, refusal)
            })
    }
}

fn refusal_rule(tier: Tier, part: &'static str) -> std::borrow::Cow<'static, str> {
    match tier {
        Tier::Text => part.into(),
        Tier::Cloud => format!("cloud.{part}").into(),
        Tier::Program => format!("program.{part}").into(),
        Tier::Unknown | Tier::Blocked => "default".into(),
    }
}
