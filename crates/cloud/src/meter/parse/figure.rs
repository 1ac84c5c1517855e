//! Numbers as tools write them.

/// Reads a number without sign and exponent; thousands may be separated.
pub(super) fn number(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !part.is_none_or(digits) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped = whole.contains(',');
    let well = digits(first)
        && (!grouped || first.len() <= 3)
        && groups.all(|group| group.len() == 3 && digits(group));
    let read: f64 = text.replace(',', "").parse().ok().filter(|_| well)?;
    read.is_finite().then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_and_at_most_one_point() {
        for (text, value) in
            [("8.51", 8.51), ("120", 120.0), ("1,234", 1_234.0), ("1,234,567.5", 1_234_567.5), ("0.0", 0.0)]
        {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in [
            "", ".", "1.", ".5", "1..0", "12.3.4", "-1", "+1", "1e3", "nan", "inf", "1,23", "1234,567", ",1",
            "1,", "1,234,5", "٣",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(number(&"9".repeat(400)), None);
    }
}
