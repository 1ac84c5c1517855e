//! Facts about what people see of a session.

use ghost_agent::bot::show::{
    Deciding, Frozen, RenderContext, agent_status, audit, board, card, command_file, report, status,
};
use ghost_base::{Digest, Timestamp};
use ghost_investigate::event::Reply;
use ghost_investigate::report::rca;
use serde_json::json;

use crate::bot::ledger::{CAPTURE, Ledger, buttons, concluded, context, good, open_question};

/// The card of a question, and all of its text.
#[track_caller]
fn shown(ledger: &Ledger, approval: &str, context: &RenderContext) -> (Vec<String>, String, String) {
    let message = card(&ledger.state(), approval, context, ledger.now).unwrap();
    let words = good(&message);
    (buttons(&message), message.text, words)
}

#[track_caller]
fn says(words: &str, all: &[&str]) {
    for part in all {
        assert!(words.contains(part), "{part:?} is missing in\n{words}");
    }
}

#[test]
fn a_board_tells_where_a_session_stands() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({})).wait(120);
    let message = board(&ledger.state(), &context(), ledger.now);
    says(
        &good(&message),
        &[
            "On it. Session ghost-7k2f · iperf from tf-source-vm to tf-dest-vm:5001 hangs since the hardening run",
            "✔ NSG or effective rule denies 5001: ruled out",
            "○ guest firewall drops 5001: being checked",
            "✔ effective NSG: ALLOW at subnet and NIC",
            "▸ waiting for an approval, until ",
            "open the card",
            "2 min · 2 of 200 commands",
        ],
    );
    assert_eq!(buttons(&message), ["stop", "report", "audit"]);
    assert!(
        message.text.starts_with("Session ghost-7k2f: waiting for an approval · iperf"),
        "{}",
        message.text
    );
}

#[test]
fn a_board_is_a_plan_with_a_card_for_each_possible_cause_where_the_workspace_has_them() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({})).wait(120);
    let context = RenderContext { plan: true, ..context() };
    let message = board(&ledger.state(), &context, ledger.now);
    let words = good(&message);
    says(&words, &["✔ effective NSG: ALLOW at subnet and NIC", "▸ waiting for an approval, until "]);
    assert!(!words.contains("○ guest firewall drops 5001"), "{words}");
    let plan = message.blocks.iter().find(|block| block["type"] == "plan").unwrap();
    assert_eq!(plan["title"], "Checked 2 of 4 possible causes");
    let tasks = plan["tasks"].as_array().unwrap();
    let status = |title: &str| &tasks.iter().find(|task| task["title"] == title).unwrap()["status"];
    assert_eq!(status("NSG or effective rule denies 5001"), "complete");
    assert_eq!(status("guest firewall drops 5001"), "in_progress");
    assert!(plan["tasks"][0]["output"].to_string().contains("ruled out"), "{plan:#}");
    // Whoever listens to the message instead of seeing it hears where it stands.
    assert!(message.text.starts_with("Session ghost-7k2f: waiting for an approval · iperf"));
}

#[test]
fn a_board_of_a_session_that_is_over_tells_what_came_of_it_and_cannot_be_stopped() {
    let ledger = concluded();
    let message = board(&ledger.state(), &context(), ledger.now);
    says(&good(&message), &["✔ Done in ", "The answer is below."]);
    assert!(message.text.contains("Root cause"), "{}", message.text);
    assert_eq!(buttons(&message), Vec::<String>::new());
    assert!(buttons(&status(&ledger.state(), &context(), ledger.now)).is_empty());
}

#[test]
fn the_buttons_of_a_board_keep_their_name_when_it_is_drawn_anew() {
    let mut ledger = open_question();
    let row = |ledger: &Ledger| {
        let message = board(&ledger.state(), &context(), ledger.now);
        message.blocks.into_iter().find(|block| block["type"] == "actions").unwrap()["block_id"].clone()
    };
    let before = row(&ledger);
    ledger.ask("a1", 3, 1, json!({"impact": "change"}));
    assert!(before.as_str().is_some_and(|name| !name.is_empty()));
    assert_eq!(row(&ledger), before);
}

