//! Facts about data that wants to be more than data.

#![expect(clippy::wildcard_enum_match_arm, reason = "the events of the reader are not ours to list")]

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::json;

use crate::Outcome;
use crate::event::Reply;
use crate::report::tests::Ledger;
use crate::report::{Board, Summary, audit, rca, timeline};

const ATTACK: &str = "\n# Root cause\n<b>x</b> [l](http://e.example) ![i](j) ````\n```\n| a | <!channel> <@U1> @here \
                      <https://e.example|ok> *e* \u{1b}[2J\u{202e}\u{0}\\";

/// Returns a session in which every text is hostile.
fn hostile() -> Ledger {
    let mut ledger = Ledger::open(ATTACK);
    ledger.json(
        "hypothesis_set",
        json!({"id": ATTACK, "description": ATTACK, "state": "ACTIVE", "by": ATTACK, "why": ATTACK}),
    );
    ledger.turn(0, &[ATTACK], None);
    ledger.propose(1, ATTACK, ATTACK, ATTACK, ATTACK);
    ledger.ask(ATTACK, 1, 1);
    ledger.answer(ATTACK, 1, ATTACK, Reply::Modify { command: ATTACK.to_owned() });
    ledger.judge(1, 2, ATTACK, ATTACK);
    ledger.ask("a2", 1, 2);
    ledger.answer("a2", 1, ATTACK, Reply::Deny { reason: ATTACK.to_owned() });
    ledger.done(1, ATTACK, ATTACK, ATTACK);
    ledger.observe(1, ATTACK, Some(1), ATTACK);
    let finding = json!({"code": ATTACK, "object": ATTACK, "statement": ATTACK, "why": ATTACK,
        "evidence": [{"observation": "o1", "quote": ATTACK}]});
    ledger.json("finding_accepted", finding.clone());
    ledger.json("finding_rejected", finding);
    ledger.json("said", json!({"who": ATTACK, "text": ATTACK, "wish": "stop"}));
    ledger.json("budget_spent", json!({"what": ATTACK, "used": 1, "limit": 1}));
    ledger.json(
        "concluded",
        json!({"outcome": "CONFIRMED", "confidence": "high", "summary": ATTACK,
        "actions": [ATTACK], "open_questions": [ATTACK], "by": ATTACK}),
    );
    ledger
}

/// Returns what of a document links, formats or embeds, other than our own bold words.
fn strange(markdown: &str) -> Vec<Event<'_>> {
    let mut found = Parser::new_ext(markdown, Options::all()).collect::<Vec<_>>();
    found.retain(|event| {
        matches!(
            event,
            Event::Start(
                Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::HtmlBlock | Tag::Strikethrough
            ) | Event::Html(_)
                | Event::InlineHtml(_)
                | Event::Rule
                | Event::FootnoteReference(_)
                | Event::InlineMath(_)
                | Event::DisplayMath(_)
        )
    });
    found
}

/// Returns the level and the text of each heading.
fn titles(markdown: &str) -> Vec<(HeadingLevel, String)> {
    let (mut titles, mut inside) = (Vec::new(), false);
    for event in Parser::new_ext(markdown, Options::all()) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                titles.push((level, String::new()));
                inside = true;
            }
            Event::End(TagEnd::Heading(_)) => inside = false,
            Event::Text(text) | Event::Code(text) if inside => titles.last_mut().unwrap().1.push_str(&text),
            _ => {}
        }
    }
    titles
}

#[test]
fn a_hostile_text_formats_nothing_and_calls_nobody() {
    let state = hostile().state();
    for text in [rca(&state), audit(&state)] {
        assert_eq!(strange(&text), []);
        for call in ["<!channel", "<@U1", "@here", "<https:", "\u{1b}", "\u{202e}", "\u{0}"] {
            assert!(!text.contains(call), "{call:?} in {text}");
        }
    }
}

#[test]
fn a_hostile_text_adds_no_section() {
    for text in [rca(&hostile().state()), audit(&hostile().state())] {
        let titles = titles(&text);
        assert_eq!(titles.iter().filter(|(level, _)| *level == HeadingLevel::H1).count(), 1);
        assert!(titles.iter().all(|(level, title)| *level == HeadingLevel::H1 || title != "Root cause"));
        // The first line names what is at fault; it shows the data, and formats nothing of it.
        let mut below = titles.iter().filter(|(level, _)| *level != HeadingLevel::H1);
        assert!(below.all(|(_, title)| !title.contains("e.example")));
    }
}

#[test]
fn a_hostile_text_moves_no_cursor() {
    let ledger = hostile();
    let board = Board::of(&ledger.state(), ledger.now).lines(80, false).join("\n");
    let line = Summary::of(&ledger.state()).line(200);
    for text in [timeline(&ledger.events, false), board, line] {
        assert!(
            !text.chars().any(|char| (char.is_control() && char != '\n') || char == '\u{202e}'),
            "{text:?}"
        );
    }
    assert_eq!(timeline(&ledger.events, true).matches('\u{1b}').count() % 2, 0);
}

#[test]
fn a_huge_text_is_shown() {
    let huge = "`|<@\n".repeat(200_000);
    let mut ledger = Ledger::open(&huge);
    ledger.conclude(Outcome::Inconclusive, &huge);
    assert!(rca(&ledger.state()).len() > huge.len());
    assert!(timeline(&ledger.events, false).len() < 2_000);
}
