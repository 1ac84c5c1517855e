//! Who uses a service, as far as the documents show it.
//!
//! Goes in: the pods of a cluster, their environment among it. Comes out: one sentence of evidence, or nothing. Never: a service that is
//! taken for used because it exists.

use std::collections::BTreeSet;

use super::listed::workloads;
use super::object::{Cluster, Name, Pod, Service};

/// What variables are called that hold the address of a service.
const ADDRESS_WORDS: [&str; 15] = [
    "ADDR", "BACKEND", "BROKER", "CLUSTER", "DSN", "ENDPOINT", "HOST", "PEER", "PROXY", "SERVER", "SERVICE",
    "TARGET", "UPSTREAM", "URI", "URL",
];

impl Cluster {
    /// Returns what shows that a service is used: a pod that names it, or pods that it is meant for. `None` where nothing that was read
    /// does: a leftover has no such evidence.
    #[must_use]
    pub fn use_of(&self, service: &Name) -> Option<String> {
        let own = self.services.get(service)?;
        let living = || self.pods.values().filter(|pod| !pod.is_over());
        if let Some(caller) = living().find(|pod| pod.hosts.iter().any(|host| is_name_of(host, pod, service)))
        {
            return Some(format!("{} names it in its environment or its arguments", caller.name));
        }
        let near = |pod: &&Pod| pod.name.namespace == service.namespace && is_meant(own, pod);
        living().find(near).map(|pod| format!("{} seems to be one of its pods", pod.name))
    }
}

/// Tells whether a host that a pod names is a service: `db`, `db.shop`, `db.shop.svc.cluster.local`, and `db-0.db.shop` of its pods.
fn is_name_of(host: &str, pod: &Pod, service: &Name) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let fits = |labels: &[&str]| match labels {
        [name] => *name == service.name && pod.name.namespace == service.namespace,
        [name, namespace, rest @ ..] => {
            *name == service.name
                && *namespace == service.namespace
                && rest.first().is_none_or(|first| *first == "svc")
        }
        [] => false,
    };
    fits(&labels) || labels.get(1..).is_some_and(|rest| rest.len() > 1 && fits(rest))
}

/// Tells whether a service is meant for a pod: it selects it, or it has its name, or its selector is nearly met.
fn is_meant(service: &Service, pod: &Pod) -> bool {
    service
        .selector
        .as_ref()
        .is_some_and(|selector| selector.selects(&pod.labels) || selector.is_nearly_met(&pod.labels))
        || workloads(pod).contains(&service.name.name)
}

/// Returns the hosts that a value names, each in small letters. `variable` is the name of the variable that holds it, where one does.
pub(super) fn hosts(variable: Option<&str>, value: &str) -> BTreeSet<String> {
    let is_label = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_');
    let holds_address = variable.is_some_and(|name| {
        let name = name.to_ascii_uppercase();
        ADDRESS_WORDS.iter().any(|word| name.contains(word))
    });
    let mut found = BTreeSet::new();
    let mut rest = value;
    while let Some(start) = rest.find(is_label) {
        let (gap, behind) = rest.split_at(start);
        let end = behind.find(|char| !is_label(char)).unwrap_or(behind.len());
        let (word, after) = behind.split_at(end);
        let name = word.trim_matches(['.', '-']).to_ascii_lowercase();
        let has_port =
            after.strip_prefix(':').is_some_and(|port| port.starts_with(|char: char| char.is_ascii_digit()));
        let in_address = gap.ends_with("//") || gap.ends_with('@');
        let is_alone = holds_address && (gap.is_empty() || gap.ends_with([',', ' ', ';']));
        let has_domain = name.split('.').count() > 1;
        // `redis` of `redis://cache` is a scheme, and `user` of `//user:word@cache` signs in there.
        let is_scheme = after.starts_with("://");
        let authority = after.split(['/', ' ', ',']).next().unwrap_or_default();
        let is_user = gap.ends_with("//") && authority.contains('@');
        if name.starts_with(|char: char| char.is_ascii_alphanumeric())
            && name.chars().any(|char| char.is_ascii_alphabetic())
            && !name.contains('_')
            && !is_scheme
            && !is_user
            && (has_port || in_address || is_alone || has_domain)
        {
            found.insert(name);
        }
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variable: Option<&str>, value: &str, expected: &[&str]) {
        let found: Vec<String> = hosts(variable, value).into_iter().collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn a_value_names_hosts_where_addresses_stand() {
        check(Some("DB_ADDR"), "db:5432", &["db"]);
        check(Some("REDIS_HOST"), "redis-cart", &["redis-cart"]);
        check(None, "--upstream=http://api.shop.svc:80/v1", &["api.shop.svc"]);
        check(Some("X"), "postgres://user:word@db/shop", &["db"]);
        check(
            Some("KAFKA_BROKERS"),
            "k-0.kafka.shop:9092,k-1.kafka.shop:9092",
            &["k-0.kafka.shop", "k-1.kafka.shop"],
        );
        check(Some("LEVEL"), "debug", &[]);
        check(None, "daemon off;", &[]);
        check(Some("PORT"), "8080", &[]);
        check(Some("HOST"), "$(POD_NAME).db.shop", &["db.shop"]);
    }

    /// A cluster with one pod and a service `db` of the namespace shop.
    fn use_of(pod: &str, labels: &str, environment: &str, selector: &str) -> bool {
        let mut cluster = Cluster::default();
        let pod = format!(
            r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{pod}","namespace":"shop","labels":{labels}}},
                "spec":{{"containers":[{{"env":{environment}}}]}},"status":{{"phase":"Running"}}}}"#
        );
        let service = format!(
            r#"{{"kind":"Service","apiVersion":"v1","metadata":{{"name":"db","namespace":"shop"}},
                "spec":{{"clusterIP":"10.0.0.9","selector":{selector},"ports":[{{"port":5432}}]}}}}"#
        );
        cluster.add(&pod).unwrap();
        cluster.add(&service).unwrap();
        cluster.use_of(&Name { namespace: "shop".to_owned(), name: "db".to_owned() }).is_some()
    }

    #[test]
    fn a_service_is_used_where_a_pod_names_it_or_is_meant_by_it() {
        let db = r#"{"app":"db"}"#;
        assert!(use_of("web-1", "{}", r#"[{"name":"DB_ADDR","value":"db:5432"}]"#, db));
        assert!(use_of("db-0", "{}", "[]", db));
        assert!(use_of("x", r#"{"app":"dbase","name":"dbx"}"#, "[]", r#"{"app":"dbasee"}"#));
        assert!(use_of("x", r#"{"app":"db","tier":"new"}"#, "[]", r#"{"app":"db","tier":"data"}"#));
        assert!(!use_of("web-1", r#"{"app":"web"}"#, r#"[{"name":"API_ADDR","value":"api:80"}]"#, db));
        assert!(!use_of("web-1", r#"{"app":"web"}"#, r#"[{"name":"X","value":"db.other:80"}]"#, db));
        // `web-2` beside `web-1` is another workload, not a typing error.
        assert!(!use_of("x", r#"{"app":"node1"}"#, "[]", r#"{"app":"node2"}"#));
    }
}
