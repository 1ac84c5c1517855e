//! Facts about changes, what they are blamed for, and what they are not.

use std::time::Duration;

use ghost_base::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const PROVIDERS: &str = "/subscriptions/s/resourceGroups/prod/providers";
const MINUTE: i64 = 60_000;
/// 2026-11-24T02:17:00Z.
const FAILURE: i64 = 1_795_486_620_000;

fn rule(nsg: &str, name: &str) -> String {
    format!("{PROVIDERS}/Microsoft.Network/networkSecurityGroups/{nsg}/securityRules/{name}")
}

/// Returns an event as `az` prints it, some minutes from the first failure.
fn event(id: &str, verb: &str, minutes: i64, status: &str, operation: &str) -> Value {
    let named = |text: &str| json!({"value": text, "localizedValue": format!("<{text}>")});
    let kind = id
        .split("/providers/")
        .nth(1)
        .unwrap_or_default()
        .split('/')
        .step_by(2)
        .collect::<Vec<_>>()
        .join("/");
    json!({"caller": "deploy-pipeline", "category": named("Administrative"), "correlationId": format!("c-{operation}"),
        "operationId": format!("o-{operation}"), "eventDataId": format!("e-{operation}-{status}-{minutes}"),
        "eventTimestamp": Timestamp::from_millis(FAILURE + minutes * MINUTE).to_string().replace('Z', "0000Z"),
        "operationName": named(&format!("Microsoft.Network/{kind}/{verb}")), "resourceId": id, "status": named(status),
        "subStatus": named(if status == "Succeeded" { "Created" } else { "" })})
}

fn log(events: &[Value]) -> Log {
    Log::parse(&Value::from(events.to_vec()).to_string()).unwrap()
}

fn question() -> Question {
    Question { first_failure: Some(Timestamp::from_millis(FAILURE)), last_good: None }
}

/// Returns what the log says about an object.
#[track_caller]
fn origin(events: &[Value], code: &str, object: &str) -> Origin {
    log(events).attribute(&[Subject::of_fault(code, object)], &question()).origins.remove(0)
}

fn when(at: Timestamp) -> String {
    at.to_string().get(11..16).unwrap_or_default().to_owned()
}

#[test]
fn the_events_of_one_operation_are_one_change() {
    let id = rule("app-nsg", "deny-db");
    let events = [
        event(&id, "write", -4, "Started", "1"),
        event(&id, "write", -4, "Accepted", "1"),
        event(&id, "write", -3, "Succeeded", "1"),
        event(&id, "write", -3, "Succeeded", "1"),
    ];
    let log = log(&events);
    let [change] = log.changes.as_slice() else { panic!("{:?}", log.changes) };
    assert_eq!((change.events, change.status, &change.action), (3, Status::Succeeded, &Action::Created));
    assert_eq!(
        change.sentence(when),
        "rule deny-db of app-nsg was created 02:13 by deploy-pipeline (succeeded)"
    );
    let attributed = log.attribute(&[Subject::of_fault("nsg_deny", "nsg/app-nsg/deny-db")], &question());
    assert_eq!(
        log.origin_sentence("rule deny-db", &attributed.origins[0], Reference::FirstFailure, when),
        "rule deny-db of app-nsg was created 02:13 by deploy-pipeline (succeeded), 4 minutes before the first failure"
    );
    assert_eq!(attributed.unconnected, []);
}

