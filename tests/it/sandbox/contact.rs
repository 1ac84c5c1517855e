//! What SAFE commands contact and look up stands in their `destinations`.
//!
//! They run without the sandbox, as they do behind a hook, in a network namespace in which every address is this machine's and
//! every name leads to an address of its own. What strace and the resolver saw is held against what the ruling named. Questions for the
//! name behind an address are the business of the system's resolver.
//!
//! `GHOST_LONG=1` runs 1,500 commands instead of a sample; `GHOST_TEST_SEED` repeats a run.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ghost_shell::{Policy, Verdict};

use super::corpus;
use super::place::{Place, lacking, setting};
use super::resolver::{ADDRESS, POINTER, Question, Reply, Resolver, SERVER, TEXT, place_with_names};
use super::trace::{self, Call, of_the_command};

const SHORT: usize = 96;
const LONG: usize = 1500;
const WORKERS: usize = 6;
/// After this time a command that goes on without end is stopped, in seconds.
const SECONDS: &str = "3";

const CALLS: &str = "trace=execve,clone,clone3,fork,vfork,connect,sendto,sendmsg,sendmmsg";

/// A place where every address answers for itself, with the resolver that its programs ask.
struct Network {
    place: Place,
    resolver: Resolver,
}

/// Leads every name to an address of its own, and says of every zone and network what the questions want to hear.
fn zone(question: &Question) -> Reply {
    match question.kind {
        ADDRESS => Reply::Address(address_of(&question.name)),
        SERVER if question.name.is_empty() => Reply::Name("a.root-servers.net"),
        SERVER => Reply::Name("server.named.in.an.answer"),
        POINTER => Reply::Name("back.example"),
        TEXT => Reply::Text("64500 | 10.0.0.0/8 | US | arin | 2000-01-01"),
        _ => Reply::Nothing,
    }
}

/// Gives a name an address of 198.18.0.0/16: the same one every time.
fn address_of(name: &str) -> [u8; 4] {
    let sum = name
        .to_ascii_lowercase()
        .bytes()
        .fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let [low, high, ..] = sum.to_le_bytes();
    [198, 18, high, low]
}

impl Network {
    fn new() -> Self {
        let place =
            place_with_names("ip route add local default dev lo && ip -6 route add local default dev lo");
        let resolver = Resolver::serve(&place, zone);
        Self { place, resolver }
    }

    /// Runs a command and returns what it contacted or asked for that `destinations` does not name.
    fn unnamed(&self, argv: &[String], destinations: &[String], log: &str) -> Vec<String> {
        drop(self.resolver.take());
        let (_, calls) = self.run(argv, log);
        let named: Vec<String> =
            destinations.iter().map(|host| host.trim_end_matches('.').to_ascii_lowercase()).collect();
        let contacts = of_the_command(&calls)
            .into_iter()
            .flat_map(contacted)
            .filter(|address| !is_named(*address, &named))
            .map(|address| format!("contacts {address}"));
        let asked = self.resolver.take();
        let questions = asked.iter().filter(|line| !is_question_named(line, &named));
        let mut found: Vec<String> =
            contacts.chain(questions.map(|line| format!("asks for {line}"))).collect();
        found.sort();
        found.dedup();
        found
    }

    fn run(&self, argv: &[String], log: &str) -> (Output, Vec<Call>) {
        #[expect(clippy::disallowed_methods, reason = "the proof starts real programs")]
        let mut program = Command::new("timeout");
        program.args(["-k", "1", SECONDS]).args(argv);
        program.env("HOME", self.place.path("home")).env("NSTAT_HISTORY", self.place.path("history"));
        let log = self.place.path(log);
        let output = self.place.traced(&program, &log, CALLS).output().unwrap();
        (output, trace::read(&String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default())))
    }
}

/// Lists the addresses that a call sends to, but for this machine's own.
fn contacted(call: &Call) -> Vec<IpAddr> {
    let words = ["inet_addr(\"", "inet_pton(AF_INET6, \""];
    let texts = words.iter().flat_map(|word| call.arguments.split(word).skip(1));
    let found = texts.filter_map(|rest| rest.split('"').next()?.parse::<IpAddr>().ok());
    found
        .map(|address| address.to_canonical())
        .filter(|at| !at.is_loopback() && !at.is_unspecified())
        .collect()
}

/// True if a destination is this address, or a name that leads to it.
fn is_named(address: IpAddr, named: &[String]) -> bool {
    named.iter().any(|host| {
        let plain = host.split('%').next().unwrap_or_default();
        match plain.parse::<IpAddr>() {
            Ok(literal) => literal.to_canonical() == address,
            Err(_) => IpAddr::from(address_of(plain)) == address,
        }
    })
}

/// Types and classes that the made-up commands hold. Behind `-t` or `-c` dig asks for one as a name, which carries nothing out.
const TYPES: [&str; 4] = ["a", "any", "in", "mx"];

