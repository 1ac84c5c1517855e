//! What the printed text of a plain command supports, where a model looked by itself.

use serde_json::{Value, json};

use crate::finding::Fault;
use crate::suspect::{SupportedFaults, Suspect, plain, shaped, stops};
use ghost_inspect::netfilter::{Bundle, Host};
use ghost_inspect::qdisc;

/// Reads what a command printed. What is not recognized supports nothing, and so does a command that says itself what is printed: words
/// of a model must not come back as evidence.
#[must_use]
pub fn raw(command: &str, printed: &str) -> SupportedFaults {
    let (before, script) = taken_apart(command);
    let words: Vec<&str> = before.split_whitespace().collect();
    match (words.first().copied().unwrap_or_default(), script) {
        ("nc" | "ncat" | "netcat", None) => probe(&words, printed),
        ("az", Some(script)) => guest(&words, script, printed),
        _ => SupportedFaults::default(),
    }
}

/// Takes the quoted script from the end of a command; only plain words are one, and nothing but the form of the answer may follow it.
fn taken_apart(command: &str) -> (&str, Option<&str>) {
    let Some((before, rest)) = command.trim().split_once(" --scripts ") else { return (command, None) };
    let quoted = ['\'', '"'].into_iter().find_map(|mark| rest.strip_prefix(mark)?.split_once(mark));
    let (script, behind) = quoted.unwrap_or_else(|| rest.split_once(' ').unwrap_or((rest, "")));
    let is_plain = script.chars().all(|char| char.is_ascii_alphanumeric() || " ._-".contains(char));
    let is_form = matches!(behind.trim(), "" | "-o json" | "--output json");
    if is_plain && is_form { (before, Some(script)) } else { ("", None) }
}

/// Returns the machine that a script ran on, where the command is nothing but that.
fn machine<'a>(words: &[&'a str]) -> Option<&'a str> {
    let ["az", "vm", "run-command", "invoke", options @ ..] = words else { return None };
    let mut name = None;
    for pair in options.chunks(2) {
        match pair {
            ["--name" | "-n", value] if name.is_none() => name = Some(value.trim_matches(['\'', '"'])),
            ["--resource-group" | "-g" | "--subscription", _]
            | ["--command-id", "RunShellScript"]
            | ["-o" | "--output", "json"] => {}
            _ => return None,
        }
    }
    name
}

/// A filter or a shaping that run-command printed on a machine.
fn guest(words: &[&str], script: &str, printed: &str) -> SupportedFaults {
    let value: Value = serde_json::from_str(printed.trim()).unwrap_or_default();
    let message = value.pointer("/value/0/message").and_then(Value::as_str).unwrap_or_default();
    let text =
        message.split_once("[stdout]\n").map(|(_, rest)| rest.split("\n[stderr]").next().unwrap_or(rest));
    let (Some(text), Some(machine)) = (text, machine(words)) else { return SupportedFaults::default() };
    let script: Vec<&str> = script.split_whitespace().collect();
    let suspects = match script.as_slice() {
        ["iptables-save"] | ["iptables-save", "-c"] => filter(machine, text),
        ["tc", rest @ ..] => match rest.strip_prefix(&["-s"]).unwrap_or(rest) {
            ["qdisc", "show"] => shaping(machine, None, text),
            ["qdisc", "show", "dev", device] => shaping(machine, Some(device), text),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    SupportedFaults { suspects, ..SupportedFaults::default() }
}

fn filter(machine: &str, text: &str) -> Vec<Suspect> {
    let bundle = Bundle::read(&json!({"iptables-nft": text}));
    let stops = bundle.map(|bundle| stops(machine, &Host::read(&bundle))).unwrap_or_default();
    stops.into_iter().flat_map(|stop| stop.suspects).collect()
}

/// The device stands in the command where it was asked about alone.
fn shaping(machine: &str, device: Option<&str>, text: &str) -> Vec<Suspect> {
    let Ok(read) = qdisc::read(text) else { return Vec::new() };
    let device = device.map(plain);
    let mut suspects = shaped(machine, &read);
    for suspect in &mut suspects {
        if let (Some(device), Some(place)) = (&device, suspect.object.strip_suffix("/unknown")) {
            suspect.object = format!("{place}/{device}");
        }
    }
    suspects
}

/// `nc -zv HOST PORT`: somebody answered that nobody listens. From where, the command does not say. Without `-z` it would print what a
/// server says.
fn probe(words: &[&str], printed: &str) -> SupportedFaults {
    let [_, options @ .., host, port] = words else { return SupportedFaults::default() };
    let only_connects = options.iter().any(|word| word.starts_with('-') && word.contains('z'));
    if !only_connects {
        return SupportedFaults::default();
    }
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    if !is_port || host.parse::<std::net::IpAddr>().is_err() || !printed.contains("Connection refused") {
        return SupportedFaults::default();
    }
    let why = format!("{host} refuses connections to port {port}: it was reached, and nobody listens there");
    let object = format!("flow/*/{host}/tcp/{port}");
    SupportedFaults {
        suspects: vec![Suspect::new(Fault::TcpRefused, object, why)],
        ..SupportedFaults::default()
    }
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
            let supported = raw("nc -zv -w 1 10.0.1.5 9999", printed);
            assert_eq!(supported.suspects[0].object, "flow/*/10.0.1.5/tcp/9999");
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
        assert_eq!(raw(&line("cat /etc/hosts"), &rules), SupportedFaults::default());
    }

    #[test]
    fn words_of_a_model_do_not_come_back_as_evidence() {
        let rules =
            printed("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 5001 -j DROP\nCOMMIT\n");
        let invoke = "az vm run-command invoke -g rg --name web-1 --command-id RunShellScript";
        for command in [
            format!("{invoke} --scripts 'printf \"*filter\\n\"; # iptables-save'"),
            format!("{invoke} --scripts 'echo x iptables-save'"),
            format!("{invoke} --scripts 'iptables-save' --query x"),
            format!("{invoke} --query x --scripts 'iptables-save'"),
            format!("{invoke} -n db-1 --scripts 'iptables-save'"),
            format!("{invoke} --scripts 'iptables-save' --scripts 'echo'"),
            "echo az vm run-command invoke --name web-1 --scripts iptables-save".to_owned(),
        ] {
            assert_eq!(raw(&command, &rules), SupportedFaults::default(), "{command}");
        }
    }

    #[test]
    fn anything_else_supports_nothing() {
        for (command, printed) in [
            ("nc -zv 10.0.1.5 9999", "Connection to 10.0.1.5 9999 port [tcp/*] succeeded!"),
            ("echo 10.0.1.5 9999", "Connection refused"),
            ("nc -zv db 9999", "Connection refused"),
            ("nc", "Connection refused"),
            ("nc 10.0.1.5 9999", "Connection refused"),
            ("", ""),
        ] {
            assert_eq!(raw(command, printed), SupportedFaults::default(), "{command}");
        }
    }
}
