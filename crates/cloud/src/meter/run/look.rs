//! What a guest has: the tools, and who listens on the ports.

use super::guest::OURS;

/// What a guest has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Look {
    /// The tools that are there.
    pub(super) tools: Vec<String>,
    /// What iperf says of itself.
    pub(super) iperf: String,
    /// Who listens on a port of ours.
    pub(super) listeners: Vec<Listener>,
}

/// Somebody who listens on a port of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listener {
    /// The port.
    pub(super) port: u16,
    /// The program, where it can be seen.
    pub(super) program: Option<String>,
}

impl Listener {
    /// Says whether it is a server that a measurement left.
    pub(super) fn is_stale(&self) -> bool {
        self.program.as_deref().is_some_and(|program| OURS.contains(&program))
    }
}

impl Look {
    /// Reads what the script printed; `None` where that is not all of it.
    pub(super) fn read(printed: &str) -> Option<Self> {
        let (body, 0) = super::guest::ended(printed)? else { return None };
        let mut lines = body.lines();
        if lines.next()? != "ghost-meter look" {
            return None;
        }
        let mut look = Self::default();
        for line in lines {
            let (kind, rest) = line.split_once(' ')?;
            match kind {
                "tool" => look.tools.push(rest.to_owned()),
                "iperf" => rest.clone_into(&mut look.iperf),
                "listen" => look.listeners.extend(listener(rest)),
                _ => return None,
            }
        }
        Some(look)
    }

    /// Names the tools that lack, and what to do about one of the wrong version.
    pub(super) fn lacks(&self, latency: bool, throughput: bool) -> Vec<&'static str> {
        let lacks = |wanted: bool, tool: &'static str| {
            (wanted && !self.tools.iter().any(|own| own == tool)).then_some(tool)
        };
        [lacks(latency, "qperf"), lacks(throughput, "iperf")].into_iter().flatten().collect()
    }

    /// Says whether the iperf that is there is of another version than 2.
    pub(super) fn is_foreign(&self) -> bool {
        self.tools.iter().any(|own| own == "iperf") && !self.iperf.contains("iperf version 2")
    }
}

/// Reads a line of `ss`: state, queues, the local address with the port, the peer's, the program.
fn listener(line: &str) -> Option<Listener> {
    let port = line.split_whitespace().nth(3)?.rsplit_once(':')?.1.parse().ok()?;
    let program = line.split_once("((\"").and_then(|(_, rest)| rest.split_once('"'));
    Some(Listener { port, program: program.map(|(program, _)| program.chars().take(32).collect()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ghost-meter look\ntool qperf\ntool iperf\niperf iperf version 2.1.8 (12 August 2022) pthreads\nlisten LISTEN 0      4096   0.0.0.0:5001  0.0.0.0:* users:((\"iperf\",pid=4503,fd=3))\nlisten LISTEN 0      5            *:19765       *:*\nghost-meter end 0\n";

    #[test]
    fn tools_and_listeners_are_read() {
        let look = Look::read(TEXT).unwrap();
        assert_eq!(look.lacks(true, true), Vec::<&str>::new());
        assert!(!look.is_foreign() && look.listeners.len() == 2);
        assert!(look.listeners.iter().any(Listener::is_stale));
        assert_eq!(look.listeners.last().unwrap().program, None, "whose it is cannot be seen");
    }

    #[test]
    fn half_of_it_is_nothing() {
        for end in 0..TEXT.len() - 1 {
            assert_eq!(Look::read(TEXT.get(..end).unwrap()), None, "{end}");
        }
    }
}
