//! Blocks: the types of `slack-morphism`, and builders of those that Ghost uses.
//!
//! Goes in: words. Comes out: blocks within Slack's limits. Never: words that are formatted unless they say so.

mod build;

pub use slack_morphism::prelude::{
    SlackActionBlockElement, SlackActionsBlock, SlackBlock, SlackBlockButtonElement, SlackBlockButtonStyle,
    SlackBlockConfirmItem, SlackBlockMarkDownText, SlackBlockPlainTextInputElement, SlackBlockPlainTextOnly,
    SlackBlockText, SlackContextBlock, SlackContextBlockElement, SlackDividerBlock, SlackHeaderBlock,
    SlackInputBlock, SlackInputBlockElement, SlackMarkdownBlock, SlackModalView, SlackSectionBlock,
    SlackView,
};

pub use build::{
    Button, Style, actions, context, divider, feedback, fields, header, input, markdown, mrkdwn, multiline,
    plain, section, untyped,
};
