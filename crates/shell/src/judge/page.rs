//! What the path of a request asks a web server for.
//!
//! Goes in: a path as it was written. Comes out: why it asks, if it does. Servers differ in how they read a path, so every reading
//! counts: decoded as often as it is encoded, without parameters, with `..` taken back or left out.

use super::address::decode;
use super::credential;
use crate::policy::{Page, Policy};

/// A path that is encoded more often hides something: a gateway decodes once, the server behind it once more.
const MAX_DECODINGS: usize = 4;
/// A path with more parts is no page, and would take long to compare.
const MAX_PARTS: usize = 64;

/// Accepts the path of a page that prints no secret.
pub(super) fn check(policy: &Policy, path: &str) -> Result<(), String> {
    if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a character that is not plain ASCII in the path of an address".to_owned());
    }
    let path = decoded(path)?;
    let path = path.to_ascii_lowercase();
    let parts: Vec<&str> = path
        .split(['/', '\\'])
        .map(|part| part.split([';', '?', '#']).next().unwrap_or_default())
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if parts.len() > MAX_PARTS {
        return Err(format!("a path of {} parts in an address", parts.len()));
    }
    let mut taken_back: Vec<&str> = Vec::new();
    for part in &parts {
        match *part {
            ".." => drop(taken_back.pop()),
            other => taken_back.push(other),
        }
    }
    let left_out: Vec<&str> = parts.into_iter().filter(|part| *part != "..").collect();
    for parts in [taken_back, left_out] {
        if let Some(page) = policy.pages().iter().find(|page: &&Page| page.holds(&parts)) {
            return Err(format!("the page {} of a server", page.why));
        }
        if credential::names_one(&format!("/{}", parts.join("/")), &policy.block.credentials) {
            return Err("a file that holds a credential in an address".to_owned());
        }
    }
    Ok(())
}

/// Decodes a path until nothing is encoded; no step of it may hold what ends a line or is no text.
fn decoded(path: &str) -> Result<String, String> {
    let mut text = path.to_owned();
    for _ in 0..MAX_DECODINGS {
        let next = decode(&text);
        if next.contains(|char: char| char.is_control() || char == char::REPLACEMENT_CHARACTER) {
            return Err("an encoded control character in an address".to_owned());
        }
        if next == text {
            return Ok(text);
        }
        text = next;
    }
    Err("an address that is encoded again and again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn why(path: &str) -> Option<String> {
        check(Policy::builtin().unwrap(), path).err()
    }

    #[test]
    fn a_page_that_prints_secrets_is_known_in_every_spelling() {
        for path in [
            "/api/v1/secrets",
            "/API/V1/SECRETS",
            "/api/v1/%73%65crets",
            "/api/v1/%25%37%33ecrets",
            "/api/v1/%252573ecrets",
            "//api///v1//secrets//",
            "/api/v1/x/../secrets",
            "/api/v1/x/%2e%2e/secrets",
            "/api%2fv1%2fsecrets",
            "/api%5cv1%5csecrets",
            "/a/b/..;/api/v1/secrets",
            "/api/v1/secrets%3fx",
            "/actuator/x/../../actuator/env",
            "/.%65nv",
            "/../../etc/shadow",
        ] {
            assert!(why(path).is_some(), "{path}");
        }
        for path in ["", "/", "/health", "/api/v1/pods", "/a%20b", "/a%2fb", "/%7Euser/x.html", "/100%"] {
            assert_eq!(why(path), None, "{path}");
        }
    }

    #[test]
    fn nothing_that_ends_a_line_is_in_a_path_however_often_it_is_encoded() {
        for path in [
            "/a%0d%0aDELETE%20/",
            "/a%0ab",
            "/a%00",
            "/a%250ab",
            "/a%25250a",
            "/%7f",
            "/%c2%85",
            "/%ff",
            "/é",
            "/a b",
        ] {
            assert!(why(path).is_some(), "{path}");
        }
        assert!(why("/a%2525252525252541").is_some());
        assert!(why(&"/a".repeat(65)).is_some());
    }
}
