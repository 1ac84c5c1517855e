//! `list_changes`: what the activity log says of what is at fault, or of what somebody asks about.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{Refused, refuse, resource_group};
use super::inspector::{Inspection, Inspector, Unfinished};
use super::path::sentence;
use crate::changed::{ChangedObjects, ObjectOrigin, TOOL, moment};
use crate::complaint::{first_failure, window};
use crate::judged::{JudgedCause, OtherGroup, elsewhere, judged};
use crate::state::{Entry, State};
use crate::suspect::plain;
use crate::symptom_text::names;
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
use ghost_base::Timestamp;
use ghost_cloud::operation::{CommandRequest, Issue, ReadOperation};
use ghost_cloud::{Name, ResourceGroup, line};
use ghost_inspect::changes::{Change, Log, Question, Reference, Resource, Subject, moment as read_moment};

/// So much of the log lies before the first failure.
const BEFORE_MILLIS: i64 = 36 * 3_600_000;

/// The platform keeps its log as long.
const KEPT_MILLIS: i64 = 89 * 86_400_000;

/// So many events are asked for.
const MAX_EVENTS: usize = 500;

/// So many faults are asked about.
const MAX_CAUSES: usize = 20;

/// So many changes answer a question.
const MAX_CHANGES: usize = 12;

/// A fault that was found.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedCause {
    /// Its code, such as `nsg_deny`.
    fault: String,
    /// What is at fault, such as `nsg/app-nsg/deny-db`.
    object: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Faults that were found: which change made each of them? Without them, what was changed is listed.
    #[serde(default)]
    #[schemars(with = "Vec<AskedCause>")]
    causes: Vec<AskedCause>,
    /// Only changes of these: names, objects or resource ids.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    around: Vec<String>,
    /// Only changes by somebody.
    #[serde(default)]
    #[schemars(with = "String")]
    by: Option<String>,
    /// From when on, as 2026-11-24T08:00:00Z; as people said, where it is left out.
    #[serde(default)]
    #[schemars(with = "String")]
    since: Option<String>,
    /// Until when.
    #[serde(default)]
    #[schemars(with = "String")]
    until: Option<String>,
}

/// The checked arguments.
pub(super) struct Request {
    resource_group: ResourceGroup,
    causes: Vec<AskedCause>,
    around: Vec<Subject>,
    by: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// See the module.
pub(super) struct ListChanges;

impl Inspector for ListChanges {
    type Arguments = Arguments;
    type Request = Request;
    const NAME: &'static str = TOOL;
    const DESCRIPTION: &'static str = "Reads the activity log of a resource group: who changed what, when, and whether it succeeded. With \
        `causes` (faults that you found) it says which change made each of them and how long before the first failure; a change that failed, \
        came later or touched something else is not blamed. The log holds nothing of what happens inside machines. Example: \
        {\"reasoning\":\"since when is that rule there?\",\"causes\":[{\"fault\":\"nsg_deny\",\"object\":\"nsg/app-nsg/deny-db\"}]}";

    fn check(&self, arguments: &Arguments, group: Option<&str>, site: &Site) -> Result<Request, Refused> {
        let sized = |text: &str| text.len() <= 400 && !text.chars().any(char::is_control);
        let texts = arguments.causes.iter().flat_map(|cause| [&cause.fault, &cause.object]);
        if !texts.chain(&arguments.around).chain(&arguments.by).all(|text| sized(text)) {
            return Err(refuse("an object or a name is longer than 400 bytes, or more than one line"));
        }
        if arguments.causes.len() > MAX_CAUSES || arguments.around.len() > MAX_CAUSES {
            return Err(refuse(format!("ask about at most {MAX_CAUSES} at once")));
        }
        let at = |name: &str, text: &Option<String>| {
            text.as_deref()
                .map(|text| {
                    read_moment(text)
                        .ok_or_else(|| refuse(format!("{name}: write it as 2026-11-24T08:00:00Z")))
                })
                .transpose()
        };
        Ok(Request {
            resource_group: resource_group(site, group)?,
            causes: arguments.causes.clone(),
            around: arguments.around.iter().map(|text| Subject::named(text)).collect(),
            by: arguments.by.clone(),
            since: at("since", &arguments.since)?,
            until: at("until", &arguments.until)?,
        })
    }

