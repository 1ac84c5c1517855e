//! Pages that the probes of load balancers ask for, and what a machine answered to the same question.

use std::fmt;
use std::net::IpAddr;

/// How a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Encrypted; the certificate does not count.
    Https,
}

impl Scheme {
    /// Returns how it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// The question for a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageQuestion {
    /// How it is asked.
    pub scheme: Scheme,
    /// The address of the machine.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
    /// The path, with what may follow it.
    pub path: String,
}

impl PageQuestion {
    /// Returns the path as it is asked for: it begins with a slash.
    #[must_use]
    pub fn full_path(&self) -> String {
        format!("/{}", self.path.trim_start_matches('/'))
    }
}

impl fmt::Display for PageQuestion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, port, path) = (self.scheme.as_str(), self.port, self.full_path());
        match self.address {
            IpAddr::V4(address) => write!(out, "{scheme}://{address}:{port}{path}"),
            IpAddr::V6(address) => write!(out, "{scheme}://[{address}]:{port}{path}"),
        }
    }
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// A page with this status.
    Code(u16),
    /// Something that is no page: an empty answer, another protocol.
    Nothing,
    /// Whether one comes is not known.
    Unknown,
}

/// A page that a machine was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// The question, as it is written.
    url: String,
    pub(super) status: Status,
}

impl Page {
    pub(super) fn is_of(&self, question: &PageQuestion) -> bool {
        self.url == question.to_string()
    }
}

/// The exit codes of `curl` where somebody answered with something that is no page: another protocol, no handshake, nothing, a reset.
const NO_PAGE: [u8; 6] = [1, 8, 35, 52, 56, 92];

/// Reads what was asked and what came back: address, status and exit code of `curl`, a page a line.
pub(super) fn pages(text: &str) -> Vec<Page> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (url, code, exit) = (words.next()?, words.next()?, words.next()?);
        let (code, exit) = (code.parse::<u16>().ok()?, exit.parse::<u8>().ok()?);
        let status = match (code, exit) {
            (100..=599, 0) => Status::Code(code),
            (_, exit) if NO_PAGE.contains(&exit) => Status::Nothing,
            _ => Status::Unknown,
        };
        Some(Page { url: url.to_owned(), status })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_page_is_another_thing_than_what_is_not_known() {
        let text = "http://10.0.0.4:80/ 404 0\nhttp://10.0.0.4:81/ 000 52\nhttp://10.0.0.4:82/ 000 28\nrubbish\nhttp://x 70000 0";
        let found: Vec<Status> = pages(text).into_iter().map(|page| page.status).collect();
        assert_eq!(found, [Status::Code(404), Status::Nothing, Status::Unknown]);
    }

    #[test]
    fn a_path_without_a_slash_is_asked_for_with_one() {
        let question = PageQuestion {
            scheme: Scheme::Https,
            address: "fd00::4".parse().unwrap(),
            port: 8443,
            path: "health?full=1".to_owned(),
        };
        assert_eq!(question.to_string(), "https://[fd00::4]:8443/health?full=1");
    }
}
