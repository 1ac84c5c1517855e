//! Clauses that speak of one thing, put together; what is left out is taken from what was said before.

use std::collections::BTreeSet;

use super::clause::{Boundary, Clause, TROUBLE};
use super::ellipsis::Ellipsis;
use super::mention::{Mark, Mention, Named, What};
use super::scope::Estate;
use super::vocabulary::WORDS;
use super::{Control, Message, Protocol, Service, mention};
use crate::symptom_text::Symptom;

/// One thing that somebody says, in one or several clauses.
#[derive(Debug, Clone, Default)]
pub(super) struct Statement {
    pub(super) texts: Vec<String>,
    pub(super) symptoms: BTreeSet<Symptom>,
    pub(super) is_doubtful: bool,
    pub(super) is_question: bool,
    pub(super) is_ping: bool,
    pub(super) mentions: Vec<Mention>,
    pub(super) ports: Vec<Port>,
    /// The machines of the applications that are named.
    pub(super) scope: Vec<usize>,
    pub(super) controls: Vec<Control>,
    /// What the same sentence says of something that works.
    aside: Option<Box<Named>>,
    /// It begins with `Also`, or as an item of a list.
    pub(super) is_next: bool,
    /// What serves is said to stand before the verb: `B does not answer A`.
    pub(super) is_turned: bool,
    /// Somebody says that it is repaired.
    is_over: bool,
}

/// A port that a statement names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) service: Service,
    /// It is glued to an end.
    pub(super) is_bound: bool,
}

impl Statement {
    /// Tells whether it names an end, a port, an application or ping.
    pub(super) fn has_content(&self) -> bool {
        !self.mentions.is_empty() || !self.ports.is_empty() || !self.scope.is_empty() || self.is_ping
    }

    fn has_verdict(&self) -> bool {
        !self.symptoms.is_empty() || self.is_doubtful || self.is_ping
    }

    /// Tells whether it speaks of trouble with a flow.
    pub(super) fn is_trouble(&self) -> bool {
        TROUBLE.iter().any(|symptom| self.symptoms.contains(symptom))
    }

    /// Tells whether it speaks of the storage accounts of the message.
    pub(super) fn is_about_accounts(&self, message: &Message) -> bool {
        let names = |text: &String| message.accounts.iter().any(|account| text.contains(account.as_str()));
        self.symptoms.contains(&Symptom::StorageUnreachable) || self.texts.iter().any(names)
    }

    /// Tells whether it consists of one clause.
    fn is_only(&self, text: &str) -> bool {
        let only = self.texts.iter().all(|own| own == text) && self.symptoms.is_empty();
        only && self.controls.iter().all(|control| control.text == text)
    }
}

/// `not fixed`.
fn is_denied(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    before.split_whitespace().rev().take(2).any(|word| WORDS.negation.before.hold(word))
}

/// Tells whether two ends are machines of the same kind.
fn is_like(one: &What, other: &What, estate: &Estate<'_>) -> bool {
    let kind = |what: &What| match what {
        What::Machines(all, _) => {
            all.first().and_then(|at| Some((estate.role(*at)?, estate.application(*at).map(str::to_owned))))
        }
        What::Role(role, _) => Some((*role, None)),
        What::Name(_) | What::Outside(_) | What::Internet | What::NoOwner(_) | What::Unknown(_) => None,
    };
    kind(one).is_some_and(|kind_of_one| kind(other) == Some(kind_of_one))
}

/// Tells whether an end that is named is of the kind of one that was named before, and another one.
fn has_like(known: &Named, own: &Named, estate: &Estate<'_>) -> bool {
    let [only] = own.mentions.as_slice() else { return false };
    let known = &known.mentions;
    known.iter().any(|mention| is_like(&mention.what, &only.what, estate))
        && machines(std::slice::from_ref(only)).iter().all(|end| !machines(known).contains(end))
}

