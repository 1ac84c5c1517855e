//! An alert that opened a session: the message that its thread hangs on, and what its sender said later. All of its words are data.

use crate::bot::show::Message;
use crate::bot::show::block::{Line, labeled_lines, pre, rich, say, small};
use crate::bot::show::text::{escape, paragraph, prose};
use ghost_investigate::event::{AlertStatus, Alerted};
use ghost_investigate::recheck;
use ghost_investigate::state::State;

/// How much of the words stands there.
const TEXT: usize = 1_500;

/// How much of a title does.
const TITLE: usize = 200;

/// How many links do.
const LINKS: usize = 3;

/// How often the thread is shown that more fires; later ones are counted above.
const MAX_NEWS: usize = 10;

/// Draws the message: what the alert says, since when, and where its sender sees it.
#[must_use]
pub fn alert(state: &State) -> Option<Message> {
    let alert = state.opened.alert.as_ref()?;
    let title = prose(&alert.title, TITLE);
    let mut blocks = vec![say(Line::new().bold("Alert").text(": ").text(&title))];
    let (text, left) = paragraph(alert.text.trim(), TEXT);
    let text = if left > 0 { format!("{text}… ({left} more characters)") } else { text };
    if !text.is_empty() {
        blocks.push(rich(vec![pre(&text)]));
    }
    let source = prose(&alert.source, 60);
    let from = if source == alert.sender { source } else { format!("{source} ({})", alert.sender) };
    let mut facts = vec![("From", from)];
    facts.extend(alert.severity.as_ref().map(|severity| ("Severity", prose(severity, 60))));
    facts.extend(alert.started_at.as_ref().map(|since| ("Since", prose(since, 60))));
    let alerts = state.alerts.last().map_or(alert.alerts, |(_, last)| last.alerts);
    facts.extend((alerts > 1).then(|| ("Alerts", alerts.to_string())));
    facts.push(("Group", prose(&alert.group, 200)));
    blocks.push(say(labeled_lines(&facts)));
    let links = alert.links.iter().take(LINKS).enumerate();
    let links = links.fold(Line::new(), |line, (at, url)| {
        let line = if at > 0 { line.text(" · ") } else { line };
        line.link(Some(url), &format!("Source {}", at + 1))
    });
    if !links.is_empty() {
        blocks.push(say(links));
    }
    let status = state.alerts.last().map_or(AlertStatus::Firing, |(_, last)| last.status);
    blocks.push(say(standing(status)));
    blocks.push(small(&format!(
        "Session {} · begun by the alert; what could change something waits for a person",
        state.session
    )));
    let text = format!("Alert from {}: {}", escape(&prose(&alert.source, 60)), escape(&title));
    Some(Message { text, blocks })
}

fn standing(status: AlertStatus) -> Line {
    match status {
        AlertStatus::Firing => Line::new().text("▸ ").bold("firing"),
        AlertStatus::Resolved => Line::new().text("✔ ").bold("resolved").text(", says its sender"),
    }
}

/// Returns what the sender said later, each with its number. Of several messages that more fires only the last one is shown, and only
/// so often; that it is over is always shown.
#[must_use]
pub fn alert_news(state: &State) -> Vec<(usize, Message)> {
    let (mut news, mut firing) = (Vec::new(), 0);
    for (at, (_, alerted)) in state.alerts.iter().enumerate() {
        let next = state.alerts.get(at + 1).map(|(_, next)| next.status);
        let shown = match alerted.status {
            AlertStatus::Resolved => true,
            AlertStatus::Firing => next != Some(AlertStatus::Firing) && firing < MAX_NEWS,
        };
        if shown {
            firing += usize::from(alerted.status == AlertStatus::Firing);
            let before =
                at.checked_sub(1).and_then(|at| state.alerts.get(at)).map(|(_, before)| before.status);
            let is_back = before == Some(AlertStatus::Resolved);
            news.push((at + 1, message(state, alerted, is_back)));
        }
    }
    news
}

fn message(state: &State, alerted: &Alerted, is_back: bool) -> Message {
    let what = prose(&alerted.text, 300);
    let (words, follows) = match alerted.status {
        AlertStatus::Firing if is_back => ("The sender says that it fires again.".to_owned(), follows(state)),
        AlertStatus::Firing => (format!("The sender says more: {} firing now.", count(alerted.alerts)), ""),
        AlertStatus::Resolved => ("The sender says that it is resolved.".to_owned(), follows(state)),
    };
    let mut blocks = vec![say(Line::new().text(&words).text(follows))];
    if !what.is_empty() {
        blocks.push(rich(vec![pre(&what)]));
    }
    Message { text: format!("{words}{follows}"), blocks }
}