#[test]
fn a_board_tells_of_a_freeze() {
    let ledger = open_question();
    let frozen = Frozen { by: "ben".to_owned(), at: ledger.now, reason: "change window".to_owned() };
    let context = RenderContext { frozen: Some(frozen), ..context() };
    let state = ledger.state();
    says(
        &good(&board(&state, &context, ledger.now)),
        &["Frozen by U0BEN at", "nothing new runs", "change window"],
    );
    assert_eq!(agent_status(&state, &context), "is frozen…");
}

#[test]
fn the_status_says_what_happens() {
    let context = context();
    let mut ledger = open_question();
    assert_eq!(agent_status(&ledger.state(), &context), "is capturing packets…");
    ledger.ask("a1", 3, 1, json!({}));
    assert_eq!(agent_status(&ledger.state(), &context), "is waiting for an approval…");
    assert_eq!(agent_status(&Ledger::open("x").state(), &context), "is thinking…");
    assert_eq!(agent_status(&concluded().state(), &context), "");
}

#[test]
fn a_card_asks_with_everything_that_a_decision_needs() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({}));
    let (buttons, text, words) = shown(&ledger, "a1", &context());
    assert_eq!(buttons, ["approve", "deny", "modify"]);
    assert!(text.starts_with("Approval needed · Record packets on tf-dest-vm"), "{text}");
    says(
        &words,
        &[
            "Approval needed: Record packets on tf-dest-vm for 60 s",
            "Who decides: whoever the configuration names · until ",
            "(in 14 min) · asked for by U0ANA",
            "What changes: Adds one recording",
            "To undo it: One more question at the end deletes both.",
            CAPTURE,
            "H3 needs wire evidence: do SYNs reach the NIC?",
            "Risk: measurement (captures or measures, leaves the network as it is)",
            "Why it asks: the verb is not known to only read",
            "Target: tf-dest-vm in rg-net",
            "Tests whether: guest firewall drops 5001",
        ],
    );
    assert!(!words.contains("Approvals"), "one vote decides");
    assert_eq!(card(&ledger.state(), "other", &context(), ledger.now), None);
    assert_eq!(command_file(&ledger.state(), "a1"), None);
}

#[test]
fn a_card_says_what_a_change_does_to_flows_and_the_command_that_takes_it_back() {
    let mut ledger = open_question();
    let forecast = json!({
        "verdict": "harmful", "words": "2 of 40 flows end otherwise", "more": 1, "undo": "az network nsg rule delete -g rg -n x",
        "flows": ["cut: web-1 → db-1 tcp/5432: the rule deny-all (4096) of db-nsg denies it <!channel>"],
    });
    ledger.ask("a1", 3, 1, json!({"impact": "change", "forecast": forecast}));
    let (_, _, words) = shown(&ledger, "a1", &context());
    says(
        &words,
        &[
            "Forecast: harmful: 2 of 40 flows end otherwise.",
            "• cut: web-1 → db-1 tcp/5432: the rule deny-all (4096) of db-nsg denies it",
            "… and 1 more flow",
            "To undo it: az network nsg rule delete -g rg -n x",
        ],
    );
    let message = card(&ledger.state(), "a1", &context(), ledger.now).unwrap();
    assert!(!serde_json::to_string(&message.blocks).unwrap().contains("\"type\":\"broadcast\""));
}

#[test]
fn a_card_says_afterwards_whether_its_forecast_came_true_and_how_it_is_undone() {
    let mut ledger = open_question();
    let forecast = json!({
        "verdict": "harmless", "words": "1 of 40 flows ends otherwise", "undo": "az network nsg rule delete -g rg -n x",
        "flows": ["opened: web-1 → db-1 tcp/5432"], "is_confirmed_later": true,
    });
    ledger.ask("a1", 3, 1, json!({"impact": "change", "forecast": forecast}));
    ledger.decide("a1", 3, "ben", json!({"is": "approve"}));
    ledger.add("intent", json!({"step": 3, "digest": Digest::of("x").to_string(), "approval": "a1"}));
    ledger.add("executing", json!({"step": 3, "epoch": 1})).done(3, "completed", "user_approved", "");
    let (_, _, before) = shown(&ledger, "a1", &context());
    assert!(!before.contains("Forecast"), "{before}");
    let check = |verdict: &str| {
        json!({"step": 3, "verdict": verdict, "words": "1 of 40 flows end otherwise than forecast",
            "flows": ["web-1 → db-1 tcp/5432: the forecast was that it passes, but it is stopped <!channel>"]})
    };
    let mut wrong = ledger;
    wrong.add("forecast_checked", check("contradicted"));
    let (buttons, text, words) = shown(&wrong, "a1", &context());
    assert!(buttons.is_empty(), "{buttons:?}");
    assert!(text.contains("Forecast contradicted: 1 of 40 flows"), "{text}");
    says(
        &words,
        &[
            "Forecast contradicted: 1 of 40 flows end otherwise than forecast.",
            "• web-1 → db-1 tcp/5432: the forecast was that it passes, but it is stopped",
            "To undo it: az network nsg rule delete -g rg -n x",
        ],
    );
    let message = card(&wrong.state(), "a1", &context(), wrong.now).unwrap();
    assert!(!serde_json::to_string(&message.blocks).unwrap().contains("\"type\":\"broadcast\""));
}

