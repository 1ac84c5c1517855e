//! What the printed text of a plain command bears out, where a model looked by itself.

use crate::agent::suspect::{Borne, Suspect};

/// Reads what a command printed. What is not recognized bears out nothing.
#[must_use]
pub fn raw(command: &str, printed: &str) -> Borne {
    let words: Vec<&str> = command.split_whitespace().collect();
    let program = words.first().copied().unwrap_or_default();
    match program.rsplit('/').next().unwrap_or(program) {
        "nc" | "ncat" | "netcat" => probe(&words, printed),
        _ => Borne::default(),
    }
}

/// `nc -zv HOST PORT`: somebody answered that nobody listens. From where, the command does not say.
fn probe(words: &[&str], printed: &str) -> Borne {
    let [.., host, port] = words else { return Borne::default() };
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    if !is_port || host.parse::<std::net::IpAddr>().is_err() || !printed.contains("Connection refused") {
        return Borne::default();
    }
    let why = format!("{host} refuses connections to port {port}: it was reached, and nobody listens there");
    let object = format!("flow/*/{host}/tcp/{port}");
    Borne { suspects: vec![Suspect { code: "tcp_refused".to_owned(), object, why }], looked: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_whoever_prints_it() {
        for printed in [
            "nc: connect to 10.0.1.5 port 9999 (tcp) failed: Connection refused",
            "(UNKNOWN) [10.0.1.5] 9999 (?) : Connection refused",
        ] {
            let borne = raw("nc -zv -w 1 10.0.1.5 9999", printed);
            assert_eq!(borne.suspects[0].object, "flow/*/10.0.1.5/tcp/9999");
        }
    }

    #[test]
    fn anything_else_bears_out_nothing() {
        for (command, printed) in [
            ("nc -zv 10.0.1.5 9999", "Connection to 10.0.1.5 9999 port [tcp/*] succeeded!"),
            ("echo 10.0.1.5 9999", "Connection refused"),
            ("nc -zv db 9999", "Connection refused"),
            ("nc", "Connection refused"),
            ("", ""),
        ] {
            assert_eq!(raw(command, printed), Borne::default(), "{command}");
        }
    }
}
