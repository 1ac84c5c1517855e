//! Facts about the Web API, the guard and what is kept.

use serde_json::{Value, json};

use crate::lab::stage::{NETWORK, Stage, quick};

#[tokio::test]
async fn the_token_may_come_in_the_header_the_form_or_the_query() {
    let stage = Stage::new(quick()).await;
    let url = format!("{}auth.test", stage.name("SLACK_API_URL"));
    let token = stage.name("SLACK_BOT_TOKEN");
    let own = stage.name("SLACK_APP_TOKEN");
    for (request, expected) in [
        (stage.http.post(&url).bearer_auth(token), Value::Null),
        (stage.http.get(format!("{url}?token={token}")), Value::Null),
        (
            stage
                .http
                .post(&url)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(format!("token={token}")),
            Value::Null,
        ),
        (stage.http.post(&url), json!("not_authed")),
        (stage.http.post(&url).bearer_auth("xoxb-no"), json!("invalid_auth")),
        (stage.http.post(&url).bearer_auth(own), json!("not_allowed_token_type")),
        (
            stage.http.post(&url).bearer_auth(token).header("content-type", "application/json").body("{"),
            json!("invalid_json"),
        ),
    ] {
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["error"], expected, "{answer}");
    }
    stage.end().await;
}

#[tokio::test]
async fn an_answer_says_what_the_token_may_do_and_what_the_call_asked_for() {
    let stage = Stage::new(quick()).await;
    let url = format!("{}conversations.info?channel={NETWORK}", stage.name("SLACK_API_URL"));
    let answer = stage.http.get(&url).bearer_auth(stage.name("SLACK_BOT_TOKEN")).send().await.unwrap();
    let scopes = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert!(scopes("x-oauth-scopes").contains("chat:write"));
    assert_eq!(scopes("x-accepted-oauth-scopes"), "channels:read");
    stage.end().await;
}

#[tokio::test]
async fn a_rate_limit_on_demand_says_how_long_to_wait() {
    let stage = Stage::new(quick()).await;
    stage.person("fault", json!({"kind": "rate_limit", "method": "auth.test", "retry_after": 7})).await;
    let url = format!("{}auth.test", stage.name("SLACK_API_URL"));
    let answer = stage.http.post(&url).bearer_auth(stage.name("SLACK_BOT_TOKEN")).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(stage.api("auth.test", json!({})).await["ok"], true);
    stage.end().await;
}

#[tokio::test]
async fn a_page_of_another_origin_can_do_nothing() {
    let stage = Stage::new(quick()).await;
    let url = format!("{}lab/message", stage.name("SLACK_WORKSPACE_URL"));
    let text = json!({"user": "alice", "channel": NETWORK, "text": "x"}).to_string();
    let post = || stage.http.post(&url).header("content-type", "application/json").body(text.clone());
    for (name, value) in
        [("origin", "http://evil.example"), ("host", "evil.example"), ("sec-fetch-site", "cross-site")]
    {
        assert_eq!(post().header(name, value).send().await.unwrap().status().as_u16(), 403, "{name}");
    }
    // What a form of another page could send without asking for leave.
    let plain =
        stage.http.post(&url).header("content-type", "text/plain").body(text.clone()).send().await.unwrap();
    assert_eq!(plain.status().as_u16(), 400);
    assert_eq!(post().send().await.unwrap().status().as_u16(), 200);
    stage.end().await;
}

#[tokio::test]
async fn what_was_said_and_shared_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::open(quick(), Some(folder.path())).await;
    let token = stage.name("SLACK_BOT_TOKEN").to_owned();
    let start = stage.api("files.getUploadURLExternal", json!({"filename": "a.txt", "length": 3})).await;
    stage.http.post(start["upload_url"].as_str().unwrap()).body("abc").send().await.unwrap();
    let done = json!({"files": [{"id": start["file_id"]}], "channel_id": NETWORK, "initial_comment": "here"});
    assert_eq!(stage.api("files.completeUploadExternal", done).await["ok"], true);
    stage.end().await;
    let stage = Stage::open(quick(), Some(folder.path())).await;
    assert_eq!(stage.name("SLACK_BOT_TOKEN"), token);
    let history = stage.api("conversations.history", json!({"channel": NETWORK})).await;
    let file = &history["messages"][0]["files"][0];
    assert_eq!((&history["messages"][0]["text"], &file["name"]), (&json!("here"), &json!("a.txt")));
    let bytes =
        stage.http.get(file["url_private"].as_str().unwrap()).bearer_auth(&token).send().await.unwrap();
    assert_eq!(bytes.text().await.unwrap(), "abc");
    stage.end().await;
}
