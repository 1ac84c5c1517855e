//! `[clusters]`: Kubernetes clusters whose inside is read, with `kubectl`.

use serde::Deserialize;

/// A longer name is no name of a cluster.
const MAX_NAME_BYTES: usize = 63;
/// A longer one is no name of a context: those of AKS and EKS hold an account and a region.
const MAX_CONTEXT_BYTES: usize = 253;

/// `[clusters.NAME]`: how a cluster is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterEntry {
    /// The context of `kubectl` that leads to it; its name here unless said.
    pub context: Option<String>,
}

impl ClusterEntry {
    /// Says what is wrong with an entry.
    #[must_use]
    pub fn problems(&self, name: &str) -> Vec<String> {
        let mut problems = Vec::new();
        if !is_name(name) {
            problems
                .push(format!("[clusters] `{name}` is no name of a cluster: letters, digits and .-_ are"));
        }
        if let Some(context) = self.context.as_deref().filter(|context| !is_context(context)) {
            problems.push(format!(
                "[clusters.{name}] context = {context:?}: it is one word, as `kubectl config get-contexts` prints it"
            ));
        }
        problems
    }
}

/// Tells whether a text can be the name of a cluster.
#[must_use]
pub(super) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && !name.starts_with(['-', '.'])
        && name.bytes().all(plain)
}

/// Tells whether a text can be the name of a context. It cannot be taken for an option.
#[must_use]
pub fn is_context(context: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:/@".contains(&byte);
    !context.is_empty()
        && context.len() <= MAX_CONTEXT_BYTES
        && !context.starts_with('-')
        && context.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_cluster_with_a_name_and_a_context() {
        let entry = |context: &str| ClusterEntry { context: Some(context.to_owned()) };
        assert_eq!(ClusterEntry::default().problems("shop-aks"), [] as [String; 0]);
        assert_eq!(entry("arn:aws:eks:eu-west-1:1:cluster/shop").problems("shop"), [] as [String; 0]);
        for name in ["", "-x", "a b", "a/b", "a,b"] {
            assert_eq!(ClusterEntry::default().problems(name).len(), 1, "{name}");
        }
        for context in ["", "-x", "a b", "a;b", "$x"] {
            assert_eq!(entry(context).problems("shop").len(), 1, "{context}");
        }
    }
}