/// True if a question is for a destination or for a name below one, for the name behind an address, for the root, or for this machine.
fn is_question_named(line: &str, named: &[String]) -> bool {
    let name = line.rsplit_once(' ').unwrap().0.to_ascii_lowercase();
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let is_own = machine.trim().eq_ignore_ascii_case(&name);
    let below = |host: &String| name == *host || name.ends_with(&format!(".{host}"));
    let carries_nothing = name.is_empty() || is_own || TYPES.contains(&name.as_str());
    let is_reverse = [".in-addr.arpa", ".ip6.arpa"].iter().any(|end| name.ends_with(end));
    is_reverse || carries_nothing || named.iter().any(below)
}

fn ruled(command: &str) -> (Vec<String>, Vec<String>) {
    let ruling = Policy::builtin().unwrap().classify(command);
    assert_eq!(ruling.verdict, Verdict::Safe, "{command}: {}", ruling.reason);
    (ruling.argv.unwrap(), ruling.destinations)
}

#[test]
fn no_safe_command_contacts_or_asks_for_what_its_destinations_do_not_name() {
    if let Some(reason) = lacking(&["strace", "unshare", "nsenter", "ip"]) {
        println!("skipped: {reason}");
        return;
    }
    let wanted = if setting("GHOST_LONG").is_empty() { SHORT } else { LONG };
    let seed = super::place::seed();
    println!("GHOST_TEST_SEED={seed}");
    let policy = Policy::builtin().unwrap();
    let mut cases = corpus::make(seed, wanted * 3).cases;
    cases.retain(|case| {
        let may_send = case.profiles.iter().any(|profile| !profile.sockets.is_empty());
        may_send && policy.classify(&case.command).argv.is_some()
    });
    cases.truncate(wanted);
    assert!(cases.len() * 2 > wanted, "only {} of {wanted} commands may use the network", cases.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let network = Network::new();
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (argv, destinations) = ruled(&case.command);
                    let found = network.unnamed(&argv, &destinations, "logs/contact");
                    if !found.is_empty() {
                        let line =
                            format!("{}\n  named {destinations:?}\n  {}", case.command, found.join("\n  "));
                        wrong.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    cases.iter().for_each(|case| *programs.entry(&case.program).or_default() += 1);
    println!("{} commands of {} programs: {programs:?}", cases.len(), programs.len());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(programs.len() > 20, "too few programs for the run to mean anything");
}

/// Commands that go to a host which they do not name, and one such host.
const BROUGHT: [(&str, &str, &str); 7] = [
    ("traceroute", "traceroute -A -n -q 1 -m 2 -w 1 203.0.113.9", "whois.radb.net"),
    ("mtr", "mtr -rnz -c 1 -G 1 203.0.113.9", "origin.asn.cymru.com"),
    ("mtr", "mtr -rn -c 1 -G 1 --ipinfo 2 2001:db8::5", "origin6.asn.cymru.com"),
    ("dig", "dig +trace +time=1 +tries=1 a.example", "a.root-servers.net"),
    ("dig", "dig +dns64prefix +time=1 +tries=1", "ipv4only.arpa"),
    ("whois", "whois 203.0.113.9", "whois.apnic.net"),
    ("whois", "whois google.com", "whois.verisign-grs.com"),
];

#[test]
fn a_host_that_a_command_goes_to_unnamed_is_seen_and_stands_in_its_destinations() {
    let programs = BROUGHT.map(|(program, ..)| program);
    if let Some(reason) = lacking(&["strace", "unshare", "nsenter", "ip"]).or_else(|| lacking(&programs)) {
        println!("skipped: {reason}");
        return;
    }
    let network = Network::new();
    for (_, command, host) in BROUGHT {
        let (argv, destinations) = ruled(command);
        assert!(destinations.iter().any(|known| known == host), "{command}: {destinations:?}");
        assert_eq!(network.unnamed(&argv, &destinations, "logs/brought"), [""; 0], "{command}");
        // The control: without that host the same run is a violation.
        let others: Vec<String> = destinations.into_iter().filter(|known| known != host).collect();
        let found = network.unnamed(&argv, &others, "logs/brought");
        let seen = found.iter().any(|line| line.contains(host));
        assert!(seen, "{command} does not go to {host}: {found:?}");
    }
}

/// The reason why these options ask.
#[test]
fn what_asks_goes_to_hosts_that_only_an_answer_names() {
    let programs = ["host", "dig", "ping"];
    if let Some(reason) = lacking(&["strace", "unshare", "nsenter", "ip"]).or_else(|| lacking(&programs)) {
        println!("skipped: {reason}");
        return;
    }
    let network = Network::new();
    for (command, host) in [
        ("host -C a.example", "server.named.in.an.answer"),
        ("dig +nssearch a.example", "server.named.in.an.answer"),
        ("ping -c 1 -N subject-ipv6=b.example ::1", "b.example"),
    ] {
        let ruling = Policy::builtin().unwrap().classify(command);
        assert_eq!(ruling.verdict, Verdict::Risky, "{command}");
        let argv: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let found = network.unnamed(&argv, &["a.example".to_owned()], "logs/asks");
        assert!(found.iter().any(|line| line.contains(host)), "{command}: {found:?}");
    }
}
