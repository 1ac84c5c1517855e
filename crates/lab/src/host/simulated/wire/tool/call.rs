//! Which program answers to which name.

use super::{curl, dig, iperf, nc, ping, qperf, ssh, timeout, trace};
use crate::host::simulated::world::{ProgramResult, World};

/// Answers a command that asks the network; nothing where it is none of those.
///
/// `/dev/tcp HOST PORT` is what a shell does that opens such a file.
pub(in crate::host) fn call(
    world: &mut World,
    machine: &str,
    argv: &[String],
    input: &str,
) -> Option<ProgramResult> {
    let name = argv.first()?.as_str();
    if name == "/dev/tcp" {
        return Some(nc::file(world, machine, argv));
    }
    let answer = match name.rsplit('/').next().unwrap_or_default() {
        "timeout" => return timeout::timeout(world, machine, argv, input),
        "getent" => return dig::getent(world, machine, argv),
        "ssh" => return Some(ssh::ssh(world, machine, argv, input)),
        "arping" => ping::arping,
        "curl" => curl::curl,
        "dig" => dig::dig,
        "host" => dig::host,
        "iperf" => iperf::iperf,
        "nc" | "netcat" | "ncat" => nc::nc,
        "nslookup" => dig::nslookup,
        "ping" | "ping4" | "ping6" => ping::ping,
        "qperf" => qperf::qperf,
        "tracepath" => trace::tracepath,
        "traceroute" => trace::traceroute,
        _ => return None,
    };
    Some(answer(world, machine, argv))
}
