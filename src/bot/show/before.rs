//! What an earlier session found: a hint, and no more.

use crate::bot::show::Message;
use crate::bot::show::block::{Line, say};
use crate::bot::show::text::{escape, prose};
use ghost_base::Timestamp;
use ghost_investigate::finding::title;
use ghost_investigate::memory::{Cause, ago};

/// An earlier session and what it found.
#[derive(Debug, Clone)]
pub struct Before {
    pub session: String,
    /// When it was opened, RFC 3339.
    pub opened: String,
    /// Whether it found the same fault; otherwise it was about the same machine.
    pub is_same: bool,
    pub cause: Cause,
    /// What was to be done then.
    pub fix: Option<String>,
    /// Whether that was verified.
    pub is_fixed: bool,
}

/// Draws the hint.
#[must_use]
pub fn before(before: &Before, now: Timestamp) -> Message {
    let session = prose(&before.session, 64);
    let when = before.opened.parse::<Timestamp>().map(|then| format!(", {}", ago(then, now)));
    let when = when.unwrap_or_default();
    let cause = prose(&title(&before.cause.code, &before.cause.object), 200);
    let mut text = match before.is_same {
        true => format!("The same fault was found before, in {session}{when}: {cause}."),
        false => format!("Something at the same machine was found before, in {session}{when}: {cause}."),
    };
    if let Some(fix) = before.fix.as_deref().map(|fix| prose(fix, 200)).filter(|fix| !fix.is_empty()) {
        let verified = if before.is_fixed { "Fixed then by" } else { "Advised then" };
        text = format!("{text} {verified}: {}", fix.trim_end_matches('.'));
        text.push('.');
    }
    text.push_str(" It may be different now: nothing of it counts as evidence.");
    Message { blocks: vec![say(Line::new().italic(&text))], text: escape(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_another_session_are_shown_and_call_nobody() {
        let hint = Before {
            session: "ghost-1".to_owned(),
            opened: "2026-11-03T09:00:00.000Z".to_owned(),
            is_same: true,
            cause: Cause { code: "nsg_deny".to_owned(), object: "nsg/<!channel>/*x*".to_owned() },
            fix: Some("ask <@U1>.".to_owned()),
            is_fixed: true,
        };
        let drawn = before(&hint, "2026-11-24T09:00:00.000Z".parse().unwrap());
        assert!(
            drawn.text.starts_with("The same fault was found before, in ghost-1, 3 weeks ago: "),
            "{}",
            drawn.text
        );
        assert!(
            drawn.text.contains("Fixed then by: ask &lt;@U1&gt;. It may be different now"),
            "{}",
            drawn.text
        );
        assert!(!drawn.text.contains("<!channel>") && drawn.blocks.len() == 1);
    }
}
