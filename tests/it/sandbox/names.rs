//! A name is looked up once, by the gate, and a harmless one that leads to a metadata service is judged as its address would be.
//!
//! The resolver is the test's own: it stands in the network namespace, changes its mind, and counts who asks.

use serde_json::Value;

use super::place::{Place, lacking};
use super::resolver::{ADDRESS, Question, Reply, Resolver, place_with_names};

/// An address of the fourth version; nothing is a name that is not there.
type Address = Option<[u8; 4]>;

/// What the resolver says to the first question for an address, and to every later one.
const ZONE: [(&str, Address, Address); 4] = [
    ("web.example", Some([127, 0, 0, 1]), Some([127, 0, 0, 1])),
    ("meta.example", Some([169, 254, 169, 254]), Some([169, 254, 169, 254])),
    ("turns.example", Some([127, 0, 0, 1]), Some([169, 254, 169, 254])),
    ("late.example", None, Some([169, 254, 169, 254])),
];

/// A place with a resolver, and what it was asked.
struct Named {
    place: Place,
    resolver: Resolver,
}

/// Answers for an address of the fourth version from the zone, and for anything else with nothing.
fn zone(question: &Question) -> Reply {
    let Some((_, first, later)) = ZONE.iter().find(|(known, ..)| *known == question.name) else {
        return Reply::Missing;
    };
    let address = if question.is_repeated { later } else { first };
    match address {
        Some(address) if question.kind == ADDRESS => Reply::Address(*address),
        // A name that is there in one kind only is there all the same.
        _ if first.is_some() || question.is_repeated => Reply::Nothing,
        _ => Reply::Missing,
    }
}

impl Named {
    fn new() -> Self {
        let place = place_with_names("true");
        let resolver = Resolver::serve(&place, zone);
        Self { place, resolver }
    }

    /// Runs a command through the real binary; returns the answer and who was asked for, each question as `NAME TYPE`.
    fn run(&self, command: &str) -> (Value, Vec<String>) {
        drop(self.resolver.take());
        let ghost = self.place.ghost(command, 20, &self.place.path("data"));
        let output = self.place.inside(&ghost).output().unwrap();
        let answer = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{command}: {}", String::from_utf8_lossy(&output.stderr)));
        (answer, self.resolver.take())
    }
}

#[test]
fn a_name_leads_where_it_led_when_it_was_judged() {
    if let Some(reason) = lacking(&["unshare", "nsenter", "ip", "curl"]) {
        println!("skipped: {reason}");
        return;
    }
    let named = Named::new();
    let port = named.place.serve(0);
    let at = |name: &str| format!("http://{name}.example:{port}/");
    let once = |name: &str| [format!("{name}.example 28"), format!("{name}.example A")];
    for (command, name) in [
        (format!("curl -sS {}", at("web")), "web"),
        // Whoever asks a second time is led elsewhere; nobody does.
        (format!("curl -sS {}", at("turns")), "turns"),
        (format!("curl -sS {} | cat", at("turns")), "turns"),
        (format!("timeout 9 curl -sS -4 --url {}", at("turns")), "turns"),
    ] {
        let (answer, mut asked) = named.run(&command);
        assert_eq!(
            (answer["exit_code"].as_i64(), answer["output"].as_str()),
            (Some(0), Some("hello\n")),
            "{command}: {answer}"
        );
        asked.sort();
        assert_eq!(asked, once(name), "{command}");
    }
    for command in [
        format!("curl -sS {}", at("meta")),
        format!("curl -sS -L --max-redirs 1 {}", at("meta")),
        format!("curl -sS {} | head -1", at("meta")),
        format!("uname; curl -sS {}", at("meta")),
        format!("curl -sS --connect-to ::meta.example: {}", at("web")),
        format!("curl -sS {} {}", at("web"), at("meta")),
    ] {
        let (answer, _) = named.run(&command);
        assert_eq!(
            (&answer["classification"], &answer["rule"]),
            (&"RISKY".into(), &"destination.lookup".into()),
            "{command}: {answer}"
        );
        assert!(answer["hint"].as_str().is_some_and(|hint| hint.contains("a metadata service")), "{answer}");
        assert_eq!(answer["exit_code"], Value::Null, "{command}");
    }
    // One is known by its path, the other one by where its name leads.
    for path in ["latest/meta-data/iam/security-credentials/x", "latest/dynamic/instance-identity/document"] {
        let (answer, _) = named.run(&format!("curl -s http://meta.example/{path}"));
        assert_eq!(
            (&answer["classification"], &answer["rule"]),
            (&"BLOCKED".into(), &"block.metadata".into()),
            "{answer}"
        );
    }
    // A name that is not there is not asked for again, though by now it would lead somewhere.
    for command in [format!("curl -sS {}", at("late")), format!("curl -sS -6 {}", at("turns"))] {
        let (answer, asked) = named.run(&command);
        assert_eq!(answer["exit_code"].as_i64(), Some(6), "{command}: {answer}");
        assert!(answer["stderr"].as_str().unwrap().contains("Could not resolve host"), "{answer}");
        assert_eq!(asked.len(), 2, "{command}: {asked:?}");
    }
}
