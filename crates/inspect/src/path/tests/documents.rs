//! What is not read, partly read, or read in another form.

use serde_json::{Value, json};

use super::draft::{Draft, check, summary};
use crate::path::{Bundle, BundleError, Document, Estate, Fate, Guest, GuestDocument, Protocol, Reading};

pub(super) fn pg(draft: &Draft, bundle: &Bundle) -> crate::path::Judgement {
    Estate::of(bundle).judge(&draft.flow("web", "db", Protocol::Tcp, 5432))
}

#[test]
fn every_document_that_is_missing_is_named_and_leaves_the_answer_open() {
    let draft = Draft::two();
    type Take = fn(&mut Guest);
    let guest = |machine: &str, document| Document::Guest { machine: machine.to_owned(), document };
    let cases: [(&str, Take, GuestDocument); 5] = [
        ("db", |guest| guest.filters.clear(), GuestDocument::Filters),
        ("db", |guest| guest.tcp = None, GuestDocument::Sockets),
        ("web", |guest| guest.shaping = None, GuestDocument::Shaping),
        ("web", |guest| guest.routes = None, GuestDocument::Routes),
        ("web", |guest| guest.filters.clear(), GuestDocument::Filters),
    ];
    for (machine, take, document) in cases {
        let mut bundle = draft.bundle();
        take(bundle.guests.get_mut(machine).unwrap());
        let judgement = pg(&draft, &bundle);
        assert_eq!(judgement.fate, Fate::Unknown, "{document:?}");
        let missing: Vec<Document> = judgement.missing().into_iter().map(|one| one.what).collect();
        assert_eq!(missing, [guest(machine, document)]);
    }
    let mut bundle = draft.bundle();
    bundle.cloud.groups = None;
    // No group stands anywhere, so that none had to be read.
    assert_eq!(pg(&draft, &bundle).fate, Fate::Passes);
    let grouped = draft.clone().rule("app/db", ("x", 100, "Inbound", "Allow", "*", "*", "*", "*"));
    let mut bundle = grouped.bundle();
    bundle.cloud.groups = Some(Reading::Failed { error: "AuthorizationFailed".into() });
    let judgement = pg(&grouped, &bundle);
    assert_eq!(judgement.fate, Fate::Unknown);
    assert_eq!(judgement.missing()[0].what, Document::Rules { nic: "db-nic".into() });
}

#[test]
fn whoever_cannot_be_looked_into_is_asked_whether_it_runs() {
    let draft = Draft::two();
    let mut bundle = draft.bundle();
    let listed = json!([{"name": "web", "vmId": "x"}, {"name": "db", "vmId": "y"}]);
    bundle.cloud.machines = Some(Reading::Text(listed.to_string()));
    let document = Document::Power { machine: "db".into() };
    let asks = |bundle: &Bundle| pg(&draft, bundle).missing().iter().any(|one| one.what == document);
    assert!(!asks(&bundle));
    bundle.guests.get_mut("db").unwrap().routes = Some(Reading::Failed { error: "it is off".into() });
    assert!(asks(&bundle));
    let view = |state: &str| {
        let statuses =
            json!([{"code": "ProvisioningState/succeeded"}, {"code": format!("PowerState/{state}")}]);
        Some(Reading::Text(
            json!([{"name": "db", "vmId": "y", "instanceView": {"statuses": statuses}}]).to_string(),
        ))
    };
    bundle.cloud.instance_views = view("running");
    assert!(!asks(&bundle));
    for state in ["stopped", "deallocated"] {
        bundle.cloud.instance_views = view(state);
        assert_eq!(summary(&pg(&draft, &bundle)), ["BLOCKED", "vm_stopped vm/db"], "{state}");
    }
    // What the platform does not say is not known.
    bundle.cloud.instance_views = view("unknown");
    assert_eq!(summary(&pg(&draft, &bundle)), ["INDETERMINATE"]);
}

#[test]
fn a_stop_that_is_certain_stays_so_beside_what_was_not_read() {
    let draft = Draft::two().drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP");
    let mut bundle = draft.bundle();
    bundle.guests.get_mut("db").unwrap().tcp = None;
    bundle.guests.remove("web");
    assert_eq!(
        summary(&pg(&draft, &bundle)),
        ["BLOCKED", "guest_firewall_drop netfilter/db/filter/INPUT/tcp/5432"]
    );
}

#[test]
fn behind_an_appliance_that_was_not_read_nothing_is_certain() {
    let draft = Draft::hub().drops("b", "-A INPUT -p tcp -m tcp --dport 8443 -j DROP");
    let mut bundle = draft.bundle();
    bundle.guests.get_mut("nva").unwrap().filters.clear();
    let judgement = Estate::of(&bundle).judge(&draft.flow("a", "b", Protocol::Tcp, 8443));
    assert_eq!(summary(&judgement), ["INDETERMINATE"]);
    assert!(judgement.forward.iter().any(|hop| !hop.possible.is_empty()));
}

