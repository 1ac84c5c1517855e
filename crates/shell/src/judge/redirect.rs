//! `curl -L`, taken apart into requests of its own, one for each place that a server sends it to.

use super::address::Url;
use super::{allow, curl};
use crate::policy::{Check, Given, Policy, quote};

/// What says where the answer goes, and how it is shown: nothing of it concerns the question where a server sends us.
const SHOWN: [&str; 14] = [
    "-s",
    "--silent",
    "-v",
    "--verbose",
    "-i",
    "--include",
    "--show-headers",
    "-#",
    "--progress-bar",
    "-o",
    "--output",
    "-D",
    "--dump-header",
    "-w",
];

/// One request that may be sent on, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirects {
    /// The program, and those before it that only run it.
    front: Vec<String>,
    /// The options without those that say to follow, each with its value.
    options: Vec<(String, Option<String>)>,
    /// Where the first request goes.
    pub(crate) address: String,
    /// How often it may be sent on.
    pub(crate) most: u8,
}

impl Policy {
    /// Takes the words of a SAFE `curl -L` apart; `None` where they are more than one request, or say themselves which address a
    /// name has.
    pub(crate) fn redirects(&self, argv: &[String]) -> Option<Redirects> {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let peeled = allow::peel(self, &words).ok()?;
        let (program, arguments) = peeled.words.split_first()?;
        let front = words.len().checked_sub(arguments.len()).and_then(|end| argv.get(..end))?;
        let entry =
            self.entries(allow::trusted(program)?).iter().find(|entry| entry.check == Some(Check::Curl))?;
        let given = entry.grammar.read(arguments, &self.files).ok()?;
        let detour = given.has("--resolve") || given.has("--connect-to");
        if detour || !curl::is_redirected(&given) {
            return None;
        }
        Some(Redirects {
            front: front.to_vec(),
            options: options(&given),
            address: only_address(&given)?.to_owned(),
            most: given.values(&["--max-redirs"]).last()?.parse().ok()?,
        })
    }
}

/// Returns the host and the port of an address, where curl can understand them only in this form.
pub(super) fn host_and_port(address: &str) -> Option<(String, u16)> {
    let url = Url::parse(address);
    let usual = if url.scheme == "https" { 443 } else { 80 };
    let (host, rest) = match url.authority.strip_prefix('[') {
        Some(inside) => inside.split_once(']')?,
        None => url.authority.split_at(url.authority.find(':').unwrap_or(url.authority.len())),
    };
    let port = match rest.strip_prefix(':') {
        Some("") => usual,
        Some(port) => port.parse().ok()?,
        None if rest.is_empty() => usual,
        None => return None,
    };
    let plain = host.is_ascii() && host.eq_ignore_ascii_case(&url.host) && !host.is_empty();
    plain.then(|| (host.to_owned(), port))
}

impl Redirects {
    /// Returns the line that asks where the server sends us, and shows nothing else.
    pub(crate) fn question(&self, address: &str) -> String {
        let asked = self.options.iter().filter(|(name, _)| !is_shown(name));
        let mut words = self.words(asked);
        words.extend(["-s", "-o", "/dev/null", "-w", "%{redirect_url}", "--url", address].map(str::to_owned));
        line(&words)
    }

    /// Returns the line that asks for one address and is not sent on.
    pub(crate) fn request(&self, address: &str) -> String {
        let mut words = self.words(self.options.iter());
        words.extend(["--url", address].map(str::to_owned));
        line(&words)
    }

    fn words<'a>(&self, options: impl Iterator<Item = &'a (String, Option<String>)>) -> Vec<String> {
        let spelled = options.flat_map(|(name, value)| std::iter::once(name).chain(value));
        self.front.iter().chain(spelled).cloned().collect()
    }
}

fn is_shown(name: &str) -> bool {
    SHOWN.contains(&name) || name == "--write-out"
}

fn options(given: &Given<'_>) -> Vec<(String, Option<String>)> {
    const OWN: [&str; 4] = ["-L", "--location", "--max-redirs", "--url"];
    let others = given.options.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
    others.map(|(name, value)| (name.clone(), value.map(str::to_owned))).collect()
}

fn only_address<'w>(given: &Given<'w>) -> Option<&'w str> {
    let named = given.options.iter().filter(|(name, _)| name == "--url").filter_map(|(_, value)| *value);
    let mut addresses = given.operands.iter().copied().chain(named);
    let first = addresses.next()?;
    addresses.next().is_none().then_some(first)
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn redirects(command: &str) -> Option<Redirects> {
        let policy = Policy::builtin().unwrap();
        policy.redirects(&policy.classify(command).argv.unwrap())
    }

    #[test]
    fn a_request_keeps_every_option_but_those_that_follow() {
        let found = redirects(
            "timeout 9 curl -sSLv --max-redirs 4 -A 'a b' -o/dev/null -w '%{http_code}' --max-redirs 2 http://10.0.0.5/",
        )
        .unwrap();
        assert_eq!((found.address.as_str(), found.most), ("http://10.0.0.5/", 2));
        assert_eq!(
            found.request("http://10.0.0.6/"),
            "timeout 9 curl -s -S -v -A 'a b' -o /dev/null -w '%{http_code}' --url http://10.0.0.6/"
        );
        assert_eq!(
            found.question("http://10.0.0.6/"),
            "timeout 9 curl -S -A 'a b' -s -o /dev/null -w '%{redirect_url}' --url http://10.0.0.6/"
        );
        let policy = Policy::builtin().unwrap();
        for line in [found.request("http://10.0.0.6/"), found.question("http://10.0.0.6/")] {
            let ruling = policy.classify(&line);
            assert_eq!((ruling.verdict, ruling.profile.redirected), (Verdict::Safe, false), "{line}");
        }
    }

    #[test]
    fn several_addresses_and_detours_are_not_followed() {
        for command in [
            "curl -L --max-redirs 3 http://10.0.0.5/ http://10.0.0.6/",
            "curl -L --max-redirs 3 --url http://10.0.0.5/ http://10.0.0.6/",
            "curl -L --max-redirs 3 --resolve a:80:10.0.0.5 http://a/",
            "curl -L --max-redirs 3 --connect-to ::10.0.0.5: http://a/",
            "curl http://10.0.0.5/",
            "ping -c 1 10.0.0.5",
        ] {
            assert_eq!(redirects(command), None, "{command}");
        }
    }
}
