//! What to do next about a finding. A table: what is known of a code stands here and nowhere else.

use super::escape::filtered;
use crate::findings::Finding;

/// What to do about findings of a code.
pub(super) struct NextStep {
    /// The code, or the beginning of several and `*`.
    of: &'static str,
    /// Commands that show it; `FILE` and `FILTER` are filled in.
    show: &'static [&'static str],
    /// Where to look or to capture then.
    then: &'static str,
}

/// What shows any finding.
const SHOW_FRAMES: &str = "tshark -r FILE -Y FILTER";

const CAPTURE_OTHER_END: &str = "capture at the other end at the same time and run `ghost pcap compare HERE THERE --mode endpoints`: it says which side of the path loses";

/// The longest beginning that fits is taken.
const NEXT_STEPS: [NextStep; 41] = [
    NextStep {
        of: "*",
        show: &[SHOW_FRAMES],
        then: "look at the frames, then capture at the other end to see whether it is the same there",
    },
    NextStep {
        of: "syn_unanswered",
        show: &[SHOW_FRAMES],
        then: "ask `ghost nsg` and `ghost route` whether the SYN may pass; then capture at the service: if it arrives there, look at that host's filter and listen queue, if not, at the path",
    },
    NextStep {
        of: "syn_ack_unanswered",
        show: &[SHOW_FRAMES],
        then: "the return path is broken or asymmetric: ask `ghost route` at the client's side, and capture at the client to see whether the SYN-ACK arrives",
    },
    NextStep {
        of: "tcp_refused",
        show: &[SHOW_FRAMES],
        then: "on the service's host see whether the port is listened on (`ss -ltn`); if it is, capture there to see whether that host sent the RST",
    },
    NextStep {
        of: "tcp_reset_foreign",
        show: &[
            SHOW_FRAMES,
            "tshark -r FILE -Y 'tcp.flags.reset == 1' -T fields -e frame.number -e ip.src -e ip.ttl -e ip.id",
        ],
        then: "capture at the end that the RST claims to come from: if it is not among the packets sent there, a device in between wrote it",
    },
    NextStep {
        of: "tcp_retransmission",
        show: &[
            "ghost pcap analyze FILE --frames retransmission",
            "tshark -r FILE -q -z io,stat,1,tcp.analysis.retransmission",
        ],
        then: CAPTURE_OTHER_END,
    },
    NextStep {
        of: "tcp_needless_retransmission",
        show: &["ghost pcap analyze FILE --frames spurious_retransmission"],
        then: "the data arrived and the sender did not learn it in time: look for lost or delayed acknowledgments on the return path",
    },
    NextStep { of: "tcp_rto_backoff", show: &[SHOW_FRAMES], then: CAPTURE_OTHER_END },
    NextStep {
        of: "tcp_large_lost",
        show: &[SHOW_FRAMES],
        then: "try `ping -M do -s 1472` along the path to find the largest packet that passes, and see who drops ICMP type 3 code 4",
    },
    NextStep {
        of: "tcp_zero_window",
        show: &["ghost pcap analyze FILE --frames zero_window", SHOW_FRAMES],
        then: "look at the process on the end that announces the window (`ss -tmi`, CPU, what it waits for); more bandwidth does not help",
    },
    NextStep {
        of: "tcp_window_limited",
        show: &[SHOW_FRAMES],
        then: "see the socket buffers on the receiver (`ss -tmi`, `sysctl net.ipv4.tcp_rmem`): the window is smaller than the path holds",
    },
    NextStep {
        of: "tcp_peer_gone",
        show: &[SHOW_FRAMES],
        then: "see whether the other host or a stateful device between (idle timeout) forgot the connection: capture at the other end",
    },
    NextStep {
        of: "tcp_gaps",
        show: &["ghost pcap analyze FILE --frames lost_segment"],
        then: "capture once more with a larger buffer (`tcpdump -B 65536`) and a short snap length: gaps that stay were lost on the path to here",
    },
    NextStep {
        of: "tcp_mirrored",
        show: &[SHOW_FRAMES],
        then: "capture on one interface alone, or mirror one direction only: copies are no retransmissions",
    },
    NextStep {
        of: "tcp_filtered",
        show: &[SHOW_FRAMES],
        then: "ask the owner of the device that answered with ICMP for its rule",
    },
    NextStep { of: "tcp_*", show: &[SHOW_FRAMES], then: CAPTURE_OTHER_END },
    NextStep {
        of: "dns_unanswered",
        show: &[SHOW_FRAMES],
        then: "ask the server from this host (`dig @SERVER NAME +tries=1`), then capture at the server on port 53: it shows whether the question arrives",
    },
    NextStep {
        of: "dns_failure",
        show: &[SHOW_FRAMES],
        then: "read the server's log for these names; `dig +trace NAME` shows which server fails",
    },
    NextStep {
        of: "dns_nxdomain",
        show: &[SHOW_FRAMES],
        then: "see on the asking host which process asks, and its search list (`/etc/resolv.conf`)",
    },
    NextStep {
        of: "dns_slow",
        show: &["tshark -r FILE -Y 'dns.time > 0.2'"],
        then: "ask the server twice for the same name (`dig @SERVER NAME`): if the second answer is quick, the servers behind it are slow",
    },
    NextStep {
        of: "dns_truncated",
        show: &[SHOW_FRAMES],
        then: "see whether TCP to port 53 of the server is open (`dig +tcp @SERVER NAME`): what does not fit is asked for there",
    },
    NextStep {
        of: "dns_reflection",
        show: &[SHOW_FRAMES],
        then: "see whether the addresses that ask are real: forged ones are answered at their owners' cost; limit the server's answers",
    },
    NextStep {
        of: "address_*",
        show: &[SHOW_FRAMES],
        then: "find the switch port of each hardware address, and see whether the address was moved on purpose",
    },
    NextStep {
        of: "dns_*",
        show: &[SHOW_FRAMES],
        then: "see on the asking host which process asks for these names",
    },
    NextStep {
        of: "icmp_unreachable",
        show: &[SHOW_FRAMES],
        then: "ask the sender of the errors why: `ghost route` for a network or host code, `ghost netfilter` for a prohibited one, `ss -lun` for a port",
    },
    NextStep {
        of: "icmp_redirect",
        show: &[SHOW_FRAMES],
        then: "see the route of the host that is redirected (`ip route get DESTINATION`): its gateway is not the nearest",
    },
    NextStep {
        of: "pmtu_blackhole",
        show: &[SHOW_FRAMES],
        then: "capture at the sender: it shows whether the ICMP errors arrive; if they do not, let type 3 code 4 (ICMPv6 type 2) pass, or clamp the MSS",
    },
    NextStep {
        of: "path_mtu",
        show: &[SHOW_FRAMES],
        then: "nothing, as long as the sender obeys: its next packets show",
    },
    NextStep {
        of: "*_loop",
        show: &[SHOW_FRAMES],
        then: "run `traceroute -n` to the destination and compare the routes of the routers that repeat (`ghost route`)",
    },
    NextStep {
        of: "arp_conflict",
        show: &[SHOW_FRAMES],
        then: "find the switch port of each hardware address (its table of addresses), and unplug the one that is wrong",
    },
    NextStep {
        of: "arp_unanswered",
        show: &[SHOW_FRAMES],
        then: "see whether the host is up and in this network (address, mask, VLAN); capture at its port if it is",
    },
    NextStep {
        of: "arp_*",
        show: &[SHOW_FRAMES],
        then: "see whether the address was moved on purpose (failover, a new machine)",
    },
    NextStep {
        of: "*_storm",
        show: &[SHOW_FRAMES],
        then: "find the port it comes from by its hardware address, and look for a loop of cables or bridges",
    },
    NextStep {
        of: "fragments_*",
        show: &[SHOW_FRAMES],
        then: "lower the MTU or the size at the sender; see which device drops fragments by capturing behind it",
    },
    NextStep {
        of: "ping_*",
        show: &[SHOW_FRAMES],
        then: "run `mtr -n` to the target while capturing at it: the side that misses packets has the loss",
    },
    NextStep {
        of: "tls_*",
        show: &[SHOW_FRAMES],
        then: "try `openssl s_client -connect HOST:PORT -servername NAME` from this host, and read the server's log at that time",
    },
    NextStep { of: "http_unanswered", show: &[SHOW_FRAMES], then: CAPTURE_OTHER_END },
    NextStep {
        of: "http_*",
        show: &[SHOW_FRAMES],
        then: "read the server's log at these times; the network has delivered question and answer",
    },
    NextStep {
        of: "dhcp*",
        show: &[SHOW_FRAMES],
        then: "capture on the server's side of the relay; see its pool and its log",
    },
    NextStep {
        of: "ntp_*",
        show: &[SHOW_FRAMES],
        then: "ask the server by hand (`ntpdate -q SERVER` or `chronyc sources`)",
    },
    NextStep { of: "*_unanswered", show: &[SHOW_FRAMES], then: CAPTURE_OTHER_END },
];

