//! Builders of the blocks that Ghost uses. What is too long is cut with a mark: whoever needs all of it splits it first.

use serde_json::Value;
use slack_morphism::prelude::{
    SlackActionBlockElement, SlackActionId, SlackActionsBlock, SlackBlock, SlackBlockButtonElement,
    SlackBlockButtonStyle, SlackBlockConfirmItem, SlackBlockId, SlackBlockMarkDownText, SlackBlockPlainText,
    SlackBlockPlainTextInputElement, SlackBlockPlainTextOnly, SlackBlockText, SlackContextBlock,
    SlackContextBlockElement, SlackDividerBlock, SlackHeaderBlock, SlackInputBlock, SlackInputBlockElement,
    SlackMarkdownBlock, SlackSectionBlock,
};

use crate::text::{ACTIONS, BUTTON_TEXT, HEADER, MARKDOWN, SECTION, shorten};

/// How long a field of a section may be, and how many there may be.
const FIELD: usize = 2_000;
const FIELDS: usize = 10;

/// Elements in a context.
const CONTEXT: usize = 10;

/// The title, the words and the buttons of a dialog that asks once more.
const CONFIRM: (usize, usize, usize) = (100, 300, 30);

/// The longest text that a field of a form takes.
const WRITTEN: usize = 3_000;

/// Words that are shown as they are.
#[must_use]
pub fn plain(text: &str, most: usize) -> SlackBlockPlainTextOnly {
    SlackBlockPlainText::new(shorten(text, most)).with_emoji(false).into()
}

/// Words in Slack's markup. Addresses and names in them are left alone.
#[must_use]
pub fn mrkdwn(text: &str, most: usize) -> SlackBlockText {
    SlackBlockMarkDownText::new(shorten(text, most)).with_verbatim(true).into()
}

/// A section in Slack's markup.
#[must_use]
pub fn section(text: &str) -> SlackBlock {
    SlackSectionBlock::new().with_text(mrkdwn(text, SECTION)).into()
}

/// A section of fields in Slack's markup, in two columns.
#[must_use]
pub fn fields(texts: &[String]) -> SlackBlock {
    let fields = texts.iter().take(FIELDS).map(|text| mrkdwn(text, FIELD)).collect();
    SlackSectionBlock::new().with_fields(fields).into()
}

/// A block of Markdown.
#[must_use]
pub fn markdown(text: &str) -> SlackBlock {
    SlackMarkdownBlock::new(shorten(text, MARKDOWN)).into()
}

#[must_use]
pub fn header(text: &str) -> SlackBlock {
    SlackHeaderBlock::new(plain(text, HEADER)).into()
}

/// Small words in Slack's markup.
#[must_use]
pub fn context(texts: &[&str]) -> SlackBlock {
    let element = |text: &&str| {
        let text = SlackBlockMarkDownText::new(shorten(text, FIELD)).with_verbatim(true);
        SlackContextBlockElement::MarkDown(text)
    };
    SlackContextBlock::new(texts.iter().take(CONTEXT).map(element).collect()).into()
}

/// A line across.
#[must_use]
pub fn divider() -> SlackBlock {
    SlackDividerBlock::new().into()
}

/// The style of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Like any other.
    #[default]
    Plain,
    /// Green.
    Primary,
    /// Red.
    Danger,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    action: String,
    text: String,
    value: String,
    style: Style,
    confirm: Option<[String; 4]>,
}

impl Button {
    /// Makes a button: which one it is, what stands on it, what it carries. What it carries is never cut.
    #[must_use]
    pub fn new(action: &str, text: &str, value: &str) -> Self {
        Self {
            action: action.to_owned(),
            text: text.to_owned(),
            value: value.to_owned(),
            style: Style::Plain,
            confirm: None,
        }
    }

    /// Sets the style.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Asks once more before it counts: title, words, and what stands on the two buttons.
    #[must_use]
    pub fn confirm(mut self, title: &str, text: &str, yes: &str, no: &str) -> Self {
        self.confirm = Some([title, text, yes, no].map(str::to_owned));
        self
    }

