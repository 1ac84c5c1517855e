//! What only the machine can tell about a command that is SAFE by its words.
//!
//! Goes in: a ruling, and the place where the command would run. Comes out: the same ruling, or one that asks. Never: a verdict that
//! is less strict, a look at anything for a command that does not run at once.

mod capture;
mod link;

use crate::shell::policy::Policy;
use crate::shell::{Impact, Profile, Ruling, Setting, Verdict};

/// Why a command asks.
struct Objection {
    rule: &'static str,
    what: String,
}

/// Makes a SAFE command ask where what it would read is not what its words say.
pub(super) fn look(ruling: Ruling, policy: &Policy, setting: &Setting) -> Ruling {
    if ruling.verdict != Verdict::Safe {
        return ruling;
    }
    let Some(Objection { rule, what }) =
        profiles(&ruling).find_map(|profile| objection(profile, policy, setting))
    else {
        return ruling;
    };
    Ruling {
        verdict: Verdict::Risky,
        rule: rule.into(),
        reason: what.into(),
        impact: Some(Impact::Change),
        ..ruling
    }
}

/// Lists what each command of a ruling needs.
fn profiles(ruling: &Ruling) -> impl Iterator<Item = &Profile> {
    let stages = ruling.list.iter().flat_map(|list| &list.pipelines).flat_map(|pipeline| &pipeline.stages);
    std::iter::once(&ruling.profile).chain(stages.map(|stage| &stage.profile))
}

fn objection(profile: &Profile, policy: &Policy, setting: &Setting) -> Option<Objection> {
    if profile.redirected {
        let what = "it would go wherever the server sends it, and nobody has judged that".to_owned();
        return Some(Objection { rule: Ruling::REDIRECTED, what });
    }
    let captures = profile.captured.iter().find_map(|name| {
        let what = capture::check(&setting.cwd.join(name)).err()?;
        Some(Objection { rule: Ruling::NO_CAPTURE, what: format!("`{name}` {what}") })
    });
    captures.or_else(|| {
        profile.read.iter().find_map(|name| {
            let what = link::check(name, &policy.files).err()?;
            Some(Objection { rule: Ruling::FOREIGN_LINK, what: format!("`{name}` {what}") })
        })
    })
}
