//! Facts about requests that a server sends on, with a real server and a real curl.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use super::{Response, Shell, Status};
use crate::{CancelSignal, DenyAll};

/// Answers each path as the table says: with a place to go to, or with a text.
struct Server {
    at: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(places: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (at, seen) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let places: BTreeMap<String, String> = places
            .iter()
            .map(|(path, to)| ((*path).to_owned(), to.replace("PORT", &at.port().to_string())))
            .collect();
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let (mut first, mut line) = (String::new(), String::new());
                reader.read_line(&mut first).unwrap();
                while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                    line.clear();
                }
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let answer = match places.get(&path) {
                    Some(to) => {
                        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 5\r\n\r\nmoved")
                    }
                    None => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere".to_owned(),
                };
                noted.lock().unwrap().push(path);
                drop(reader.get_mut().write_all(answer.as_bytes()));
            }
        });
        Self { at, seen }
    }

    async fn get(&self, words: &str, path: &str) -> (Response, Vec<String>) {
        let data = tempfile::tempdir().unwrap();
        let shell =
            Shell::builder("s1".parse().unwrap(), data.path()).approver(Arc::new(DenyAll)).build().unwrap();
        let response = shell.run(&format!("{words} http://{}{path}", self.at), "look").await;
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        (response, seen)
    }
}

#[tokio::test]
async fn a_redirect_to_a_place_that_is_safe_is_followed_by_name_too() {
    let server = Server::start(&[("/a", "/b"), ("/b", "http://localhost:PORT/c")]);
    let (response, seen) = server.get("timeout 20 curl -sL --max-redirs 3", "/a").await;
    assert_eq!((response.output.as_str(), response.exit_code), ("here", Some(0)), "{response:?}");
    assert_eq!(seen, ["/a", "/b", "/c", "/c"]);
    assert_eq!(response.hint, None);
}

#[tokio::test]
async fn a_redirect_to_what_would_not_be_safe_by_itself_is_never_asked() {
    let places = [
        ("/address", "http://169.254.169.254/latest/meta-data/iam/security-credentials/x", "metadata"),
        ("/spelled", "http://2852039166/", "metadata"),
        ("/name", "http://metadata.google.internal/", "metadata"),
        ("/given", "http://169.254.169.254.nip.io/", "metadata"),
        ("/stranger", "http://evil.example/", "evil.example"),
        ("/query", "/c?do=it", "a query"),
        ("/scheme", "ftp://127.0.0.1:PORT/c", "other than http"),
        ("/user", "http://u:p@127.0.0.1:PORT/c", "user or password"),
    ];
    let table: Vec<(&str, &str)> = places.iter().map(|(path, to, _)| (*path, *to)).collect();
    let server = Server::start(&table);
    for (path, to, why) in places {
        let (response, seen) = server.get("curl -s -L --max-redirs 5", path).await;
        // The last answer is shown as it is, and nothing of it was followed.
        assert_eq!((response.status, response.output.as_str()), (Status::Completed, "moved"), "{to}");
        assert_eq!(seen, [path, path], "{to}");
        assert!(response.hint.as_deref().is_some_and(|hint| hint.contains(why)), "{to}: {:?}", response.hint);
    }
}

#[tokio::test]
async fn a_request_is_sent_on_no_more_often_than_it_says() {
    let server = Server::start(&[("/a", "/b"), ("/b", "/a")]);
    let (response, seen) = server.get("curl -sL --max-redirs 2", "/a").await;
    assert_eq!((response.output.as_str(), seen.len()), ("moved", 3));
    let (response, seen) = server.get("curl -sL --max-redirs 0", "/a").await;
    assert_eq!((response.output.as_str(), seen.len()), ("moved", 1));
}

#[tokio::test]
async fn what_the_gate_cannot_follow_asks() {
    let server = Server::start(&[]);
    for words in [
        "uname; curl -sL --max-redirs 2",
        "curl -sL --max-redirs 2 http://127.0.0.1:1/",
        "curl -sL --max-redirs 2 --resolve localhost:80:127.0.0.1",
    ] {
        let (response, seen) = server.get(words, "/a").await;
        assert_eq!(
            (response.status, response.rule.as_str()),
            (Status::Denied, "redirect.followed"),
            "{words}"
        );
        assert!(seen.is_empty());
    }
}

#[tokio::test]
async fn a_redirect_is_judged_in_a_plan_too() {
    let server = Server::start(&[("/a", "http://169.254.169.254/latest/")]);
    let data = tempfile::tempdir().unwrap();
    let shell =
        Shell::builder("s1".parse().unwrap(), data.path()).approver(Arc::new(DenyAll)).build().unwrap();
    let command = format!("curl -sL --max-redirs 3 http://{}/a", server.at);
    let mut grant = shell.ask_plan("look", std::slice::from_ref(&command), "look").await.unwrap();
    let response = shell.run_planned(&mut grant, &command, "look", CancelSignal::never()).await;
    assert_eq!((response.status, response.output.as_str()), (Status::Completed, "moved"), "{response:?}");
    assert!(response.hint.is_some_and(|hint| hint.contains("metadata")));
}
