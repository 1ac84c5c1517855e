//! The check point: every command of a ruling, and what it would read.

use super::{capture, link};
use crate::gate::resolve_names::is_proxied;
use crate::policy::Policy;
use crate::{Impact, Profile, Ruling, Setting, Verdict};

/// Why a command asks.
struct MachineObjection {
    rule: &'static str,
    what: String,
}

/// Makes a SAFE command ask where what it would read is not what its words say.
pub(in crate::gate) fn examine(ruling: Ruling, policy: &Policy, setting: &Setting) -> Ruling {
    if ruling.verdict != Verdict::Safe {
        return ruling;
    }
    let redirected =
        profiles(&ruling).any(|profile| profile.redirected) && !can_follow(&ruling, policy, setting);
    let redirect = redirected.then(|| MachineObjection {
        rule: Ruling::REDIRECTED,
        what: "it would go wherever the server sends it, and here nobody can judge that".to_owned(),
    });
    let file = || profiles(&ruling).find_map(|profile| objection(profile, policy, setting));
    let Some(MachineObjection { rule, what }) = redirect.or_else(file) else {
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

/// Tells whether the gate can follow redirects itself: those of one request that no proxy carries, which would look up names by
/// itself.
fn can_follow(ruling: &Ruling, policy: &Policy, setting: &Setting) -> bool {
    let request = ruling.argv.as_deref().filter(|_| ruling.list.is_none());
    !is_proxied(setting) && request.is_some_and(|argv| policy.redirects(argv).is_some())
}

/// Lists what each command of a ruling needs.
fn profiles(ruling: &Ruling) -> impl Iterator<Item = &Profile> {
    let stages = ruling.list.iter().flat_map(|list| &list.pipelines).flat_map(|pipeline| &pipeline.stages);
    std::iter::once(&ruling.profile).chain(stages.map(|stage| &stage.profile))
}

fn objection(profile: &Profile, policy: &Policy, setting: &Setting) -> Option<MachineObjection> {
    let captures = profile.captured.iter().find_map(|name| {
        let what = capture::check(&setting.cwd.join(name)).err()?;
        Some(MachineObjection { rule: Ruling::NO_CAPTURE, what: format!("`{name}` {what}") })
    });
    captures.or_else(|| {
        profile.read.iter().find_map(|name| {
            let what = link::check(name, &policy.files).err()?;
            Some(MachineObjection { rule: Ruling::FOREIGN_LINK, what: format!("`{name}` {what}") })
        })
    })
}
