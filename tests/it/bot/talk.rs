//! Whole conversations: from a mention to the report.

use serde_json::json;

use super::stage::{Over, World, has_button, is_private, look_once, text};
use crate::lab::stage::NETWORK;
use crate::session::world::{conclude, run, suppose};

#[tokio::test]
async fn a_mention_ends_in_a_report_in_the_thread() {
    for over in [Over::Sockets, Over::Requests] {
        World::new(&look_once())
            .await
            .talk_over(over, async |world| {
                let root = world.mention("alice", "the link to web-1 is down").await;
                let closing = world.concluded("alice", &root).await;
                assert!(text(&closing.answer).starts_with("Inconclusive"));
                assert_eq!(closing.files, ["rca.md", "audit.jsonl"]);
                assert!(text(&closing.board).contains("Inconclusive"), "{}", closing.board);
                // One board, drawn again and again.
                let boards = |thread: &[serde_json::Value]| {
                    thread.iter().filter(|message| text(message).starts_with("Session")).count()
                };
                assert_eq!(boards(&world.thread("alice", &root).await), 1);
            })
            .await;
    }
}

#[tokio::test]
async fn a_mention_after_the_report_goes_on_with_the_old_evidence() {
    let end = conclude("REFUTED");
    let look = run("cat /proc/net/dev");
    World::new(&[suppose(), look.clone(), end.clone(), look, end])
        .await
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            world.concluded("alice", &root).await;
            world.reply("bob", &root, "@Ghost look once more").await;
            world.hears("bob", &root, "On it. I go on from what I have read").await;
            let second = world.concluded("alice", &root).await;
            // What was seen before is still there, beside what is new.
            assert!(second.rca.contains("o1") && second.rca.contains("o2"), "{}", second.rca);
        })
        .await;
}

#[tokio::test]
async fn what_people_say_to_each_other_opens_nothing() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let root = world.say("alice", NETWORK, "good morning").await;
            // What comes later was handled later.
            let other = world.mention("alice", "help").await;
            let help = world.hears("alice", &other, "/ghost").await;
            assert!(is_private(&help));
            let thread = world.thread("alice", &root).await;
            assert_eq!(thread.iter().filter(|message| !is_private(message)).count(), 1);
            assert_eq!(world.store.list(None, 9).await.unwrap(), []);
        })
        .await;
}

#[tokio::test]
async fn a_guest_and_a_stranger_get_a_private_refusal() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            for user in ["gus", "paula"] {
                let root = world.say(user, "C0LAB3SHAR", "@Ghost web-1 is slow").await;
                world.hears_in(user, "C0LAB3SHAR", &root, "take no part").await;
            }
            assert_eq!(world.store.list(None, 9).await.unwrap(), []);
        })
        .await;
}

#[tokio::test]
async fn two_mentions_in_one_thread_at_once_are_one_session() {
    World::asking()
        .await
        .talk(async |world| {
            let root = world.say("chloe", NETWORK, "web-1 does not answer").await;
            tokio::join!(
                world.reply("alice", &root, "@Ghost the link to web-1 is down"),
                world.reply("bob", &root, "@Ghost the link to web-1 is down since noon"),
            );
            let card = world.card(&root).await;
            let said = world
                .until("the words of the second one", async || {
                    Some(world.events(NETWORK, &root, "said").await).filter(|said| !said.is_empty())
                })
                .await;
            // Whoever came second said something as well.
            assert_eq!(said.len(), 1, "{said:?}");
            let first = world.state(NETWORK, &root).await.unwrap().opened.symptom;
            let second = said[0]["text"].as_str().unwrap();
            assert!(first != second && [&first, second].iter().all(|words| words.contains("web-1 is down")));
            world.reply("alice", &root, "stop").await;
            world.reads_all("alice", &root).await;
            world.concluded("alice", &root).await;
            world.reads_all("alice", &root).await;
            world.reads_all("bob", &root).await;
            world.card_says(&root, &card, &["Session stopped"]).await;
            assert_eq!((world.store.list(None, 9).await.unwrap().len(), world.runs()), (1, 0));
        })
        .await;
}