#[test]
fn a_rule_whose_number_comes_with_the_run_is_undone_by_what_was_read_after_it() {
    let mut ledger = open_question();
    let forecast = json!({
        "verdict": "harmless", "words": "every one of 40 flows ends as before", "is_undone_later": true, "is_confirmed_later": true,
    });
    ledger.ask("a1", 3, 1, json!({"impact": "change", "forecast": forecast}));
    let (_, _, words) = shown(&ledger, "a1", &context());
    assert!(words.contains("To undo it: The command is named here after the run"), "{words}");
    ledger.decide("a1", 3, "ben", json!({"is": "approve"}));
    ledger.add("intent", json!({"step": 3, "digest": Digest::of("x").to_string(), "approval": "a1"}));
    ledger.add("executing", json!({"step": 3, "epoch": 1})).done(3, "completed", "user_approved", "");
    let back = "az vm run-command invoke -g rg -n db --command-id RunShellScript --scripts 'nft delete rule inet f input handle 7'";
    ledger.add(
        "forecast_checked",
        json!({"step": 3, "verdict": "confirmed", "words": "40 flows were judged again and end as before", "undo": back}),
    );
    let (_, _, words) = shown(&ledger, "a1", &context());
    says(&words, &[&format!("To undo it: {back}")]);
}

#[test]
fn a_measurement_is_approved_at_once_and_an_outage_or_a_change_is_asked_twice() {
    for (impact, asks) in [("measurement", false), ("outage", true), ("change", true)] {
        let mut ledger = open_question();
        ledger.ask("a1", 3, 1, json!({"impact": impact}));
        let message = card(&ledger.state(), "a1", &context(), ledger.now).unwrap();
        let row = message.blocks.iter().find(|block| block["type"] == "actions").unwrap();
        assert_eq!(row["elements"][0]["value"], "a1");
        assert_eq!(row["elements"][0].get("confirm").is_some(), asks, "{impact}");
    }
}

#[test]
fn a_card_tells_who_voted_and_how_many_are_missing() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({"votes_needed": 2, "impact": "change"})).vote("a1", "ben", true);
    let (_, _, words) = shown(&ledger, "a1", &context());
    says(&words, &["Approvals: 1 of 2 · U0BEN yes at", "1 more, each somebody else"]);
}

#[test]
fn a_long_command_is_never_cut_silently() {
    let command = format!("az vm run-command invoke --scripts '{}' # end", "x".repeat(6_000));
    let mut ledger = open_question();
    ledger.judge(3, 1, &command, "RISKY").ask("a1", 3, 2, json!({}));
    let mut ledger = Ledger::open("x");
    ledger.turn(1).propose(1, &command, "why", "H1").judge(1, 1, &command, "RISKY").ask(
        "a1",
        1,
        1,
        json!({}),
    );
    let (buttons, _, words) = shown(&ledger, "a1", &context());
    assert_eq!(buttons, ["approve", "deny", "modify", "whole"]);
    let left = command.len() - 2_900;
    says(&words, &[&format!("continues: 3,1{:02} more characters", left - 3_100), "commands-1.txt"]);
    says(&words, &["do not stand on the card"]);
    let file = command_file(&ledger.state(), "a1").unwrap();
    assert_eq!(file.name, "commands-1.txt");
    assert!(String::from_utf8(file.bytes).unwrap().starts_with(&format!("{command}\n")));
}

