//! Facts about the endpoints of the workspace: forms in parts, files that go, what time brings, what is written down.

use serde_json::{Value, json};

use crate::lab::stage::{NETWORK, Stage, quick};

/// A form in parts, with a file in it that no method asks for.
fn parts(fields: &[(&str, &str)]) -> (String, &'static str) {
    let mut body = String::new();
    for (name, value) in fields {
        body.push_str(&format!(
            "--xyz\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        ));
    }
    body.push_str("--xyz\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nabc\r\n--xyz--\r\n");
    (body, "multipart/form-data; boundary=xyz")
}

#[tokio::test]
async fn a_call_may_be_a_form_in_parts() {
    let stage = Stage::new(quick()).await;
    let url = format!("{}chat.postMessage", stage.name("SLACK_API_URL"));
    let send = |body: String, kind: &'static str| {
        let request = stage.http.post(&url).bearer_auth(stage.name("SLACK_BOT_TOKEN"));
        request.header("content-type", kind).body(body).send()
    };
    let (body, kind) = parts(&[("channel", NETWORK), ("text", "in parts")]);
    let answer: Value = send(body.clone(), kind).await.unwrap().json().await.unwrap();
    assert_eq!(answer["message"]["text"], "in parts", "{answer}");
    let cut = body.split_at(60).0.to_owned();
    let answer: Value = send(cut, kind).await.unwrap().json().await.unwrap();
    assert_eq!(answer["error"], "invalid_form_data");
    let answer: Value = send(body, "multipart/form-data").await.unwrap().json().await.unwrap();
    assert_eq!(answer["error"], "invalid_form_data");
    stage.end().await;
}

#[tokio::test]
async fn the_bytes_of_a_deleted_file_are_gone_from_memory_and_from_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::open(quick(), Some(folder.path())).await;
    let start = stage.api("files.getUploadURLExternal", json!({"filename": "a.txt", "length": 3})).await;
    stage.http.post(start["upload_url"].as_str().unwrap()).body("abc").send().await.unwrap();
    let done = json!({"files": [{"id": start["file_id"]}], "channel_id": NETWORK});
    let file = stage.api("files.completeUploadExternal", done).await["files"][0].clone();
    stage.end().await;
    let bytes = folder.path().join("slack-files").join(file["id"].as_str().unwrap());
    assert!(bytes.exists());
    let stage = Stage::open(quick(), Some(folder.path())).await;
    assert_eq!(stage.api("files.delete", json!({"file": file["id"]})).await["ok"], true);
    let url = format!("{}lab/file?id={}", stage.name("SLACK_WORKSPACE_URL"), file["id"].as_str().unwrap());
    assert_eq!(stage.http.get(url).send().await.unwrap().status().as_u16(), 404);
    stage.end().await;
    assert!(!bytes.exists());
}

#[tokio::test]
async fn a_file_without_a_channel_is_seen_by_its_owner_alone() {
    let stage = Stage::new(quick()).await;
    let base = stage.name("SLACK_WORKSPACE_URL");
    let (body, kind) = parts(&[("user", "alice")]);
    let upload = stage.http.post(format!("{base}lab/upload")).header("content-type", kind).body(body);
    let answer: Value = upload.send().await.unwrap().json().await.unwrap();
    let id = answer["file"].as_str().unwrap();
    for (user, status) in [("alice", 200), ("bob", 404)] {
        let file = stage.http.get(format!("{base}lab/file?id={id}&user={user}")).send().await.unwrap();
        assert_eq!(file.status().as_u16(), status, "{user}");
    }
    assert_eq!(stage.api("files.list", json!({})).await["files"], json!([]));
    stage.end().await;
}

#[tokio::test]
async fn a_scheduled_message_arrives_although_nobody_calls() {
    let stage = Stage::new(quick()).await;
    let mut socket = stage.connect().await;
    socket.next().await;
    // The clock is the machine's: the next second but one is the soonest that is surely not past.
    let now = stage.api("chat.postMessage", json!({"channel": NETWORK, "text": "now"})).await["ts"].clone();
    let envelope = socket.next().await;
    socket.acknowledge(&envelope, json!({})).await;
    let soon = now.as_str().unwrap().split('.').next().unwrap().parse::<i64>().unwrap() + 2;
    let later = json!({"channel": NETWORK, "text": "later", "post_at": soon});
    assert_eq!(stage.api("chat.scheduleMessage", later).await["ok"], true);
    assert_eq!(socket.next().await["payload"]["event"]["text"], "later");
    stage.end().await;
}

#[tokio::test]
async fn an_app_token_may_ask_for_whom_an_event_is() {
    let stage = Stage::new(quick()).await;
    let known = stage.api("apps.event.authorizations.list", json!({"event_context": "4-Ev0LAB000001"})).await;
    assert_eq!(known["authorizations"][0]["is_bot"], true);
    let unknown = stage.api("apps.event.authorizations.list", json!({"event_context": "4-x"})).await;
    assert_eq!(unknown["error"], "invalid_event_context");
    stage.end().await;
}

#[tokio::test]
async fn what_is_here_is_written_down() {
    let stage = Stage::new(quick()).await;
    for (page, words) in [("", "/lab/fidelity"), ("fidelity", "| `chat.postMessage` | ")] {
        let url = format!("{}lab/{page}", stage.name("SLACK_WORKSPACE_URL"));
        let text = stage.http.get(url).send().await.unwrap().text().await.unwrap();
        assert!(text.contains(words), "{page}");
    }
    stage.end().await;
}
