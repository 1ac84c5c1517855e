//! Text that wants to be more than text.

use ghost_agent::bot::show::{
    Frozen, Message, Meta, Pending, People, Person, Preview, Refusal, RenderContext, approvals, audit, board,
    card, command_file, deny_modal, evidence, investigate_modal, modify_modal, refusal, report, steps,
    whole_modal,
};
use ghost_investigate::event::Impact;
use ghost_shell::Verdict;
use serde_json::{Value, json};

use crate::bot::ledger::{Ledger, context, good, good_view};
use crate::random::is_long;

const MRKDWN: &str = "*bold* _it_ ~s~ `code` ```pre``` <!channel> <!here|x> <@U0ANA> <#C1> <https://evil.example|click> \
    @channel @here :tada: &lt;!channel&gt; > quote\n> quote\n# head\n| a | b |\n[x](https://evil.example) <!date^1^{date}|x>";
const ODD: &str = "\u{202e}txt.exe\u{202c} \u{200b}\u{feff}\u{1b}[31m\u{0}\u{7}\r\n\t\u{2028}\u{e0041}\u{85}";

/// A session in which everything that somebody else writes is this text.
fn session(text: &str) -> Ledger {
    let mut ledger = Ledger::open(text);
    ledger.suppose("H1", text, "ACTIVE");
    ledger.add(
        "hypothesis_set",
        json!({"id": text, "description": text, "state": "CONFIRMED", "by": "code", "why": text}),
    );
    ledger.turn(3).propose(1, text, text, "H1").judge(1, 1, text, "RISKY").ask(
        "a1",
        1,
        1,
        json!({"votes_needed": 2}),
    );
    ledger.vote("a1", text, true).decide("a1", 1, text, json!({"is": "modify", "command": text}));
    ledger.judge(1, 2, &format!("{text} x"), "RISKY").ask("a2", 1, 2, json!({}));
    ledger
}

fn ended(text: &str) -> Ledger {
    let mut ledger = session(text);
    ledger.decide("a2", 1, text, json!({"is": "deny", "reason": text})).done(
        1,
        "denied",
        "user_denied",
        text,
    );
    ledger.observe("o1", 1, text).add("answer_failed", json!({"turn": 1, "problem": text}));
    ledger.add("said", json!({"who": text, "text": text, "wish": "steer"}));
    ledger
}

fn over(text: &str) -> Ledger {
    let mut ledger = ended(text);
    ledger.finding(text, "o1").conclude("CONFIRMED", text);
    ledger
}

/// Everything that is shown of these sessions.
fn all(text: &str) -> (Vec<Message>, Vec<Value>) {
    let frozen = Frozen { by: text.to_owned(), at: session("x").now, reason: text.to_owned() };
    let people = People::new()
        .with("ana", Person::Member(text.to_owned()))
        .with("b", Person::Terminal(text.to_owned()));
    let strange = RenderContext {
        people,
        frozen: Some(frozen.clone()),
        card: Some(text.to_owned()),
        thread: Some(text.to_owned()),
        trouble: Some(text.to_owned()),
        deciding: None,
        acts_as: Some(text.to_owned()),
        modifier: false,
        deciders: None,
        plan: true,
    };
    let mut messages = Vec::new();
    for ledger in [session(text), ended(text), over(text)] {
        let state = ledger.state();
        for context in [&strange, &context()] {
            messages.push(board(&state, context, ledger.now));
            messages.extend(["a1", "a2"].iter().filter_map(|id| card(&state, id, context, ledger.now)));
            let report = report(&state, context, ledger.now);
            messages.push(report.answer);
            messages.extend(steps(&state).into_iter().chain(evidence(&state)));
            messages.push(report.broadcast);
        }
        messages.push(audit(&state));
    }
    let pending = Pending {
        session: text.to_owned(),
        command: text.to_owned(),
        impact: Impact::Change,
        until: session("x").now,
        link: Some(text.to_owned()),
    };
    messages.push(approvals(&[pending], session("x").now));
    for why in [
        Refusal::NotYours { why: text.to_owned() },
        Refusal::OutOfScope { what: text.to_owned() },
        Refusal::Frozen(frozen),
    ] {
        messages.push(refusal(&why, &strange));
    }
    let meta = Meta { session: text.to_owned(), ..Meta::default() };
    let preview =
        Preview { verdict: Verdict::Risky, tier: 4, rule: text.to_owned(), reason: text.to_owned() };
    let views = vec![
        deny_modal(&meta),
        modify_modal(&meta, text, Some(&preview)),
        investigate_modal(&meta, text),
        whole_modal(text, text),
    ];
    (messages, views)
}