#[test]
fn texts_alone_and_names_for_people_are_read() {
    let plain = json!({"caller": "ana@contoso.com", "eventTimestamp": "2026-11-24T02:13:00", "status": "Succeeded",
        "operationName": "Create or Update Security Rule", "resourceId": rule("a", "r")});
    let shell = json!({"Caller": "11111111-2222-3333-4444-555555555555", "EventTimestamp": "/Date(1795486380000)/", "Status": "Succeeded",
        "OperationName": "Delete Route", "ResourceId": format!("{PROVIDERS}/Microsoft.Network/routeTables/t/routes/r"),
        "Claims": {"appid": "99999999-2222-3333-4444-555555555555"}});
    let log = log(&[plain, shell]);
    let sentences: Vec<String> = log.changes.iter().map(|change| change.sentence(when)).collect();
    assert_eq!(
        sentences,
        [
            "route r of t was deleted 02:13 by application 11111111-2222-3333-4444-555555555555 (succeeded)",
            "rule r of a was created or changed 02:13 by ana@contoso.com (succeeded)"
        ]
    );
    assert!(log.changes[0].who.is("99999999") && !log.changes[0].who.is("ana"));
}

#[test]
fn what_nobody_changed_is_no_change() {
    let mut health = event(&rule("a", "r"), "write", -1, "Active", "1");
    health["category"] = json!({"value": "ResourceHealth"});
    let log = log(&[health, json!(7), json!({"eventTimestamp": "soon"})]);
    assert_eq!((log.changes.len(), log.others, log.warnings.len(), log.events), (0, 1, 2, 3));
}

#[test]
fn a_failed_a_later_and_another_change_are_not_blamed() {
    let id = rule("app-nsg", "deny-db");
    let events = [
        event(&id, "write", -4, "Failed", "1"),
        event(&id, "write", 2, "Succeeded", "2"),
        event(&rule("app-nsg", "allow-web"), "write", -3, "Succeeded", "3"),
        event(&rule("web-nsg", "deny-db"), "write", -3, "Succeeded", "4"),
        event(&id, "write", -2, "Accepted", "5"),
        event(&id, "delete", -10, "Succeeded", "6"),
    ];
    let log = log(&events);
    let found = log.attribute(&[Subject::of_fault("nsg_deny", "nsg/app-nsg/deny-db")], &question());
    // There is an entry, and it came too late to be why: nobody says that there is none.
    let [Origin::None { why: NoEntry::Later(at), .. }] = found.origins.as_slice() else {
        panic!("{:?}", found.origins)
    };
    assert_eq!(log.changes[*at].at, Timestamp::from_millis(FAILURE + 2 * MINUTE));
    let said = log.origin_sentence("nsg/app-nsg/deny-db", &found.origins[0], Reference::FirstFailure, |at| {
        at.to_string()
    });
    assert!(
        said.ends_with("after the first failure: that did not begin it, unless it began later than was said"),
        "{said}"
    );
    assert_eq!(found.origins[0].made_by(), None);
    let why: Vec<Unconnected> = found.unconnected.iter().map(|(_, why)| *why).collect();
    let expected = [
        Unconnected::AfterFailure,
        Unconnected::Unfinished,
        Unconnected::OtherResource,
        Unconnected::Beside,
        Unconnected::Failed,
        Unconnected::CannotCause,
    ];
    assert_eq!(
        {
            let mut why = why;
            why.sort();
            why
        },
        {
            let mut all = expected;
            all.sort();
            all
        }
    );
}

#[test]
fn the_last_change_before_the_failure_is_the_one() {
    let id = rule("app-nsg", "deny-db");
    let events = [
        event(&id, "write", -4000, "Succeeded", "1"),
        event(&id, "write", -30, "Succeeded", "2"),
        event(&id, "write", 5, "Succeeded", "3"),
    ];
    let lead = Some(Duration::from_secs(1800));
    assert_eq!(origin(&events, "nsg_deny", "nsg/app-nsg/deny-db"), Origin::MadeBy { change: 1, lead });
    let before = origin(&events[..1], "nsg_deny", "nsg/app-nsg/deny-db");
    assert!(matches!(before, Origin::MayBe { why: Possible::LongBefore, .. }), "{before:?}");
    let good = Question { last_good: Some(Timestamp::from_millis(FAILURE - MINUTE)), ..question() };
    let found = log(&events).attribute(&[Subject::of_fault("nsg_deny", "nsg/app-nsg/deny-db")], &good);
    assert!(
        found.origins[0].made_by().is_none() && found.unconnected.contains(&(1, Unconnected::BeforeLastGood))
    );
}

