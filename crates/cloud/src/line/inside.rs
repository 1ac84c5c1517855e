//! What is asked of a Kubernetes cluster: lines of `kubectl`, which read with the rights of whoever the context signs in.

use super::text::Line;

/// Lists what decides whom a service leads to, in all namespaces.
#[must_use]
pub fn cluster_objects(context: &str) -> Line {
    get(context, "pods,services,endpointslices,namespaces")
}

/// Lists the policies of all namespaces. An empty list does not say of what it is empty, so they are asked for alone.
#[must_use]
pub fn cluster_policies(context: &str) -> Line {
    get(context, "networkpolicies")
}

fn get(context: &str, kinds: &str) -> Line {
    let words = ["kubectl", "--context", context, "get", kinds, "-A", "-o", "json"];
    Line::carrying(words.map(str::to_owned).to_vec(), false)
}
