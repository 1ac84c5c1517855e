//! Service tags: which prefixes a name stands for.

use std::collections::HashMap;

use ipnet::IpNet;
use serde_json::Value;

use super::{
    DocumentError, Fields, Warning, Warnings, beginning, clipped, document, each_text, parse_prefix, placed,
};

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
        let document = document(text)?;
        let (mut known, mut warnings) = (HashMap::new(), Warnings::default());
        for (at, row) in placed(&document, &["values", "value"], is_tag, "service tags")?.iter().enumerate() {
            let (number, value) = (at + 1, row.value);
            let properties = value.field("properties");
            let listed = properties.and_then(|properties| properties.field("addressPrefixes"));
            let (Some(name), Some(listed)) = (value.text("name").or_else(|| value.text("id")), listed) else {
                let what = "a service tag without a name or without prefixes";
                warnings.push(|| Warning::at(number, &row.place, what));
                continue;
            };
            let mut prefixes = Vec::new();
            each_text(Some(listed), &mut |text, way| match text.ok().and_then(parse_prefix) {
                Some(prefix) => prefixes.push(prefix),
                None => warnings.push(|| {
                    let text = text.map_or_else(beginning, clipped);
                    let place = row.place.field("properties").field("addressPrefixes").items(way);
                    Warning::at(number, place, format!("the tag `{}` has no prefix `{text}`", clipped(name)))
                }),
            });
            // A tag of which nothing could be read is not known to be empty.
            if prefixes.is_empty() {
                let what = || format!("the tag `{}` has no prefixes", clipped(name));
                warnings.push(|| Warning::at(number, &row.place, what()));
            } else {
                known.insert(name.to_ascii_lowercase(), prefixes);
            }
        }
        Ok(Self { known, warnings: warnings.into_vec() })
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
