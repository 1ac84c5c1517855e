//! What is reported of connections beyond their labels.

use serde_json::{Value, json};

use super::spoken::{ACK, Client, Scenario, Server};
use super::trouble;

/// Returns a place of the account.
#[track_caller]
fn printed(scenario: &Scenario, path: &str) -> Value {
    let account = serde_json::to_value(scenario.summary()).unwrap();
    account.pointer(path).cloned().unwrap_or(Value::Null)
}

#[track_caller]
fn check(scenario: &Scenario, codes: &[&str]) {
    let found = scenario.codes();
    for code in codes {
        assert!(found.contains(code), "{code} is not among {found:?}");
    }
    assert_eq!(found.len(), codes.len(), "{found:?}");
}

#[test]
fn a_healthy_capture_has_no_finding() {
    check(&Scenario::healthy(), &[]);
    check(&trouble::reset(), &[]);
}

#[test]
fn a_healthy_capture_of_both_sides_of_a_router_has_none_but_that() {
    let twice = trouble::twice(&Scenario::healthy(), false);
    check(&twice, &["tcp_mirrored"]);
    let vantage = printed(&twice, "/tcp/vantage");
    assert_eq!(vantage.pointer("/copies"), Some(&json!(145)));
    assert_eq!(printed(&twice, "/tcp/retransmission_pct"), json!(0.0));
    assert!(
        printed(&twice, "/counts/retransmission").as_u64().unwrap() > 100,
        "the labels stay those of tshark"
    );
    let tagged = trouble::twice(&Scenario::healthy(), true);
    check(&tagged, &["tcp_mirrored"]);
    assert_eq!(printed(&tagged, "/tcp/vantage/two_vlans"), json!(5));
    assert_eq!(printed(&tagged, "/tcp/flows/0/vlans"), json!([0, 20]));
}

#[test]
fn a_repetition_with_another_identification_is_no_copy() {
    let mut scenario = Scenario::healthy();
    scenario.port = 50_000;
    scenario.open();
    for _ in 0..5 {
        scenario.say(Client, 0, ACK, (1001, 5001, 700));
    }
    assert_eq!(printed(&scenario, "/tcp/vantage/copies"), json!(0));
}

#[test]
fn syns_without_an_answer_are_reported_with_their_pauses_and_the_last_ones_are_waited_for() {
    let scenario = trouble::unanswered(2);
    check(&scenario, &["syn_unanswered"]);
    assert_eq!(printed(&scenario, "/tcp/flows/0/a_to_b/repeated/gaps_ms"), json!([1000.0, 2000.0, 4000.0]));
    assert_eq!(printed(&scenario, "/tcp/flows/0/a_to_b/repeated/doubling"), json!(true));
    let mut late = Scenario::healthy();
    for port in 50_000..50_010 {
        late.port = port;
        late.say(Client, 1, super::spoken::SYN, (1000, 0, 0));
    }
    check(&late, &[]);
}

#[test]
fn filtered_unreachable_and_refused_are_three_things() {
    for quoted in [8, 20] {
        let filtered = trouble::rejected(Scenario::new(), (3, 13), quoted);
        assert!(filtered.codes().contains(&"tcp_filtered"), "{quoted}");
        assert_eq!(printed(&filtered, "/tcp/flows/0/state"), json!("filtered"));
    }
    let six = trouble::rejected(Scenario::over_six(), (1, 1), 20);
    assert_eq!(printed(&six, "/tcp/flows/0/state"), json!("filtered"));
    let nowhere = trouble::rejected(Scenario::new(), (3, 1), 8);
    assert!(nowhere.codes().contains(&"tcp_unreachable"));
    assert_eq!(printed(&nowhere, "/tcp/flows/0/state"), json!("unreachable"));
    check(&trouble::refused(), &["tcp_refused"]);
}

#[test]
fn an_error_about_an_open_connection_bars_nothing() {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.error(0, (3, 13), 0, 8);
    assert_eq!(printed(&scenario, "/tcp/flows/0/state"), json!("established"));
}