#[test]
fn a_changed_command_tells_who_changed_what() {
    let mut ledger = open_question();
    let changed = CAPTURE.replace("60", "30");
    ledger.ask("a1", 3, 1, json!({}));
    ledger.decide("a1", 3, "ben", json!({"is": "modify", "command": changed}));
    ledger.judge(3, 2, &changed, "RISKY").ask("a2", 3, 2, json!({}));
    let (_, _, words) = shown(&ledger, "a2", &context());
    says(
        &words,
        &[
            "U0BEN changed this command; somebody else has to approve it. Round 2, from what was asked before",
            "diag --time-limit −60 +30",
            "No reason was given for the command as it is now.",
        ],
    );
    // What was said of the old command is not shown for the new one.
    for old in ["H3 needs wire evidence", "Tests", "guest firewall drops 5001"] {
        assert!(!words.contains(old), "{old}: {words}");
    }
    let (_, _, free) = shown(&ledger, "a2", &RenderContext { modifier: true, ..context() });
    says(&free, &["U0BEN changed this command. Round 2"]);
    let (buttons, text, words) = shown(&ledger, "a1", &context());
    assert!(buttons.is_empty());
    assert!(text.starts_with("Changed by <@U0BEN> at 08:"), "{text}");
    says(&words, &["nothing ran, the new command has a card of its own".replacen('n', "N", 1).as_str()]);
}

#[test]
fn a_changed_command_that_two_have_to_approve_says_that_one_of_them_is_somebody_else() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({}));
    ledger.decide("a1", 3, "ben", json!({"is": "modify", "command": "az vm restart -g rg-net -n db-1"}));
    ledger.judge(3, 2, "az vm restart -g rg-net -n db-1", "RISKY");
    ledger.ask("a2", 3, 2, json!({"impact": "outage", "votes_needed": 2}));
    let (_, text, words) = shown(&ledger, "a2", &context());
    assert!(text.starts_with("Approval needed · Run a command that stops or restarts"), "{text}");
    says(
        &words,
        &[
            "U0BEN changed this command; their approval alone is not enough",
            "Risk: outage (stops or restarts something that others use",
            "Target: db-1 in rg-net",
            "Approvals: 0 of 2",
        ],
    );
    assert!(!words.contains("tf-dest-vm in rg-net"), "the old target: {words}");
}

#[test]
fn a_card_of_several_commands_names_every_command_its_judgement_and_every_machine() {
    let create =
        |vm: &str| format!("az network watcher packet-capture create -g rg --vm {vm} --name {vm}-cap");
    let plan =
        [create("web-1"), "az vm show -g rg -n web-1".to_owned(), create("db-1"), "touch x".to_owned()];
    let judged = |verdict: &str, rule: &str, impact: Option<&str>| {
        let mut judged = json!({"verdict": verdict, "rule": rule, "reason": format!("because of {rule}")});
        judged.as_object_mut().unwrap().extend(impact.map(|impact| ("impact".to_owned(), json!(impact))));
        judged
    };
    let judgements = [
        judged("RISKY", "cloud.change", Some("measurement")),
        judged("SAFE", "cloud.read", None),
        judged("RISKY", "cloud.change", Some("measurement")),
        judged("RISKY", "default", Some("change")),
    ];
    let mut ledger = Ledger::open("x");
    ledger.turn(1).propose(1, &plan[0], "why", "H1").judge(1, 1, &plan[0], "RISKY");
    ledger.ask("a1", 1, 1, json!({"plan": plan, "judgements": judgements, "impact": "change"}));
    let (_, _, words) = shown(&ledger, "a1", &context());
    says(
        &words,
        &[
            "One answer for 4 commands",
            &format!("1. [RISKY, measurement] {}", plan[0]),
            "2. [SAFE] az vm show",
            &format!("3. [RISKY, measurement] {}", plan[2]),
            "4. [RISKY, change] touch x",
            "Risk: change",
            "Why it asks (1, 3): because of cloud.change",
            "Why it asks (4): because of default",
            "Target: web-1 in rg, db-1 in rg",
        ],
    );
    // A ledger of before does not say how each was judged.
    let mut before = Ledger::open("x");
    before.turn(1).propose(1, &plan[0], "why", "H1").judge(1, 1, &plan[0], "RISKY");
    before.ask("a1", 1, 1, json!({"plan": plan}));
    let (_, _, words) = shown(&before, "a1", &context());
    says(
        &words,
        &["2. az vm show -g rg -n web-1", "Why it asks: the verb", "Target: web-1 in rg, db-1 in rg"],
    );
}