#[test]
fn a_whole_that_was_written_only_may_have_changed_its_part() {
    let whole = format!("{PROVIDERS}/Microsoft.Network/networkSecurityGroups/app-nsg");
    let made = event(&whole, "write", -4, "Succeeded", "1");
    assert_eq!(origin(std::slice::from_ref(&made), "nsg_deny", "nsg/app-nsg/deny-db").made_by(), Some(0));
    let updated = json!({"subStatus": {"value": "OK"}});
    let written = made.as_object().unwrap().clone().into_iter().chain(updated.as_object().unwrap().clone());
    let written = Value::from_iter(written);
    let found = origin(&[written], "nsg_deny", "nsg/app-nsg/deny-db");
    assert!(matches!(found, Origin::MayBe { why: Possible::Whole, .. }), "{found:?}");
    let gone = [event(&rule("app-nsg", "allow-db"), "delete", -4, "Succeeded", "1")];
    let found = origin(&gone, "nsg_deny", "nsg/app-nsg/DenyAllInBound");
    assert!(matches!(found, Origin::MayBe { why: Possible::Beside, .. }), "{found:?}");
    let made = [event(&rule("app-nsg", "allow-db"), "write", -4, "Succeeded", "1")];
    assert_eq!(origin(&made, "nsg_deny", "nsg/app-nsg/DenyAllInBound").made_by(), None);
}

#[test]
fn what_lies_inside_a_machine_has_no_entry() {
    let machine = format!("{PROVIDERS}/Microsoft.Compute/virtualMachines/db-1");
    let events = [event(&machine, "runCommand/action", -4, "Succeeded", "1")];
    let none = Origin::None { why: NoEntry::InsideMachine, scripts: vec![0] };
    assert_eq!(origin(&events, "guest_firewall_drop", "netfilter/db-1/filter/INPUT/tcp/5432"), none);
    assert_eq!(origin(&events, "static_blackhole", "route/db-1/10.0.0.0/8"), none);
    let learned = Origin::None { why: NoEntry::Learned, scripts: Vec::new() };
    assert_eq!(origin(&events, "bgp_route_missing", "bgp/gw/10.0.0.0/8"), learned);
}

#[test]
fn what_is_missing_was_deleted_and_what_stands_still_was_stopped() {
    let peering =
        format!("{PROVIDERS}/Microsoft.Network/virtualNetworks/hub/virtualNetworkPeerings/to-spoke");
    let deleted = [event(&peering, "delete", -4, "Succeeded", "1")];
    assert_eq!(origin(&deleted, "peering_missing", "peering/hub/spoke").made_by(), Some(0));
    let machine = format!("{PROVIDERS}/Microsoft.Compute/virtualMachines/app-1");
    let stopped = |verb: &str| {
        origin(&[event(&machine, verb, -4, "Succeeded", "1")], "machine_stopped", "machine/APP-1")
    };
    assert_eq!(stopped("deallocate/action").made_by(), Some(0));
    assert_eq!(stopped("start/action").made_by(), None);
    assert_eq!(stopped("retrieveBootDiagnosticsData/action").made_by(), None);
}

#[test]
fn a_thing_is_asked_about_by_object_id_or_name() {
    let id = rule("app-nsg", "deny-db");
    let events = log(&[event(&id, "delete", 4, "Succeeded", "1")]);
    for text in [
        "nsg/app-nsg/deny-db",
        "app-nsg",
        "DENY-DB",
        &id,
        &id.to_uppercase(),
        id.rsplit_once("/securityRules").unwrap().0,
    ] {
        let found = events.attribute(&[Subject::named(text)], &Question::default());
        assert_eq!(found.origins[0].made_by(), Some(0), "{text}");
    }
    for text in ["web-nsg", "nsg/app-nsg/allow-web", "", "/subscriptions/s/resourceGroups/pro"] {
        let found = events.attribute(&[Subject::named(text)], &Question::default());
        assert_eq!(found.origins[0].made_by(), None, "{text}");
    }
}

