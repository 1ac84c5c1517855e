//! Facts about clusters in case files.

use crate::case::Case;

const CASE: &str = r#"id = "x"
title = "t"
prompt = "web times out"
outcome = ["LIKELY"]

[[kubernetes]]
name = "aks"

[[kubernetes.pod]]
name = "shop/web-0"
labels = { app = "web" }

[[kubernetes.pod]]
name = "shop/db-0"
labels = { app = "db" }
ports = [5432]

[[kubernetes.service]]
name = "shop/db"
selector = { app = "db" }
ports = [5432]

[[kubernetes.fault]]
kind = "policy"
id = "deny"
name = "shop/deny"
spec = { podSelector = { matchLabels = { app = "db" } } }

[[kubernetes.check]]
from = "shop/web-0"
to = "shop/db:5432"
passes = false

[[expected]]
fault = "k8s_policy_deny"
object = "netpol/aks/shop/deny"
"#;

#[track_caller]
fn wrong(from: &str, to: &str, expected: &[&str]) {
    assert!(CASE.contains(from));
    let problems = Case::read(&CASE.replacen(from, to, 1)).unwrap_err();
    assert_eq!(problems.to_string().split("\n  ").collect::<Vec<_>>(), expected);
}

#[test]
fn a_case_whose_fault_is_real_is_read() {
    let case = Case::read(CASE).unwrap();
    assert_eq!(case.clusters[0].name, "aks");
    let mended = format!(
        "{CASE}\n[phase.2]\nprompt = \"and now?\"\noutcome = [\"NO_FAULT_FOUND\"]\nfixes = [\"deny\"]\n"
    );
    assert_eq!(Case::read(&mended).unwrap().phases.len(), 2);
}

#[test]
fn a_key_that_is_not_known_has_its_line() {
    wrong(
        "ports = [5432]\n\n[[kubernetes.service]]",
        "prots = [5432]\n\n[[kubernetes.service]]",
        &[
            "line 16: unknown field `prots`, expected one of `name`, `labels`, `address`, `node`, `phase`, `ready`, `ending`, `host_network`, `waits`, `ports`",
        ],
    );
    wrong(
        "name = \"shop/db-0\"",
        "name = \"db-0\"",
        &["line 14: `db-0` is no name; write NAMESPACE/NAME in small letters, digits and `-`"],
    );
}

#[test]
fn a_fault_that_stops_nothing_is_refused() {
    let pair = "k8s_policy_deny netpol/aks/shop/deny";
    wrong(
        "app = \"db\" } } }",
        "app = \"sql\" } } }",
        &[
            "line 29: shop/web-0 -> shop/db:5432 TCP: it passes",
            "line 23: no [[kubernetes.check]] fails by this fault",
            &format!("line 6: phase 1: {pair} is expected, and no flow fails by it"),
        ],
    );
    wrong(
        "name = \"aks\"\n",
        "name = \"aks\"\nengine = \"none\"\n",
        &[
            "line 30: shop/web-0 -> shop/db:5432 TCP: it passes",
            "line 24: no [[kubernetes.check]] fails by this fault",
            &format!("line 6: phase 1: {pair} is expected, and no flow fails by it"),
        ],
    );
}

#[test]
fn what_is_broken_without_the_fault_too_is_refused() {
    wrong(
        "selector = { app = \"db\" }",
        "selector = { app = \"sql\" }",
        &[
            "line 29: shop/web-0 -> shop/db:5432 TCP: without the faults, too: it fails by k8s_no_endpoints service/aks/shop/db",
            "line 6: phase 1: a flow fails by k8s_no_endpoints service/aks/shop/db, and it is not expected",
            "line 6: phase 1: k8s_policy_deny netpol/aks/shop/deny is expected, and no flow fails by it",
        ],
    );
    wrong(
        "from = \"shop/web-0\"",
        "from = \"shop/web-9\"",
        &[
            "line 29: shop/web-9 -> shop/db:5432 TCP: an end of it is not there",
            "line 23: no [[kubernetes.check]] fails by this fault",
            "line 6: phase 1: k8s_policy_deny netpol/aks/shop/deny is expected, and no flow fails by it",
        ],
    );
}

#[test]
fn a_fault_of_what_is_not_there_is_refused() {
    wrong(
        "kind = \"policy\"\nid = \"deny\"\nname = \"shop/deny\"\nspec = { podSelector = { matchLabels = { app = \"db\" } } }",
        "kind = \"selector\"\nservice = \"shop/api\"\nselector = { app = \"api\" }",
        &["line 23: there is no service shop/api"],
    );
}