#[test]
fn an_unknown_outcome_is_asked_about_in_these_words() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({})).decide("a1", 3, "ben", json!({"is": "approve"})).run(3);
    ledger.add("unknown", json!({"step": 3, "epoch": 1})).ask("a2", 3, 1, json!({"outcome_unknown": true}));
    let (buttons, text, words) = shown(&ledger, "a2", &context());
    assert_eq!(buttons, ["approve", "deny", "modify"]);
    assert!(text.starts_with("Approval needed, outcome unknown"), "{text}");
    says(&words, &["outcome unknown", "nobody knows whether it took effect", "this runs it once more"]);
    let (_, _, first) = shown(&ledger, "a1", &context());
    says(
        &first,
        &["Approved by U0BEN", "It was cut off, and nobody knows whether it took effect; asked again."],
    );
    ledger.decide("a2", 3, "cleo", json!({"is": "deny", "reason": "look first"}));
    let (_, _, second) = shown(&ledger, "a2", &context());
    says(&second, &["Denied by cleo", "look first", "whether the earlier run took effect is not known"]);
}

#[test]
fn a_settled_card_has_no_buttons_and_says_what_happened() {
    let ledger = concluded();
    let (buttons, text, words) = shown(&ledger, "a1", &context());
    assert!(buttons.is_empty());
    assert_eq!(
        text,
        "Approved by <@U0BEN> at 08:54:48 UTC: Record packets on tf-dest-vm for 60 s. Ran in 4.2 s, exit 0."
    );
    says(
        &words,
        &[
            "Approved by U0BEN at",
            ": Record packets on tf-dest-vm for 60 s",
            "Ran in 4.2 s, exit 0.",
            CAPTURE,
        ],
    );
    let (buttons, text, words) = shown(&ledger, "a2", &context());
    assert!(buttons.is_empty());
    assert!(text.starts_with("Denied by cleo at 08:54:58 UTC: "), "{text}");
    assert!(text.ends_with(". Reason: not during business hours. Nothing ran."), "{text}");
    says(&words, &["Denied by cleo", "not during business hours", "Nothing ran."]);
}

#[test]
fn every_end_of_a_question_has_its_words() {
    let asked = || {
        let mut ledger = open_question();
        ledger.ask("a1", 3, 1, json!({}));
        ledger
    };
    let approve = json!({"is": "approve"});
    let mut all = Vec::new();
    let mut ledger = asked();
    ledger.wait(900);
    all.push((ledger, "Expired, nobody answered by", "Nothing ran."));
    let mut ledger = asked();
    ledger.wait(900).add("approval_expired", json!({"approval": "a1", "step": 3}));
    all.push((ledger, "Expired, nobody answered by", "Nothing ran."));
    let mut ledger = asked();
    ledger.decide("a1", 3, "dora", approve.clone());
    all.push((ledger, "Approved by dora in the terminal at", "About to run."));
    let mut ledger = asked();
    ledger.decide("a1", 3, "ben", approve.clone()).run(3);
    all.push((ledger, "Approved by", "Running."));
    let mut ledger = asked();
    ledger.decide("a1", 3, "ben", approve).run(3).done(3, "error", "user_approved", "it took too long");
    all.push((ledger, "Approved by", "Failed: it took too long."));
    let mut ledger = asked();
    ledger.add("said", json!({"who": "ana", "text": "stop", "wish": "stop"}));
    ledger.decide("a1", 3, "ana", json!({"is": "deny", "reason": "the session was stopped"}));
    all.push((ledger, "Session stopped by", "Nothing ran."));
    let mut ledger = asked();
    ledger.conclude("INCONCLUSIVE", "");
    all.push((ledger, "Withdrawn, the session is over", "Nothing ran."));
    let mut ledger = asked();
    ledger.done(3, "denied", "user_abandoned", "stopped");
    all.push((ledger, "Replaced, the session went on without an answer", "Nothing ran."));
    for (verdict, next) in
        [("SAFE", "The new command is SAFE: about to run."), ("BLOCKED", "BLOCKED, nothing ran")]
    {
        let mut ledger = asked();
        ledger
            .decide("a1", 3, "ben", json!({"is": "modify", "command": "az x"}))
            .judge(3, 2, "az x", verdict);
        all.push((ledger, "Changed by", next));
    }
    for (ledger, title, next) in all {
        let (buttons, text, words) = shown(&ledger, "a1", &context());
        assert!(buttons.is_empty(), "{title}");
        assert!(text.starts_with(title), "{text}");
        says(&words, &[title.split(" at").next().unwrap(), next]);
    }
}

