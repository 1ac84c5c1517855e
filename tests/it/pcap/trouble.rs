//! The scenarios themselves: one kind of trouble each.

use super::spoken::{ACK, Client, FIN, RST, SYN, Scenario, Server};

/// SYNs at 0, 1, 3 and 7 seconds, in so many connections.
pub(super) fn unanswered(connections: u16) -> Scenario {
    let mut scenario = Scenario::new();
    for port in 0..connections {
        scenario.port = 40_000 + port;
        for pause in [0, 1000, 2000, 4000] {
            scenario.say(Client, pause, SYN, (1000, 0, 0));
        }
    }
    // What is asked last has waited for an answer, too.
    scenario.now += 5_000_000;
    scenario.port = 50_000;
    scenario.open();
    scenario
}

/// A SYN that a router sends back with this error; so much of its header is quoted.
pub(super) fn rejected(mut scenario: Scenario, error: (u8, u8), quoted: usize) -> Scenario {
    scenario.say(Client, 0, SYN, (1000, 0, 0));
    scenario.error(0, error, 0, quoted);
    scenario
}

pub(super) fn refused() -> Scenario {
    let mut scenario = Scenario::new();
    for port in 0..3 {
        scenario.port = 40_000 + port;
        scenario.say(Client, 5, SYN, (1000, 0, 0));
        scenario.say(Server, 10, RST | ACK, (0, 1001, 0));
    }
    scenario
}

/// The service answers, and whoever asked never hears it.
pub(super) fn unheard() -> Scenario {
    let mut scenario = Scenario::new();
    for pause in [0, 1000, 2000, 4000] {
        scenario.say(Client, pause, SYN, (1000, 0, 0));
        scenario.say(Server, 1, SYN | ACK, (5000, 1001, 0));
    }
    scenario
}

/// The server's window is closed for 1.4 seconds; the client asks without a byte, one number back.
pub(super) fn closed() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 1460));
    scenario.win = 0;
    scenario.say(Server, 10, ACK, (5001, 2461, 0));
    for pause in [200, 400, 800] {
        scenario.win = 60_000;
        scenario.say(Client, pause, ACK, (2460, 5001, 0));
        scenario.win = if pause == 800 { 60_000 } else { 0 };
        scenario.say(Server, 10, ACK, (5001, 2461, 0));
    }
    scenario.win = 60_000;
    scenario.say(Client, 1, ACK, (2461, 5001, 1460));
    scenario.say(Server, 10, ACK, (5001, 3921, 0));
    scenario
}

/// The server is gone: the client repeats a segment after pauses that double, and gives up.
pub(super) fn gone() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 1460));
    scenario.say(Server, 10, ACK, (5001, 2461, 0));
    scenario.say(Client, 1, ACK, (2461, 5001, 900));
    for pause in [200, 400, 800, 1600, 3200] {
        scenario.say(Client, pause, ACK, (2461, 5001, 900));
    }
    scenario.say(Client, 6400, RST, (3361, 0, 0));
    scenario
}

/// The client's FIN overtakes what it acknowledged before: behind it, that has the look of keep-alives.
pub(super) fn overtaken() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    for at in 0..8 {
        scenario.say(Server, 1, ACK, (5001 + at * 1460, 1001, 1460));
    }
    scenario.say(Server, 1, FIN | ACK, (5001 + 8 * 1460, 1001, 0));
    scenario.say(Client, 10, FIN | ACK, (1001, 5002 + 8 * 1460, 0));
    for at in 1..=8 {
        scenario.say(Client, 1, ACK, (1001, 5001 + at * 1460, 0));
    }
    scenario
}

/// The server is alive, and repeats a segment that is lost behind this point.
pub(super) fn backoff() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 100));
    scenario.say(Server, 10, ACK, (5001, 1101, 900));
    for pause in [200, 400, 800, 1600] {
        scenario.say(Server, pause, ACK, (5001, 1101, 900));
    }
    scenario.say(Client, 10, ACK, (1101, 5901, 0));
    scenario.close(100, 900);
    scenario
}

