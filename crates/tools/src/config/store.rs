//! `[store]`: where sessions are kept.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// The beginnings of addresses that a store can have.
const SCHEMES: [&str; 4] = ["redis://", "rediss://", "redis-cluster://", "redis-sentinel://"];

/// `[store]`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// The address of a Redis or Valkey server, cluster or service behind sentinels; without one sessions lie in the file
    /// `DATA/store.redb`.
    pub url: Option<String>,
    /// What every key begins with; `ghost` unless said.
    pub prefix: String,
    /// The absolute path of a file that holds the password and nothing else; `$GHOST_REDIS_PASSWORD` wins over it.
    pub password_file: Option<PathBuf>,
    /// How many replicas have to have a write before it counts, behind sentinels; 0 unless said.
    pub replicas: u32,
}

impl Default for Store {
    fn default() -> Self {
        Self { url: None, prefix: "ghost".to_owned(), password_file: None, replicas: 0 }
    }
}

/// Prints no address: it may hold a password.
impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store")
            .field("url", &self.url.as_ref().map(|_| "[secret]"))
            .field("prefix", &self.prefix)
            .field("password_file", &self.password_file)
            .field("replicas", &self.replicas)
            .finish()
    }
}

impl Store {
    /// Returns everything that is wrong, without a word of the address.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(url) = &self.url
            && !SCHEMES.iter().any(|scheme| url.starts_with(scheme))
        {
            problems.push(format!("[store] url: it begins with one of {}", SCHEMES.join(", ")));
        }
        let fits = |char: char| char.is_ascii_alphanumeric() || "_-.:".contains(char);
        if self.prefix.is_empty() || !self.prefix.chars().all(fits) {
            problems.push(format!(
                "[store] prefix = {:?}: it is made of letters, digits and any of _ - . :",
                self.prefix
            ));
        }
        if self.replicas > 0 && !self.url.as_deref().is_some_and(|url| url.starts_with("redis-sentinel://")) {
            problems.push("[store] replicas: they are counted behind redis-sentinel:// only".to_owned());
        }
        if let Some(path) = &self.password_file {
            if !path.is_absolute() {
                problems.push(format!("[store] password_file = {path:?}: the path has to be absolute"));
            }
            if self.url.is_none() {
                problems.push("[store] password_file: it needs a url".to_owned());
            }
            if self.url.as_deref().is_some_and(holds_a_password) {
                problems.push("[store] password_file: the url holds a password already".to_owned());
            }
        }
        problems
    }
}

fn holds_a_password(url: &str) -> bool {
    let login = url.rsplit_once('@').map_or("", |(before, _)| before);
    login.split_once("://").is_some_and(|(_, login)| login.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        toml::from_str::<Store>(text).unwrap().problems()
    }

    #[test]
    fn what_can_be_used_has_no_problem() {
        for text in [
            "",
            "url = 'redis://h'",
            "url = 'redis-sentinel://a,b/main'\nprefix = 'ghost:prod'\nreplicas = 1",
            "url = 'rediss://ana@h'\npassword_file = '/run/secrets/redis'",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_problem_is_reported_without_the_password() {
        let text = "url = 'http://:hunter2@h'\nprefix = '{x}'\npassword_file = 'pw'";
        let problems_found = problems(text);
        assert_eq!(problems_found.len(), 4, "{problems_found:?}");
        let store: Store = toml::from_str(text).unwrap();
        assert!(!format!("{problems_found:?} {store:?}").contains("hunter2"));
        assert_eq!(problems("password_file = '/pw'").len(), 1);
        assert_eq!(problems("url = 'redis://h'\nreplicas = 1").len(), 1);
    }
}
