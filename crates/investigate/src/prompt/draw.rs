//! The whole prompt, from its sections and the addition of the operator, which is bounded and quoted.

use std::fmt::Write as _;

use crate::model::ToolSpec;
use crate::prompt::GATES;
use crate::prompt::fill::fill;
use crate::prompt::section::{SECTIONS, SITE, TOOLS};
use crate::{Fence, Limits};

/// Limits the description of a tool that no section knows.
const MAX_SENTENCE_CHARS: usize = 200;

/// What a prompt depends on.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The tools that can be called.
    pub tools: &'a [ToolSpec],
    /// The session's nonce, as the [`Fence`] has it.
    pub nonce: &'a str,
    pub limits: &'a Limits,
    /// The operator's own addition, from the configuration.
    pub site: Option<&'a str>,
}

/// Writes the system prompt of a session.
///
/// It speaks of the tools that there are and of no others. The nonce stands in its last section, so that sessions of one
/// configuration share everything before it.
#[must_use]
pub fn system(setting: &Setting<'_>) -> String {
    let has = |name: &str| setting.tools.iter().any(|tool| tool.name == name);
    let fence = Fence::new(setting.nonce);
    let site = quoted(setting.site, &fence);
    let value = |name: &str| match name {
        "tools" => Some(tools(setting.tools)),
        "gates" => Some(gates()),
        "budget" => Some(budget(setting.limits, has("capture_traffic"))),
        "approvers" => Some(approvers(setting.limits.approvers)),
        "outage_approvers" => Some(approvers(setting.limits.outage_approvers)),
        "approval_minutes" => Some(setting.limits.approval_minutes.to_string()),
        "result_tokens" => Some(thousands(setting.limits.result_tokens.into())),
        "opening" => Some(fence.opening("WHERE IT COMES FROM")),
        "closing" => Some(fence.closing()),
        "site" => site.clone(),
        _ => None,
    };
    let sections = SECTIONS
        .iter()
        .filter(|(name, _)| *name != SITE || site.is_some())
        .filter_map(|(_, text)| fill(text, &has, &value));
    let mut prompt = sections.collect::<Vec<_>>().join("\n\n");
    prompt.push('\n');
    prompt
}

/// Names each tool that is there, and when to use it.
fn tools(present: &[ToolSpec]) -> String {
    let named = |name: &str| present.iter().any(|tool| tool.name == name);
    let known = TOOLS
        .iter()
        .filter(|(name, _)| named(name))
        .map(|(name, text)| format!("- `{name}`: {}", text.trim_end()));
    let unknown = present
        .iter()
        .filter(|tool| TOOLS.iter().all(|(name, _)| *name != tool.name))
        .map(|tool| format!("- `{}`: {}", tool.name, sentence(&tool.description)));
    let lines: Vec<String> = known.chain(unknown).collect();
    if lines.is_empty() { "(none)".to_owned() } else { lines.join("\n") }
}

/// Returns the first sentence of a description.
fn sentence(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |dot| dot + 1);
    line.get(..end).unwrap_or(line).chars().take(MAX_SENTENCE_CHARS).collect()
}

fn gates() -> String {
    GATES.iter().map(|(name, holds)| format!("- **{name}**: {holds}")).collect::<Vec<_>>().join("\n")
}

/// Says what a session may spend. Zero is no limit where [`Limits`] says so.
fn budget(limits: &Limits, captures: bool) -> String {
    let mut text =
        format!("{} turns, {} commands, {} minutes", limits.turns, limits.commands, limits.minutes);
    // Writing into a string does not fail.
    let mut add = |part: std::fmt::Arguments<'_>| text.write_fmt(part).unwrap_or_default();
    if captures {
        add(format_args!(", {} MB of captures", thousands(limits.captured_bytes / 1_000_000)));
    }
    if limits.tokens > 0 {
        add(format_args!(", {} tokens", thousands(limits.tokens)));
    }
    if limits.cost_micros > 0 {
        let cents = limits.cost_micros / 10_000;
        add(format_args!(", ${}.{:02}", thousands(cents / 100), cents % 100));
    }
    text
}

fn approvers(needed: u32) -> String {
    match needed {
        0 | 1 => "one person with that right".to_owned(),
        more => format!("{more} different people with that right"),
    }
}

/// Writes a number with commas.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Limits the operator's addition to the prompt.
const MAX_SITE_BYTES: usize = 4_000;

/// Marks where the addition was cut.
const CUT: &str = "> (cut here: the addition is longer than 4,000 bytes)";

/// Returns the addition as quoted lines; `None` where it says nothing.
fn quoted(site: Option<&str>, fence: &Fence) -> Option<String> {
    let whole = site?.trim();
    if whole.is_empty() {
        return None;
    }
    let text = fence.inside(head(whole, MAX_SITE_BYTES));
    let bounded = head(&text, MAX_SITE_BYTES);
    let mut lines: Vec<String> =
        bounded.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    if bounded.len() < text.len() || whole.len() > MAX_SITE_BYTES {
        lines.push(CUT.to_owned());
    }
    Some(lines.join("\n"))
}

/// Returns the beginning of a text, not longer than so many bytes.
fn head(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}
