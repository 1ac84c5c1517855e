//! What the readers ask of a YAML document.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};

/// Returns the documents of a text; `None` where it is no YAML.
pub(super) fn documents(text: &str) -> Option<Vec<Yaml<'_>>> {
    Yaml::load_from_str(text).ok()
}

/// Returns the entries of a list under a name; none where there is no list.
pub(super) fn list<'y>(node: &'y Yaml<'y>, name: &str) -> &'y [Yaml<'y>] {
    node.as_mapping_get(name).and_then(|list| list.as_sequence()).map_or(&[], |list| list.as_slice())
}

/// Returns the entries of a mapping under a name, in the order of the text; none where there is no mapping.
pub(super) fn entries<'y>(
    node: &'y Yaml<'y>,
    name: &str,
) -> impl Iterator<Item = (&'y Yaml<'y>, &'y Yaml<'y>)> {
    node.as_mapping_get(name).and_then(|entries| entries.as_mapping()).into_iter().flatten()
}

/// Returns the text under a name.
pub(super) fn text<'y>(node: &'y Yaml<'y>, name: &str) -> Option<&'y str> {
    node.as_mapping_get(name).and_then(|text| text.as_str())
}

/// Returns a value as it would be put into a text: numbers and yes or no as well.
pub(super) fn shown(node: &Yaml<'_>) -> Option<String> {
    let Yaml::Value(scalar) = node else { return None };
    Some(match scalar {
        Scalar::Null => String::new(),
        Scalar::Boolean(flag) => flag.to_string(),
        Scalar::Integer(number) => number.to_string(),
        Scalar::FloatingPoint(number) => number.to_string(),
        Scalar::String(text) => text.to_string(),
    })
}
