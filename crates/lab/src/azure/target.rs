//! What a path of the resource manager names.

/// A resource, a collection or an action, taken apart. Spelling is kept; comparisons ignore case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Target {
    pub(super) subscription: Option<String>,
    /// The resource group.
    pub(super) group: Option<String>,
    /// The provider's namespace.
    pub(super) provider: Option<String>,
    /// Types and names below the provider, outermost first.
    pub(super) chain: Vec<(String, String)>,
    /// What follows without a name: a collection, or an action.
    pub(super) tail: Option<String>,
}

impl Target {
    /// Takes a path apart; nothing where it begins with no subscription.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty()).map(decoded);
        if !segments.next()?.eq_ignore_ascii_case("subscriptions") {
            return None;
        }
        let mut target = Self { subscription: Some(segments.next()?), ..Self::default() };
        let mut next = segments.next();
        if next.as_deref().is_some_and(|word| word.eq_ignore_ascii_case("resourceGroups")) {
            target.group = segments.next();
            if target.group.is_none() {
                target.tail = next;
                return Some(target);
            }
            next = segments.next();
        }
        if next.as_deref().is_some_and(|word| word.eq_ignore_ascii_case("providers")) {
            target.provider = segments.next();
            if target.provider.is_none() {
                target.tail = next;
                return Some(target);
            }
            next = segments.next();
        }
        while let Some(kind) = next {
            match segments.next() {
                Some(name) => target.chain.push((kind, name)),
                None => {
                    target.tail = Some(kind);
                    break;
                }
            }
            next = segments.next();
        }
        Some(target)
    }

    /// Returns the types of the chain, joined, in lower case: `networksecuritygroups/securityrules`.
    pub(super) fn kind(&self) -> String {
        self.chain.iter().map(|(kind, _)| kind.to_ascii_lowercase()).collect::<Vec<_>>().join("/")
    }

    /// Returns the namespace in lower case.
    pub(super) fn namespace(&self) -> String {
        self.provider.as_deref().unwrap_or_default().to_ascii_lowercase()
    }

    /// Returns the tail in lower case.
    pub(super) fn last(&self) -> String {
        self.tail.as_deref().unwrap_or_default().to_ascii_lowercase()
    }

    /// Returns the name of the innermost resource.
    pub(super) fn name(&self) -> &str {
        self.chain.last().map_or("", |(_, name)| name)
    }

    /// Returns the resource around the innermost one.
    pub(super) fn parent(&self) -> Option<Self> {
        let (_, outer) = self.chain.split_last()?;
        (!outer.is_empty()).then(|| Self { chain: outer.to_vec(), tail: None, ..self.clone() })
    }

    /// Writes its identifier, in the usual spelling of what is not a name.
    pub(super) fn id(&self) -> String {
        let mut id = format!("/subscriptions/{}", self.subscription.as_deref().unwrap_or_default());
        if let Some(group) = &self.group {
            id += &format!("/resourceGroups/{group}");
        }
        if let Some(provider) = &self.provider {
            id += &format!("/providers/{provider}");
        }
        for (kind, name) in &self.chain {
            id += &format!("/{kind}/{name}");
        }
        id
    }
}

/// Takes percent signs out; what is no text afterwards stays as it is.
fn decoded(segment: &str) -> String {
    percent_encoding::percent_decode_str(segment)
        .decode_utf8()
        .map_or_else(|_| segment.to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_resource_a_collection_or_an_action() {
        let rule = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/n/securityRules/r";
        let target = Target::parse(rule).unwrap();
        assert_eq!((target.kind().as_str(), target.name()), ("networksecuritygroups/securityrules", "r"));
        assert_eq!(target.parent().unwrap().name(), "n");
        assert_eq!(target.id(), rule);
        let list =
            Target::parse("/subscriptions/s/resourcegroups/g/providers/Microsoft.Network//networkInterfaces")
                .unwrap();
        assert_eq!((list.last().as_str(), list.chain.len()), ("networkinterfaces", 0));
        let action = Target::parse(
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v%201/runCommand",
        )
        .unwrap();
        assert_eq!((action.name(), action.last().as_str()), ("v 1", "runcommand"));
        assert_eq!(Target::parse("/subscriptions/s/resourceGroups").unwrap().last(), "resourcegroups");
        let providers = Target::parse("/subscriptions/s/providers").unwrap();
        assert_eq!((providers.last().as_str(), providers.provider), ("providers", None));
        assert_eq!(Target::parse("/metadata/endpoints"), None);
    }
}
