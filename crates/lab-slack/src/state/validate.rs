//! `blocks.validate`: the judge of Block Kit, asked without a message.

use serde_json::{Value, json};

use crate::block::{Content, Method, Problem, Surface, accept_message, accept_view, validate_blocks};
use crate::state::args::Args;
use crate::state::error::SlackError;

/// Answers `blocks.validate`.
pub(crate) fn blocks_validate(args: &Args) -> Result<Value, SlackError> {
    let part = |name: &str| args.json(name, "invalid_arguments");
    match (part("blocks")?, part("message")?, part("view")?) {
        (Some(blocks), None, None) => {
            // Nobody said where they will stand: one surface on which they may is enough.
            let elsewhere = [Surface::Modal, Surface::Home];
            match validate_blocks(&blocks, Surface::Message) {
                Err(_) if elsewhere.iter().any(|surface| validate_blocks(&blocks, *surface).is_ok()) => {
                    Ok(json!({"ok": true}))
                }
                Err(problems) => Err(refusal("invalid_blocks", "/blocks", &problems)),
                Ok(()) => Ok(json!({"ok": true})),
            }
        }
        (None, Some(message), None) => {
            let content = Content {
                text: message.get("text").and_then(Value::as_str),
                markdown_text: message.get("markdown_text").and_then(Value::as_str),
                blocks: message.get("blocks"),
                attachments: message.get("attachments"),
            };
            match accept_message(content, Method::Post) {
                Err(refused) => Err(refusal("invalid_message", "", &told(refused.error, refused.problems))),
                Ok(_) => Ok(json!({"ok": true})),
            }
        }
        (None, None, Some(view)) => match accept_view(&view) {
            Err(refused) => Err(refusal("invalid_view", "/view", &told(refused.error, refused.problems))),
            Ok(()) => Ok(json!({"ok": true})),
        },
        _ => Err(SlackError::arguments([
            "[ERROR] must provide exactly one of `blocks`, `view` or `message`".to_owned(),
        ])),
    }
}

/// A refusal without problems is one itself.
fn told(error: &str, problems: Vec<Problem>) -> Vec<Problem> {
    if problems.is_empty() {
        return vec![Problem { pointer: String::new(), message: error.to_owned() }];
    }
    problems
}

/// Pointers here begin at the payload, not at the name of the argument.
fn refusal(code: &str, root: &str, problems: &[Problem]) -> SlackError {
    let errors: Vec<Value> = problems
        .iter()
        .map(|problem| {
            let pointer = problem.pointer.strip_prefix(root).unwrap_or(&problem.pointer);
            json!({"pointer": pointer, "code": "failed_constraint", "message": problem.message})
        })
        .collect();
    SlackError::new(code).beside("errors", errors)
}
