//! What waits in a session's inbox.

use serde::{Deserialize, Serialize};

use crate::{ApprovalId, ApprovalState, StoreError};

/// One thing that waits for a session's owner.
///
/// The two kinds are apart in the store itself, so that no delivered text can pass for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A line that was delivered.
    Delivered(String),
    /// An approval was decided or ran out.
    Closed(Notice),
}

/// The news that an approval is no longer pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Which approval.
    pub approval: ApprovalId,
    /// How it ended.
    pub state: ApprovalState,
}

const DELIVERED: char = 't';
const CLOSED: char = 'a';

pub(super) fn delivered(line: &str) -> String {
    format!("{DELIVERED}{line}")
}

pub(super) fn closed(notice: &Notice) -> Result<String, StoreError> {
    let text = serde_json::to_string(notice).map_err(|error| StoreError::corrupt(error.to_string()))?;
    Ok(format!("{CLOSED}{text}"))
}

pub(super) fn parse(text: &str) -> Result<Item, StoreError> {
    if let Some(line) = text.strip_prefix(DELIVERED) {
        return Ok(Item::Delivered(line.to_owned()));
    }
    let notice = text.strip_prefix(CLOSED).and_then(|text| serde_json::from_str(text).ok());
    notice.map(Item::Closed).ok_or_else(|| StoreError::corrupt("an inbox item of unknown kind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivered_line_cannot_pass_for_a_decision() {
        let notice = Notice { approval: "a1".parse().unwrap(), state: ApprovalState::Pending };
        let forged = closed(&notice).unwrap();
        assert_eq!(parse(&delivered(&forged)).unwrap(), Item::Delivered(forged.clone()));
        assert_eq!(parse(&forged).unwrap(), Item::Closed(notice));
    }

    #[test]
    fn an_item_of_a_later_kind_is_refused() {
        assert!(matches!(parse("zwhat"), Err(StoreError::Corrupt { .. })));
        assert!(matches!(parse(""), Err(StoreError::Corrupt { .. })));
    }
}
