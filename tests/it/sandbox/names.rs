//! A name is looked up once, by the gate, and a harmless one that leads to a metadata service is judged as its address would be.
//!
//! The resolver is the test's own: it stands in the network namespace, changes its mind, and counts who asks.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::place::{Place, lacking};

/// An address of the fourth version; nothing is a name that is not there.
type Address = Option<[u8; 4]>;

/// What the resolver says to the first question for an address, and to every later one.
const ZONE: [(&str, Address, Address); 4] = [
    ("web.example", Some([127, 0, 0, 1]), Some([127, 0, 0, 1])),
    ("meta.example", Some([169, 254, 169, 254]), Some([169, 254, 169, 254])),
    ("turns.example", Some([127, 0, 0, 1]), Some([169, 254, 169, 254])),
    ("late.example", None, Some([169, 254, 169, 254])),
];

/// A place with a resolver on port 53, and what it was asked.
struct Named {
    place: Place,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Named {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("resolv"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
            .unwrap();
        fs::write(folder.path().join("switch"), "passwd: files\nhosts: files dns\n").unwrap();
        let mounts =
            "mount --bind \"$1/resolv\" /etc/resolv.conf && mount --bind \"$1/switch\" /etc/nsswitch.conf";
        let place = Place::with(folder, mounts);
        let socket = place.within(|| UdpSocket::bind(("127.0.0.1", 53)).unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut bytes = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut bytes) {
                answer(&socket, &bytes[..length], from, &noted);
            }
        });
        Self { place, asked }
    }

    /// Runs a command through the real binary; returns the answer and who was asked for, each question as `NAME TYPE`.
    fn run(&self, command: &str) -> (Value, Vec<String>) {
        self.asked.lock().unwrap().clear();
        let ghost = self.place.ghost(command, 20, &self.place.path("data"));
        let output = self.place.inside(&ghost).output().unwrap();
        let answer = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{command}: {}", String::from_utf8_lossy(&output.stderr)));
        (answer, self.asked.lock().unwrap().clone())
    }
}

/// Answers one question: for an address of the fourth version from the zone, for anything else with nothing.
fn answer(socket: &UdpSocket, question: &[u8], from: SocketAddr, asked: &Mutex<Vec<String>>) {
    let (mut at, mut labels) = (12, Vec::new());
    while question[at] != 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..end]).into_owned());
        at = end;
    }
    let (name, end) = (labels.join("."), at + 5);
    let kind = if question[at + 2] == 1 { "A" } else { "other" };
    let line = format!("{name} {kind}");
    let mut asked = asked.lock().unwrap();
    let again = asked.contains(&line);
    asked.push(line);
    let found = ZONE.iter().find(|(known, ..)| *known == name);
    let address = found.and_then(|(_, first, later)| if again { *later } else { *first });
    let address = address.filter(|_| kind == "A");
    // A name that is there in one kind only is there all the same.
    let status: u8 = if found.is_some_and(|(_, first, _)| first.is_some() || again) { 0 } else { 3 };
    let mut reply =
        vec![question[0], question[1], 0x81, 0x80 | status, 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0];
    reply.extend_from_slice(&question[12..end]);
    if let Some(address) = address {
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        reply.extend(address);
    }
    let _ = socket.send_to(&reply, from);
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
    let once = |name: &str| [format!("{name}.example A"), format!("{name}.example other")];
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
    let (answer, _) = named.run("curl -s http://meta.example/latest/meta-data/iam/security-credentials/x");
    assert_eq!(
        (&answer["classification"], &answer["rule"]),
        (&"BLOCKED".into(), &"block.metadata".into()),
        "{answer}"
    );
    // A name that is not there is not asked for again, though by now it would lead somewhere.
    for command in [format!("curl -sS {}", at("late")), format!("curl -sS -6 {}", at("turns"))] {
        let (answer, asked) = named.run(&command);
        assert_eq!(answer["exit_code"].as_i64(), Some(6), "{command}: {answer}");
        assert!(answer["stderr"].as_str().unwrap().contains("Could not resolve host"), "{answer}");
        assert_eq!(asked.len(), 2, "{command}: {asked:?}");
    }
}