#[tokio::test]
async fn whoever_has_to_wait_may_ask_where_it_stands() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            for (said, part) in [("status", "waiting for an approval"), ("audit", "ghost audit verify")] {
                world.reply("chloe", &root, said).await;
                world.hears("chloe", &root, part).await;
            }
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn the_stop_button_of_the_agent_ends_a_session() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            // Nothing is done while somebody is waited for, so Slack shows no stop button then.
            let shown = world
                .until("the words below the thread", async || {
                    let seen =
                        world.look("thread", &[("user", "alice"), ("channel", NETWORK), ("ts", &root)]).await;
                    Some(seen["session"].clone()).filter(|session| session["agent_status"] == "suspended")
                })
                .await;
            assert_eq!(shown["can_stop"], false, "{shown}");
            // Another process may hold it for busy; then the button is there, and it works.
            let busy = json!({"channel_id": NETWORK, "thread_ts": root, "status": "processing"});
            world.slack.api("agents.sessions.setStatus", busy.clone()).await;
            let stop = json!({"user": "alice", "channel": NETWORK, "thread_ts": root});
            assert_eq!(world.slack.person("stop", stop.clone()).await["ok"], true);
            world.hears("alice", &root, "That question is withdrawn, and nothing of it runs").await;
            world.concluded("alice", &root).await;
            world.card_says(&root, &card, &["Session stopped"]).await;
            assert_eq!(world.runs(), 0);
            // A button that was forgotten stops nothing, and goes.
            world.slack.api("agents.sessions.setStatus", busy).await;
            assert_eq!(world.slack.person("stop", stop).await["ok"], true);
            world.hears("alice", &root, "This investigation is over").await;
            world
                .until("a thread in which nobody works", async || {
                    let left = world.look("left", &[]).await;
                    let read = !world.events(NETWORK, &root, "discarded").await.is_empty();
                    (read && left["sessions"][0]["agent_status"] == "active").then_some(())
                })
                .await;
        })
        .await;
}

#[tokio::test]
async fn what_was_said_before_names_people() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let root = world.say("chloe", NETWORK, "web-1 does not answer, @bob").await;
            world.reply("bob", &root, "I see it, too").await;
            world.reply("alice", &root, "@Ghost the link to web-1 is down").await;
            world.concluded("alice", &root).await;
            let quotes = world.state(NETWORK, &root).await.unwrap().opened.quotes;
            let said: Vec<(&str, &str)> =
                quotes.iter().map(|quote| (quote.who.as_str(), quote.text.as_str())).collect();
            assert_eq!(said, [("chloe", "web-1 does not answer, @bob"), ("bob", "I see it, too")]);
        })
        .await;
}

#[tokio::test]
async fn every_message_in_a_waiting_thread_gets_an_answer() {
    World::asking()
        .await
        .talk(async |world| {
            let (root, card) = world.asks("alice").await;
            for (said, part) in [
                ("it began at noon", "Noted. I am waiting for a decision"),
                ("approve", "Typing is no consent"),
                ("lgtm", "Typing is no consent"),
                ("@Ghost", "waiting for an approval"),
                ("@Ghost help", "/ghost"),
            ] {
                world.reply("chloe", &root, said).await;
                world.hears("chloe", &root, part).await;
            }
            assert_eq!(world.runs(), 0, "nothing that was typed is a consent");
            world.approved(&root, &card).await;
        })
        .await;
}

#[tokio::test]
async fn a_greeting_a_bare_mention_and_orders_without_a_session_are_answered_and_open_nothing() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            for (said, part) in [
                ("hello", "Hello. I find out why connections fail."),
                ("thanks a lot", "You are welcome"),
                ("", "Mention me with what is wrong"),
                ("status", "not investigating anything in this thread"),
                ("approve", "not investigating anything in this thread"),
            ] {
                let root = world.mention("alice", said).await;
                world.hears("alice", &root, part).await;
            }
            assert_eq!(world.store.list(None, 9).await.unwrap(), []);
        })
        .await;
}