    fn element(self) -> SlackActionBlockElement {
        let mut button = SlackBlockButtonElement::new(plain(&self.text, BUTTON_TEXT))
            .with_action_id(SlackActionId(self.action))
            .with_value(self.value);
        button.style = match self.style {
            Style::Plain => None,
            Style::Primary => Some(SlackBlockButtonStyle::Primary),
            Style::Danger => Some(SlackBlockButtonStyle::Danger),
        };
        if let Some([title, text, yes, no]) = self.confirm {
            let (heading, body, words) = CONFIRM;
            let text = SlackBlockPlainText::new(shorten(&text, body)).with_emoji(false);
            button.confirm = Some(SlackBlockConfirmItem::new(
                plain(&title, heading),
                SlackBlockText::Plain(text),
                plain(&yes, words),
                plain(&no, words),
            ));
        }
        SlackActionBlockElement::Button(button)
    }
}

/// A row of buttons.
#[must_use]
pub fn actions(block: &str, buttons: Vec<Button>) -> SlackBlock {
    let elements = buttons.into_iter().take(ACTIONS).map(Button::element).collect();
    SlackActionsBlock::new(elements).with_block_id(SlackBlockId(block.to_owned())).into()
}

/// A field of a form for one line, or for many.
#[must_use]
pub fn multiline(action: &str, initial: &str, lines: bool) -> SlackInputBlockElement {
    let mut element = SlackBlockPlainTextInputElement::new()
        .with_action_id(SlackActionId(action.to_owned()))
        .with_multiline(lines)
        .with_max_length(u64::try_from(WRITTEN).unwrap_or(3_000));
    if !initial.is_empty() {
        element.initial_value = Some(shorten(initial, WRITTEN));
    }
    SlackInputBlockElement::PlainTextInput(element)
}

/// A field of a form with its label.
#[must_use]
pub fn input(block: &str, label: &str, element: SlackInputBlockElement, optional: bool) -> SlackBlock {
    SlackInputBlock::new(plain(label, FIELD), element)
        .with_block_id(SlackBlockId(block.to_owned()))
        .with_optional(optional)
        .into()
}

/// Two buttons that ask whether something was of use; each carries its own value.
#[must_use]
pub fn feedback(action: &str, good: (&str, &str), bad: (&str, &str)) -> SlackBlock {
    let button = |(text, value): (&str, &str)| serde_json::json!({"text": {"type": "plain_text", "text": shorten(text, BUTTON_TEXT)}, "value": value});
    let element = serde_json::json!({
        "type": "feedback_buttons", "action_id": action, "positive_button": button(good), "negative_button": button(bad),
    });
    untyped(serde_json::json!({"type": "context_actions", "elements": [element]}))
}

/// A block that has no type here.
#[must_use]
pub fn untyped(block: Value) -> SlackBlock {
    SlackBlock::Unknown(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_of_buttons_is_what_slack_documents() {
        let button = Button::new("approve", "Approve", "ap-1").style(Style::Primary).confirm(
            "Sure?",
            "It deletes.",
            "Yes",
            "No",
        );
        let plain = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
        assert_eq!(
            serde_json::to_value(actions("card", vec![button])).unwrap(),
            json!({"type": "actions", "block_id": "card", "elements": [{
                "type": "button", "action_id": "approve", "text": plain("Approve"), "value": "ap-1", "style": "primary",
                "confirm": {"title": plain("Sure?"), "text": plain("It deletes."), "confirm": plain("Yes"), "deny": plain("No")},
            }]})
        );
    }

    #[test]
    fn words_are_cut_to_what_a_block_takes() {
        let long = "x".repeat(5_000);
        let text = |block: &SlackBlock| {
            serde_json::to_value(block).unwrap()["text"]["text"].as_str().unwrap().chars().count()
        };
        assert_eq!((text(&section(&long)), text(&header(&long))), (SECTION, HEADER));
    }
}
