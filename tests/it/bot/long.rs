//! Reports and commands that are longer than a message of Slack.

use serde_json::{Value, json};

use super::stage::{World, is_private, text};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose, turn, waived};

/// A session with many commands and a long conclusion.
fn long() -> Vec<String> {
    let hypothesis = |number: usize| json!({"id": format!("H{number}"), "description": format!("{} number {number}", "the path | `loses` *packets* ".repeat(12))});
    let all: Vec<_> = (1..=20).map(hypothesis).collect();
    let mut script = vec![turn(&[("manage_hypotheses", json!({"add": all}))])];
    for table in ["dev", "route", "arp"].iter().cycle().take(10) {
        script.push(run(&format!("cat /proc/net/{table}")));
    }
    let ends: Vec<_> =
        (1..=20).map(|number| json!({"id": format!("H{number}"), "state": "REFUTED"})).collect();
    let summary = "```\nnot a fence\n| neither | a | table |\n- nor a list\n".repeat(20);
    let actions: Vec<_> =
        (1..=30).map(|number| format!("look at switch {number}: {}", "again ".repeat(30))).collect();
    script.push(turn(&[
        ("manage_hypotheses", json!({"update": ends})),
        (
            "complete_investigation",
            json!({"confidence": "high", "root_cause_summary": summary, "recommended_actions": actions, "waived": waived()}),
        ),
    ]));
    script
}

#[tokio::test]
async fn evidence_of_more_than_12_000_characters_comes_in_parts_that_break_nothing() {
    World::new(&long())
        .await
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            let closing = world.concluded("alice", &root).await;
            assert!(closing.rca.chars().count() > 12_000, "{}", closing.rca.chars().count());
            for action in ["evidence", "steps"] {
                world.press("alice", &closing.answer, action).await;
            }
            let shown = world
                .until("what the buttons show", async || {
                    let thread = world.thread("alice", &root).await;
                    let parts: Vec<Value> = thread.into_iter().filter(is_private).collect();
                    let has = |title: &str| parts.iter().any(|part| text(part) == title);
                    (has("Evidence") && has("How to fix it")).then_some(parts)
                })
                .await;
            for part in &shown {
                world.note(NETWORK, part);
                let markdown = part["blocks"][0]["text"].as_str().unwrap();
                assert!(markdown.encode_utf16().count() <= 12_000);
                whole(markdown);
            }
        })
        .await;
}

/// Holds that nothing is cut open: every fence that opens closes, and every table has its head.
fn whole(markdown: &str) {
    let mut fence: Option<String> = None;
    let mut before = "";
    for line in markdown.lines() {
        let ticks: String = line.chars().take_while(|char| *char == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(_) => {}
            None => {
                let starts = line.starts_with('|') && !before.starts_with('|');
                let heads = markdown.contains(&format!("{line}\n| --"));
                assert!(!starts || heads, "a table without its head: {line}");
            }
        }
        before = line;
    }
    assert_eq!(fence, None, "a fence stays open");
}

#[tokio::test]
async fn a_command_that_no_card_holds_is_whole_in_a_file_and_in_a_dialog() {
    let world = World::new(&[]).await;
    let command = format!("echo {} | tee -a {}", "long ".repeat(1_000), world.path("ran"));
    world
        .plays(&[suppose(), run(&command), conclude("REFUTED")])
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            assert!(card.to_string().contains("more characters"), "{card}");
            let shared = world
                .sees("bob", &root, "the file", |message| message["files"].to_string().contains("commands-"))
                .await;
            let file = world.file("bob", &shared["files"][0]).await;
            assert!(file.starts_with(&command));
            let view = world.opens("bob", &card, "whole").await;
            let shown_blocks = view["blocks"].as_array().unwrap().iter();
            let shown: String = shown_blocks
                .filter_map(|block| block.pointer("/elements/0/elements/0/text")?.as_str())
                .collect();
            assert!(shown.contains(&command), "{shown}");
            world.close("bob", &view).await;
            world.approved(&root, &card).await;
        })
        .await;
}
