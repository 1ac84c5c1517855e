//! Facts about EndpointSlices.

use serde_json::{Value, json};

use super::shop;

fn slices(more: &str, service: &str) -> Vec<Value> {
    let own = |slice: &Value| slice["metadata"]["labels"]["kubernetes.io/service-name"] == service;
    let mut all = shop(more).slice_documents();
    all.retain(own);
    all
}

#[test]
fn pods_with_different_numbers_of_a_port_are_in_different_slices() {
    let all = slices("", "db");
    let ports: Vec<&Value> = all.iter().map(|slice| &slice["ports"]).collect();
    assert_eq!(
        ports,
        [
            &json!([{"name": "sql", "port": 5432, "protocol": "TCP"}]),
            &json!([{"name": "sql", "port": 5433, "protocol": "TCP"}])
        ]
    );
    assert_ne!(all[0]["metadata"]["name"], all[1]["metadata"]["name"]);
    let endpoint = &all[0]["endpoints"][0];
    assert_eq!(endpoint["targetRef"]["name"], "db-0");
    assert_eq!(endpoint["conditions"], json!({"ready": true, "serving": true, "terminating": false}));
    assert_eq!(endpoint["nodeName"], "aks-nodepool1-28413697-vmss000001");
}

#[test]
fn what_ends_or_is_not_ready_says_so() {
    let ending = "[[pod]]\nname = \"shop/db-2\"\nlabels = { app = \"db\" }\nending = true\nports = [{ name = \"sql\", port = 5434 }]\n";
    let last = slices(ending, "db").pop().unwrap();
    assert_eq!(
        last["endpoints"][0]["conditions"],
        json!({"ready": false, "serving": true, "terminating": true})
    );
    let fault = "[[fault]]\nkind = \"not_ready\"\npods = [\"shop/db-0\"]\n";
    assert_eq!(
        slices(fault, "db")[0]["endpoints"][0]["conditions"],
        json!({"ready": false, "serving": false, "terminating": false})
    );
    let pending = "[[pod]]\nname = \"shop/db-3\"\nlabels = { app = \"db\" }\nphase = \"Pending\"\nports = [{ name = \"sql\", port = 5435 }]\n";
    assert_eq!(slices(pending, "db").len(), 2, "one without an address is in none");
}

#[test]
fn a_service_without_pods_keeps_an_empty_slice_and_one_without_a_selector_what_it_was_given() {
    let fault = "[[fault]]\nkind = \"selector\"\nservice = \"shop/db\"\nselector = { app = \"sql\" }\n";
    let all = slices(fault, "db");
    assert_eq!((all.len(), &all[0]["endpoints"], &all[0]["ports"]), (1, &Value::Null, &Value::Null));
    let given = slices("", "old-db");
    assert_eq!(given[0]["endpoints"], json!([{"addresses": ["10.20.3.4"], "conditions": {"ready": true}}]));
    assert_eq!(given[0]["metadata"]["name"], "old-db-1");
    let bare = "[[service]]\nname = \"shop/nothing\"\nports = [80]\n";
    assert_eq!(slices(bare, "nothing"), [] as [Value; 0]);
}

#[test]
fn a_port_whose_name_no_container_has_is_in_no_slice() {
    let target = "[[fault]]\nkind = \"target_port\"\nservice = \"shop/db\"\nport = 5432\ntarget = \"pg\"\n";
    let all = slices(target, "db");
    assert_eq!(all[0]["ports"], Value::Null);
    assert_eq!(all[0]["endpoints"].as_array().unwrap().len(), 2);
}

#[test]
fn a_headless_service_says_so() {
    let all = slices("", "db-nodes");
    assert_eq!(all[0]["metadata"]["labels"]["service.kubernetes.io/headless"], "");
}
