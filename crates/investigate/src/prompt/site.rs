//! The operator's own addition, bounded and quoted.

use crate::Fence;

/// More than this does not fit into the prompt; `config check` can say so before.
const LONGEST: usize = 4_000;

/// Stands where something was cut off.
const CUT: &str = "> (cut here: the addition is longer than 4,000 bytes)";

/// Returns the addition as quoted lines; `None` where it says nothing.
pub(super) fn quoted(site: Option<&str>, fence: &Fence) -> Option<String> {
    let whole = site?.trim();
    if whole.is_empty() {
        return None;
    }
    let text = fence.inside(head(whole, LONGEST));
    let bounded = head(&text, LONGEST);
    let mut lines: Vec<String> =
        bounded.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    if bounded.len() < text.len() || whole.len() > LONGEST {
        lines.push(CUT.to_owned());
    }
    Some(lines.join("\n"))
}

/// Returns the beginning of a text, not longer than so many bytes.
fn head(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}