#[test]
fn text_of_others_calls_nobody_and_forges_nothing() {
    let (messages, views) = all(MRKDWN);
    for message in &messages {
        good(message);
        let text = message.to_json().to_string();
        for kind in [r#""type":"broadcast""#, r#""type":"channel""#, r#""type":"emoji""#, r#""url":"#] {
            let ours = text.matches("https://example.com/").count();
            assert!(!text.contains(kind) || ours > 0, "{kind} in {text}");
        }
        assert!(!message.text.contains("<@U0ANA>") && !message.text.contains("<#"), "{}", message.text);
        for block in message.blocks.iter().filter(|block| block["type"] == "markdown") {
            let markdown = block["text"].as_str().unwrap();
            assert!(
                !markdown.contains("<!") && !markdown.contains("<@") && !markdown.contains("@channel"),
                "{markdown}"
            );
        }
    }
    views.iter().for_each(|view| drop(good_view(view)));
}

#[test]
fn what_nobody_can_see_is_spelled_out() {
    let (messages, _) = all(ODD);
    for message in &messages {
        let words = good(message);
        let odd = |char: char| {
            (char.is_control() && char != '\n')
                || matches!(char, '\u{202e}' | '\u{200b}' | '\u{feff}' | '\u{e0041}' | '\u{2028}')
        };
        assert!(!words.contains(odd) && !message.text.contains(odd), "{words:?}");
    }
}

#[test]
fn nothing_is_too_large() {
    // The largest limit of Slack's is 40,000 characters; what cannot be seen takes eight each when it is spelled out.
    let long = if is_long() { 1_000_000 } else { 200_000 };
    for text in ["x".repeat(long), "\u{202e}".repeat(10_000), "𝔊 `|<".repeat(10_000), "\n".repeat(30_000)]
    {
        let (messages, views) = all(&text);
        messages.iter().for_each(|message| drop(good(message)));
        views.iter().for_each(|view| drop(good_view(view)));
        assert!(command_file(&session(&text).state(), "a2").unwrap().bytes.len() >= text.len());
    }
}

#[test]
fn nothing_has_to_be_there() {
    let (messages, views) = all("");
    messages.iter().for_each(|message| drop(good(message)));
    views.iter().for_each(|view| drop(good_view(view)));
}

#[test]
fn a_state_of_any_size_is_a_board_that_fits() {
    let mut ledger = Ledger::open("many");
    for id in 0..10_000 {
        let (what, state) = match id {
            9_999 => ("the link is down".to_owned(), "CONFIRMED"),
            _ => ("long ".repeat(100), "REFUTED"),
        };
        ledger.suppose(&format!("H{id}"), &what, state);
    }
    ledger.turn(2_000);
    for step in 1..=2_000 {
        ledger.propose(step, "ping x", "why", "H1").judge(step, 1, "ping x", "SAFE");
        ledger.run(step).done(step, "completed", "auto_approved", "").observe(
            &format!("o{step}"),
            step,
            &"seen ".repeat(100),
        );
    }
    let words = good(&board(&ledger.state(), &context(), ledger.now));
    for part in
        ["✘ the link is down: confirmed", "… and 9,990 more, 0 of them in test", "… and 1,995 earlier checks"]
    {
        assert!(words.contains(part), "{part}");
    }
}

#[test]
fn a_report_of_any_size_ends_and_says_where_it_goes_on() {
    let mut ledger = Ledger::open("many");
    for id in 0..3_000 {
        ledger.suppose(&format!("H{id}"), &format!("{id} {}", "long ".repeat(100)), "REFUTED");
    }
    ledger.conclude("INCONCLUSIVE", "x");
    let (report, shown) = (report(&ledger.state(), &context(), ledger.now), evidence(&ledger.state()));
    assert!(good(&report.answer).contains("2996 more"));
    assert_eq!(shown.len(), 5);
    let words = shown.iter().map(good).collect::<String>();
    assert!(words.contains("This goes on in rca.md: "), "{words}");
}
