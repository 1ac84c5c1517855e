//! Resets that somebody in between wrote.

use crate::analyze::Pass;
use crate::findings::filter::field;
use crate::findings::find::Found;
use crate::findings::finding::Severity;
use crate::findings::rule::Rule;
use crate::flow::reasons;
use crate::tcp::Reset;

/// Somebody else may have reset a connection.
pub(super) const RESET_FOREIGN: Rule = Rule {
    code: "tcp_reset_foreign",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections with a service were reset by a packet that is likely not its sender's: of 3 points, a time to \
           live 3 or more off gives 3 (less: 1), packets of the sender after it 3, a reset of the other end within a second 2, an \
           identification off the sender's counting 1, a number outside the window 1",
    vantage: "What does not fit its sender suggests a device in between; a reset that one wrote well looks real.",
};

/// Finds them, by service.
pub(super) fn find(found: &mut Found, pass: &Pass) {
    let mut worst: Vec<_> = pass.flows.services.iter().filter(|(_, service)| service.cut.flows > 0).collect();
    worst.sort_by_key(|(_, service)| std::cmp::Reverse(service.cut.flows));
    for (at, service) in worst {
        let Some(reset) = service.reset.filter(|_| RESET_FOREIGN.meets(service.cut.flows, 0)) else {
            continue;
        };
        let title = format!(
            "resets of {} with {at} are likely not of their sender: {}",
            super::open::connections(service.cut.flows),
            because(&reset)
        );
        let mut numbers = vec![("connections", service.cut.flows as f64)];
        numbers.extend(reasons(&reset));
        let (address, port) = (at.ip(), at.port());
        let filter =
            format!("tcp.flags.reset == 1 && {} == {address} && tcp.port == {port}", field(address, "addr"));
        found.add(&RESET_FOREIGN, title, &service.cut.frames, filter, &numbers);
    }
}

fn because(reset: &Reset) -> String {
    let mut reasons = Vec::new();
    if reset.hops_off().is_some_and(|off| off > 0) {
        reasons.push(format!("time to live {} instead of {}", reset.hops.1, reset.hops.0));
    }
    if reset.went_on > 0 {
        reasons.push("the sender went on afterwards".to_owned());
    }
    if reset.both() {
        reasons.push("both ends were reset at once".to_owned());
    }
    if let Some(off) = reset.id_off.filter(|off| *off > 256) {
        reasons.push(format!("its identification is {off} off"));
    }
    if reset.seq_off.is_some_and(|off| off != 0) && !reset.in_window {
        reasons.push("its number is outside the window".to_owned());
    }
    reasons.join(", ")
}
