//! What the printed text of a plain command bears out, where a model looked by itself.

use serde_json::{Value, json};

use crate::agent::suspect::{Borne, Suspect, plain, shaped, stops};
use crate::netfilter::{Bundle, Host};
use crate::qdisc;

/// Reads what a command printed. What is not recognized bears out nothing.
#[must_use]
pub fn raw(command: &str, printed: &str) -> Borne {
    let words: Vec<&str> = command.split_whitespace().collect();
    let program = words.first().copied().unwrap_or_default();
    match program.rsplit('/').next().unwrap_or(program) {
        "nc" | "ncat" | "netcat" => probe(&words, printed),
        "az" if command.contains("run-command") => guest(&words, command, printed),
        _ => Borne::default(),
    }
}

/// A filter or a shaping that run-command printed on a machine.
fn guest(words: &[&str], command: &str, printed: &str) -> Borne {
    let value: Value = serde_json::from_str(printed.trim()).unwrap_or_default();
    let message = value.pointer("/value/0/message").and_then(Value::as_str).unwrap_or_default();
    let text =
        message.split_once("[stdout]\n").map(|(_, rest)| rest.split("\n[stderr]").next().unwrap_or(rest));
    let named = words.windows(2).find_map(|pair| match pair {
        ["--name" | "-n" | "--vm-name", name] => Some(name.trim_matches(['\'', '"'])),
        _ => None,
    });
    let (Some(text), Some(machine)) = (text, named) else { return Borne::default() };
    let suspects = if command.contains("iptables-save") {
        let bundle = Bundle::read(&json!({"iptables-nft": text}));
        bundle
            .map(|bundle| stops(machine, &Host::read(&bundle)))
            .unwrap_or_default()
            .into_iter()
            .flat_map(|stop| stop.suspects)
            .collect()
    } else if command.contains("tc ") {
        shaping(machine, command, text)
    } else {
        Vec::new()
    };
    Borne { suspects, looked: Vec::new() }
}

/// The device stands in the command where it was asked about alone.
fn shaping(machine: &str, command: &str, text: &str) -> Vec<Suspect> {
    let Ok(read) = qdisc::read(text) else { return Vec::new() };
    let mut words = command.split_whitespace().skip_while(|word| *word != "dev").skip(1);
    let device = words.next().map(|word| plain(word.trim_matches(['\'', '"'])));
    let mut suspects = shaped(machine, &read);
    for suspect in &mut suspects {
        if let (Some(device), Some(place)) = (&device, suspect.object.strip_suffix("/unknown")) {
            suspect.object = format!("{place}/{device}");
        }
    }
    suspects
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

    fn printed(text: &str) -> String {
        json!({"value": [{"message": format!("Enable succeeded: \n[stdout]\n{text}\n[stderr]\n")}]})
            .to_string()
    }

    #[test]
    fn what_run_command_printed_is_read_as_what_it_is() {
        let line = |script: &str| {
            format!(
                "az vm run-command invoke -g rg --name web-1 --command-id RunShellScript --scripts '{script}'"
            )
        };
        let rules = printed(
            "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 5001 -j DROP\nCOMMIT\n",
        );
        let found = raw(&line("iptables-save -c"), &rules).suspects;
        assert_eq!(found[0].object, "netfilter/web-1/filter/INPUT/tcp/5001");
        let queue = printed("qdisc netem 30: parent 1:3 limit 1000 delay 30ms\n");
        let found = raw(&line("tc -s qdisc show dev eth0"), &queue).suspects;
        assert_eq!((found[0].code.as_str(), found[0].object.as_str()), ("netem_delay", "qdisc/web-1/eth0"));
        assert_eq!(raw(&line("cat /etc/hosts"), &rules), Borne::default());
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
