//! The one question in a thread that names nothing to look at, and the line that a complaint was reworded.

use crate::bot::show::Message;
use crate::bot::show::block::{Line, Tone, actions, button, say, small};
use crate::bot::show::text::{escape, prose, short};
use ghost_investigate::event::Unread;

/// A row of more buttons is a wall.
const MAX_BUTTONS: usize = 5;

/// How much of a complaint is repeated.
const MAX_WORDS: usize = 300;

const QUESTION: &str = "I found nothing here that I can look at. Who cannot reach whom, and on which port?";

/// Asks what to look at. `known` are names that stand in the thread or in the configuration: each is a button.
#[must_use]
pub fn ask_what(known: &[String], unread: &[Unread]) -> Message {
    let mut blocks = vec![say(Line::new().text(QUESTION))];
    if let Some(line) = not_read(unread) {
        blocks.push(small(&line));
    }
    let buttons: Vec<_> = known
        .iter()
        .take(MAX_BUTTONS)
        .enumerate()
        .map(|(at, name)| {
            button(&format!("about_{at}"), &format!("Look at {}", short(name, 50)), name, Tone::Normal, None)
        })
        .collect();
    if !buttons.is_empty() {
        blocks.push(actions(buttons));
    }
    Message { text: QUESTION.to_owned(), blocks }
}

/// Says that the question is another one now.
#[must_use]
pub fn reworded(symptom: &str) -> Message {
    let symptom = prose(symptom, MAX_WORDS);
    let line = Line::new().text("The complaint changed. I now look at: ").bold(&symptom);
    let line = line.text(" What I have read so far still counts.");
    let text = format!(
        "The complaint changed. I now look at: {} What I have read so far still counts.",
        escape(&symptom)
    );
    Message { text, blocks: vec![say(line)] }
}

/// Names what was not read, and why, on one line; nothing if all of it was.
#[must_use]
pub fn not_read(unread: &[Unread]) -> Option<String> {
    let parts: Vec<String> = unread.iter().take(6).map(part).collect();
    let more = unread.len().saturating_sub(6);
    let more = if more > 0 { format!(" · and {more} more") } else { String::new() };
    (!parts.is_empty()).then(|| format!("Not read: {}{more}", parts.join(" · ")))
}

fn part(unread: &Unread) -> String {
    let shown = |name: &str| short(&prose(name, 80), 60);
    match unread {
        Unread::Picture { name } => format!("{} (I cannot read pictures)", shown(name)),
        Unread::Scope { name, scope, is_begun: false } => {
            format!("{} (the app needs the scope {scope})", shown(name))
        }
        Unread::Scope { name, scope, is_begun: true } => {
            format!("the rest of {} (the app needs the scope {scope})", shown(name))
        }
        Unread::Large { name } => format!("{} (larger than 1 MB)", shown(name)),
        Unread::Kind { name } => format!("{} (not a text file)", shown(name)),
        Unread::Elsewhere { name } => format!("{} (shared by another organization)", shown(name)),
        Unread::Failed { name } => format!("{} (Slack did not hand it out)", shown(name)),
        Unread::Older { messages } => format!("{messages} older messages of this thread"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_what_is_known_as_buttons_and_names_what_was_not_read() {
        let known: Vec<String> = (1..9).map(|at| format!("web-{at}")).collect();
        let unread = [
            Unread::Picture { name: "shot.png".to_owned() },
            Unread::Scope { name: "app.log".to_owned(), scope: "files:read".to_owned(), is_begun: false },
        ];
        let asked = ask_what(&known, &unread);
        let shown = serde_json::to_string(&asked.blocks).unwrap();
        assert_eq!(
            shown.matches("\"action_id\":\"about_3\"").count(),
            1,
            "names of buttons are unique: {shown}"
        );
        assert!(shown.contains("Look at web-5") && !shown.contains("Look at web-6"));
        assert!(
            shown.contains("shot.png (I cannot read pictures)")
                && shown.contains("app.log (the app needs the scope files:read)")
        );
        assert_eq!(ask_what(&[], &[]).blocks.len(), 1);
    }
}
