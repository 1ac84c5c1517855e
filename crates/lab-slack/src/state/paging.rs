//! Lists in pages, with a cursor that says where the next one begins.

use serde_json::Value;

use crate::state::args::Args;
use crate::state::error::SlackError;

/// Cuts the page out of a list that the arguments ask for; returns it with the next cursor, empty at the end.
pub(crate) fn page(
    all: &[Value],
    args: &Args,
    most: usize,
    unless_said: usize,
) -> Result<(Vec<Value>, String), SlackError> {
    let limit = match args.text("limit") {
        None => unless_said,
        Some(text) => text.parse().map_err(|_| SlackError::new("invalid_limit"))?,
    };
    // Slack takes a limit of zero as none said.
    let limit = if limit == 0 { unless_said } else { limit.min(most) };
    let start = match args.text("cursor") {
        None => 0,
        Some(cursor) => {
            read(&cursor).filter(|at| *at <= all.len()).ok_or_else(|| SlackError::new("invalid_cursor"))?
        }
    };
    let end = start.saturating_add(limit).min(all.len());
    let next = if end < all.len() { format!("bGFi{end:x}=") } else { String::new() };
    Ok((all.get(start..end).unwrap_or_default().to_vec(), next))
}

fn read(cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix("bGFi")?.strip_suffix('=')?;
    usize::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_item_is_on_exactly_one_page() {
        let all: Vec<Value> = (0..23).map(Value::from).collect();
        let (mut cursor, mut seen) = (String::new(), Vec::new());
        loop {
            let (items, next) =
                page(&all, &Args::of(json!({"limit": 5, "cursor": cursor})), 100, 100).unwrap();
            seen.extend(items);
            if next.is_empty() {
                break;
            }
            cursor = next;
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_cursor_that_nobody_gave_is_refused() {
        for cursor in ["x", "bGFi", "bGFizz=", "bGFi7="] {
            let refused = page(&[], &Args::of(json!({"cursor": cursor})), 100, 100).unwrap_err();
            assert_eq!(refused.code(), "invalid_cursor", "{cursor}");
        }
    }
}