/// `A reaches C on 5432, but B does not`: what is left out of the second half is what stands in the first. What stands in its place is
/// the one that is like it, else who is spoken of, or where `not` comes first whom that one calls.
fn contrast(known: &Named, own: Named, clause: &Clause, estate: &Estate<'_>) -> Named {
    let mut merged = known.clone();
    let Some(first) = own.mentions.first() else { return merged };
    // `SSH to B works for us, but not from A`: who it works for is no end, and the one that was named is the one that is called.
    if first.mark == Mark::From
        && let [called] = known.mentions.as_slice()
        && called.mark != Mark::From
        && !is_like(&called.what, &first.what, estate)
    {
        merged.mentions.extend(own.mentions);
        return merged;
    }
    let is_like = |mention: &Mention| is_like(&mention.what, &first.what, estate);
    let by_mark = |mark: Mark| merged.mentions.iter().position(|mention| mention.mark == mark);
    let before = clause.folded.get(..first.start).unwrap_or_default();
    let object = WORDS.negation.elliptic.are_in(before) || WORDS.negation.alone.are_in(before);
    let place = merged.mentions.iter().position(is_like).or_else(|| match first.mark {
        Mark::From => by_mark(Mark::From).or(Some(0)),
        Mark::To => by_mark(Mark::To).or(merged.mentions.len().checked_sub(1)),
        Mark::Open | Mark::At | Mark::Of | Mark::With | Mark::Between | Mark::Hop | Mark::Via => {
            if object || !own.ports.is_empty() { merged.mentions.len().checked_sub(1) } else { Some(0) }
        }
    });
    let Some(place) = place.filter(|place| *place < merged.mentions.len()) else { return own };
    let is_port_of_own = !own.ports.is_empty();
    let replaced = merged.mentions.remove(place);
    let mut others = own.mentions;
    for (at, mention) in others.iter_mut().enumerate() {
        if matches!(mention.mark, Mark::Open | Mark::At | Mark::Of | Mark::With) {
            mention.mark = replaced.mark;
        }
        mention.is_joined = at > 0;
        if !is_port_of_own {
            mention.port = replaced.port;
        }
    }
    for (at, mention) in others.into_iter().enumerate() {
        merged.mentions.insert(place + at, mention);
    }
    if is_port_of_own {
        merged.ports = own.ports;
        let bound: Vec<u16> = merged.ports.iter().map(|port| port.port).collect();
        for mention in &mut merged.mentions {
            mention.port = mention.port.filter(|port| bound.contains(port));
        }
    }
    merged
}