    fn inspect(
        &self,
        request: &Request,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let state = replay.context().state;
        let now = replay.now();
        let time = IncidentTime::read(state);
        let is_question = request.causes.is_empty();
        let asked = is_question.then(|| window(last_words(state).0, last_words(state).1)).flatten();
        let until = request.until.or(asked.map(|window| window.until)).unwrap_or(now).min(now);
        let since = request.since.or(asked.map(|window| window.from));
        let since =
            since.unwrap_or_else(|| back(if is_question { now } else { time.at.min(until) }, BEFORE_MILLIS));
        let since = since.max(back(now, KEPT_MILLIS));
        if since > until {
            return Err(Issue::hinted(
                "the time that is asked about ends before it begins",
                "give since and until",
            )
            .into());
        }
        // Whole seconds, and none of the last one is left out.
        let whole =
            |at: Timestamp, more: i64| Timestamp::from_millis(at.as_millis().div_euclid(1000) * 1000 + more);
        let span = (whole(since, 0), whole(until, 1000));
        let causes = Causes::placed(request, state);
        let mut inspection = Inspection::default();
        let mut logs = Vec::new();
        for group in &causes.groups {
            let read = read_log(group, span, replay)?;
            if *group == request.resource_group {
                // Whatever else is read, without the session's own log the call came to nothing.
                logs.push(Ok(read?));
            } else {
                logs.push(
                    read.map_err(|issue| format!("{} ({})", plain_group(group), sentence(&issue.text))),
                );
            }
        }
        for change in logs.iter().flatten().flat_map(|log| &log.changes) {
            inspection.line(&change.sentence(moment));
        }
        logs.iter_mut().flatten().flat_map(|log| &mut log.changes).for_each(one_word_names);
        let unread: Vec<String> = logs.iter().filter_map(|log| log.as_ref().err().cloned()).collect();
        let mut found = ChangedObjects {
            since: moment(since),
            until: moment(until),
            complete: unread.is_empty()
                && logs.iter().flatten().all(|log| !log.is_cut && log.warnings.is_empty()),
            unread,
            is_question,
            ..ChangedObjects::default()
        };
        if is_question {
            let fits = |change: &&Change| {
                change.action.is_change()
                    && change.at <= until
                    && change.ended.unwrap_or(change.at) >= since
                    && request.by.as_ref().is_none_or(|who| change.who.is(who))
                    && (request.around.is_empty()
                        || request.around.iter().any(|one| one.concerns(&change.resource)))
            };
            let changes = logs.iter().flatten().flat_map(|log| &log.changes);
            let sentences: Vec<String> =
                changes.filter(fits).map(|change| capital(&change.sentence(moment))).collect();
            found.unlisted = sentences.len().saturating_sub(MAX_CHANGES);
            found.changes = sentences.into_iter().take(MAX_CHANGES).collect();
        } else {
            let mut origins = Vec::new();
            for (cause, at) in request.causes.iter().zip(&causes.of) {
                let log = logs.get(*at).zip(causes.groups.get(*at));
                let own = IncidentTime::of_cause(cause, state);
                origins.extend(log.map(|(log, group)| origin(log.as_ref(), group, cause, &own)));
            }
            found.origins = origins;
        }
        for unread in &found.unread {
            inspection.notes.push(format!("the log of {unread} could not be read"));
        }
        if logs.iter().flatten().any(|log| log.is_cut || !log.warnings.is_empty()) {
            inspection.notes.push("the log was not read to its end".to_owned());
        }
        if until > back(now, 20 * 60_000) {
            inspection.notes.push("events appear in the log up to 20 minutes late".to_owned());
        }
        inspection.facts = json!(found);
        Ok(inspection)
    }
}

/// When it failed: as people said, else when they reported it.
pub(super) struct IncidentTime {
    pub(super) at: Timestamp,
    reference: Reference,
}

impl IncidentTime {
    pub(super) fn read(state: &State) -> Self {
        let messages = state.entries.iter().filter_map(|entry| match entry {
            Entry::Message { at, text, .. } => Some((text.as_str(), *at)),
            Entry::Note { .. } | Entry::Turn(_) => None,
        });
        let all = std::iter::once((state.opened.symptom.as_str(), state.opened_at)).chain(messages);
        match all.filter_map(|(text, at)| first_failure(text, at)).min() {
            Some(at) => Self { at, reference: Reference::FirstFailure },
            None => Self { at: state.opened_at, reference: Reference::Reported },
        }
    }
}

impl IncidentTime {
    /// Returns when it failed what a cause explains. Where people complain of several things, a line each, a line says when its own failed, and
    /// not when another did.
    fn of_cause(cause: &AskedCause, state: &State) -> Self {
        let whole = || Self::read(state);
        let is_said_later = state.entries.iter().any(|entry| matches!(entry, Entry::Message { .. }));
        let Some((_, judged)) = judged(state).filter(|(_, judged)| judged.complaints.len() > 1) else {
            return whole();
        };
        let is_it = |own: &JudgedCause| own.fault == cause.fault && own.object == cause.object;
        let flows = judged.flows.iter().filter(|flow| flow.causes.iter().chain(&flow.behind).any(is_it));
        let ends = flows
            .filter_map(|flow| Some((flow.source_machine.as_deref()?, flow.destination_machine.as_deref()?)));
        let ends: Vec<(&str, &str)> = ends.collect();
        if is_said_later {
            return whole();
        }
        match failed_by_line(&state.opened.symptom, &ends, state.opened_at) {
            None => whole(),
            Some(Some(at)) => Self { at, reference: Reference::FirstFailure },
            Some(None) => Self { at: state.opened_at, reference: Reference::Reported },
        }
    }
}

/// Returns what the lines that name both ends of a flow say of when it failed, which may be nothing; `None` where no line does, or all of
/// it is one.
fn failed_by_line(text: &str, ends: &[(&str, &str)], now: Timestamp) -> Option<Option<Timestamp>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_own = |line: &&&str| ends.iter().any(|(from, to)| names(line, from) && names(line, to));
    let own: Vec<&&str> = lines.iter().filter(is_own).collect();
    if own.is_empty() || lines.len() < 2 {
        return None;
    }
    Some(own.into_iter().filter_map(|line| first_failure(line, now)).min())
}