/// Segments of 1,460 bytes never arrive, while the client's keep-alives are answered; a router may say why.
pub(super) fn too_large(says: bool) -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 300));
    scenario.say(Server, 10, ACK, (5001, 1301, 200));
    scenario.say(Client, 1, ACK, (1301, 5201, 0));
    let large = scenario.frames.len();
    scenario.say(Server, 5, ACK, (5201, 1301, 1460));
    if says {
        scenario.error(large, (3, 4), 1400, 8);
    }
    for pause in [200, 400, 800, 1600] {
        scenario.say(Server, pause, ACK, (5201, 1301, 1460));
        if !says {
            scenario.say(Client, 10, ACK, (1300, 5201, 0));
            scenario.say(Server, 1, ACK, (6661, 1301, 0));
        }
    }
    scenario
}

/// Somebody nearer resets both ends; the server goes on.
pub(super) fn injected() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 300));
    scenario.hops = 62;
    scenario.say(Server, 1, RST, (5001, 0, 0));
    scenario.hops = 57;
    scenario.say(Server, 10, ACK, (5001, 1301, 500));
    scenario.say(Client, 1, RST, (1301, 0, 0));
    scenario
}

/// The server's own reset.
pub(super) fn reset() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 300));
    scenario.say(Server, 10, ACK, (5001, 1301, 500));
    scenario.say(Server, 10, RST | ACK, (5501, 1301, 0));
    scenario
}

/// Everything twice: the other copy has one hop less, as on the other side of a router, and perhaps a VLAN.
pub(super) fn twice(scenario: &Scenario, vlan: bool) -> Scenario {
    let mut doubled = scenario.clone();
    doubled.frames.clear();
    for (time, frame) in &scenario.frames {
        doubled.frames.push((*time, frame.clone()));
        let mut copy = frame.clone();
        *copy.get_mut(22).unwrap() -= 1;
        if vlan {
            copy.splice(12..12, [0x81, 0, 0, 20]);
        }
        doubled.frames.push((time + 8, copy));
    }
    doubled
}

/// Of the server's segments one is lost before this point, one behind it, and one is not captured.
pub(super) fn lost() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 300));
    let mut seq = 5001;
    // Before: the second one never comes here, and is sent again.
    scenario.say(Server, 10, ACK, (seq, 1301, 1000));
    scenario.say(Server, 1, ACK, (seq + 2000, 1301, 1000));
    for _ in 0..3 {
        scenario.say(Client, 1, ACK, (1301, seq + 1000, 0));
    }
    scenario.say(Server, 30, ACK, (seq + 1000, 1301, 1000));
    seq += 3000;
    scenario.say(Client, 1, ACK, (1301, seq, 0));
    // Behind: it comes here twice.
    scenario.say(Server, 10, ACK, (seq, 1301, 1000));
    scenario.say(Server, 250, ACK, (seq, 1301, 1000));
    seq += 1000;
    scenario.say(Client, 1, ACK, (1301, seq, 0));
    // Three are not captured, and the client has them.
    for _ in 0..3 {
        scenario.say(Server, 10, ACK, (seq, 1301, 500));
        scenario.miss();
        scenario.say(Server, 1, ACK, (seq + 500, 1301, 1000));
        seq += 1500;
        scenario.say(Client, 1, ACK, (1301, seq, 0));
    }
    scenario.close(300, seq - 5001);
    scenario
}

/// A window of two segments, always full.
pub(super) fn narrow() -> Scenario {
    let mut scenario = Scenario::new();
    scenario.open();
    scenario.say(Client, 1, ACK, (1001, 5001, 300));
    scenario.win = 2920;
    scenario.say(Client, 1, ACK, (1301, 5001, 0));
    for turn in 0..30 {
        let seq = 5001 + turn * 2920;
        scenario.win = 60_000;
        scenario.say(Server, 1, ACK, (seq, 1301, 1460));
        scenario.say(Server, 1, ACK, (seq + 1460, 1301, 1460));
        scenario.win = 2920;
        scenario.say(Client, 60, ACK, (1301, seq + 2920, 0));
    }
    scenario
}

/// Only what clients send; the last one's SYN may have been answered as well.
pub(super) fn one_direction() -> Scenario {
    let mut scenario = Scenario::healthy();
    for pause in [0, 1000, 2000] {
        scenario.port = 50_000;
        scenario.say(Client, pause, SYN, (1000, 0, 0));
    }
    // The last byte of the client's address.
    scenario.frames.retain(|(_, frame)| frame.get(29) == Some(&1));
    scenario.now += 10_000_000;
    scenario
}
