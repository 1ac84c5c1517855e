//! A message of a thread, as text.

use std::collections::BTreeMap;

use ghost_base::Timestamp;
use ghost_investigate::event::{Passage, PassagePlace, Unread};
use ghost_slack::arrive::IncomingMessage;
use ghost_slack::content::{Content, Origin, PassageKind, Unread as NotInMessage};
use ghost_slack::text::{Links, readable};

/// A message, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::bot) struct ThreadMessage {
    pub(in crate::bot) ts: String,
    pub(in crate::bot) who: String,
    pub(in crate::bot) by_program: bool,
    pub(in crate::bot) texts: Vec<Text>,
    pub(in crate::bot) unread: Vec<NotInMessage>,
}

/// A passage of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::bot) struct Text {
    pub(in crate::bot) passage: Passage,
    /// Whether it is what Slack shows of a web page: it is quoted, and no complaint.
    pub(in crate::bot) is_preview: bool,
}

impl ThreadMessage {
    /// Reads a message. `names` knows people by their ids; `bot` is the bot's own user, whose mention says nothing.
    #[must_use]
    pub(in crate::bot) fn of(
        message: &IncomingMessage,
        place: PassagePlace,
        names: &BTreeMap<String, String>,
        bot: &str,
    ) -> Self {
        let content = Content::of(message);
        let by_program = message.bot.is_some();
        let who = author(message, names);
        let at = moment(&message.ts);
        let texts = content.passages.iter().filter_map(|passage| {
            let origin = match &passage.kind {
                PassageKind::Forwarded(origin) => Some(origin),
                PassageKind::Words
                | PassageKind::Table
                | PassageKind::Card
                | PassageKind::Preview
                | PassageKind::Snippet { .. } => None,
            };
            // A person writes no cards: one in a message of theirs is some program's.
            let is_card = passage.kind == PassageKind::Card;
            let by_program = origin.map_or(by_program || is_card, |origin| origin.is_bot);
            // A card's links lead to the pages of its program.
            let links = match passage.kind {
                PassageKind::Card | PassageKind::Preview => Links::Labels,
                _ if by_program => Links::Labels,
                PassageKind::Words
                | PassageKind::Table
                | PassageKind::Forwarded(_)
                | PassageKind::Snippet { .. } => Links::Whole,
            };
            let text = without_permalinks(&renamed(&without(&passage.text, bot), names));
            let text = readable(&text, links);
            let text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned();
            let passage_place = match (&passage.kind, place) {
                (PassageKind::Forwarded(_), _) | (PassageKind::Card, PassagePlace::Mention) => {
                    PassagePlace::Forwarded
                }
                (PassageKind::Table, PassagePlace::Mention) => PassagePlace::Table,
                (PassageKind::Snippet { .. }, PassagePlace::Mention) => PassagePlace::File,
                (_, place) => place,
            };
            let passage_who = match (&passage.kind, origin) {
                (PassageKind::Snippet { name, .. }, _) => name.clone(),
                (_, Some(origin)) => origin_name(origin, names),
                (_, None) => who.clone(),
            };
            let passage_at = origin.and_then(|origin| moment(origin.ts.as_deref()?)).or_else(|| at.clone());
            (!text.is_empty()).then(|| Text {
                is_preview: passage.kind == PassageKind::Preview,
                passage: Passage { place: passage_place, who: passage_who, at: passage_at, text, by_program },
            })
        });
        Self {
            ts: message.ts.clone(),
            who: who.clone(),
            by_program,
            texts: texts.collect(),
            unread: content.unread,
        }
    }