/// Returns what a person said last, and when.
fn last_words(state: &State) -> (&str, Timestamp) {
    let messages = state.entries.iter().rev().find_map(|entry| match entry {
        Entry::Message { at, text, .. } => Some((text.as_str(), *at)),
        Entry::Note { .. } | Entry::Turn(_) => None,
    });
    messages.unwrap_or((state.opened.symptom.as_str(), state.opened_at))
}

/// The resource groups whose logs are read, and in which of them each cause lies.
struct Causes {
    groups: Vec<ResourceGroup>,
    /// The place of each cause's group among them.
    of: Vec<usize>,
}

impl Causes {
    /// Finds out where the causes lie: in the session's own group, unless what judged them says that it is another one.
    fn placed(request: &Request, state: &State) -> Self {
        let known = elsewhere(state);
        let own = &request.resource_group;
        let group_of = |cause: &AskedCause| known.get(&cause.object).and_then(|there| named(there, own));
        let mut groups = Vec::new();
        let mut of = Vec::new();
        for group in request.causes.iter().map(|cause| group_of(cause).unwrap_or_else(|| own.clone())) {
            let at = groups.iter().position(|known| *known == group);
            of.push(at.unwrap_or(groups.len()));
            if at.is_none() {
                groups.push(group);
            }
        }
        if groups.is_empty() {
            groups.push(own.clone());
        }
        Self { groups, of }
    }
}

/// Returns another group as commands name it. Whether it may be looked at the gate decides, as of everything that is read there.
fn named(there: &OtherGroup, own: &ResourceGroup) -> Option<ResourceGroup> {
    let subscription = match &there.subscription {
        Some(subscription) => Some(Name::parse(subscription).ok()?),
        None => own.subscription.clone(),
    };
    Some(ResourceGroup { subscription, group: Name::parse(&there.group).ok()? })
}

