//! Documents that are cut off, refused, of another kind, or made to harm.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::draft::Draft;
use crate::cluster::{Cluster, Protocol, Question, ReadError, Verdict};

fn read(text: &str) -> Result<Cluster, ReadError> {
    let mut cluster = Cluster::default();
    cluster.add(text).map(|()| cluster)
}

#[test]
fn a_document_that_is_not_whole_is_an_error() {
    let text = Draft::new().text();
    assert!(read(&text).is_ok());
    for length in (0..text.len()).step_by(97) {
        assert!(read(&text[..length]).is_err(), "{length}");
    }
    let part = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "abc"}, "items": []});
    assert!(matches!(read(&part.to_string()), Err(ReadError::Part)));
    let failed =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "pods is forbidden"});
    assert!(
        matches!(read(&failed.to_string()), Err(ReadError::Failed { message }) if message == "pods is forbidden")
    );
    for odd in ["", "[]", "{}", "42", "Error from server (Forbidden)", r#"{"kind":"List"}"#, r#"{"kind":7}"#]
    {
        assert!(read(odd).is_err(), "{odd}");
    }
    assert!(read(&"[".repeat(100_000)).is_err());
}

#[test]
fn documents_of_two_times_are_refused() {
    let mut cluster = read(&Draft::new().text()).unwrap();
    cluster.add(&Draft::new().text()).unwrap();
    let later = Draft::new().set("Pod", "x/a", "/status/phase", json!("Failed"));
    let error = cluster.add(&later.text()).unwrap_err().to_string();
    assert!(error.contains("Pod x/a"), "{error}");
}

#[test]
fn an_object_that_cannot_be_read_is_named_and_leaves_open_what_it_may_decide() {
    let policy = |selector: Value| {
        json!({"kind": "NetworkPolicy", "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": "odd", "namespace": "z"}, "spec": {"podSelector": selector}})
    };
    let report = Draft::new().with(policy(json!("all"))).ask("y/a", "x/a:80", Protocol::Tcp);
    assert_eq!((report.verdict, report.warnings.len()), (Verdict::Indeterminate, 1), "{report:#?}");
    let nameless = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"namespace": "x"}, "spec": {}});
    let report = Draft::new().with(nameless).ask("y/a", "x/a:80", Protocol::Tcp);
    assert_eq!((report.verdict, report.warnings.len()), (Verdict::Passes, 1), "{report:#?}");
    let report = Draft::new().with(json!({"metadata": {}})).ask("y/a", "x/a:80", Protocol::Tcp);
    assert_eq!(report.verdict, Verdict::Indeterminate, "an object without a kind may be a policy");
    let slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "addressType": "FQDN",
        "metadata": {"name": "s", "namespace": "x"}, "endpoints": []});
    assert_eq!(Draft::new().with(slice).ask("y/a", "x/a:80", Protocol::Tcp).warnings.len(), 1);
    // Kinds that decide nothing here are no news.
    let other = json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d"}});
    assert!(Draft::new().with(other).ask("y/a", "x/a:80", Protocol::Tcp).warnings.is_empty());
}

#[test]
fn a_name_fills_no_page() {
    let name = "n".repeat(100_000);
    let odd = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "x"}});
    let report = Draft::new().with(odd).ask("y/a", "x/a:80", Protocol::Tcp);
    assert!(report.warnings[0].len() < 1_000);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z0-9.:/]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("[a-zA-Z]{1,10}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Every place in a value, as pointers.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                places(item, &format!("{here}/{at}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                places(item, &format!("{here}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #[test]
    fn no_text_stops_it(text in r#"[\[\]{}",:0-9a-z \\]{0,60}"#) {
        let _ = read(&text);
    }

    /// Whatever stands in a policy in place of something else, it never opens what was closed nor stops the program.
    #[test]
    fn a_damaged_policy_is_never_more_certain_than_a_whole_one(at in any::<prop::sample::Index>(), odd in value()) {
        let rules = json!([{"from": [{"podSelector": {"matchLabels": {"pod": "b"}}}], "ports": [{"port": 80}]}]);
        let mut draft = Draft::new().policy("x", json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules}));
        let policy = draft.items.last_mut().unwrap();
        let mut all = Vec::new();
        places(&policy["spec"], "", &mut all);
        *policy["spec"].pointer_mut(&all[at.index(all.len())]).unwrap() = odd;
        let question = Question::parse("y/a", "x/a:80", Protocol::Tcp).unwrap().enforced_by(draft.engine);
        if let Ok(cluster) = read(&draft.text()) {
            let report = cluster.judge(&question).unwrap();
            prop_assert_eq!(report.targets.len(), 1);
        }
    }
}
