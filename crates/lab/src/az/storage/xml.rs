//! As much of XML as the blob service writes: elements, texts, the five entities.

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Element {
    pub(super) name: String,
    /// Its text, without that of elements within.
    pub(super) text: String,
    /// Elements within.
    pub(super) within: Vec<Self>,
}

impl Element {
    /// Returns the first element of a name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.within.iter().find(|element| element.name == name)
    }

    /// Returns the text of the first element of a name, unless it is empty.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|element| element.text.as_str()).filter(|text| !text.is_empty())
    }
}

/// Elements may lie so deep in one another.
const MAX_DEPTH: usize = 32;

/// Reads a document; nothing where it is none.
pub(super) fn read(text: &str) -> Option<Element> {
    let mut open: Vec<Element> = vec![Element::default()];
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some((before, after)) = rest.split_once('<') {
        if let Some(element) = open.last_mut() {
            element.text.push_str(&plain(before));
        }
        let (tag, behind) = after.split_once('>')?;
        rest = behind;
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().filter(|element| element.name == name.trim())?;
            open.last_mut()?.within.push(closed);
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let name = tag.split_whitespace().next()?.to_owned();
        let element = Element { name, ..Element::default() };
        if empty {
            open.last_mut()?.within.push(element);
        } else if open.len() > MAX_DEPTH {
            return None;
        } else {
            open.push(element);
        }
    }
    let [root] = open.as_slice() else { return None };
    root.within.first().cloned()
}

fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_texts_and_entities_are_read() {
        let root =
            read("\u{feff}<?xml version=\"1.0\"?><A x=\"y\"><B>a &amp;lt; b</B><C /><B>2</B></A>").unwrap();
        assert_eq!((root.name.as_str(), root.within.len()), ("A", 3));
        assert_eq!((root.text_of("B"), root.text_of("C"), root.text_of("D")), (Some("a &lt; b"), None, None));
    }

    #[test]
    fn what_is_cut_off_is_no_document() {
        for text in ["", "x", "<", "<a", "<a>", "<a></b>", "</a>", "<a><b></a>", "<>", &"<a>".repeat(100)] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
