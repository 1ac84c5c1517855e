//! Allow, deny, approve, modify, timeout, killed in the middle, the bot gone: what runs is what was approved, and nothing else.
#![expect(clippy::indexing_slicing, reason = "a field that a JSON value lacks is null")]

use serde_json::Value;

use super::model::{Call, shell};
use super::site::{Agent, Site};
use crate::bot::outside::Port;
use crate::bot::stage::{World, has_button, look_once, ts};
use crate::random::is_long;

/// Lets an agent and people act; nothing where the agent is left out.
async fn with(agent: Agent, hook: &str, act: impl AsyncFnOnce(&World, &Site, Port)) {
    let world = World::new(&look_once()).await;
    let port = Port::open(&world, None, 1_000).await;
    if let Some(site) = Site::new(agent, hook, &port.url) {
        let bot = world.bot().await;
        act(&world, &site, port).await;
        bot.stop().await;
    } else {
        port.close().await;
    }
    world.abandon().await;
}

const SLACK: &str = "approve = 'slack'\nwait_seconds = 120";

async fn what_needs_no_consent_is_answered_at_once(agent: Agent) {
    with(agent, SLACK, async |_, site, port| {
        let seen = site.run(vec![shell("uname -s"), shell("shutdown -h now")]).await;
        assert!(seen.contains("Linux") && seen.contains("BLOCKED"), "{seen}");
        port.close().await;
    })
    .await;
}

async fn a_person_decides_in_slack(agent: Agent) {
    with(agent, SLACK, async |world, site, port| {
        // Denied, in words that a model can use.
        let command = format!("touch {}", site.file("denied"));
        let (seen, ()) = tokio::join!(site.run(vec![shell(&command)]), async {
            let (root, card) = world.outside_card("denied").await;
            assert!(root.to_string().contains(&site.project().display().to_string()), "{root}");
            let view = world.opens("bob", &card, "deny").await;
            world.submits("bob", &view, "reason", "not before 22:00").await;
        });
        assert!(seen.contains("denied by @") && seen.contains("not before 22:00"), "{seen}");
        assert!(!site.has("denied"));
        // Approved.
        let command = format!("touch {}", site.file("approved"));
        tokio::join!(site.run(vec![shell(&command)]), async {
            let (_, card) = world.outside_card("approved").await;
            world.press("bob", &card, "approve").await;
        });
        assert!(site.has("approved"));
        // Another command in its place: that one runs, once, and the first does not.
        let (first, second) =
            (format!("touch {}", site.file("first")), format!("touch {}", site.file("second")));
        tokio::join!(site.run(vec![shell(&first)]), async {
            let (root, card) = world.outside_card("first").await;
            let view = world.opens("bob", &card, "modify").await;
            world.submits("bob", &view, "command", &second).await;
            let next = |message: &Value| has_button(message, "approve") && message["ts"] != card["ts"];
            let next = world.sees("alice", &ts(&root), "a second card", next).await;
            world.press("alice", &next, "approve").await;
        });
        assert!(!site.has("first") && site.has("second"));
        port.close().await;
    })
    .await;
}

async fn a_late_yes_counts_once(agent: Agent) {
    with(agent, "approve = 'slack'\nwait_seconds = 2", async |world, site, port| {
        let command = format!("touch {}", site.file("late"));
        let seen = site.run(vec![shell(&command)]).await;
        assert!(seen.contains("propose exactly the same again") && !site.has("late"), "{seen}");
        let (root, card) = world.outside_card("late").await;
        world.press("bob", &card, "approve").await;
        world.card_says(&ts(&root), &card, &["Approved by"]).await;
        site.run(vec![shell(&command)]).await;
        assert!(site.has("late"));
        std::fs::remove_file(site.file("late")).unwrap();
        site.run(vec![shell(&command)]).await;
        assert!(!site.has("late"), "it counted twice");
        port.close().await;
    })
    .await;
}

async fn who_is_killed_or_cut_off_gets_nothing(agent: Agent) {
    with(agent, SLACK, async |world, site, port| {
        let command = format!("touch {}", site.file("killed"));
        let (seen, ()) = tokio::join!(site.run(vec![shell(&command)]), async {
            let (_, card) = world.outside_card("killed").await;
            let hook = world.until("the hook waits", async || site.hook_process()).await;
            rustix::process::kill_process(hook, rustix::process::Signal::KILL).unwrap();
            world.press("bob", &card, "approve").await;
        });
        assert!(seen.contains("the call was stopped") && !site.has("killed"), "{seen}");
        port.close().await;
    })
    .await;
    with(agent, "approve = 'slack'\nwait_seconds = 5", async |world, site, port| {
        let command = format!("touch {}", site.file("gone"));
        let (seen, ()) = tokio::join!(site.run(vec![shell(&command)]), async {
            world.outside_card("gone").await;
            port.close().await;
        });
        assert!(seen.contains("cannot be reached") && !site.has("gone"), "{seen}");
    })
    .await;
}

/// As many as a busy day has: each is judged and on record, whatever the one before came to.
async fn many_commands_in_a_row(agent: Agent) {
    with(agent, "approve = 'deny'", async |_, site, port| {
        let rounds = if is_long() { 67 } else { 4 };
        let mut turns: Vec<Vec<Call>> = Vec::new();
        for number in 0..rounds {
            turns.push(shell(format!("ss -tln 'sport = :{number}'")));
            turns.push(shell(format!("touch {}", site.file(&format!("f{number}")))));
            turns.push(shell("reboot"));
        }
        site.run(turns).await;
        let records = site.records();
        let count = |action: &str| records.iter().filter(|record| record["action"] == action).count();
        let counts = (count("auto_approved"), count("user_denied"), count("blocked"));
        assert_eq!(counts, (rounds, rounds, rounds), "{} records", records.len());
        assert_eq!(std::fs::read_dir(site.project()).unwrap().count(), 0);
        port.close().await;
    })
    .await;
}

#[tokio::test]
async fn claude_is_answered_at_once_where_nobody_has_to_be_asked() {
    what_needs_no_consent_is_answered_at_once(Agent::Claude).await;
}

#[tokio::test]
async fn codex_is_answered_at_once_where_nobody_has_to_be_asked() {
    what_needs_no_consent_is_answered_at_once(Agent::Codex).await;
}

#[tokio::test]
async fn claude_does_what_a_person_decided() {
    a_person_decides_in_slack(Agent::Claude).await;
}

#[tokio::test]
async fn codex_does_what_a_person_decided() {
    a_person_decides_in_slack(Agent::Codex).await;
}

#[tokio::test]
async fn claude_can_use_a_late_yes_once() {
    a_late_yes_counts_once(Agent::Claude).await;
}

#[tokio::test]
async fn codex_can_use_a_late_yes_once() {
    a_late_yes_counts_once(Agent::Codex).await;
}

#[tokio::test]
async fn claude_runs_nothing_where_the_hook_is_killed_or_the_bot_is_gone() {
    who_is_killed_or_cut_off_gets_nothing(Agent::Claude).await;
}

#[tokio::test]
async fn codex_runs_nothing_where_the_hook_is_killed_or_the_bot_is_gone() {
    who_is_killed_or_cut_off_gets_nothing(Agent::Codex).await;
}

#[tokio::test]
async fn claude_asks_about_every_one_of_many_commands() {
    many_commands_in_a_row(Agent::Claude).await;
}

#[tokio::test]
async fn codex_asks_about_every_one_of_many_commands() {
    many_commands_in_a_row(Agent::Codex).await;
}