/// Reads what was changed in a group.
fn read_log(
    group: &ResourceGroup,
    (since, until): (Timestamp, Timestamp),
    replay: &mut CallReplay<'_, '_>,
) -> Result<Result<Log, Issue>, Unfinished> {
    let command = CommandRequest::line(
        line::activity_between(group, since, until, MAX_EVENTS),
        format!("find out who changed something in {}", group.group),
    );
    let read = replay.run(&mut ReadOperation::new(command, "reading the activity log"))?;
    Ok(read.and_then(|text| {
        let mut log = Log::parse(&text).map_err(|error| Issue::new(format!("the activity log: {error}")))?;
        log.is_cut |= log.events >= MAX_EVENTS;
        Ok(log)
    }))
}

/// Says what the log of its group tells of a cause. A change of a group of the same name in another subscription is not in it.
fn origin(
    log: Result<&Log, &String>,
    group: &ResourceGroup,
    cause: &AskedCause,
    time: &IncidentTime,
) -> ObjectOrigin {
    let object = cause.object.split('/').map(plain).collect::<Vec<_>>().join("/");
    let mut said = ObjectOrigin {
        fault: cause.fault.clone(),
        object: cause.object.clone(),
        result: "none".to_owned(),
        sentence: String::new(),
        correlation: None,
    };
    let log = match log {
        Ok(log) => log,
        Err(why) => {
            said.sentence = format!(
                "which change made {object} is not known: the activity log of {why} could not be read"
            );
            return said;
        }
    };
    // One of two groups that have a network of the same name is written behind it; no log knows that.
    let suffix = format!("@{}", group.group.as_str().to_ascii_lowercase());
    let bare = |part: &str| part.strip_suffix(suffix.as_str()).unwrap_or(part).to_owned();
    let subject = cause.object.split('/').map(bare).collect::<Vec<_>>().join("/");
    let question = Question { first_failure: Some(time.at), last_good: None };
    let found = log.attribute(&[Subject::of_fault(&cause.fault, &subject)], &question);
    if let Some(origin) = found.origins.first() {
        let reported = log.reported(origin);
        reported.result.clone_into(&mut said.result);
        said.sentence = log.origin_sentence(&object, origin, time.reference, moment);
        said.correlation = reported.change.and_then(|change| change.correlation).map(|id| plain(&id));
    }
    said
}

/// Says which group it is.
fn plain_group(group: &ResourceGroup) -> String {
    match &group.subscription {
        Some(subscription) => {
            format!("{} in the subscription {}", plain(group.group.as_str()), plain(subscription.as_str()))
        }
        None => plain(group.group.as_str()),
    }
}

/// Makes one word of each name: anybody may have written them.
fn one_word_names(change: &mut Change) {
    let word = |text: &str| -> String { text.split('@').map(plain).collect::<Vec<_>>().join("@") };
    let who = &mut change.who;
    who.id = if who.id.is_empty() { String::new() } else { word(&who.id) };
    who.name = who.name.as_deref().map(word);
    let Resource { id, group, chain } = &mut change.resource;
    *id = id
        .split('/')
        .map(|part| if part.is_empty() { String::new() } else { plain(part) })
        .collect::<Vec<_>>()
        .join("/");
    *group = group.as_deref().map(plain);
    for (kind, name) in chain {
        *kind = plain(kind);
        *name = plain(name);
    }
    if let ghost_inspect::changes::Action::Invoked(verb) = &mut change.action {
        *verb = plain(verb);
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

fn back(at: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(at.as_millis().saturating_sub(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_when_its_own_failed() {
        let now = Timestamp::from_millis(1_748_856_660_000);
        let text =
            "checkout in pay gives 504 since 02:00\nAlso: connections from pay-web to pay-app port 7070 hang";
        let at = |text: &str, from: &str, to: &str| failed_by_line(text, &[(from, to)], now);
        assert_eq!(at(text, "pay-web", "pay-app"), Some(None));
        assert_eq!(at(text, "pay-app", "pay-db"), None);
        let both = format!("{text} since 08:55");
        assert_eq!(at(&both, "pay-web", "pay-app"), Some(first_failure("since 08:55", now)));
        assert_eq!(at("pay-web cannot reach pay-app since 02:00", "pay-web", "pay-app"), None);
    }
}
