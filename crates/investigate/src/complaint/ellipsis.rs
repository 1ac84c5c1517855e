//! Clauses that say of an end that it does or does not, and leave out what: `but B does not`.

use super::clause::is_end_like;
use super::token::{Kind, Token, tokens};
use super::vocabulary::WORDS;

/// What is said of an end in a clause that leaves out everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ellipsis {
    /// `B does`.
    Does,
    /// `B does not`.
    DoesNot,
}

/// Tells what a clause says of an end where it says nothing else: names, ports and the words that only give them a part are left out.
pub(super) fn ellipsis(text: &str) -> Option<Ellipsis> {
    let direction = &WORDS.direction;
    let gives_part = |word: &str| {
        direction.filler.hold(word)
            || direction.from.hold(word)
            || direction.to.hold(word)
            || direction.at.hold(word)
            || WORDS.number.port_before.hold(word)
    };
    let is_said = |word: &str| WORDS.negation.alone.hold(word) || WORDS.negation.affirmed.hold(word);
    let mut said: Vec<&str> = Vec::new();
    let mut from = 0;
    let all = tokens(text);
    let ends: Vec<&Token<'_>> = all.iter().filter(|token| is_end_like(token)).collect();
    let is_list = ends.iter().zip(ends.iter().skip(1)).all(|(one, next)| {
        let between = text.get(one.end..next.start).unwrap_or_default();
        let words = between.split([' ', ',', '、']).filter(|word| !word.is_empty());
        words.into_iter().all(|word| WORDS.boundary.and.hold(word) || WORDS.boundary.or.hold(word))
    });
    if !is_list {
        return None;
    }
    let named = all.iter().filter(|token| is_named(token)).map(|token| (token.start, token.end, true));
    for (start, end, is_name) in named.chain([(text.len(), text.len(), false)]) {
        let between = text.get(from..start).unwrap_or_default();
        let words = between.split(|char: char| char.is_whitespace() || ",.;!?()\"—–、，。".contains(char));
        said.extend(words.filter(|word| !word.is_empty()).map(bare));
        // `not from A`: what stands right before a name gives it its part.
        while is_name && said.last().is_some_and(|word| gives_part(word) && !is_said(word)) {
            said.pop();
        }
        from = end;
    }
    let joins = |word: &&str| {
        !WORDS.negation.particles.hold(word)
            && (is_said(word) || !(WORDS.boundary.but.hold(word) || WORDS.boundary.and.hold(word)))
    };
    let said: Vec<&str> = said.into_iter().filter(joins).collect();
    let said = said.join(" ");
    if WORDS.negation.alone.hold(&said) {
        return Some(Ellipsis::DoesNot);
    }
    WORDS.negation.affirmed.hold(&said).then_some(Ellipsis::Does)
}

/// `A llega a C, B no llega`: the second half denies the verb of the first.
pub(super) fn denies_verb(left: &str, right: &str) -> bool {
    let words = |text: &'_ str| -> Vec<String> {
        let words = text.split(|char: char| !char.is_alphanumeric() && char != '\'');
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let own = tokens(right).iter().filter(|token| is_end_like(token)).count();
    let right = words(right);
    let denied = right.iter().zip(right.iter().skip(1)).filter(|(word, _)| WORDS.negation.alone.hold(word));
    let verbs: Vec<&str> = denied.filter_map(|(_, verb)| verb.get(..MIN_VERB)).collect();
    let left = words(left);
    let is_said = |verb: &&str| left.iter().any(|word| word.starts_with(verb));
    own == 1 && verbs.iter().any(is_said) && !left.iter().any(|word| WORDS.negation.alone.hold(word))
}

/// So many letters of a verb say which it is.
const MIN_VERB: usize = 4;

/// `はできません`: without the sign that is glued to the name before it.
fn bare(word: &str) -> &str {
    let particle = word.chars().next().filter(|_| !word.is_ascii());
    let rest = particle.and_then(|char| word.strip_prefix(char)).unwrap_or_default();
    let is_particle =
        particle.is_some_and(|char| WORDS.negation.particles.hold(char.encode_utf8(&mut [0; 4])));
    if is_particle && !rest.is_empty() { rest } else { word }
}

/// Tells whether a token is an end or a port.
fn is_named(token: &Token<'_>) -> bool {
    is_end_like(token)
        || matches!(token.kind, Kind::Number(_) | Kind::Port(..) | Kind::Range(..))
        || WORDS.services.ports.contains_key(token.text)
}
