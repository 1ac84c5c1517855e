//! `[export.github]` and `[export.pagerduty]`: where a post-mortem may be sent.

use std::path::PathBuf;

use serde::Deserialize;

use super::url;

/// `[export]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Export {
    /// Issues on GitHub, or on a server of one's own that speaks its interface.
    pub github: Option<GitHub>,
    /// Notes beside incidents of PagerDuty.
    pub pagerduty: Option<PagerDuty>,
}

/// `[export.github]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitHub {
    /// The address of the interface; `https://api.github.com` unless said.
    #[serde(default = "github")]
    pub url: String,
    /// `OWNER/NAME` of the repository that gets the issues, unless `--repository` names one.
    pub repository: Option<String>,
    /// The absolute path of the file with a token that may write issues.
    pub token_file: PathBuf,
    /// Labels that every issue gets.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// `[export.pagerduty]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagerDuty {
    /// The address of the interface; `https://api.pagerduty.com` unless said.
    #[serde(default = "pagerduty")]
    pub url: String,
    /// The absolute path of the file with a token of the REST interface.
    pub token_file: PathBuf,
    /// The mail address of the user in whose name notes are written.
    pub from: String,
}

fn github() -> String {
    "https://api.github.com".to_owned()
}

fn pagerduty() -> String {
    "https://api.pagerduty.com".to_owned()
}

impl Export {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(github) = &self.github {
            problems.extend(place("[export.github]", &github.url, &github.token_file));
            if let Some(name) = github.repository.as_deref().filter(|name| !is_repository(name)) {
                problems.push(format!("[export.github] repository = {name:?}: it is OWNER/NAME"));
            }
        }
        if let Some(pagerduty) = &self.pagerduty {
            problems.extend(place("[export.pagerduty]", &pagerduty.url, &pagerduty.token_file));
            let from = &pagerduty.from;
            let plain = from.bytes().all(|byte| byte.is_ascii_graphic());
            if !plain || from.split_once('@').is_none_or(|(who, host)| who.is_empty() || host.is_empty()) {
                problems.push(format!("[export.pagerduty] from = {from:?}: it is a mail address"));
            }
        }
        problems
    }
}

/// Tells whether a text names a repository.
#[must_use]
pub fn is_repository(name: &str) -> bool {
    let fits = |part: &str| {
        let chars = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (1..=100).contains(&part.len()) && part.bytes().all(chars) && !part.starts_with('.')
    };
    name.split_once('/').is_some_and(|(owner, name)| fits(owner) && fits(name))
}

fn place(section: &str, url: &str, token_file: &std::path::Path) -> Vec<String> {
    let mut problems = Vec::new();
    if !(url::is_plain(url) && url::is_private(url)) {
        problems.push(format!(
            "{section} url = {url:?}: it begins with https://, or with http:// on this machine, and holds no name or query"
        ));
    }
    if !token_file.is_absolute() {
        problems.push(format!("{section} token_file = {token_file:?}: the path has to be absolute"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        toml::from_str::<Export>(text).unwrap().problems()
    }

    #[test]
    fn what_can_be_used_has_no_problem() {
        for text in [
            "",
            "[github]\ntoken_file = '/t'",
            "[github]\nurl = 'https://git.example/api/v3'\nrepository = 'net/incidents'\ntoken_file = '/t'\nlabels = ['incident']",
            "[pagerduty]\nurl = 'http://127.0.0.1:8080'\ntoken_file = '/t'\nfrom = 'ghost@example.com'",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_problem_is_reported() {
        for (text, part) in [
            ("[github]\nurl = 'http://git.example'\ntoken_file = '/t'", "https"),
            ("[github]\nurl = 'https://'\ntoken_file = '/t'", "https"),
            ("[github]\nurl = 'http://127.0.0.1@evil.example'\ntoken_file = '/t'", "https"),
            ("[github]\ntoken_file = 't'", "absolute"),
            ("[github]\ntoken_file = '/t'\nrepository = 'incidents'", "OWNER/NAME"),
            ("[github]\ntoken_file = '/t'\nrepository = '../x'", "OWNER/NAME"),
            ("[github]\ntoken_file = '/t'\nrepository = 'a/b/c'", "OWNER/NAME"),
            ("[pagerduty]\ntoken_file = '/t'\nfrom = 'ghost'", "mail address"),
            ("[pagerduty]\ntoken_file = '/t'\nfrom = \"a@b\\r\\nx: y\"", "mail address"),
        ] {
            let found = problems(text);
            assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
        }
        for text in ["[github]\ntoken = 'x'", "[github]", "[pagerduty]\ntoken_file = '/t'", "[jira]"] {
            assert!(toml::from_str::<Export>(text).is_err(), "{text}");
        }
    }
}
