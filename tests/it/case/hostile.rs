//! Files that nobody should write, and everybody will.

use ghost_lab::case::{CASES, Case, embedded};
use proptest::prelude::*;

const HEAD: &str = "id = \"x\"\ntitle = \"x\"\nprompt = \"x\"\noutcome = [\"CONFIRMED\"]\n";

#[track_caller]
fn refused(body: &str, line: usize, what: &str) {
    let problems = Case::read(&format!("{HEAD}{body}")).unwrap_err();
    let first = &problems.0[0];
    assert_eq!(first.line, Some(line), "{problems}");
    assert!(first.what.contains(what), "{problems}");
    assert!(!first.hint.is_empty());
}

#[test]
fn an_error_has_its_line_and_a_hint() {
    let route = "[[fault]]\nkind = \"route\"\ntable = \"t\"\nname = \"n\"\nprefix = \"10.0.1.5/32\"\nhop = \"None\"\nsubnet = \"v/s\"\n";
    assert!(Case::read(&format!("{HEAD}{route}")).is_ok());
    refused(&route.replace("hop = \"None\"", "hop = \"VirtualAppliance\""), 10, "address");
    refused(&route.replace("10.0.1.5/32", "10.0.1.5/33"), 9, "prefix");
    refused(&route.replace("prefix", "prefixes"), 9, "prefixes");
    refused(&route.replace("\"route\"", "\"detour\""), 6, "detour");
    refused(&route.replace("kind = \"route\"\n", ""), 5, "kind");
    refused(&route.replace("v/s", "s"), 11, "subnet");
    refused("[[fault]]\nkind = \"netem\"\nvm = \"a\"\nloss = 101.0\n", 8, "loss");
    refused("[[fault]]\nkind = \"netem\"\nvm = \"a\"\n", 5, "nothing is wrong");
    refused("[[fault]]\nkind = \"iptables\"\nvm = \"a\"\nport = \"80\"\n", 8, "port");
    refused("[[fault]]\nkind = \"iptables\"\nvm = \"a\"\nwords = \"-m x; reboot\"\n", 8, "words");
    refused("[[fault]]\nkind = \"iptables\"\nvm = \"a\"\nsource = \"2001:db8::1\"\n", 8, "source");
    refused("[[service]]\nvm = \"a\"\nport = 70000\n", 7, "70000");
    refused(
        "[[baseline]]\nkind = \"firewall\"\nid = \"../x\"\nvm = \"a\"\nage = \"1h\"\n",
        5,
        "name of a baseline",
    );
    refused("[[baseline]]\nkind = \"firewall\"\nid = \"x\"\nvm = \"a\"\nage = \"yesterday\"\n", 5, "age");
    refused(
        "[[baseline]]\nkind = \"firewall\"\nid = \"x\"\nvm = \"a\"\nage = \"1h\"\nafter = [\"y\"]\n",
        5,
        "no fault",
    );
    refused("[[seen]]\nshows = \"x\"\n", 5, "no place");
    refused("[[seen]]\nroutes = \"a\"\nshows = \"(\"\n", 5, "regular expression");
    refused("[[seen]]\nroutes = \"a\"\nrules = \"a\"\nshows = \"x\"\n", 5, "several places");
    refused("colour = 1\n", 5, "colour");
    refused("[[fault]\n", 5, "");
}

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let body = "[[fault]]\nkind = \"netem\"\nvm = \"a b\"\nloss = 101.0\n\n[[fault]]\nkind = \"rate_limit\"\nvm = \"a\"\nrate = \"fast\"\n";
    let problems = Case::read(&format!("{HEAD}{body}")).unwrap_err();
    let lines: Vec<Option<usize>> = problems.0.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(7), Some(8), Some(13)], "{problems}");
}

#[test]
fn phases_follow_each_other() {
    let phase = |number: &str| {
        format!("{HEAD}[phase.{number}]\nprompt = \"x\"\noutcome = [\"LIKELY\"]\nfixes = []\n")
    };
    assert_eq!(Case::read(&phase("2")).unwrap().phases.len(), 2);
    for number in ["1", "3", "two", "02"] {
        assert!(Case::read(&phase(number)).is_err(), "{number}");
    }
}

proptest! {
    /// No bytes make it panic.
    #[test]
    fn any_text_is_a_case_or_an_error(text in "\\PC{0,400}") {
        drop(Case::read(&text));
    }

    /// A case with a part cut out, or put in, is a case or an error.
    #[test]
    fn a_damaged_case_is_a_case_or_an_error(which in 0..CASES.len(), at in 0.0..1.0f64, length in 0..60usize, put in "[\\PC\n]{0,12}") {
        let text = CASES[which].1;
        let mut from = (text.len() as f64 * at) as usize;
        while !text.is_char_boundary(from) { from -= 1; }
        let mut to = (from + length).min(text.len());
        while !text.is_char_boundary(to) { to += 1; }
        drop(Case::read(&format!("{}{put}{}", &text[..from], &text[to..])));
    }

    /// A cut-off file is an error or a smaller case, wherever it is cut.
    #[test]
    fn a_cut_off_case_is_a_case_or_an_error(at in 0..2_000usize) {
        let text = embedded("j").unwrap();
        let mut end = at.min(text.len());
        while !text.is_char_boundary(end) { end -= 1; }
        drop(Case::read(&text[..end]));
    }
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let text = format!("{HEAD}notes = \"{}\"\n", "x".repeat(2 << 20));
    assert!(Case::read(&text).unwrap_err().to_string().contains("bytes"));
}