/// Puts the clauses of a message together.
pub(super) fn statements(message: &Message, estate: &Estate<'_>) -> Vec<Statement> {
    let mut skipped = message.words_of_options();
    skipped.retain(|word| estate.named(|name| name == word).is_empty());
    let proxied = message.clauses.iter().any(|clause| clause.folded.contains("upstream"));
    let mut found: Vec<Statement> = Vec::new();
    let mut starts_next = false;
    // What the clause before this one names, where nothing is said to be wrong with it.
    let mut fine: Option<(&Clause, Named)> = None;
    for clause in &message.clauses {
        starts_next |= clause.boundary == Boundary::Next;
        if clause.is_history || (clause.is_guess && clause.symptoms.is_empty()) {
            continue;
        }
        let mut named = mention::read(clause, estate, &skipped, proxied);
        let over = WORDS.history.over.find_all(&clause.folded);
        if !clause.is_question
            && !clause.is_trouble()
            && over.iter().any(|place| !is_denied(&clause.folded, place.start))
        {
            if !named.mentions.is_empty() {
                found.push(Statement { is_over: true, ..new(clause, named, true, starts_next) });
            } else if let Some(last) = found.last_mut() {
                last.is_over = true;
            }
            starts_next = true;
            continue;
        }
        let before = fine.take().filter(|_| clause.boundary <= Boundary::Sentence);
        if let (Some(ellipsis), false) = (clause.ellipsis, named.mentions.is_empty()) {
            match (ellipsis, before) {
                // `A reaches C, B does not`
                (Ellipsis::DoesNot, Some((works, known)))
                    if known.mentions.len() > 1 || named.ports.is_empty() =>
                {
                    if found.last().is_some_and(|last| last.is_only(&works.text)) {
                        found.pop();
                    }
                    let control = control(works, &known, estate);
                    let named = contrast(&known, named, clause, estate);
                    let mut statement = new(clause, named, false, starts_next);
                    statement.symptoms.insert(Symptom::Unreachable);
                    statement.texts.insert(0, works.text.clone());
                    statement.controls.extend(control);
                    found.push(statement);
                    starts_next = false;
                    continue;
                }
                // `A does not reach C, B does`; `slow for A, not for B`
                (_, None) if !clause.is_trouble() && found.last().is_some_and(Statement::is_trouble) => {
                    let control = control(clause, &named, estate);
                    if let Some(last) = found.last_mut() {
                        last.controls.extend(control);
                    }
                    continue;
                }
                (_, before) => fine = before.filter(|(_, known)| known.mentions.len() > 1),
            }
        } else if let Some((works, known)) = before
            && clause.is_trouble()
            && found.last().is_some_and(|last| last.is_only(&works.text))
        {
            // `A reaches C, B is ignored`; `A reaches C, but B cannot reach D`
            let is_alone = named.mentions.len() == 1 && has_like(&known, &named, estate);
            let is_opposed = named.mentions.len() > 1 && WORDS.boundary.but.begin(clause.folded.trim_start());
            if is_alone || is_opposed {
                found.pop();
                let control = control(works, &known, estate);
                let named = if is_alone { contrast(&known, named, clause, estate) } else { named };
                let mut statement = new(clause, named, false, false);
                statement.controls.extend(control);
                found.push(statement);
                continue;
            }
        }
        if WORDS.direction.there.are_in(&clause.folded)
            && let Some(spoken) = found.last().and_then(|last| last.aside.as_ref())
            && let Some(there) = spoken.mentions.iter().rfind(|mention| mention.mark != Mark::From)
            && !named.mentions.iter().any(|mention| mention.mark == Mark::From)
        {
            named.mentions.push(Mention { mark: Mark::From, port: None, ..there.clone() });
        }
        let question = &WORDS.question;
        let asks =
            question.leftovers.are_in(&clause.folded) || question.exposure_ports.are_in(&clause.folded);
        let doubt = asks || WORDS.doubt.words.are_in(&clause.folded);
        let is_own = !named.mentions.is_empty()
            || !named.ports.is_empty()
            || !named.scope.is_empty()
            || clause.is_ping;
        let aside = [Symptom::OneProtocol, Symptom::NothingChanged, Symptom::RolledBack];
        let quiet = clause.symptoms.iter().all(|symptom| aside.contains(symptom));
        let works = clause.is_healthy && quiet && !clause.is_question && (!doubt || clause.is_ping);
        // `… slow for A but not for B`
        let elliptic = !clause.is_trouble()
            && named.ports.is_empty()
            && WORDS.negation.elliptic.begin(clause.folded.trim_start());
        // Of a service that is named, the one that has it is enough: `SSH to B works for us, but not from A`.
        let is_whole = match named.mentions.as_slice() {
            [] => false,
            [only] => only.mark != Mark::From && !named.ports.is_empty(),
            [_, _, ..] => true,
        };
        if !clause.is_trouble() && !clause.is_question && !doubt && is_whole {
            fine = Some((clause, named.clone()));
        }
        if works || (elliptic && !named.mentions.is_empty()) {
            let lends = (!named.mentions.is_empty()).then(|| Box::new(named.clone()));
            if let Some(control) = control(clause, &named, estate)
                && let Some(last) = found.last_mut().filter(|_| !starts_next)
            {
                last.controls.push(control);
                if clause.boundary == Boundary::Clause {
                    last.aside = last.aside.take().or(lends);
                }
            } else if let Some(control) = control(clause, &named, estate) {
                found.push(Statement { controls: vec![control], aside: lends, ..Statement::default() });
            }
            continue;
        }
        if !is_own {
            let Some(last) = found.last_mut().filter(|_| !starts_next || clause.symptoms.is_empty()) else {
                if !clause.symptoms.is_empty() || doubt {
                    found.push(new(clause, named, doubt, starts_next));
                    starts_next = false;
                }
                continue;
            };
            // A question about something else adds nothing: `what changed?`
            last.symptoms.extend(clause.symptoms.iter().copied());
            last.is_doubtful |= doubt;
            last.is_question |= clause.is_question;
            if !clause.symptoms.is_empty() {
                last.texts.push(clause.text.clone());
            }
            continue;
        }
        // `A works, B does not`: what works may be all that stands there so far.
        let aside =
            found.last().and_then(|last| last.aside.clone()).filter(|_| clause.boundary == Boundary::Clause);
        let begins = found.last().is_none_or(|last| {
            (starts_next && (last.has_content() || last.has_verdict())) || is_another(last, clause, &named)
        });
        if begins {
            found.push(new(clause, named, doubt, starts_next));
        } else if let Some(last) = found.last_mut() {
            merge(last, clause, named, doubt);
        }
        if let Some(last) = found.last_mut() {
            last.aside = last.aside.take().or(aside);
        }
        starts_next = false;
    }
    // What is repaired is left out, unless nothing else is said.
    if found.iter().any(|statement| !statement.is_over && statement.is_trouble()) {
        found.retain(|statement| !statement.is_over);
    }
    for statement in &mut found {
        statement.is_doubtful |= statement.is_over;
        borrow(statement);
    }
    let mut kept: Vec<Statement> = Vec::with_capacity(found.len());
    for statement in found {
        match kept.last_mut().filter(|last| repeats(last, &statement)) {
            Some(last) => {
                last.texts.extend(statement.texts);
                last.symptoms.extend(statement.symptoms);
                last.controls.extend(statement.controls);
            }
            None => kept.push(statement),
        }
    }
    kept
}

