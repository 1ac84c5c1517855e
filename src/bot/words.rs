//! What people mean: an order, or words for the investigation.

/// What somebody wants who speaks to the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// Nothing was said.
    Nothing,
    /// End now.
    Stop,
    /// Report what there is, and end.
    Report,
    /// Where does it stand?
    Status,
    /// What can I do here?
    Help,
    /// Show the trail.
    Audit,
    /// It is fixed: check what was broken again.
    Recheck,
    /// Go on where it ended.
    Resume,
    /// A decision that was typed and not pressed.
    Decision,
    /// Words that are a decision where one is waited for.
    Assent(String),
    /// Words for the investigation.
    Words(String),
}

/// Reads what was said. An order is one word alone: `stop` is one, `stop the capture on web-1` are words.
#[must_use]
pub fn meant(text: &str) -> Intent {
    let words = text.trim();
    let bare = words.trim_matches(|char: char| char.is_ascii_punctuation() || char.is_whitespace());
    match bare.to_lowercase().as_str() {
        "" if words.is_empty() || bare.is_empty() => Intent::Nothing,
        "stop" | "cancel" | "abort" => Intent::Stop,
        "report" => Intent::Report,
        "status" => Intent::Status,
        "help" => Intent::Help,
        "audit" => Intent::Audit,
        "resume" | "continue" | "go on" | "carry on" => Intent::Resume,
        "approve" | "approved" | "i approve" | "approve it" | "ok approve" | "deny" | "denied"
        | "deny it" | "reject" => Intent::Decision,
        "yes" | "no" | "go ahead" | "do it" | "lgtm" => Intent::Assent(words.to_owned()),
        bare if is_recheck(bare) => Intent::Recheck,
        _ => Intent::Words(words.to_owned()),
    }
}

/// Tells whether somebody says that it is fixed and wants it checked again, and nothing else.
pub(super) fn is_recheck(text: &str) -> bool {
    let words = text.to_lowercase().replace(['-', '\'', '’'], "");
    let words: Vec<&str> = words
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| {
            !word.is_empty() && !["please", "now", "ok", "its", "it", "is", "and", "so"].contains(word)
        })
        .collect();
    matches!(
        words.as_slice(),
        ["recheck"]
            | ["check", "again"]
            | ["verify", "again"]
            | ["fixed", "recheck"]
            | ["fixed", "check", "again"]
            | ["fixed", "verify"]
            | ["verify", "fix"]
            | ["verify", "the", "fix"]
            | ["check", "the", "fix"]
    )
}

/// Takes the mention of the bot out of a text, wherever it stands, and undoes Slack's escapes.
#[must_use]
pub fn without_mention(text: &str, bot: &str) -> String {
    let mut rest = text.replace(&format!("<@{bot}>"), " ");
    // A mention may carry the name that it had when it was written.
    while let Some((before, behind)) = rest.split_once(&format!("<@{bot}|")) {
        let behind = behind.split_once('>').map_or("", |(_, behind)| behind);
        rest = format!("{before} {behind}");
    }
    plain(rest.trim())
}

/// Undoes Slack's three escapes.
#[must_use]
pub(super) fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_one_word_alone() {
        for (text, wanted) in [
            ("stop", Intent::Stop),
            (" Stop! ", Intent::Stop),
            ("*report*", Intent::Report),
            ("STATUS?", Intent::Status),
            ("help", Intent::Help),
            ("audit", Intent::Audit),
            ("go on", Intent::Resume),
            ("Approve", Intent::Decision),
            ("lgtm!", Intent::Assent("lgtm!".to_owned())),
            ("fixed, check again", Intent::Recheck),
            ("It's fixed now, please check again!", Intent::Recheck),
            ("re-check", Intent::Recheck),
            ("", Intent::Nothing),
            (" \n ", Intent::Nothing),
            ("?", Intent::Nothing),
        ] {
            assert_eq!(meant(text), wanted, "{text:?}");
        }
        for text in [
            "check again whether web-1 is slow",
            "fixed",
            "stop the capture on web-1",
            "status of web-1?",
            "approve nothing of this",
            "web-1 is slow",
        ] {
            assert_eq!(meant(text), Intent::Words(text.to_owned()));
        }
    }

    #[test]
    fn the_mention_goes_and_the_words_stay() {
        for (text, wanted) in [
            ("<@U1> web-1 is slow", "web-1 is slow"),
            ("hey <@U1|ghost> web-1", "hey   web-1"),
            ("<@U1>", ""),
            ("a &lt;b&gt; &amp;amp; <@U1>", "a <b> &amp;"),
            ("<@U1|", ""),
            ("<@U2> and <@U1>", "<@U2> and"),
        ] {
            assert_eq!(without_mention(text, "U1"), wanted, "{text:?}");
        }
    }
}