    /// Returns everything that can be read in it.
    #[must_use]
    pub(in crate::bot) fn text(&self) -> String {
        self.texts.iter().map(|text| text.passage.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// What a session's record says of parts that cannot be read. `has_scope` says whether files may be fetched.
pub(super) fn unread(part: &NotInMessage, has_scope: bool) -> Unread {
    match part {
        NotInMessage::Picture { name } => Unread::Picture { name: name.clone() },
        NotInMessage::Text { name, .. } if has_scope => Unread::Failed { name: name.clone() },
        NotInMessage::Text { name, is_begun, .. } => {
            Unread::Scope { name: name.clone(), scope: "files:read".to_owned(), is_begun: *is_begun }
        }
        NotInMessage::Other { name } => Unread::Kind { name: name.clone() },
        NotInMessage::Elsewhere { name } => Unread::Elsewhere { name: name.clone() },
    }
}

/// Returns the moment that the name of a message stands for, RFC 3339.
fn moment(ts: &str) -> Option<String> {
    let (seconds, micros) = ts.split_once('.')?;
    let millis = seconds.parse::<i64>().ok()?.checked_mul(1_000)? + micros.get(..3)?.parse::<i64>().ok()?;
    (millis > 0).then(|| Timestamp::from_millis(millis).to_string())
}

fn author(message: &IncomingMessage, names: &BTreeMap<String, String>) -> String {
    match (&message.bot, &message.user) {
        (Some(bot), _) => {
            format!("bot {}", one_line(bot.name.as_deref().or(bot.bot.as_deref()).unwrap_or_default()))
        }
        (None, Some(user)) => names.get(user).unwrap_or(user).clone(),
        (None, None) => "somebody".to_owned(),
    }
}

fn origin_name(origin: &Origin, names: &BTreeMap<String, String>) -> String {
    let known = origin.user.as_ref().and_then(|user| names.get(user)).cloned();
    let name = known.or_else(|| origin.name.as_deref().map(one_line)).or_else(|| origin.user.clone());
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody".to_owned());
    if origin.is_bot { format!("bot {name}") } else { name }
}

/// A name on one line, so that it cannot pass for another quote.
fn one_line(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect()
}

/// Takes the mention of the bot out, wherever it stands.
fn without(text: &str, bot: &str) -> String {
    if bot.is_empty() {
        return text.to_owned();
    }
    let mut rest = text.replace(&format!("<@{bot}>"), " ").replace(&format!("@{bot}"), " ");
    // A mention may carry the name that it had when it was written.
    while let Some((before, behind)) = rest.split_once(&format!("<@{bot}|")) {
        let behind = behind.split_once('>').map_or("", |(_, behind)| behind);
        rest = format!("{before} {behind}");
    }
    rest
}

/// Takes links to messages out: what they lead to is read, and their host is nobody's machine.
fn without_permalinks(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once("<http") {
        let Some((inside, after)) = behind.split_once('>') else { break };
        kept.push_str(before);
        if !(inside.contains(".slack.com/archives/")
            || inside.contains("/archives/") && inside.contains("/p1"))
        {
            kept.push_str(&format!("<http{inside}>"));
        }
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// Splits a text at the mentions of people: before each of them, its id, and what is behind the last one.
fn split_mentions(text: &str) -> (Vec<(&str, &str)>, &str) {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = rest.split_once("<@") {
        let Some((inside, after)) = behind.split_once('>') else { break };
        parts.push((before, inside.split('|').next().unwrap_or_default()));
        rest = after;
    }
    (parts, rest)
}

/// Returns the people whom a text mentions.
pub(in crate::bot) fn mentioned(text: &str) -> Vec<String> {
    split_mentions(text).0.into_iter().map(|(_, id)| id.to_owned()).collect()
}

fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    let (parts, rest) = split_mentions(text);
    let named = |(before, id): (&str, &str)| format!("{before}@{}", names.get(id).map_or(id, String::as_str));
    parts.into_iter().map(named).chain([rest.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_become_names_where_they_are_known() {
        let names = BTreeMap::from([("U1".to_owned(), "ana".to_owned())]);
        for (text, wanted) in [
            ("ask <@U1> or <@U2|ben>!", "ask @ana or @U2!"),
            ("<@U1><@U1>", "@ana@ana"),
            ("no mention <@U1", "no mention <@U1"),
            ("", ""),
        ] {
            assert_eq!(renamed(text, &names), wanted, "{text}");
        }
        assert_eq!(mentioned("<@U1> <@U2|x> <#C1>"), ["U1", "U2"]);
    }

    #[test]
    fn the_name_of_a_message_is_a_moment() {
        assert_eq!(moment("1700000000.123456").as_deref(), Some("2023-11-14T22:13:20.123Z"));
        for odd in ["", "x", "1.2", "-5.000000", "9999999999999999999.000"] {
            assert_eq!(moment(odd), None, "{odd}");
        }
    }
}