#[test]
fn a_stored_vote_removes_the_buttons() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({}));
    let deciding = Deciding { who: "ben".to_owned(), answer: Reply::Approve };
    let (buttons, text, words) =
        shown(&ledger, "a1", &RenderContext { deciding: Some(deciding), ..context() });
    assert!(buttons.is_empty());
    assert!(text.starts_with("Being decided… <@U0BEN> approved"), "{text}");
    says(&words, &["Being decided… U0BEN approved"]);
}

#[test]
fn what_is_frozen_can_be_denied_and_not_approved() {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({}));
    let frozen = Frozen { by: "cleo".to_owned(), at: ledger.now, reason: String::new() };
    let (buttons, _, words) = shown(&ledger, "a1", &RenderContext { frozen: Some(frozen), ..context() });
    assert_eq!(buttons, ["deny"]);
    says(&words, &["Frozen by cleo at"]);
}

#[test]
fn a_report_begins_with_what_came_of_it() {
    for (outcome, begin) in [
        ("CONFIRMED", "Root cause"),
        ("LIKELY", "Root cause"),
        ("INCONCLUSIVE", "Inconclusive"),
        ("NO_FAULT_FOUND", "No fault found"),
    ] {
        let mut ledger = open_question();
        ledger.conclude(outcome, "…");
        let state = ledger.state();
        let report = report(&state, &context(), ledger.now);
        assert!(report.answer.text.starts_with(begin), "{outcome}");
        assert!(report.broadcast.text.starts_with(begin), "{outcome}");
        assert!(rca(&state).starts_with(&format!("# {begin}")), "{outcome}");
        [&report.answer, &report.broadcast].into_iter().for_each(|message| drop(good(message)));
    }
}

#[test]
fn an_answer_is_one_sentence_a_few_lines_and_buttons_for_everything_else() {
    let ledger = concluded();
    let report = report(&ledger.state(), &context(), ledger.now);
    let words = good(&report.answer);
    says(
        &words,
        &[
            "Root cause, likely: tf-dest-vm drops tcp/5001: iptables INPUT",
            "Remove it, or allow this traffic before it.",
            "Not run: 1 command: denied, or nobody answered in time",
            "Confidence: ",
        ],
    );
    for raw in ["netfilter/", "guest_firewall_drop", "sha256", "{\""] {
        assert!(!words.contains(raw), "{raw}: {words}");
    }
    assert_eq!(buttons(&report.answer), ["steps", "evidence", "recheck", "audit", "postmortem"]);
    assert_eq!(report.files[0].name, "rca.md");
    assert!(report.files.iter().all(|file| file.alt.is_some()), "every file says what it is");
    says(&good(&report.broadcast), &["Root cause, likely", "the answer in its thread"]);
}

#[test]
fn the_audit_is_shown_with_how_to_verify_it() {
    let words = good(&audit(&concluded().state()));
    says(
        &words,
        &[
            "4 commands: 2 ran without asking",
            "1 approved by a person, 1 denied by a person",
            "2 questions to people",
        ],
    );
    says(&words, &["ghost audit verify DATA/audit/ghost-7k2f.jsonl"]);
}

#[test]
fn the_same_state_gives_the_same_bytes() {
    let (first, second) = (concluded(), concluded());
    let bytes = |ledger: &Ledger, now: Timestamp| {
        let state = ledger.state();
        let cards = ["a1", "a2"].map(|id| card(&state, id, &context(), now).unwrap().to_json().to_string());
        let board = board(&state, &context(), now).to_json().to_string();
        (cards, board, report(&state, &context(), now))
    };
    let late = first.now.plus(std::time::Duration::from_secs(3_600));
    assert_eq!(bytes(&first, first.now), bytes(&second, late), "what is over does not grow older");
}
