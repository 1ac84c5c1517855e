//! Facts about the board.

use std::time::Duration;

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use ghost_base::Digest;

use crate::event::{Event, ModelAsked, ObservationId, StepId};
use crate::report::tests::{Ledger, rich};
use crate::report::{Board, Current, Mark};

fn asked() -> Ledger {
    let mut ledger = Ledger::open("5001 hangs");
    ledger.turn(0, &["c1"], None);
    ledger.propose(1, "c1", "reboot", "H1", "RISKY");
    ledger.ask("a1", 1, 1);
    ledger
}

#[test]
fn the_board_shows_who_is_waited_for_and_until_when() {
    let ledger = asked();
    let board = Board::of(&ledger.state(), ledger.now);
    let until = ledger.state().approvals["a1"].requested.expires_at;
    let (approval, command) = ("a1".to_owned(), "reboot".to_owned());
    let waiting = Current::Waiting { approval, step: StepId(1), command, votes: 0, votes_needed: 1, until };
    assert_eq!(board.current, waiting);
    assert!(board.lines(100, false).concat().contains(&format!("waits for approval, 0 of 1, until {until}")));
}

#[test]
fn what_a_call_read_whole_counts_as_looked_at_before_it_is_settled() {
    let mut ledger = Ledger::open("5001 hangs");
    for id in ["H-rules", "H-routes", "H-guest", "H-shaping", "H-wire"] {
        ledger.json("hypothesis_set", json!({"id": id, "description": id, "state": "ACTIVE", "by": "model"}));
    }
    let looked_at =
        |ledger: &Ledger| Board::of(&ledger.state(), ledger.now).looked_at.into_iter().collect::<Vec<_>>();
    assert!(looked_at(&ledger).is_empty());
    ledger.calls(0, "c1", "check_path");
    let looked = [("rules", "web-1"), ("routes", "web-1"), ("guest", "web-1"), ("topology", "")];
    let looked = looked.map(|(layer, subject)| json!({"layer": layer, "subject": subject}));
    let content = json!({"status": "completed", "looked": looked, "suspects": []}).to_string();
    ledger.json("returned", json!({"call": "c1", "tool": "check_path", "content": content}));
    assert_eq!(looked_at(&ledger), ["H-guest", "H-routes", "H-rules"]);
    ledger.json("hypothesis_set", json!({"id": "H-wire", "state": "UNVERIFIABLE", "by": "code"}));
    assert_eq!(looked_at(&ledger).len(), 4);
}

#[test]
fn a_model_that_thinks_long_is_said_to_think() {
    let mut ledger = Ledger::open("5001 hangs");
    ledger.add(Event::ModelAsked(ModelAsked {
        turn: 0,
        messages: 2,
        tokens: 10,
        compacted: 0,
        digest: Digest::of("x"),
    }));
    let state = ledger.state();
    let progress =
        |seconds| Board::of(&state, state.last_at.plus(Duration::from_secs(seconds))).progress(100, false);
    assert!(progress(14).ends_with("choosing the next step"), "{}", progress(14));
    assert!(progress(45).contains("the model has been thinking for"), "{}", progress(45));
}

#[test]
fn waiting_for_a_human_uses_up_no_minutes() {
    let ledger = asked();
    let minutes = |seconds| {
        let board = Board::of(&ledger.state(), ledger.now.plus(Duration::from_secs(seconds)));
        let budget = board.budget.into_iter().find(|budget| budget.what == "minutes").unwrap();
        (board.elapsed.as_secs() / 60, budget.left())
    };
    assert_eq!(minutes(0), (0, Some(60)));
    assert_eq!(minutes(600), (10, Some(60)));
}

#[test]
fn a_step_has_its_mark_and_its_observations() {
    let ledger = rich();
    let board = Board::of(&ledger.state(), ledger.now);
    let marks = board.checks.iter().map(|check| check.mark).collect::<Vec<_>>();
    use Mark::{Bad, Good, Unknown};
    assert_eq!(marks, [Good, Good, Bad, Bad, Unknown, Bad, Good]);
    assert_eq!(board.checks[1].observations, [ObservationId(2)]);
    assert_eq!(board.checks[1].what, "12 SYN in, 0 SYN-ACK out");
}

#[test]
fn what_was_cut_off_has_no_check_mark_even_if_it_ran_again() {
    let mut ledger = asked();
    ledger.run(1, None);
    ledger.json("unknown", json!({"step": 1, "epoch": 1}));
    let board = Board::of(&ledger.state(), ledger.now);
    assert_eq!(board.checks[0].mark, Mark::Unknown);
    ledger.run(1, None);
    ledger.done(1, "completed", "user_approved", "");
    let board = Board::of(&ledger.state(), ledger.now);
    assert_eq!(board.checks[0].mark, Mark::Unknown);
    assert!(!board.lines(200, false).concat().contains('✔'));
}

#[test]
fn a_session_that_is_over_grows_no_older() {
    let ledger = rich();
    let (now, later) = (ledger.now, ledger.now.plus(Duration::from_secs(9_999)));
    assert_eq!(Board::of(&ledger.state(), now), Board::of(&ledger.state(), later));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let ledger = rich();
    for width in [0, 1, 20, 80, 100] {
        for line in Board::of(&ledger.state(), ledger.now).lines(width, false) {
            assert!(line.width() <= width, "{line}");
        }
    }
}

#[test]
fn the_board_reads_so() {
    let ledger = rich();
    let lines = Board::of(&ledger.state(), ledger.now).lines(80, false);
    assert_eq!(lines[0], "ghost-7k2f · concluded · 00:17:36");
    assert_eq!(lines[2], "  H1   REFUTED       NSG denies 5001");
    assert_eq!(lines[6], "  ✔ (o1) → H1 effective NSG of tf-dest-nic");
    assert_eq!(lines[13], "  ▸ LIKELY, confidence medium");
}
