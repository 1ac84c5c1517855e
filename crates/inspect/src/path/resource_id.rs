//! Identifiers of the platform, compared as wholes and without case.
//!
//! Goes in: the id of a resource, or of a part of one. Comes out: which resource it means. Never: a comparison by the last word alone, as
//! two resource groups may hold resources of one name.

/// A resource of a resource group, in small letters: the platform does not tell them apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ResourceId {
    pub(super) subscription: String,
    pub(super) group: String,
    /// Provider and type, as in `microsoft.network/virtualnetworks`.
    pub(super) kind: String,
    pub(super) name: String,
}

impl ResourceId {
    /// Returns the resource that an id means, and where its name stands in the text; what follows names a part of it.
    pub(super) fn split(id: &str) -> Option<(Self, std::ops::Range<usize>)> {
        let mut at = 0;
        let mut words: Vec<(usize, &str)> = Vec::new();
        for word in id.split('/') {
            words.push((at, word));
            at += word.len() + 1;
        }
        let mut words = words.into_iter();
        let mut next = || words.next().map(|(at, word)| (at, word.trim()));
        let is = |found: Option<(usize, &str)>, word: &str| {
            found.is_some_and(|(_, own)| own.eq_ignore_ascii_case(word))
        };
        if !is(next(), "") || !is(next(), "subscriptions") {
            return None;
        }
        let (_, subscription) = next()?;
        if !is(next(), "resourceGroups") {
            return None;
        }
        let (_, group) = next()?;
        if !is(next(), "providers") {
            return None;
        }
        let ((_, provider), (_, of), (start, name)) = (next()?, next()?, next()?);
        let kind = format!("{provider}/{of}").to_ascii_lowercase();
        let range = start..start + name.len();
        let own = Self {
            subscription: subscription.to_ascii_lowercase(),
            group: group.to_ascii_lowercase(),
            kind,
            name: name.to_ascii_lowercase(),
        };
        (!name.is_empty()).then_some((own, range))
    }

    /// Returns the resource that an id means.
    pub(super) fn parse(id: &str) -> Option<Self> {
        Self::split(id).map(|(own, _)| own)
    }
}

/// Visits the ids in the text of a document, without reading it.
pub(super) fn each_id<'a>(text: &'a str, visit: &mut impl FnMut(&'a str)) {
    const START: &str = "/subscriptions/";
    for (at, _) in text.match_indices("\"/") {
        let Some(rest) = text.get(at + 1..) else { continue };
        let is_id = rest.get(..START.len()).is_some_and(|start| start.eq_ignore_ascii_case(START));
        if let Some((id, _)) = rest.split_once('"').filter(|_| is_id) {
            visit(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_in_any_letters_and_its_parts_belong_to_it() {
        let whole = "/subscriptions/S/resourceGroups/Dev/providers/Microsoft.Network/loadBalancers/front";
        let part =
            "/SUBSCRIPTIONS/s/resourcegroups/DEV/providers/microsoft.network/LoadBalancers/FRONT/probes/up";
        assert_eq!(ResourceId::parse(whole), ResourceId::parse(part));
        let (_, name) = ResourceId::split(part).unwrap();
        assert_eq!(&part[name], "FRONT");
        let other = whole.replace("/Dev/", "/Prod/");
        assert_ne!(ResourceId::parse(whole), ResourceId::parse(&other));
    }

    #[test]
    fn what_names_no_resource_of_a_group_is_none() {
        for id in [
            "",
            "front",
            "/networkSecurityGroups/web",
            "/subscriptions/s",
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/",
        ] {
            assert_eq!(ResourceId::parse(id), None, "{id}");
        }
    }

    #[test]
    fn ids_are_found_in_a_text() {
        let mut found = Vec::new();
        each_id(r#"{"id": "/Subscriptions/s/x", "other": "/else", "cut": "/subscriptions/s"#, &mut |id| {
            found.push(id)
        });
        assert_eq!(found, ["/Subscriptions/s/x"]);
    }
}
