//! DHCP inside of machines: dnsmasq gives addresses away, dhclient asks for one; both keep their files below the network's folder.

use std::fmt::Write as _;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use super::daemon::{Daemon, settled, wrong};
use crate::host::exec::ProcessRequest;
use crate::host::netns::{Namespace, failed, must};
use crate::host::port::HostError;

/// What dhclient runs in the place of the machine's own script, which would change the machine's `/etc/resolv.conf`.
const SCRIPT: &str = include_str!("lease.sh");
/// It asks every second. After it gave up it does not ask again while the network stands.
const CLIENT: &str = "retry 600;\nreboot 1;\nselect-timeout 0;\ninitial-interval 1;\nbackoff-cutoff 1;\n\
    request subnet-mask, broadcast-address, routers, domain-name-servers;\n";
/// How long a client may take to get an address, or to give up.
const LIMIT: Duration = Duration::from_secs(60);
/// A lease of somebody who is not here ends in the year 2100.
const FAR: &str = "4102444800";

/// What becomes of a client that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// It gets an address.
    Served,
    /// Nobody offers one.
    InVain,
}

impl Asking {
    /// What dhclient says then.
    const fn words(self) -> &'static str {
        match self {
            Self::Served => "bound to ",
            Self::InVain => "No working leases",
        }
    }

    /// How many seconds it asks. A busy machine answers late; where nobody answers there is nothing to wait for.
    const fn seconds(self) -> u64 {
        match self {
            Self::Served => LIMIT.as_secs(),
            Self::InVain => 4,
        }
    }
}

/// Serves addresses from the first to the last one. Words behind them: `router=IP`, `dns=IP`, `mask=MASK`, `taken=FIRST-LAST` for leases
/// that somebody else has, `late` for a server that answers after others.
pub(super) fn serve(
    space: &Namespace,
    folder: &Path,
    first: &str,
    last: &str,
    words: &[&str],
) -> Result<Daemon, HostError> {
    let at = folder.display();
    // Whoever asks first gets the first address: after a reset everything is as before.
    let mut text = format!(
        "port=0\nno-ping\ndhcp-sequential-ip\ndhcp-authoritative\nuser=root\nlog-facility={at}/dhcp.log\n\
         dhcp-leasefile={at}/dhcp.leases\ndhcp-range={first},{last},30m\n"
    );
    let mut leases = String::new();
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("router", ip) => drop(writeln!(text, "dhcp-option=3,{ip}")),
            ("dns", ip) => drop(writeln!(text, "dhcp-option=6,{ip}")),
            ("mask", mask) => drop(writeln!(text, "dhcp-option=1,{mask}")),
            ("late", "") => text.push_str("dhcp-reply-delay=1\n"),
            ("taken", range) => leases.push_str(&taken(range)?),
            _ => return Err(wrong(&format!("`{word}` is nothing that a DHCP server is asked for"))),
        }
    }
    let config = folder.join("dhcp.conf");
    for (path, text) in [(&config, &text), (&folder.join("dhcp.leases"), &leases)] {
        fs::write(path, text).map_err(|error| failed("a file of a DHCP server", error))?;
    }
    let config = format!("--conf-file={}", config.display());
    let words = ["--keep-in-foreground", &config, "--pid-file="];
    let running = ProcessRequest::own("dnsmasq", &words)?.within(space).start(None)?;
    settled(space, ":67 ", 1)?;
    Ok(Daemon::Program(running))
}

/// Writes leases of machines that are not here.
fn taken(range: &str) -> Result<String, HostError> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let ends = (first.parse::<Ipv4Addr>(), last.parse::<Ipv4Addr>());
    let (Ok(first), Ok(last)) = ends else { return Err(wrong(&format!("`{range}` is no range"))) };
    let lines = (u32::from(first)..=u32::from(last)).enumerate();
    Ok(lines.map(|(at, ip)| format!("{FAR} 02:00:00:00:67:{at:02x} {} * *\n", Ipv4Addr::from(ip))).collect())
}

/// Asks for an address on a device, and waits for what becomes of it.
pub(super) fn ask(
    space: &Namespace,
    folder: &Path,
    etc: &Path,
    device: &str,
    asking: Asking,
) -> Result<Daemon, HostError> {
    let [script, config, leases, number] =
        ["lease.sh", "dhclient.conf", &format!("{device}.leases"), &format!("{device}.pid")]
            .map(|name| folder.join(name));
    let client = format!("timeout {};\n{CLIENT}", asking.seconds());
    for (path, text) in [(&script, SCRIPT), (&config, &client)] {
        fs::write(path, text).map_err(|error| failed("a file of dhclient", error))?;
    }
    let executable = fs::Permissions::from_mode(0o700);
    fs::set_permissions(&script, executable).map_err(|error| failed("the script of dhclient", error))?;
    // As after a boot: nothing is left but the file.
    let flush = ProcessRequest::own("ip", &["-4", "addr", "flush", "dev", device])?.within(space);
    must("an address", flush)?;
    let resolver = format!("resolver={}", etc.join("resolv.conf").display());
    let [script, config, leases, number] =
        [script, config, leases, number].map(|path| path.display().to_string());
    let words = [
        "-4", "-d", "-v", "-e", &resolver, "-sf", &script, "-cf", &config, "-lf", &leases, "-pf", &number,
        device,
    ];
    let mut running = ProcessRequest::own("dhclient", &words)?.within(space).start(None)?;
    match running.says(asking.words(), LIMIT) {
        true => Ok(Daemon::Client(running)),
        false => Err(wrong(&format!("dhclient does not say `{}`", asking.words()))),
    }
}

/// Removes what a client knows of earlier leases: a machine that was never here.
pub(super) fn forget(folder: &Path, device: &str) {
    // What is not there needs no removing.
    drop(fs::remove_file(folder.join(format!("{device}.leases"))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_of_others_are_written_one_by_one() {
        let text = taken("10.0.0.1-10.0.0.3").unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.starts_with("4102444800 02:00:00:00:67:00 10.0.0.1 * *\n"), "{text}");
        assert!(taken("10.0.0.1-x").is_err());
    }
}