fn count(alerts: u64) -> String {
    if alerts == 1 { "1 alert is".to_owned() } else { format!("{alerts} alerts are") }
}

/// Says what an alert leads to that is over, or back.
fn follows(state: &State) -> &'static str {
    match recheck::possible(state) {
        Ok(()) | Err(recheck::Refused::Running) => " I look again at what was broken.",
        Err(recheck::Refused::AtWork) => " I am still at work here; then I look again at what was broken.",
        Err(recheck::Refused::NothingFound) => {
            " The report had found no fault, so there is nothing to look at again."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_base::{SessionId, Timestamp};
    use ghost_investigate::event::{Alert, Chain, Event, Opened, Origin, read};
    use ghost_investigate::model::Investigator;
    use ghost_investigate::{Limits, state::State};

    /// A session of an alert whose title wants everything, after what its sender said since.
    fn state(said: &[(AlertStatus, u64)]) -> State {
        let session: SessionId = "ghost-1".parse().unwrap();
        let hostile = "<!channel> <@U1> *bold* `code` \u{202e}".to_owned();
        let alert = Alert {
            source: "prod".to_owned(),
            sender: "generic".to_owned(),
            group: hostile.clone(),
            title: hostile.clone(),
            text: format!("```\n{hostile}\n").repeat(500),
            severity: Some(hostile.clone()),
            labels: std::collections::BTreeMap::new(),
            started_at: Some(hostile.clone()),
            links: vec!["https://a.example/x|<!here>".to_owned(), "javascript:alert(1)".to_owned()],
            alerts: 1,
            traceparent: None,
        };
        let opened = Opened {
            symptom: hostile,
            requester: alert.requester(),
            origin: Origin {
                place: "slack".to_owned(),
                team: None,
                channel: Some("C1".to_owned()),
                thread: None,
            },
            quotes: Vec::new(),
            nonce: "n".to_owned(),
            investigator: Investigator {
                provider: "playbook".to_owned(),
                model: String::new(),
                host: None,
                window: 0,
            },
            limits: Limits::default(),
            scope: None,
            hosts: Vec::new(),
            cloud_too: false,
            clusters: Vec::new(),
            surroundings: None,
            gathered: Box::default(),
            by_program: true,
            outside: None,
            alert: Some(Box::new(alert)),
            version: "0".to_owned(),
        };
        let mut chain = Chain::new(session.clone());
        let later = said.iter().map(|(status, alerts)| {
            Event::Alerted(Alerted {
                status: *status,
                text: "more <!here>".to_owned(),
                alerts: *alerts,
                at: None,
            })
        });
        let lines: Vec<String> = std::iter::once(Event::Opened(opened))
            .chain(later)
            .map(|event| chain.seal(Timestamp::from_millis(0), &event).unwrap().0)
            .collect();
        let recorded = read(&session, lines.iter().map(String::as_str)).unwrap();
        State::fold(&session, &recorded).unwrap()
    }

    #[test]
    fn nothing_that_an_alert_says_calls_links_or_grows() {
        let drawn = alert(&state(&[(AlertStatus::Firing, 7)])).unwrap();
        assert!(!drawn.text.contains("<!") && !drawn.text.contains("<@"), "{}", drawn.text);
        let shown = drawn.to_json().to_string();
        for element in ["\"type\":\"user\"", "\"broadcast\"", "\"type\":\"mrkdwn\"", "javascript", "\u{202e}"]
        {
            assert!(!shown.contains(element), "{element}: {shown}");
        }
        assert!(shown.len() < 8_000 && shown.contains("more characters"), "{}", shown.len());
        // How many fire now stands where the thread begins.
        assert!(shown.contains("\"7\"") || shown.contains("  7"), "{shown}");
    }

    #[test]
    fn of_a_row_of_messages_the_last_is_shown_and_every_end() {
        use AlertStatus::{Firing, Resolved};
        let shown = |said: &[(AlertStatus, u64)]| {
            alert_news(&state(said)).into_iter().map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[(Firing, 2), (Firing, 3), (Resolved, 3)]), [2, 3]);
        assert_eq!(shown(&[(Firing, 2); 200]), [200]);
        let flapping: Vec<_> = (0..40).map(|at| (if at % 2 == 0 { Firing } else { Resolved }, 1)).collect();
        let news = shown(&flapping);
        assert_eq!((news.len(), news.last()), (30, Some(&40)));
    }
}