#[test]
fn a_length_of_time_is_said_in_its_own_unit() {
    let sentences: Vec<String> = [1, 89, 240, 5399, 5400, 90_000, 300_000]
        .map(|seconds| duration(Duration::from_secs(seconds)))
        .into();
    assert_eq!(
        sentences,
        ["1 second", "89 seconds", "4 minutes", "90 minutes", "2 hours", "25 hours", "3 days"]
    );
}

/// Returns any events of a few resources and operations.
fn events() -> impl Strategy<Value = Vec<Value>> {
    let ids = prop::sample::select(vec![
        rule("app-nsg", "deny-db"),
        rule("app-nsg", "allow-web"),
        rule("web-nsg", "deny-db"),
        format!("{PROVIDERS}/Microsoft.Network/networkSecurityGroups/app-nsg"),
        format!("{PROVIDERS}/Microsoft.Compute/virtualMachines/app-1"),
    ]);
    let verbs =
        prop::sample::select(vec!["write", "delete", "deallocate/action", "effectiveRouteTable/action"]);
    let statuses = prop::sample::select(vec!["Started", "Accepted", "Succeeded", "Failed", "Canceled"]);
    let one = (ids, verbs, -3000_i64..60, statuses, 0..6_u8);
    prop::collection::vec(one, 0..12).prop_map(|all| {
        all.iter()
            .map(|(id, verb, minutes, status, operation)| {
                event(id, verb, *minutes, status, &operation.to_string())
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn a_failed_or_later_change_is_never_blamed(events in events()) {
        let log = log(&events);
        let subjects = [
            Subject::of_fault("nsg_deny", "nsg/app-nsg/deny-db"),
            Subject::of_fault("machine_stopped", "machine/app-1"),
            Subject::of_fault("netem_delay", "qdisc/app-1/eth0"),
            Subject::of_fault("nsg_deny", "nsg/app-nsg/DenyAllInBound"),
        ];
        let found = log.attribute(&subjects, &question());
        let mut blamed = 0;
        for origin in &found.origins {
            let (Origin::MadeBy { change, .. } | Origin::MayBe { change, .. }) = origin else { continue };
            let change = &log.changes[*change];
            prop_assert_eq!(change.status, Status::Succeeded);
            prop_assert!(change.at <= Timestamp::from_millis(FAILURE) && change.action.is_change());
            blamed += 1;
        }
        let is_none = matches!(found.origins[2], Origin::None { .. });
        prop_assert!(is_none);
        prop_assert!(found.unconnected.len() + blamed >= log.changes.len());
    }

    #[test]
    fn the_order_of_rows_and_rows_that_stand_twice_do_not_matter(
        (events, shuffled) in events().prop_flat_map(|events| (Just(events.clone()), Just(events).prop_shuffle()))
    ) {
        let twice: Vec<Value> = shuffled.iter().chain(&events).cloned().collect();
        let sentences = |events: &[Value]| (log(events).changes, origin(events, "nsg_deny", "nsg/app-nsg/deny-db"));
        let expected = sentences(&events);
        prop_assert_eq!(&sentences(&shuffled), &expected);
        prop_assert_eq!(&sentences(&twice), &expected);
    }

    #[test]
    fn a_cut_log_blames_nothing_that_it_does_not_hold(events in events(), share in 0.0..1.0_f64) {
        let text = Value::from(events).to_string();
        let at = (text.len() as f64 * share) as usize;
        if let Ok(log) = Log::parse(text.get(..at).unwrap_or_default()) {
            prop_assert!(log.is_cut || at >= text.len());
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[{}\\]\",:a-z0-9 ]{0,200}") {
        drop(Log::parse(&text));
        prop_assert_eq!(Subject::named(&text).object, text.trim());
        prop_assert!(moment(&text).is_none() || text.contains('-'));
    }
}
