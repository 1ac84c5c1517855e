//! How long things may be. Slack counts characters, not bytes.

/// Markdown in one message, over all of its blocks.
pub const MARKDOWN: usize = 12_000;
pub const SECTION: usize = 3_000;
pub const HEADER: usize = 150;
/// The text of a message that stays whole when it is edited.
pub const TEXT: usize = 4_000;
/// Blocks in a message.
pub const BLOCKS: usize = 50;
/// Blocks in a modal or a home tab.
pub const MODAL_BLOCKS: usize = 100;
/// Elements in a row of actions.
pub const ACTIONS: usize = 25;
/// The words on a button.
pub const BUTTON_TEXT: usize = 75;
/// What a button carries.
pub const BUTTON_VALUE: usize = 2_000;
/// The title of a modal, and the words on its own buttons.
pub const MODAL_TITLE: usize = 24;
/// What a modal carries for us.
pub const PRIVATE_METADATA: usize = 3_000;

/// Returns how many characters a text has.
#[must_use]
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// Tells whether a text has at most so many characters.
#[must_use]
pub fn fits(text: &str, most: usize) -> bool {
    text.len() <= most || length(text) <= most
}

/// Cuts a text to so many characters; the last one then is `…`, so that nobody takes it for the whole.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    if fits(text, most) {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    let mark = if most == 0 { "" } else { "…" };
    format!("{}{mark}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so_and_counts_characters() {
        assert_eq!(shorten("ééé", 3), "ééé");
        assert_eq!(shorten("éééé", 3), "éé…");
        assert_eq!(shorten("ab cd", 4), "ab…");
        assert_eq!((shorten("ab", 0), shorten("ab", 1)), (String::new(), "…".to_owned()));
    }
}
