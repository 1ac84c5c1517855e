//! An agent on a machine that shares nothing with the replicas but the store.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use super::people::PATIENCE;
use super::stage::Stage;
use crate::lab::stage::NETWORK;

fn call(stage: &Stage, command: &str) -> Value {
    json!({"session_id": "s1", "cwd": stage.folder.path().join("agent/project"), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command, "description": "the deploy needs it"}})
}

/// Waits for the card of a request, another one than that of before; returns the message.
async fn asked(stage: &Stage, part: &str, before: Option<&Value>) -> Value {
    let look = async || {
        let shown = stage.person_sees("channel", &format!("user=bob&channel={NETWORK}")).await;
        let roots = shown["messages"].as_array().cloned().unwrap_or_default();
        for root in roots.iter().filter(|root| root.to_string().contains(part)) {
            let thread = format!("user=bob&channel={NETWORK}&ts={}", root["ts"].as_str().unwrap());
            let thread = stage.person_sees("thread", &thread).await;
            let messages = thread["messages"].as_array().cloned().unwrap_or_default();
            let is_new = |one: &Value| before.is_none_or(|before| before["ts"] != one["ts"]);
            let asks = |one: &Value| one["text"].to_string().contains("Approval needed") && is_new(one);
            let card = messages.into_iter().find(asks);
            if let Some(card) = card {
                return Ok(card);
            }
        }
        Err(format!("no card asks about {part}"))
    };
    stage.until(PATIENCE, look).await
}

/// Presses a button as a person does: again, where Slack says that nobody took the press.
async fn press(stage: &Stage, card: &Value, action: &str) -> Value {
    let press =
        json!({"user": "bob", "channel": NETWORK, "ts": card["ts"], "action_id": action, "wait_ms": 5000});
    let taken = async || {
        let done = stage.person("press", press.clone()).await;
        // A press that was taken although nobody could say so has removed the button.
        let is_done = done["ok"] == true || done["error"] == "action_not_found";
        if is_done { Ok(done) } else { Err(format!("{action} is not taken: {done}")) }
    };
    stage.until(PATIENCE, taken).await
}

/// Returns what the hook answered: its exit code and its document.
async fn answered(hook: Child) -> (Option<i32>, Value) {
    let output = tokio::task::spawn_blocking(move || hook.wait_with_output().unwrap()).await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answer =
        serde_json::from_str(&text).unwrap_or_else(|_| json!(String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), answer)
}

#[tokio::test]
async fn an_agent_that_meets_the_bot_only_in_the_store_is_answered_though_a_replica_is_killed() {
    let Some(mut stage) = Stage::start(1, 0, Duration::ZERO).await else { return };
    let hook = stage.hook(&call(&stage, "touch approved-file"));
    let card = asked(&stage, "approved-file", None).await;
    // Whoever took the request in may be gone before anybody answers.
    for at in [0, 1] {
        stage.kill(at, &[]).await;
    }
    press(&stage, &card, "approve").await;
    let (code, answer) = answered(hook).await;
    assert_eq!(code, Some(0), "{answer}");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow", "{answer}");
    // A yes counts once: the same text asks again.
    let hook = stage.hook(&call(&stage, "touch approved-file"));
    let again = asked(&stage, "approved-file", Some(&card)).await;
    let dialog = press(&stage, &again, "deny").await;
    let values = json!({"reason": {"reason": "once is enough"}});
    let submit = json!({"user": "bob", "view_id": dialog["view"]["id"], "values": values});
    stage.person("submit", submit).await;
    let (code, answer) = answered(hook).await;
    assert!(answer.to_string().contains("once is enough"), "{code:?} {answer}");
}