/// Returns what to do about a code.
pub(super) fn step(code: &str) -> &'static NextStep {
    let [any, ..] = &NEXT_STEPS;
    let fits = |step: &&NextStep| match (step.of.strip_suffix('*'), step.of.strip_prefix('*')) {
        (Some(begin), _) => code.starts_with(begin),
        (_, Some(end)) => code.ends_with(end),
        (None, None) => code == step.of,
    };
    // The whole name comes before its beginning, and that before its end.
    let rank = |step: &&NextStep| (!step.of.contains('*'), !step.of.starts_with('*'), step.of.len());
    NEXT_STEPS.iter().filter(fits).max_by_key(rank).unwrap_or(any)
}

impl NextStep {
    /// Returns where to look or to capture then.
    pub(super) fn then(&self) -> &'static str {
        self.then
    }

    /// Returns the commands for a finding of a file.
    pub(super) fn commands(&self, finding: &Finding, file: &str) -> impl Iterator<Item = String> {
        let (file, filter) = (named(file), quoted(&filtered(&finding.evidence.filter)));
        self.show.iter().map(move |command| command.replace("FILE", &file).replace("FILTER", &filter))
    }
}

/// Returns a file's name for a shell, or a word in its place where it would need more than quotes.
fn named(file: &str) -> String {
    let plain =
        |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | '+' | '=' | ',');
    let simple =
        !file.is_empty() && !file.starts_with('-') && file.chars().all(|char| plain(char) || char == ' ');
    match (simple, file.contains(' ')) {
        (true, true) => format!("'{file}'"),
        (true, false) => file.to_owned(),
        (false, _) => "CAPTURE".to_owned(),
    }
}