/// Tells whether a statement names nothing that the one before it does not: a log that is pasted below.
fn repeats(last: &Statement, statement: &Statement) -> bool {
    let known = machines(&last.mentions);
    let same_ends = machines(&statement.mentions).iter().all(|machine| known.contains(machine));
    let same_ports =
        statement.ports.iter().all(|port| last.ports.iter().any(|known| known.service == port.service));
    let says = !statement.mentions.is_empty() || !statement.ports.is_empty();
    // An item of a list that names the same is another complaint, a line of a log that begins with a star is not.
    let is_log = !statement.mentions.is_empty() && !statement.ports.is_empty();
    // Names that fail on one of the ends are another thing than calls between both.
    let is_other = is_of_one_end(&last.symptoms) != is_of_one_end(&statement.symptoms)
        && machine_sides(&last.mentions) > 1
        && !statement.mentions.is_empty();
    says && same_ends
        && !is_other
        && same_ports
        && (is_log || !statement.is_next)
        && statement.scope.is_empty()
        && statement.is_ping == last.is_ping
}

/// `5432 works from A but hangs from B`: ends and ports that are left out stand beside what works.
fn borrow(statement: &mut Statement) {
    let Some(aside) = statement.aside.take() else { return };
    if statement.mentions.is_empty() && statement.has_content() && statement.scope.is_empty() {
        statement.mentions = aside.mentions;
        return;
    }
    let calls = |mention: &Mention| mention.mark == Mark::From;
    if statement.mentions.is_empty() || !statement.mentions.iter().all(calls) {
        return;
    }
    if statement.ports.is_empty() {
        statement.ports = services(&aside);
    }
    statement.mentions.extend(aside.mentions.into_iter().filter(|mention| !calls(mention)));
}

