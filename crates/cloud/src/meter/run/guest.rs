//! What guests run. Whatever stands in these texts beside fixed words is an address, a number or a session's name.

use std::net::Ipv4Addr;

use crate::meter::TestType;
use ghost_base::SessionId;

/// The port of qperf's server.
pub const QPERF_PORT: u16 = 19_765;
/// The port over which qperf measures; without the option it takes any.
pub const QPERF_DATA_PORT: u16 = 19_766;
/// The port of iperf's server.
pub const IPERF_PORT: u16 = 5_001;
/// How many streams carry at the same time.
const PARALLEL_STREAMS: u8 = 8;
/// The programs of which a server on our ports is ended.
pub(super) const MEASURING_PROGRAMS: [&str; 2] = ["qperf", "iperf"];

/// Returns the ports that a test needs.
pub(super) fn ports(test: TestType) -> Vec<u16> {
    let latency = test.latency().then_some([QPERF_PORT, QPERF_DATA_PORT]).into_iter().flatten();
    latency.chain(test.throughput().then_some(IPERF_PORT)).collect()
}

/// Puts the programs where they lack.
pub(super) fn install() -> String {
    "export DEBIAN_FRONTEND=noninteractive\n\
     { if command -v apt-get; then apt-get -q update; apt-get -q -y install qperf iperf\n\
     elif command -v dnf; then dnf -q -y install qperf iperf\n\
     elif command -v yum; then yum -q -y install qperf iperf\n\
     elif command -v zypper; then zypper -q -n install qperf iperf\n\
     else echo no package manager; false; fi; } > /tmp/ghost-meter-install 2>&1\n\
     code=$?; tail -n 15 /tmp/ghost-meter-install; rm -f /tmp/ghost-meter-install; echo \"ghost-meter end $code\""
        .to_owned()
}

/// Starts servers that end by themselves after so many seconds.
pub(super) fn start(session: &SessionId, test: TestType, lifetime: u32) -> String {
    let folder = format!("/tmp/ghost-meter-{session}");
    let server = |words: &str, log: &str| {
        format!("setsid timeout -s KILL {lifetime} {words} > {folder}/{log} 2>&1 < /dev/null &\n")
    };
    let mut text = format!(
        "umask 077; mkdir {folder} || {{ echo 'a run of this name was here already'; echo 'ghost-meter end 1'; exit; }}\n"
    );
    let mut up = Vec::new();
    if test.latency() {
        text.push_str(&server(&format!("qperf -lp {QPERF_PORT}"), "qperf.log"));
        up.push(QPERF_PORT);
    }
    if test.throughput() {
        text.push_str(&server(&format!("iperf -s -p {IPERF_PORT}"), "iperf.log"));
        up.push(IPERF_PORT);
    }
    let listens = up.iter().map(|port| format!("ss -Hltn | grep -q ':{port} '")).collect::<Vec<_>>();
    text.push_str(&format!(
        "code=1; for try in 1 2 3 4 5; do {} && {{ code=0; break; }}; sleep 1; done; echo \"ghost-meter end $code\"",
        listens.join(" && ")
    ));
    text
}

/// Measures latency once.
pub(super) fn latency(to: Ipv4Addr, seconds: u16, limit: u16) -> String {
    format!(
        "timeout -s KILL {limit} qperf {to} -lp {QPERF_PORT} -ip {QPERF_DATA_PORT} -m 1024 -t {seconds} tcp_lat 2>&1; echo \"ghost-meter end $?\""
    )
}

/// Measures throughput once; what counts is what the server has of it.
pub(super) fn throughput(to: Ipv4Addr, seconds: u16, limit: u16) -> String {
    format!(
        "timeout -s KILL {limit} iperf -c {to} -p {IPERF_PORT} -P {PARALLEL_STREAMS} -t {seconds} 2>&1; echo \"ghost-meter end $?\""
    )
}

/// Ends every server of qperf and iperf on our ports, and removes what ours wrote.
pub(super) fn stop(session: &SessionId) -> String {
    let ports = format!("{QPERF_PORT} {QPERF_DATA_PORT} {IPERF_PORT}");
    format!(
        "for port in {ports}; do\n\
         ss -Hltnp \"sport = :$port\" | grep -o -E '\"({})\",pid=[0-9]+' | sed 's/.*=//' | sort -u | while read -r pid; do kill -KILL $pid; done\n\
         done 2>/dev/null\n\
         rm -rf /tmp/ghost-meter-{session}; sleep 1; left=0\n\
         for port in {ports}; do if ss -Hltn | grep -q \":$port \"; then left=1; echo \"$port is still taken\"; fi; done\n\
         echo \"ghost-meter end $left\"",
        MEASURING_PROGRAMS.join("|")
    )
}

/// Takes the closing mark off what a script printed; `None` where it is not there, and so not all of it.
pub(super) fn ended(printed: &str) -> Option<(&str, i32)> {
    let (body, last) = printed.trim_end().rsplit_once("ghost-meter end ")?;
    let whole = body.is_empty() || body.ends_with('\n');
    let code = last.bytes().all(|byte| byte.is_ascii_digit()).then(|| last.parse().ok()).flatten()?;
    whole.then_some((body, code))
}
