//! The stories themselves: one kind of trouble each.

use super::spoken::{ACK, Client, FIN, RST, SYN, Server, Story};

/// SYNs at 0, 1, 3 and 7 seconds, in so many connections.
pub(super) fn unanswered(connections: u16) -> Story {
    let mut story = Story::new();
    for port in 0..connections {
        story.port = 40_000 + port;
        for pause in [0, 1000, 2000, 4000] {
            story.say(Client, pause, SYN, (1000, 0, 0));
        }
    }
    // What is asked last has waited for an answer, too.
    story.now += 5_000_000;
    story.port = 50_000;
    story.open();
    story
}

/// A SYN that a router sends back with this error; so much of its header is quoted.
pub(super) fn barred(mut story: Story, error: (u8, u8), quoted: usize) -> Story {
    story.say(Client, 0, SYN, (1000, 0, 0));
    story.error(0, error, 0, quoted);
    story
}

pub(super) fn refused() -> Story {
    let mut story = Story::new();
    for port in 0..3 {
        story.port = 40_000 + port;
        story.say(Client, 5, SYN, (1000, 0, 0));
        story.say(Server, 10, RST | ACK, (0, 1001, 0));
    }
    story
}

/// The service answers, and whoever asked never hears it.
pub(super) fn unheard() -> Story {
    let mut story = Story::new();
    for pause in [0, 1000, 2000, 4000] {
        story.say(Client, pause, SYN, (1000, 0, 0));
        story.say(Server, 1, SYN | ACK, (5000, 1001, 0));
    }
    story
}

/// The server's window is closed for 1.4 seconds; the client asks without a byte, one number back.
pub(super) fn closed() -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 1460));
    story.win = 0;
    story.say(Server, 10, ACK, (5001, 2461, 0));
    for pause in [200, 400, 800] {
        story.win = 60_000;
        story.say(Client, pause, ACK, (2460, 5001, 0));
        story.win = if pause == 800 { 60_000 } else { 0 };
        story.say(Server, 10, ACK, (5001, 2461, 0));
    }
    story.win = 60_000;
    story.say(Client, 1, ACK, (2461, 5001, 1460));
    story.say(Server, 10, ACK, (5001, 3921, 0));
    story
}

/// The server is gone: the client repeats a segment after pauses that double, and gives up.
pub(super) fn gone() -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 1460));
    story.say(Server, 10, ACK, (5001, 2461, 0));
    story.say(Client, 1, ACK, (2461, 5001, 900));
    for pause in [200, 400, 800, 1600, 3200] {
        story.say(Client, pause, ACK, (2461, 5001, 900));
    }
    story.say(Client, 6400, RST, (3361, 0, 0));
    story
}

/// The client's FIN overtakes what it acknowledged before: behind it, that has the look of keep-alives.
pub(super) fn overtaken() -> Story {
    let mut story = Story::new();
    story.open();
    for at in 0..8 {
        story.say(Server, 1, ACK, (5001 + at * 1460, 1001, 1460));
    }
    story.say(Server, 1, FIN | ACK, (5001 + 8 * 1460, 1001, 0));
    story.say(Client, 10, FIN | ACK, (1001, 5002 + 8 * 1460, 0));
    for at in 1..=8 {
        story.say(Client, 1, ACK, (1001, 5001 + at * 1460, 0));
    }
    story
}

/// The server is alive, and repeats a segment that is lost behind this point.
pub(super) fn backoff() -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 100));
    story.say(Server, 10, ACK, (5001, 1101, 900));
    for pause in [200, 400, 800, 1600] {
        story.say(Server, pause, ACK, (5001, 1101, 900));
    }
    story.say(Client, 10, ACK, (1101, 5901, 0));
    story.close(100, 900);
    story
}

/// Segments of 1,460 bytes never arrive, while the client's keep-alives are answered; a router may say why.
pub(super) fn too_large(says: bool) -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 300));
    story.say(Server, 10, ACK, (5001, 1301, 200));
    story.say(Client, 1, ACK, (1301, 5201, 0));
    let large = story.frames.len();
    story.say(Server, 5, ACK, (5201, 1301, 1460));
    if says {
        story.error(large, (3, 4), 1400, 8);
    }
    for pause in [200, 400, 800, 1600] {
        story.say(Server, pause, ACK, (5201, 1301, 1460));
        if !says {
            story.say(Client, 10, ACK, (1300, 5201, 0));
            story.say(Server, 1, ACK, (6661, 1301, 0));
        }
    }
    story
}

/// Somebody nearer resets both ends; the server goes on.
pub(super) fn injected() -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 300));
    story.hops = 62;
    story.say(Server, 1, RST, (5001, 0, 0));
    story.hops = 57;
    story.say(Server, 10, ACK, (5001, 1301, 500));
    story.say(Client, 1, RST, (1301, 0, 0));
    story
}

/// The server's own reset.
pub(super) fn reset() -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 300));
    story.say(Server, 10, ACK, (5001, 1301, 500));
    story.say(Server, 10, RST | ACK, (5501, 1301, 0));
    story
}

/// Everything twice: the other copy has one hop less, as on the other side of a router, and perhaps a VLAN.
pub(super) fn twice(story: &Story, vlan: bool) -> Story {
    let mut doubled = story.clone();
    doubled.frames.clear();
    for (time, frame) in &story.frames {
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
pub(super) fn lost() -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 300));
    let mut seq = 5001;
    // Before: the second one never comes here, and is sent again.
    story.say(Server, 10, ACK, (seq, 1301, 1000));
    story.say(Server, 1, ACK, (seq + 2000, 1301, 1000));
    for _ in 0..3 {
        story.say(Client, 1, ACK, (1301, seq + 1000, 0));
    }
    story.say(Server, 30, ACK, (seq + 1000, 1301, 1000));
    seq += 3000;
    story.say(Client, 1, ACK, (1301, seq, 0));
    // Behind: it comes here twice.
    story.say(Server, 10, ACK, (seq, 1301, 1000));
    story.say(Server, 250, ACK, (seq, 1301, 1000));
    seq += 1000;
    story.say(Client, 1, ACK, (1301, seq, 0));
    // Three are not captured, and the client has them.
    for _ in 0..3 {
        story.say(Server, 10, ACK, (seq, 1301, 500));
        story.miss();
        story.say(Server, 1, ACK, (seq + 500, 1301, 1000));
        seq += 1500;
        story.say(Client, 1, ACK, (1301, seq, 0));
    }
    story.close(300, seq - 5001);
    story
}

/// A window of two segments, always full.
pub(super) fn narrow() -> Story {
    let mut story = Story::new();
    story.open();
    story.say(Client, 1, ACK, (1001, 5001, 300));
    story.win = 2920;
    story.say(Client, 1, ACK, (1301, 5001, 0));
    for turn in 0..30 {
        let seq = 5001 + turn * 2920;
        story.win = 60_000;
        story.say(Server, 1, ACK, (seq, 1301, 1460));
        story.say(Server, 1, ACK, (seq + 1460, 1301, 1460));
        story.win = 2920;
        story.say(Client, 60, ACK, (1301, seq + 2920, 0));
    }
    story
}

/// Only what clients send; the last one's SYN may have been answered as well.
pub(super) fn one_direction() -> Story {
    let mut story = Story::healthy();
    for pause in [0, 1000, 2000] {
        story.port = 50_000;
        story.say(Client, pause, SYN, (1000, 0, 0));
    }
    // The last byte of the client's address.
    story.frames.retain(|(_, frame)| frame.get(29) == Some(&1));
    story.now += 10_000_000;
    story
}
