//! Facts about what a report says of Azure's own answers.

use serde_json::{Value, json};

use crate::Outcome;
use crate::gate::{Coverage, outcome};
use crate::report::rca;
use crate::report::tests::Ledger;

const ASKED: &str = "az network watcher test-ip-flow -g prod --vm db-1 --direction Inbound --protocol TCP --local 10.0.2.4:5432 --remote 10.0.1.4:60000";

/// A session that judged that web-1 reaches db-1, and in which Network Watcher was asked about it.
fn asked(printed: &Value) -> Ledger {
    let mut ledger = Ledger::open("web-1 cannot reach db-1 on 5432");
    ledger.calls(0, "c1", "check_path");
    let flow = json!({
        "source": "10.0.1.4", "source_machine": "web-1", "destination": "10.0.2.4", "destination_machine": "db-1", "protocol": "tcp",
        "port": 5432, "verdict": "PASSES", "outcome": "passes", "causes": [], "behind": [], "missing": [],
    });
    let content = json!({"status": "completed", "suspects": [], "facts": {"flows": [flow]}}).to_string();
    ledger.json("returned", json!({"call": "c1", "tool": "check_path", "content": content}));
    ledger.turn(1, &["c2"], None);
    ledger.propose(1, "c2", ASKED, "H1", "SAFE");
    ledger.run(1, None);
    ledger.prints(1, &printed.to_string());
    ledger.observe(7, "c2", Some(1), ASKED);
    ledger
}

#[test]
fn a_report_says_where_azure_says_otherwise_and_is_less_sure() {
    let against = asked(&json!({"access": "Deny", "ruleName": "UserRule_no"})).state();
    let report = rca(&against);
    assert!(report.contains("## What Azure itself says"), "{report}");
    assert!(report.contains("web-1 → db-1 tcp/5432` (o7): Deny by no. **Ghost disagrees**"), "{report}");
    assert_eq!(outcome(&against, 0, Coverage::Whole), Outcome::Inconclusive);
    let alike =
        asked(&json!({"access": "Allow", "ruleName": "defaultSecurityRules/AllowVnetInBound"})).state();
    assert!(rca(&alike).contains("Ghost agrees: no security rule denies it here"), "{}", rca(&alike));
    assert_eq!(outcome(&alike, 0, Coverage::Whole), Outcome::NoFaultFound);
}
