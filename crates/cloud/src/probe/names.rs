//! What the name servers of a guest answer.

use std::net::IpAddr;

use ghost_inspect::path::Reading;

use super::guest_probe::{ProbeError, ProbeSpec};
use super::payload::{Section, sections};

/// What is run, and how its output is read.
pub static NAMES: ProbeSpec<Vec<NameServer>> =
    ProbeSpec { script: "guest-names", what: "what its name servers answer", counters: false, read: servers };

/// The same about one name, asked of the platform's server, too. What `dig` printed is kept as it is.
pub static RESOLVE: ProbeSpec<Reading> = ProbeSpec {
    script: "guest-resolve",
    what: "what its name servers answer for a name",
    counters: false,
    read: resolved,
};

fn resolved(text: &str) -> Result<Reading, ProbeError> {
    let mut answers = String::new();
    for part in sections(text)? {
        if !part.name.starts_with("answer-") {
            continue;
        }
        if part.code != 0 {
            return Ok(Reading::Failed { error: part.text.trim().to_owned() });
        }
        answers.push_str(&part.text);
        answers.push('\n');
    }
    Ok(Reading::Text(answers))
}

/// A name server of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameServer {
    pub address: IpAddr,
    /// What it said to a question for a well-known name.
    pub answer: NameAnswer,
}

/// What a name server said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameAnswer {
    /// It answered with an address.
    Answers,
    /// It answered with an error, such as `SERVFAIL`.
    Fails(String),
    /// Nobody answered in time.
    Silent,
    /// Nobody could ask: why.
    Unknown(String),
}

fn servers(text: &str) -> Result<Vec<NameServer>, ProbeError> {
    let mut parts = sections(text)?.into_iter();
    let list = parts.next().filter(|part| part.name == "servers" && part.code == 0);
    let list = list.ok_or_else(|| ProbeError::UnknownPart("servers".to_owned()))?;
    let addresses: Vec<IpAddr> = list.text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let mut found = Vec::new();
    for (number, address) in (1..).zip(addresses) {
        let name = format!("answer-{number}");
        let part = parts.next().filter(|part| part.name == name).ok_or(ProbeError::UnknownPart(name))?;
        found.push(NameServer { address, answer: answer(&part) });
    }
    Ok(found)
}

fn answer(part: &Section) -> NameAnswer {
    if part.code != 0 {
        return NameAnswer::Unknown(part.text.trim().to_owned());
    }
    if part.text.contains("no servers could be reached") || part.text.contains("timed out") {
        return NameAnswer::Silent;
    }
    let status = part.text.split("status: ").nth(1).and_then(|rest| rest.split([',', '\n']).next());
    match status {
        Some("NOERROR") => NameAnswer::Answers,
        Some(status) => NameAnswer::Fails(status.to_owned()),
        None => NameAnswer::Unknown("its answer cannot be read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, code: u8, text: &str) -> String {
        format!("section {name} {code} {}\n{text}\n", text.len())
    }

    #[test]
    fn every_server_has_its_answer() {
        let text = part("servers", 0, "168.63.129.16\n10.0.0.53\n10.0.0.54\n10.0.0.55")
            + &part("answer-1", 0, ";; ->>HEADER<<- opcode: QUERY, status: SERVFAIL, id: 7")
            + &part("answer-2", 0, ";; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 7")
            + &part("answer-3", 0, ";; no servers could be reached")
            + &part("answer-4", 127, "dig is not installed");
        let answers: Vec<NameAnswer> = servers(&text).unwrap().into_iter().map(|one| one.answer).collect();
        assert_eq!(
            answers,
            [
                NameAnswer::Fails("SERVFAIL".to_owned()),
                NameAnswer::Answers,
                NameAnswer::Silent,
                NameAnswer::Unknown("dig is not installed".to_owned())
            ]
        );
    }

    #[test]
    fn an_answer_that_is_missing_is_no_answer() {
        assert!(servers(&part("servers", 0, "10.0.0.53")).is_err());
        assert!(servers("").is_err());
    }
}
