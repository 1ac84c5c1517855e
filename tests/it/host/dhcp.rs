//! Addresses that are given away: what people say about them, and what the machines show over the lab's own ssh.

use std::path::Path;
use std::process::Command;

use ghost_lab::host::net::{FAULTS, Net, SshAccess, Topology};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::asked::{Ended, ghost, investigate};
use super::sshd::skipped;
use crate::random::{Random, seed};

/// A network with a DHCP server, and its machines by ssh.
struct Place {
    // Nobody is asked by ssh any more when the network goes.
    access: SshAccess,
    net: Net,
    home: TempDir,
}

impl Place {
    fn up() -> Self {
        let home = tempfile::tempdir().unwrap();
        let net =
            Net::up(Topology::Dhcp, Random::new(seed("machines that ask")).next(), home.path()).unwrap();
        let access = SshAccess::open(&net.machines(), home.path()).unwrap();
        Self { access, net, home }
    }

    fn inject(&mut self, name: &str) {
        self.net.inject(FAULTS.iter().find(|spec| spec.name == name).unwrap()).unwrap();
    }

    /// Asks about some machines.
    #[track_caller]
    fn ask(&self, symptom: &str, hosts: &[&str]) -> Ended {
        let (inventory, known) =
            (self.access.inventory().display().to_string(), self.access.known().display().to_string());
        let mut words = vec![symptom, "--inventory", &inventory, "--known-hosts", &known];
        words.extend(hosts.iter().flat_map(|host| ["--host", host]));
        Ended::read(investigate(ghost(), None, self.home.path(), &words))
    }
}

#[test]
fn a_machine_without_an_address_is_the_fault_of_the_server_that_is_gone() {
    if skipped() || crate::netns::skipped() {
        return;
    }
    let mut place = Place::up();
    let ended = place.ask("a has no IP after the reboot", &["a", "d"]);
    assert_eq!(ended.found(), [] as [String; 0], "{:#}", ended.concluded());
    assert_eq!(ended.machines(), ["a", "d"]);
    place.inject("dhcp_service_down");
    let server = place.net.fill("dhcp_server_down dhcp/{d}");
    for symptom in [
        "a has no IP after the reboot",
        "a only has a 169.254 address",
        "dhclient on a prints No DHCPOFFERS received.",
    ] {
        let ended = place.ask(symptom, &["a", "d"]);
        let concluded = ended.concluded();
        assert_eq!(ended.found(), [server.as_str()], "{symptom}: {concluded:#}");
        assert_eq!(concluded["outcome"], "CONFIRMED", "{symptom}: {concluded:#}");
        assert!(concluded["actions"][0].as_str().unwrap().starts_with("On d: "), "{concluded:#}");
    }
    // What one machine knows proves nothing of another.
    let ended = place.ask("a has no IP after the reboot", &["a"]);
    let concluded = ended.concluded();
    assert_eq!((ended.found(), &concluded["outcome"]), (vec![server], &json!("LIKELY")), "{concluded:#}");
}

#[test]
fn a_gateway_that_some_machines_get_comes_from_a_server_that_should_not_be_there() {
    if skipped() || crate::netns::skipped() {
        return;
    }
    let mut place = Place::up();
    place.inject("rogue_dhcp");
    let symptom =
        place.net.fill("since yesterday some laptops like a get the gateway {none} and reach nothing");
    let ended = place.ask(&symptom, &["a", "c", "d", "r"]);
    let expected = place.net.fill("dhcp_rogue dhcp/{c}");
    assert_eq!(ended.found(), [expected], "{:#}", ended.concluded());
}

/// What `ghost lab net up` offers is what a user takes: an inventory, and keys of machines that are known.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test runs programs")]
fn machines_of_a_network_are_read_by_ssh_and_nothing_is_left() {
    if skipped() || crate::netns::skipped() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let net = Net::up(Topology::Router, Random::new(seed("machines by ssh")).next(), home.path()).unwrap();
    let access = SshAccess::open(&net.machines(), home.path()).unwrap();
    let folder = access.inventory().parent().unwrap().to_owned();
    let read = |cut: bool| -> Value {
        let mut command = Command::new(ghost());
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", home.path());
        let kept = home.path().join("r.json");
        command.args(["host", "--host", "r", "--save"]).arg(&kept).arg("--inventory").arg(access.inventory());
        command.arg("--known-hosts").arg(access.known()).arg("--data-dir").arg(home.path().join("data"));
        let done = command.output().unwrap();
        assert!(done.status.success(), "{cut}: {}", String::from_utf8_lossy(&done.stderr));
        serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap()
    };
    let addresses =
        |document: &Value| document["hosts"]["r"]["addresses"]["text"].as_str().unwrap().to_owned();
    let well = read(false);
    assert!(addresses(&well).contains(&net.fill("{ra}")), "{well:#}");
    // Nothing of the machine's own network is needed, and nobody listens on it for that.
    assert!(!well["hosts"]["r"]["listeners"]["text"].as_str().unwrap().contains(":22 "), "{well:#}");
    let space = net.machines().into_iter().find(|(name, _)| name == "r").unwrap().1;
    for device in ["lo", "eth0", "eth1"] {
        let down = Command::new("ip").args(["-n", &space, "link", "set", device, "down"]).status();
        assert!(down.unwrap().success());
    }
    assert!(addresses(&read(true)).contains(&net.fill("{ra}")));
    drop(access);
    assert!(!Path::new(&folder).exists());
}
