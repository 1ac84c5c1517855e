//! Service tags: which prefixes a name stands for.

use std::collections::HashMap;

use ipnet::IpNet;
use serde_json::Value;

use super::{DocumentError, Fields, Warning, parse_prefix, rows, texts};

/// The service tags of one published file.
#[derive(Debug, Clone, Default)]
pub struct Tags {
    known: HashMap<String, Vec<IpNet>>,
    warnings: Vec<Warning>,
}

impl Tags {
    /// Reads what `az network list-service-tags -o json` prints, or the platform's weekly download.
    ///
    /// # Errors
    /// Fails where the text is no document of tags.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let is_tag = |map: &serde_json::Map<String, Value>| map.field("properties").is_some();
        let mut tags = Self::default();
        for (at, row) in rows(text, &["values", "value"], is_tag, "service tags")?.iter().enumerate() {
            let properties = row.field("properties");
            let listed = properties.and_then(|properties| properties.field("addressPrefixes"));
            let (Some(name), Some(listed)) = (row.text("name").or_else(|| row.text("id")), listed) else {
                tags.warnings.push(Warning::at(at + 1, "a service tag without a name or without prefixes"));
                continue;
            };
            let (good, odd) = texts(Some(listed));
            let mut prefixes = Vec::with_capacity(good.len());
            for text in good.iter().chain(&odd) {
                match parse_prefix(text) {
                    Some(prefix) => prefixes.push(prefix),
                    None => tags
                        .warnings
                        .push(Warning::at(at + 1, format!("the tag `{name}` has no prefix `{text}`"))),
                }
            }
            // A tag of which nothing could be read is not known to be empty.
            if prefixes.is_empty() {
                tags.warnings.push(Warning::at(at + 1, format!("the tag `{name}` has no prefixes")));
            } else {
                tags.known.insert(name.to_ascii_lowercase(), prefixes);
            }
        }
        Ok(tags)
    }

    /// Returns the prefixes of a tag, in any letters, where the file has them.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&[IpNet]> {
        self.known.get(&name.to_ascii_lowercase()).map(Vec::as_slice)
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_any_letters_and_an_odd_one_is_told() {
        let tags = Tags::parse(
            r#"{"values":[{"name":"Storage","properties":{"addressPrefixes":["20.60.0.0/16","x"]}},
                {"name":"Empty","properties":{"addressPrefixes":[]}},{"name":"None"},null]}"#,
        )
        .unwrap();
        assert_eq!(tags.resolve("STORAGE").unwrap().len(), 1);
        assert_eq!(tags.resolve("Empty"), None);
        assert_eq!(tags.warnings().len(), 4);
    }

    #[test]
    fn another_document_is_refused() {
        assert!(Tags::parse("{}").is_err());
        assert!(Tags::parse("[1").is_err());
    }
}