fn quoted(filter: &str) -> String {
    format!("'{}'", filter.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Evidence, Severity, rules};

    #[test]
    fn each_rule_has_a_step_of_its_own_or_of_its_family() {
        let without: Vec<&str> = rules().map(|rule| rule.code).filter(|code| step(code).of == "*").collect();
        assert_eq!(without, [""; 0]);
    }

    #[test]
    fn the_closest_step_is_taken() {
        assert_eq!(step("tcp_retransmission").of, "tcp_retransmission");
        assert_eq!(step("tcp_something_new").of, "tcp_*");
        assert_eq!(step("dhcpv6_unanswered").of, "dhcp*");
        assert_eq!(step("udp_unanswered").of, "*_unanswered");
        assert_eq!(step("broadcast_storm").of, "*_storm");
        assert_eq!(step("something_new").of, "*");
    }

    #[test]
    fn a_command_can_be_pasted_whatever_the_names_are() {
        let evidence =
            Evidence { frames: vec![1], filter: "dns.qry.name == \"it's`\"".to_owned(), numbers: [].into() };
        let title = String::new();
        let finding = Finding { code: "dns_x", severity: Severity::Info, title, evidence, vantage: "" };
        let made = |file: &str| step("dns_x").commands(&finding, file).next().unwrap();
        assert_eq!(made("a.pcap"), "tshark -r a.pcap -Y 'dns.qry.name == \"it'\\''s\\x60\"'");
        assert!(made("my capture.pcap").starts_with("tshark -r 'my capture.pcap' -Y"));
        assert!(made("$(reboot).pcap").starts_with("tshark -r CAPTURE -Y"));
        assert!(made("-rf").starts_with("tshark -r CAPTURE -Y"));
    }
}