#[test]
fn an_answer_that_nobody_hears_is_no_missing_answer() {
    check(&trouble::unheard(), &["syn_ack_unanswered"]);
}

#[test]
fn a_closed_window_is_reported_with_who_closed_it_how_long_and_what_asked() {
    let scenario = trouble::closed();
    let codes = scenario.codes();
    assert_eq!(codes.first(), Some(&"tcp_zero_window"), "{codes:?}");
    let shut = printed(&scenario, "/tcp/flows/0/b_to_a/zero_window");
    let expected = json!({"periods": 1, "total_ms": 1430.0, "longest_ms": 1430.0, "probes": 3, "still": false, "first_frame": 5});
    assert_eq!(shut, expected);
    assert_eq!(printed(&scenario, "/tcp/flows/0/a_to_b/limits/loss_pct"), json!(0.0));
    assert!(printed(&scenario, "/tcp/flows/0/a_to_b/limits/window_pct").as_f64().unwrap() > 95.0);
    assert_eq!(printed(&scenario, "/counts/zero_window_probe"), json!(0), "the labels stay those of tshark");
}

#[test]
fn an_end_that_falls_silent_is_distinguished_from_one_that_loses_something() {
    let scenario = trouble::gone();
    let codes = scenario.codes();
    assert!(codes.contains(&"tcp_peer_gone"), "{codes:?}");
    assert_eq!(printed(&scenario, "/tcp/flows/0/a_to_b/unanswered"), json!(5));
    assert_eq!(
        printed(&scenario, "/tcp/flows/0/a_to_b/repeated/gaps_ms"),
        json!([200.0, 400.0, 800.0, 1600.0, 3200.0])
    );
    let lost = trouble::backoff();
    let codes = lost.codes();
    assert!(codes.contains(&"tcp_rto_backoff") && !codes.contains(&"tcp_peer_gone"), "{codes:?}");
    assert!(printed(&lost, "/tcp/flows/0/b_to_a/limits/loss_pct").as_f64().unwrap() > 90.0);
}

#[test]
fn what_a_fin_overtook_asks_for_nothing() {
    let scenario = trouble::overtaken();
    assert!(
        printed(&scenario, "/counts/keep_alive").as_u64().unwrap() >= 4,
        "the labels stay those of tshark"
    );
    assert_eq!(scenario.codes(), Vec::<&str>::new());
}

#[test]
fn large_segments_that_never_pass_are_reported_with_and_without_a_router_that_says_so() {
    for says in [false, true] {
        let scenario = trouble::too_large(says);
        let codes = scenario.codes();
        assert!(codes.contains(&"tcp_large_lost") && !codes.contains(&"tcp_peer_gone"), "{codes:?}");
        let stuck = printed(&scenario, "/tcp/flows/0/b_to_a/stuck");
        assert_eq!(
            (&stuck["size"], &stuck["times"], &stuck["passed"]),
            (&json!(1460), &json!(4), &json!(200))
        );
        let summary = scenario.summary();
        let finding = summary.findings.iter().find(|finding| finding.code == "tcp_large_lost").unwrap();
        assert_eq!(finding.evidence.numbers.get("mtu"), says.then_some(&1400.0));
    }
    assert_eq!(printed(&trouble::backoff(), "/tcp/flows/0/b_to_a/stuck"), Value::Null);
}

#[test]
fn a_reset_is_reported_with_what_does_not_fit_its_sender() {
    let scenario = trouble::injected();
    check(&scenario, &["tcp_reset_foreign"]);
    let reset = printed(&scenario, "/tcp/flows/0/reset");
    assert_eq!(reset["origin"], json!("middlebox_likely"));
    assert_eq!(reset["reasons"]["usual_hops"], json!(57.0));
    assert_eq!(reset["reasons"]["hops"], json!(62.0));
    assert_eq!(reset["reasons"]["packets_after"], json!(1.0));
    let own = printed(&trouble::reset(), "/tcp/flows/0/reset");
    assert_eq!((&own["origin"], &own["when"]), (&json!("endpoint"), &json!("later")));
    assert_eq!(printed(&trouble::reset(), "/tcp/flows/0/closed_by"), json!("10.0.0.2:80"));
}