fn control(clause: &Clause, named: &Named, estate: &Estate<'_>) -> Option<Control> {
    let says = WORDS.control.others.are_in(&clause.folded);
    let is_any = !named.mentions.is_empty()
        || !named.ports.is_empty()
        || clause.is_ping
        || !named.scope.is_empty()
        || says;
    is_any.then(|| {
        let mut ports: Vec<Service> = services(named).into_iter().map(|port| port.service).collect();
        if clause.is_ping {
            ports.push(Service { protocol: Protocol::Icmp, port: None });
        }
        let machines = named.mentions.iter().filter_map(|mention| match &mention.what {
            What::Machines(all, _) => Some(all.clone()),
            What::Name(_)
            | What::Role(..)
            | What::Outside(_)
            | What::Internet
            | What::NoOwner(_)
            | What::Unknown(_) => None,
        });
        let machines = machines
            .flatten()
            .filter_map(|at| estate.machine(at))
            .map(|machine| machine.name.clone())
            .collect();
        Control { text: clause.text.clone(), ports, machines }
    })
}

fn services(named: &Named) -> Vec<Port> {
    let mut found: Vec<Port> = Vec::new();
    for port in &named.ports {
        let port = Port {
            service: Service { protocol: port.protocol, port: Some(port.port) },
            is_bound: port.is_bound,
        };
        if !found.iter().any(|known| known.service == port.service) {
            found.push(port);
        }
    }
    found
}

fn new(clause: &Clause, named: Named, doubt: bool, is_next: bool) -> Statement {
    let ports = services(&named);
    Statement {
        texts: vec![clause.text.clone()],
        symptoms: clause.symptoms.clone(),
        is_doubtful: doubt,
        is_question: clause.is_question,
        is_ping: clause.is_ping,
        is_turned: is_turned(clause, &named),
        mentions: named.mentions,
        ports,
        scope: named.scope,
        controls: Vec::new(),
        aside: None,
        is_next,
        is_over: false,
    }
}

/// `B does not answer A`, `B refuses A`, `B does not respond to A`.
fn is_turned(clause: &Clause, named: &Named) -> bool {
    let [one, next, ..] = named.mentions.as_slice() else { return false };
    let open = |mention: &Mention| matches!(mention.mark, Mark::Open | Mark::At);
    let between = clause.folded.get(one.end..next.start).unwrap_or_default();
    let direction = &WORDS.direction;
    let by_order = open(next) && direction.serves.are_in(between);
    let by_word =
        matches!(next.mark, Mark::To | Mark::With) && next.port.is_none() && direction.silent.are_in(between);
    open(one) && (by_order || by_word)
}

/// Names that fail, an Internet that is lost, an account or containers that are cut off: it is what one machine lacks; calls between two
/// are another thing.
const OF_ONE_END: [Symptom; 4] =
    [Symptom::Names, Symptom::InternetLost, Symptom::StorageUnreachable, Symptom::Containers];

/// Tells whether a clause is about another thing than the statement so far.
fn is_another(last: &Statement, clause: &Clause, named: &Named) -> bool {
    let verdict = !clause.symptoms.is_empty() || clause.is_ping;
    let sentence = clause.boundary >= Boundary::Sentence;
    let ports = services(named);
    let is_new_port = ports.iter().any(|port| !last.ports.iter().any(|known| known.service == port.service));
    if clause.is_ping != last.is_ping && verdict && last.has_verdict() && (last.has_content() || last.is_ping)
    {
        let says_more = clause.is_ping || is_new_port;
        if says_more && clause.is_trouble() {
            return true;
        }
    }
    if is_new_port && !last.ports.is_empty() && ((verdict && last.has_verdict()) || sentence) {
        return true;
    }
    let complete = |mentions: &[Mention]| mentions.iter().filter(|mention| is_side(mention)).count() > 1;
    if clause.boundary == Boundary::Paragraph
        && last.has_content()
        && last.has_verdict()
        && (verdict || complete(&last.mentions))
    {
        return true;
    }
    // All of an application is more than the ends that were named in it.
    if sentence
        && verdict
        && last.has_verdict()
        && !last.mentions.is_empty()
        && named.mentions.is_empty()
        && !named.scope.is_empty()
    {
        return true;
    }
    let own = machines(&named.mentions);
    let known = machines(&last.mentions);
    let is_new_end = own.iter().any(|machine| !known.contains(machine));
    let has_side = |mentions: &[Mention]| mentions.iter().filter(|mention| is_side(mention)).count();
    if has_side(&named.mentions) > 1
        && is_new_end
        && has_side(&last.mentions) > 1
        && ((last.has_verdict() && (sentence || verdict)) || (!ports.is_empty() && !last.ports.is_empty()))
    {
        return true;
    }
    // Another application is another thing.
    if sentence
        && verdict
        && last.has_verdict()
        && !named.scope.is_empty()
        && !last.scope.is_empty()
        && named.scope != last.scope
    {
        return true;
    }
    let complete = has_side(&last.mentions) > 1;
    if sentence && verdict {
        let calls = |mentions: &[Mention], symptoms: &BTreeSet<Symptom>| {
            machine_sides(mentions) > 1 && !is_of_one_end(symptoms)
        };
        let before = calls(&last.mentions, &last.symptoms);
        let now = calls(&named.mentions, &clause.symptoms);
        if (before && is_of_one_end(&clause.symptoms) && machine_sides(&named.mentions) == 1)
            || (now && is_of_one_end(&last.symptoms) && machine_sides(&last.mentions) == 1)
        {
            return true;
        }
    }
    sentence && verdict && is_new_end && complete && last.has_verdict()
}