#[tokio::test]
async fn a_question_about_the_report_is_answered_and_runs_nothing() {
    World::new(&look_once())
        .await
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            world.concluded("alice", &root).await;
            world.reply("bob", &root, "@Ghost why not the firewall?").await;
            world.hears("bob", &root, "Not looked at: packet filters").await;
            let events = world.state(NETWORK, &root).await.unwrap().seq;
            world.reply("bob", &root, "@Ghost since when?").await;
            world.hears("bob", &root, "nothing that was read carries a date").await;
            assert_eq!(world.state(NETWORK, &root).await.unwrap().seq, events, "nothing was recorded");
        })
        .await;
}

#[tokio::test]
async fn a_question_that_nothing_recorded_answers_starts_no_work_and_offers_the_look() {
    let end = conclude("REFUTED");
    let look = run("cat /proc/net/dev");
    World::new(&[suppose(), look.clone(), end.clone(), look, end])
        .await
        .talk(async |world| {
            let root = world.mention("alice", "the link to web-1 is down").await;
            world.concluded("alice", &root).await;
            world.reply("bob", &root, "@Ghost where is the pcap file?").await;
            world.hears("bob", &root, "No packets were recorded").await;
            let events = world.state(NETWORK, &root).await.unwrap().seq;
            for (question, part, offers) in [
                ("what would happen if I removed that deny?", "Nothing is recommended", false),
                ("would restarting postgres help?", "Nothing that was read says so", false),
                ("kann web-2 db-1 auf Port 5432 erreichen?", "nothing recorded that answers this", true),
                ("¿quién abrió el puerto?", "That is not known", true),
                ("どこで止まりますか", "Inconclusive", false),
            ] {
                world.reply("bob", &root, &format!("@Ghost {question}")).await;
                let answer = world.hears("bob", &root, part).await;
                assert_eq!(has_button(&answer, "look"), offers, "{question}: {answer}");
            }
            assert_eq!(world.state(NETWORK, &root).await.unwrap().seq, events, "nothing was recorded");
            world.reply("bob", &root, "@Ghost is web-1 reachable now?").await;
            let offer = world.hears("bob", &root, "I did not look since").await;
            world.press("bob", &offer, "look").await;
            world.hears("bob", &root, "On it. I go on from what I have read").await;
            world.concluded("alice", &root).await;
            let said = world.events(NETWORK, &root, "reopened").await;
            assert_eq!(said.len(), 1);
            assert_eq!(said[0]["text"], "check again");
        })
        .await;
}

#[tokio::test]
async fn a_mention_is_seen_before_the_boards_have_their_turn() {
    const MENTIONS: usize = 6;
    World::new(&look_once())
        .await
        .talk(async |world| {
            let mut roots = Vec::new();
            for number in 0..MENTIONS {
                roots.push(world.mention("alice", &format!("the link to web-{number} is down")).await);
            }
            let calls = async || {
                let journal = world.look("journal", &[]).await;
                journal["entries"].as_array().cloned().unwrap_or_default()
            };
            let of = |entries: &[serde_json::Value], method: &str| {
                entries.iter().filter(|entry| entry["method"] == method).count()
            };
            let entries = world
                .until("all mentions are marked", async || {
                    let entries = calls().await;
                    (of(&entries, "reactions.add") == MENTIONS).then_some(entries)
                })
                .await;
            // Slack takes one message a second in a channel, so the boards come later.
            assert!(of(&entries, "chat.postMessage") < MENTIONS, "the marks waited for the boards");
            for root in &roots {
                world.concluded("alice", root).await;
                world.reads_all("alice", root).await;
            }
            world
                .until("nobody works any more", async || {
                    let left = world.look("left", &[]).await;
                    let sessions = left["sessions"].as_array()?.clone();
                    sessions.iter().all(|one| one["agent_status"] == "active").then_some(())
                })
                .await;
        })
        .await;
}
