//! Service tags: which prefixes a name stands for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ipnet::IpNet;
use serde_json::Value;

use super::{
    DocumentError, Fields, Warning, Warnings, beginning, clipped, document, each_text, parse_prefix, placed,
};

/// What a file says that a tag stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The prefixes that it certainly stands for.
    pub prefixes: Vec<IpNet>,
    /// Whether that is all of it: every prefix was read, and the file does not contradict itself.
    pub whole: bool,
}

/// The service tags of one published file.
#[derive(Debug, Clone, Default)]
pub struct Tags {
    known: HashMap<String, Tag>,
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
            let name = value.text("name").or_else(|| value.text("id"));
            let Some(name) = name else {
                warnings.push(|| Warning::at(number, &row.place, "a service tag without a name"));
                continue;
            };
            let mut tag = Tag { prefixes: Vec::new(), whole: true };
            each_text(listed, &mut |text, indexes| match text.ok().and_then(parse_prefix) {
                Some(prefix) => tag.prefixes.push(prefix),
                None => {
                    tag.whole = false;
                    warnings.push(|| {
                        let text = text.map_or_else(beginning, clipped);
                        let place = row.place.field("properties").field("addressPrefixes").items(indexes);
                        Warning::at(
                            number,
                            place,
                            format!("the tag `{}` has no prefix `{text}`", clipped(name)),
                        )
                    });
                }
            });
            // A tag of which nothing could be read is not known to be empty.
            if tag.prefixes.is_empty() {
                tag.whole = false;
                let what = || format!("the tag `{}` has no prefixes", clipped(name));
                warnings.push(|| Warning::at(number, &row.place, what()));
            }
            if !keep(&mut known, name, tag) {
                let what = || format!("the tag `{}` is listed twice, with different prefixes", clipped(name));
                warnings.push(|| Warning::at(number, &row.place, what()));
            }
        }
        Ok(Self { known, warnings: warnings.into_vec() })
    }

    /// Returns what a tag, in any letters, stands for, where the file says anything about it.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&Tag> {
        self.known.get(&name.to_ascii_lowercase()).filter(|tag| !tag.prefixes.is_empty())
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Keeps a tag; of one that is listed before only what both say is certain. Tells whether they agree.
fn keep(known: &mut HashMap<String, Tag>, name: &str, mut tag: Tag) -> bool {
    tag.prefixes.sort_unstable();
    tag.prefixes.dedup();
    match known.entry(name.to_ascii_lowercase()) {
        Entry::Vacant(place) => {
            place.insert(tag);
            true
        }
        Entry::Occupied(mut place) => {
            let before = place.get_mut();
            let agree = before.prefixes == tag.prefixes;
            before.prefixes.retain(|prefix| tag.prefixes.binary_search(prefix).is_ok());
            before.whole &= tag.whole && agree;
            agree
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_any_letters_and_an_odd_one_is_reported() {
        let tags = Tags::parse(
            r#"{"values":[{"name":"Storage","properties":{"addressPrefixes":["20.60.0.0/16","x"]}},
                {"name":"Empty","properties":{"addressPrefixes":[]}},{"name":"None"},null]}"#,
        )
        .unwrap();
        let storage = tags.resolve("STORAGE").unwrap();
        assert_eq!((storage.prefixes.len(), storage.whole), (1, false));
        assert_eq!(tags.resolve("Empty"), None);
        assert_eq!(tags.warnings().len(), 4);
    }

    #[test]
    fn of_a_tag_that_is_listed_twice_only_what_both_say_is_certain() {
        let tag =
            |prefixes: &str| format!(r#"{{"name":"Sql","properties":{{"addressPrefixes":[{prefixes}]}}}}"#);
        let both = |a: &str, b: &str| Tags::parse(&format!("[{},{}]", tag(a), tag(b))).unwrap();
        let same = both(r#""10.1.0.0/16","10.2.0.0/16""#, r#""10.2.0.0/16","10.1.0.0/16""#);
        assert!(same.resolve("sql").unwrap().whole && same.warnings().is_empty());
        let other = both(r#""10.1.0.0/16","10.2.0.0/16""#, r#""10.2.0.0/16","10.3.0.0/16""#);
        let expected = Tag { prefixes: vec![parse_prefix("10.2.0.0/16").unwrap()], whole: false };
        assert_eq!((other.resolve("sql"), other.warnings().len()), (Some(&expected), 1));
        assert_eq!(both(r#""10.1.0.0/16""#, r#""10.2.0.0/16""#).resolve("sql"), None);
    }

    #[test]
    fn another_document_is_refused() {
        assert!(Tags::parse("{}").is_err());
        assert!(Tags::parse("[1").is_err());
    }
}
