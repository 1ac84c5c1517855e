//! Clauses that speak of one thing, put together; what is left out is taken from what was said before.

use std::collections::BTreeSet;

use super::clause::{Boundary, Clause};
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
}

/// Puts the clauses of a message together.
pub(super) fn statements(message: &Message, estate: &Estate<'_>) -> Vec<Statement> {
    let mut skipped: Vec<String> = message
        .groups
        .iter()
        .chain(&message.baselines)
        .chain(&message.accounts)
        .map(|word| super::fold::fold(word))
        .collect();
    skipped.retain(|word| estate.named(|name| name == word).is_empty());
    let proxied = message.clauses.iter().any(|clause| clause.folded.contains("upstream"));
    let mut found: Vec<Statement> = Vec::new();
    let mut starts_next = false;
    for clause in &message.clauses {
        starts_next |= clause.boundary == Boundary::Next;
        if clause.is_guess && clause.symptoms.is_empty() {
            continue;
        }
        let named = mention::read(clause, estate, &skipped, proxied);
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
    for statement in &mut found {
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
    says && same_ends
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
    let words = [
        "other",
        "others",
        "users",
        "user",
        "apps",
        "app",
        "everything else",
        "rest",
        "everybody else",
        "andere",
        "otros",
        "autres",
        "altri",
        "outros",
        "другие",
        "остальные",
        "他",
        "其他",
        "다른",
    ];
    let says = words.iter().any(|word| clause.folded.contains(word));
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
    sentence && verdict && is_new_end && complete && last.has_verdict()
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