#[test]
fn where_a_segment_was_lost_is_reported() {
    let scenario = trouble::lost();
    let losses = printed(&scenario, "/tcp/flows/0/b_to_a/losses");
    assert_eq!(
        (&losses["before"], &losses["after"], &losses["not_captured"], &losses["not_captured_bytes"]),
        (&json!(1), &json!(1), &json!(3), &json!(1500))
    );
    assert!(scenario.codes().contains(&"tcp_gaps"));
}

#[test]
fn a_receiver_says_that_a_repetition_was_needless() {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 1000));
    scenario.say(Client, 250, ACK, (1001, 5001, 1000));
    scenario.say(Server, 1, ACK, (5001, 2001, 0));
    // The duplicate is reported: from 1,001 to 2,001.
    let mut report = vec![1, 1, 5, 10];
    report.extend(1001_u32.to_be_bytes());
    report.extend(2001_u32.to_be_bytes());
    scenario.say_with(Server, 1, ACK, (5001, 2001, 0), report);
    let losses = printed(&scenario, "/tcp/flows/0/a_to_b/losses");
    assert_eq!((&losses["needless"], &losses["after"]), (&json!(1), &json!(0)));
}

#[test]
fn a_narrow_window_is_what_a_transfer_waits_for() {
    let scenario = trouble::narrow();
    check(&scenario, &["tcp_window_limited"]);
    assert!(printed(&scenario, "/tcp/flows/0/b_to_a/limits/window_pct").as_f64().unwrap() > 90.0);
}

#[test]
fn what_needs_both_directions_is_not_judged_from_one() {
    let scenario = trouble::one_direction();
    check(&scenario, &[]);
    assert_eq!(printed(&scenario, "/tcp/vantage/one_direction"), json!(true));
    assert_eq!(printed(&scenario, "/tcp/states/one_way"), json!(5));
}

#[test]
fn the_round_trip_of_the_farther_end_stands_first() {
    let scenario = Scenario::healthy();
    assert_eq!(printed(&scenario, "/tcp/flows/0/rtt_ms"), printed(&scenario, "/tcp/flows/0/a_to_b/rtt_ms"));
    assert_eq!(printed(&scenario, "/tcp/flows/0/a_to_b/rtt_ms/max"), json!(10.0));
    assert_eq!(printed(&scenario, "/tcp/flows/0/a_to_b/mss"), json!(1460));
    assert_eq!(printed(&scenario, "/tcp/flows/0/closed_by"), json!("10.0.0.1:40000"));
}

#[test]
fn losses_of_many_hosts_are_one_finding() {
    let mut all = Scenario::new();
    for host in 10..30 {
        let mut one = trouble::backoff();
        for (time, frame) in &mut one.frames {
            *time += u64::from(host) * 10;
            // The client's address, whichever side it stands on.
            for at in [29, 33] {
                let byte = frame.get_mut(at).unwrap();
                *byte = if *byte == 1 { host } else { *byte };
            }
        }
        all.frames.extend(one.frames);
    }
    all.frames.sort_by_key(|(time, _)| *time);
    let findings = all.summary().findings;
    let lost: Vec<_> = findings.iter().filter(|finding| finding.code == "tcp_retransmission").collect();
    assert_eq!(lost.len(), 1);
    assert_eq!(lost.first().unwrap().evidence.numbers.get("pairs"), Some(&20.0));
}

#[test]
fn a_connection_that_a_filter_reset_after_its_end_is_nobody_s_fault() {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 300));
    scenario.say(Server, 10, ACK, (5001, 1301, 500));
    scenario.close(300, 500);
    scenario.hops = 64;
    scenario.say(Server, 900, super::spoken::RST, (5502, 0, 0));
    check(&scenario, &[]);
    assert_eq!(printed(&scenario, "/tcp/flows/0/reset/when"), json!("closing"));
}