/// Tells whether symptoms are about one machine, whomever it calls.
fn is_of_one_end(symptoms: &BTreeSet<Symptom>) -> bool {
    OF_ONE_END.iter().any(|symptom| symptoms.contains(symptom))
}

fn machine_sides(mentions: &[Mention]) -> usize {
    let is_machine = |mention: &&Mention| is_side(mention) && !matches!(mention.what, What::Internet);
    mentions.iter().filter(is_machine).count()
}

fn is_side(mention: &Mention) -> bool {
    mention.mark != Mark::Via
}

fn machines(mentions: &[Mention]) -> Vec<What> {
    mentions
        .iter()
        .filter(|mention| mention.mark != Mark::Via)
        .map(|mention| match &mention.what {
            What::Machines(all, _) => What::Machines(all.clone(), None),
            other @ (What::Name(_)
            | What::Role(..)
            | What::Outside(_)
            | What::Internet
            | What::NoOwner(_)
            | What::Unknown(_)) => other.clone(),
        })
        .collect()
}

fn merge(last: &mut Statement, clause: &Clause, named: Named, doubt: bool) {
    let ports = services(&named);
    last.texts.push(clause.text.clone());
    last.symptoms.extend(clause.symptoms.iter().copied());
    last.is_doubtful |= doubt;
    last.is_question |= clause.is_question;
    last.is_ping |= clause.is_ping;
    last.is_turned |= last.mentions.is_empty() && is_turned(clause, &named);
    last.scope.extend(named.scope);
    last.scope.sort_unstable();
    last.scope.dedup();
    for port in ports {
        if !last.ports.iter().any(|known| known.service == port.service) {
            last.ports.push(port);
        }
    }
    let complete = |mentions: &[Mention]| mentions.iter().filter(|mention| is_side(mention)).count() > 1;
    for mut mention in named.mentions {
        let what = machines(std::slice::from_ref(&mention));
        let known = last.mentions.iter_mut().find(|known| machines(std::slice::from_ref(known)) == what);
        match known {
            Some(known) => {
                if matches!(known.mark, Mark::Open | Mark::At)
                    && matches!(mention.mark, Mark::From | Mark::To)
                {
                    known.mark = mention.mark;
                }
                known.port = known.port.or(mention.port);
                if let (What::Machines(_, address @ None), What::Machines(_, other)) =
                    (&mut known.what, &mention.what)
                {
                    *address = *other;
                }
            }
            None => {
                // A role in passing says nothing where both ends are named already.
                if matches!(mention.what, What::Role(..) | What::Internet) && complete(&last.mentions) {
                    continue;
                }
                mention.is_joined = false;
                last.mentions.push(mention);
            }
        }
    }
}
