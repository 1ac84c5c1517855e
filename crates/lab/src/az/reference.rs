//! Identifiers, and names that stand for them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::failure::Failure;
use super::line::Line;
use super::session::Session;

/// What stays as it is in a segment of a path.
const KEPT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Escapes a segment of a path.
pub(super) fn segment(text: &str) -> String {
    // A name of dots would lead to another place.
    if matches!(text, "." | "..") {
        return text.replace('.', "%2E");
    }
    utf8_percent_encode(text, &KEPT).to_string()
}

/// Fills `{--option}` in a path with what the line says.
pub(super) fn filled(path: &str, line: &Line) -> Result<String, Failure> {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((option, behind)) = after.split_once('}') else { break };
        out.push_str(&segment(line.need(option)?));
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// The parts of an identifier of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Id<'a> {
    pub(super) subscription: &'a str,
    pub(super) group: &'a str,
    pub(super) provider: &'a str,
    /// Types and names, from the outside in.
    pub(super) pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Id<'a> {
    /// Reads an identifier.
    pub(super) fn parse(id: &'a str) -> Option<Self> {
        let mut segments = id.strip_prefix('/')?.split('/').filter(|segment| !segment.is_empty());
        let mut pair = |name: &str| {
            let found = segments.next()?;
            found.eq_ignore_ascii_case(name).then(|| segments.next())?
        };
        let (subscription, group, provider) =
            (pair("subscriptions")?, pair("resourceGroups")?, pair("providers")?);
        let rest: Vec<&str> = segments.collect();
        let (pairs, left) = rest.as_chunks::<2>();
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|[kind, name]| (*kind, *name)).collect();
        (left.is_empty() && !pairs.is_empty()).then_some(Self { subscription, group, provider, pairs })
    }

    /// Returns the name of the resource itself.
    pub(super) fn name(&self) -> &'a str {
        self.pairs.last().map_or("", |(_, name)| name)
    }
}

/// Puts the parts of an identifier where the options of a command want them.
pub(super) fn apply(session: &mut Session<'_>, line: &mut Line, id: &str) -> Result<(), Failure> {
    let wrong = || Failure::new(1, format!("invalid resource ID: {id}"));
    let parsed = Id::parse(id).ok_or_else(wrong)?;
    let options = super::option::known(session.command.options);
    let mut names: Vec<&str> = parsed.pairs.iter().map(|(_, name)| *name).collect();
    for option in options.iter().filter(|option| option.part) {
        if option.name() == "--resource-group" {
            line.set("--resource-group", parsed.group);
        } else if names.is_empty() {
            return Err(wrong());
        } else {
            line.set(option.name(), names.remove(0));
        }
    }
    if !names.is_empty() {
        return Err(wrong());
    }
    session.settle(parsed.subscription)
}

/// Returns the identifier that a name stands for: in the group of the command, or what it already is.
pub(super) fn identifier(
    session: &Session<'_>,
    line: &Line,
    kind: &str,
    name: &str,
) -> Result<String, Failure> {
    if name.starts_with('/') {
        return Ok(name.to_owned());
    }
    let group = line.need("--resource-group")?;
    Ok(format!("/subscriptions/{}/resourceGroups/{group}/providers/{kind}/{name}", session.subscription()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_has_parts() {
        let id =
            Id::parse("/subscriptions/s/resourcegroups/g/providers/P.N/virtualNetworks/v/subnets/d").unwrap();
        assert_eq!((id.subscription, id.group, id.provider, id.name()), ("s", "g", "P.N", "d"));
        assert_eq!(id.pairs, [("virtualNetworks", "v"), ("subnets", "d")]);
    }

    #[test]
    fn what_is_no_identifier_is_none() {
        for text in [
            "",
            "/",
            "x",
            "/subscriptions/s",
            "/subscriptions/s/resourceGroups/g",
            "/subscriptions/s/resourceGroups/g/providers/P/t",
        ] {
            assert_eq!(Id::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_segment_never_leaves_its_place() {
        assert_eq!(segment("../a b/ü?x"), "..%2Fa%20b%2F%C3%BC%3Fx");
        assert_eq!(segment("web-1_a.b~c"), "web-1_a.b~c");
        assert_eq!(segment(".."), "%2E%2E");
    }
}
