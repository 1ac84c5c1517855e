//! What flow logs show of a flow, held against what was read otherwise.

use super::document::Document;
use super::estate::Nic;
use super::fault::{Cause, Fault, Object};
use super::flow_log::Shown;
use super::hop::{Effect, Hop, Kind};
use super::judge::{Fate, Judgement};
use super::noticed::Noticed;
use super::walk::Walk;
use crate::flowlog::Side;
use crate::nsg::Access;

/// The kind of hop at which an interface sees a flow.
const fn kind(side: Side) -> Kind {
    match side {
        Side::Inbound => Kind::GroupInbound,
        Side::Outbound => Kind::GroupOutbound,
    }
}

impl Walk<'_> {
    /// Adds what the logs show to what decides: denials by the rule that stops the flow, and that an interface let it through.
    pub(super) fn flow_logs(&mut self) {
        let shown = self.asked.estate.shown_by_logs(&self.asked.flow.clone());
        for one in &shown {
            self.denied(one, &shown);
        }
        for one in &shown {
            self.unanswered(one, &shown);
        }
    }

    /// A denial is a proof of the rule that stops the flow. Where the rules leave it open, the last line decides, if the rule is there.
    fn denied(&mut self, shown: &Shown<'_>, all: &[Shown<'_>]) {
        if shown.seen.denied == 0 {
            return;
        }
        let (count, span) = (shown.seen.denied, shown.span());
        let own = kind(shown.seen.side);
        let gone = self.asked.gone;
        let Some(hop) = self.forward.iter_mut().find(|hop| hop.kind == own && hop.at == shown.nic.name)
        else {
            return;
        };
        let stops = hop.stops.iter_mut().chain(&mut hop.possible);
        let mut is_proven = false;
        for effect in stops {
            if let Object::NsgRule { rule, .. } = &effect.cause.object
                && shown.is_by(rule)
            {
                effect.reason =
                    format!("{}; {} shows {count} denials by {rule} {span}", effect.reason, shown.log());
                is_proven = true;
            }
        }
        if is_proven {
            hop.evidence.push(Document::FlowLogs);
            return;
        }
        // Of rules that were understood the judgement stands: what the log shows is over.
        let is_open = hop.stops.is_empty() && hop.possible.is_empty() && !hop.missing.is_empty();
        let Some((group, rule)) = denying(shown).filter(|_| is_open && is_last(shown, all)) else { return };
        let cause = Cause::new(Fault::NsgDeny, Object::NsgRule { group: group.clone(), rule: rule.clone() });
        if gone.contains(&cause) {
            return;
        }
        let why = format!("{} shows {count} denials by the rule {rule} of {group} {span}", shown.log());
        hop.stops.push(Effect { rule: Some(rule), ..Effect::new(cause, why) });
        hop.evidence.push(Document::FlowLogs);
    }

    /// What an interface let through and nobody answered was not stopped by its rules.
    fn unanswered(&mut self, shown: &Shown<'_>, all: &[Shown<'_>]) {
        let is_denied = |other: &Shown<'_>| other.nic.name == shown.nic.name && other.seen.denied > 0;
        let came = shown.seen.side == Side::Inbound && shown.seen.is_unanswered();
        if !came || all.iter().any(is_denied) {
            return;
        }
        let proof = format!(
            "{} shows that {} let it through {}, and that no packet came back",
            shown.log(),
            shown.nic.name,
            shown.span()
        );
        let Some(at) = self.forward.iter().position(|hop| {
            hop.kind == Kind::GroupInbound && hop.at == shown.nic.name && hop.stops.is_empty()
        }) else {
            return;
        };
        let is_guest = |hop: &&mut Hop| {
            matches!(
                hop.kind,
                Kind::Machine | Kind::GuestInput | Kind::Listener | Kind::GuestRoute | Kind::GuestOutput
            )
        };
        if let Some(hop) = self.forward.get_mut(at) {
            hop.reason = format!("{}; {proof}", hop.reason);
            hop.evidence.push(Document::FlowLogs);
        }
        let behind = self.forward.iter_mut().skip(at + 1).chain(&mut self.back);
        let stopping = behind.filter(is_guest).find(|hop| !hop.stops.is_empty());
        if let Some(hop) = stopping {
            hop.evidence.push(Document::FlowLogs);
            if let Some(effect) = hop.stops.first_mut() {
                effect.reason = format!("{}; {proof}", effect.reason);
            }
        }
    }
}

/// Tells whether nothing was let through after the last denial.
fn is_last(shown: &Shown<'_>, all: &[Shown<'_>]) -> bool {
    let later = |other: &&Shown<'_>| {
        other.nic.name == shown.nic.name && other.seen.denied == 0 && other.seen.last >= shown.seen.last
    };
    !all.iter().any(|other| later(&other))
}

/// Returns the rule by which something was denied, with its group, if it is still there.
fn denying(shown: &Shown<'_>) -> Option<(String, String)> {
    let groups = shown.nic.rules.read()?.groups();
    groups.iter().find_map(|group| {
        let denies = |rule: &&crate::nsg::Rule| rule.access == Some(Access::Deny) && shown.is_by(&rule.name);
        let rule = group.rules.iter().find(denies)?;
        Some((group.name.clone().unwrap_or_else(|| "unknown".to_owned()), rule.name.clone()))
    })
}

/// Returns the group of an interface, where it has one alone.
fn only_group(nic: &Nic) -> Option<String> {
    match nic.rules.read()?.groups() {
        [one] => one.name.clone(),
        _ => None,
    }
}

impl Judgement {
    /// Tells whether a log may say more: a rule of a group stops the flow, or nothing that was read does.
    pub(super) fn is_open_to_logs(&self) -> bool {
        let stops = self.stops();
        stops.is_empty() || stops.iter().any(|(_, effect)| effect.cause.fault == Fault::NsgDeny)
    }

    /// Lists denials of this very flow by what does not stop it now.
    pub(super) fn denied_before(&self, estate: &super::estate::Estate) -> Vec<Noticed> {
        let causes = self.findings();
        let mut found = Vec::new();
        for shown in estate.shown_by_logs(&self.flow).iter().filter(|shown| shown.seen.denied > 0) {
            let Some(rule) = shown.rule() else { continue };
            let is_cause =
                |cause: &Cause| matches!(&cause.object, Object::NsgRule { rule, .. } if shown.is_by(rule));
            if causes.iter().any(is_cause) {
                continue;
            }
            let there = denying(shown);
            let is_there = there.is_some();
            let known = there.map(|(group, _)| group).or_else(|| only_group(shown.nic));
            let group = known.unwrap_or_else(|| "unknown".to_owned());
            let now = match self.fate {
                Fate::Passes | Fate::Degraded | Fate::Partly => "it is let through now",
                Fate::Stopped | Fate::NoPath(_) => "something else stops it now",
                Fate::Unknown => "what becomes of it now is not known",
            };
            let state = if is_there || shown.nic.rules.read().is_none() {
                now.to_owned()
            } else {
                format!("the rule is gone, and {now}")
            };
            found.push(Noticed {
                object: Object::NsgRule { group, rule: rule.to_owned() },
                what: format!(
                    "denied {} {} times {}, as {} shows",
                    self.flow,
                    shown.seen.denied,
                    shown.span(),
                    shown.log()
                ),
                why_not: state,
            });
        }
        found
    }
}
