//! Conditions in headers, and moments as headers write them.

use time::format_description::FormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use super::trouble::{BAD_HEADER, BLOB_THERE, BlobError, UNCHANGED, UNMET};
use crate::azure::request::{Request, Verb};
use ghost_base::Timestamp;

const FORM: &[FormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// Writes a moment as headers do.
pub(super) fn date(moment: Timestamp) -> String {
    let found = OffsetDateTime::from_unix_timestamp(moment.as_millis().div_euclid(1000)).ok();
    found.and_then(|found| found.format(FORM).ok()).unwrap_or_default()
}

/// Checks the conditions of a request against what is there: its tag and when it changed.
pub(super) fn met(request: &Request, there: Option<(&str, Timestamp)>) -> Result<(), BlobError> {
    let reads = matches!(request.verb, Verb::Get | Verb::Head);
    let unmet = || BlobError::from(if reads { UNCHANGED } else { UNMET });
    let tags = |text: &str| -> Vec<String> {
        text.split(',').map(|tag| tag.trim().trim_start_matches("W/").trim_matches('"').to_owned()).collect()
    };
    let names = |text: &str| {
        let tags = tags(text);
        there.is_some_and(|(tag, _)| tags.iter().any(|wanted| wanted == "*" || wanted == tag))
    };
    if let Some(wanted) = request.header("if-match").filter(|text| !text.is_empty())
        && !names(wanted)
    {
        return Err(UNMET.into());
    }
    if let Some(wanted) = request.header("if-none-match").filter(|text| !text.is_empty())
        && names(wanted)
    {
        return Err(if wanted.trim() == "*" && !reads { BLOB_THERE.into() } else { unmet() });
    }
    let moment = |name: &str| -> Result<Option<i64>, BlobError> {
        let Some(text) = request.header(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        let read = PrimitiveDateTime::parse(text, FORM).map_err(|_| BlobError::from(BAD_HEADER))?;
        Ok(Some(read.assume_utc().unix_timestamp()))
    };
    let changed = there.map(|(_, changed)| changed.as_millis().div_euclid(1000));
    if let (Some(since), Some(changed)) = (moment("if-modified-since")?, changed)
        && changed <= since
    {
        return Err(unmet());
    }
    if let (Some(since), Some(changed)) = (moment("if-unmodified-since")?, changed)
        && changed > since
    {
        return Err(UNMET.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_headers_write_it() {
        assert_eq!(date("2025-06-02T09:31:00.500Z".parse().unwrap()), "Mon, 02 Jun 2025 09:31:00 GMT");
    }
}
