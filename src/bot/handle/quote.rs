//! What was said in a thread before, as quotes that name people and not their ids.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::bot::Thread;
use crate::bot::core::Core;
use ghost_investigate::event::Quote;
use ghost_slack::arrive::IncomingMessage;
use ghost_slack::pace::Priority;

/// How much of what was said before is read.
const QUOTED: usize = 50;

/// How long it may take to read that, and then who said it: Slack waits three seconds for the acknowledgement.
const READING: Duration = Duration::from_millis(1_500);
const NAMING: Duration = Duration::from_millis(700);

/// So many people are looked up; whoever comes after them stays an id.
const NAMED: usize = 20;

impl Core {
    /// Reads what was said in a thread before a message, or so far, as quotes. Names are what their owners chose, so they are data like the rest.
    pub(super) async fn quotes(&self, thread: &Thread, before: Option<&str>) -> Vec<Quote> {
        let web = self.web.at(Priority::Approval);
        let reading = timeout(READING, web.thread(&thread.channel, &thread.ts, QUOTED)).await;
        let Ok(Ok((said, _))) = reading else {
            tracing::warn!("earlier messages of the thread not read");
            return Vec::new();
        };
        let earlier = said
            .into_iter()
            .filter(|words| before.is_none_or(|before| words.ts.as_str() < before) && words.is_speech());
        let said: Vec<(IncomingMessage, String)> = earlier
            .map(|words| {
                let text = words.everything();
                (words, text)
            })
            .collect();
        let mut ids = BTreeSet::new();
        for (words, text) in &said {
            ids.extend(words.user.clone());
            ids.extend(mentioned(text));
        }
        let names = self.names(ids).await;
        let quote = |(words, text): (IncomingMessage, String)| Quote {
            who: author(&words, &names),
            text: crate::bot::words::plain(&renamed(&text, &names)),
        };
        said.into_iter().map(quote).collect()
    }

    /// Finds the names of people, as many as there is time for.
    async fn names(&self, ids: BTreeSet<String>) -> BTreeMap<String, String> {
        let ask = ids.into_iter().take(NAMED).map(|id| async move {
            let person = timeout(NAMING, self.directory.person(&id)).await.ok()?.ok()?;
            // A name on one line, so that it cannot pass for another quote.
            let name = person.name.split_whitespace().collect::<Vec<_>>().join(" ");
            Some((id, name)).filter(|(_, name)| !name.is_empty())
        });
        join_all(ask).await.into_iter().flatten().collect()
    }
}

fn author(words: &IncomingMessage, names: &BTreeMap<String, String>) -> String {
    match (&words.bot, &words.user) {
        (Some(bot), _) => format!("bot {}", bot.name.as_deref().or(bot.bot.as_deref()).unwrap_or_default()),
        (None, Some(user)) => names.get(user).unwrap_or(user).clone(),
        (None, None) => "somebody".to_owned(),
    }
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

fn mentioned(text: &str) -> Vec<String> {
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
}