#[test]
fn one_backend_of_several_is_not_the_whole_filter() {
    let draft = Draft::two();
    let mut bundle = draft.bundle();
    bundle.guests.get_mut("db").unwrap().filters.remove("nft");
    let judgement = pg(&draft, &bundle);
    assert_eq!(judgement.fate, Fate::Unknown);
    assert!(judgement.missing()[0].why.contains("nft"), "{:?}", judgement.missing());
}

#[test]
fn effective_documents_say_what_the_configuration_says() {
    let draft = Draft::two().rule("app/db", ("no", 110, "Inbound", "Deny", "Tcp", "*", "*", "5432")).route(
        "app/db",
        "gone",
        "10.0.1.0/24",
        "None",
        None,
    );
    let mut bundle = draft.bundle();
    let routes = |gone: bool| {
        let mut rows = vec![
            json!({"addressPrefix": ["10.0.0.0/16"], "nextHopType": "VnetLocal", "source": "Default", "state": "Active"}),
            json!({"addressPrefix": ["0.0.0.0/0"], "nextHopType": "Internet", "source": "Default", "state": "Active"}),
        ];
        if gone {
            rows.push(json!({"addressPrefix": ["10.0.1.0/24"], "nextHopType": "None", "source": "User",
                "state": "Active", "name": "gone"}));
        }
        Some(Reading::Text(json!({"value": rows}).to_string()))
    };
    let rule = |name: &str, priority: u32, access: &str, direction: &str, port: &str| -> Value {
        json!({"name": name, "priority": priority, "access": access, "direction": direction, "protocol": "All",
            "sourceAddressPrefix": "0.0.0.0/0", "destinationAddressPrefix": "0.0.0.0/0",
            "sourcePortRange": "0-65535", "destinationPortRange": port})
    };
    let group = json!({"value": [{
        "networkSecurityGroup": {"id": "/networkSecurityGroups/db-nsg"}, "association": {"subnet": {"id": "/s"}},
        "effectiveSecurityRules": [
            rule("securityRules/no", 110, "Deny", "Inbound", "5432-5432"),
            rule("defaultSecurityRules/AllowVnetInBound", 65000, "Allow", "Inbound", "0-65535"),
            rule("defaultSecurityRules/AllowVnetOutBound", 65000, "Allow", "Outbound", "0-65535"),
        ],
    }]});
    bundle.nics.insert(
        "web-nic".into(),
        crate::path::Nic { routes: routes(false), rules: Some(Reading::Text("[]".into())) },
    );
    bundle.nics.insert(
        "db-nic".into(),
        crate::path::Nic { routes: routes(true), rules: Some(Reading::Text(group.to_string())) },
    );
    let expected = ["BLOCKED", "nsg_deny nsg/db-nsg/no", "route_blackhole route/app-db-rt/gone"];
    check(&pg(&draft, &bundle), &expected);
    check(&draft.judge("web", "db", 5432), &expected);
}

#[test]
fn a_bundle_is_one_document_or_a_folder() {
    let bundle = Draft::hub().bundle();
    let text = serde_json::to_string(&bundle).unwrap();
    assert_eq!(Bundle::parse(&text).unwrap(), bundle);
    let files = bundle.to_files();
    let files = files.iter().map(|(path, text)| (path.as_str(), Reading::Text(text.clone())));
    assert_eq!(Bundle::from_files(files).unwrap(), bundle);
    // What was printed as JSON may stand there as it is.
    let inline =
        Bundle::parse(r#"{"cloud": {"interfaces": [{"name": "x", "ipConfigurations": []}]}}"#).unwrap();
    assert_eq!(Estate::of(&inline).warnings(), Vec::<String>::new());
    assert!(matches!(Bundle::parse("{}"), Err(BundleError::Empty)));
    assert!(matches!(Bundle::parse("7"), Err(BundleError::Json(_))));
    assert!(matches!(Bundle::parse(r#"{"format": 9, "nics": {"a": {}}}"#), Err(BundleError::Format(9))));
    let odd = [("cloud/nonsense.json", Reading::Text(String::new()))];
    assert!(matches!(Bundle::from_files(odd), Err(BundleError::Foreign(_))));
}

#[test]
fn the_report_has_the_words_of_the_contract() {
    let draft = Draft::two()
        .rule("app/db", ("no", 110, "Inbound", "Deny", "Tcp", "*", "*", "5432"))
        .drops("db", "-A INPUT -p tcp -m tcp --dport 5432 -j DROP");
    let estate = draft.estate();
    let report = estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432)).report(&estate);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["verdict"], "BLOCKED");
    assert_eq!(json["flow"]["protocol"], "tcp");
    assert_eq!(json["causes"][0]["fault"], "nsg_deny");
    assert_eq!(json["causes"][0]["object"], "nsg/db-nsg/no");
    assert_eq!(json["causes"][0]["side"], "forward");
    assert_eq!(json["behind"][0]["object"], "netfilter/db/filter/INPUT/tcp/5432");
    let hop = json["forward"].as_array().unwrap().iter().find(|hop| hop["kind"] == "group_inbound").unwrap();
    assert_eq!((&hop["verdict"], &hop["rule"]), (&json!("stops"), &json!("no")));
    assert!(json["return"].is_array() && json["noticed"].is_array() && json["missing"].is_array());
}
