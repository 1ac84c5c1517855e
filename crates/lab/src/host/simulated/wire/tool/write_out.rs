//! What `curl -w` writes.

use std::collections::BTreeMap;

/// Fills a format: `%{name}`, `\n`, `\t`, `%%`.
pub(super) fn write_out(format: &str, values: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some(char) = rest.chars().next() {
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
        match char {
            '\\' => {
                let next = rest.chars().next();
                rest = rest.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                match next {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some(other) => out.extend(['\\', other]),
                    None => out.push('\\'),
                }
            }
            '%' if rest.starts_with('%') => {
                out.push('%');
                rest = rest.get(1..).unwrap_or_default();
            }
            '%' if rest.starts_with('{') => {
                let Some(end) = rest.find('}') else {
                    out.push('%');
                    continue;
                };
                let name = rest.get(1..end).unwrap_or_default();
                out.push_str(values.get(name).map_or("", String::as_str));
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_and_the_rest_stays() {
        let values = BTreeMap::from([("http_code", "200".to_owned())]);
        assert_eq!(write_out("%{http_code} 100%% %{nothing}\\n%{", &values), "200 100% \n%{");
    }
}
