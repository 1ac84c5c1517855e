//! What people say about a fault: what they see, never what it is.

use super::place::{ACCOUNT, Machine, Service};
use super::rng::Rng;

/// What people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Symptom {
    /// Nothing comes back from a port.
    #[default]
    Unreachable,
    /// It says no at once.
    Refused,
    /// Everything between two machines is lost.
    Lost,
    /// Only ping is.
    Ping,
    /// It takes long.
    Slow,
    /// Little goes through.
    Throughput,
    /// Some of it is lost or broken.
    Lossy,
    /// Outside is gone.
    Internet,
    /// An account is gone.
    Storage,
    /// Names are not found.
    Names,
    /// Somebody outside cannot come in.
    Partner,
    /// Containers are cut off.
    Container,
    /// It comes and goes.
    Flapping,
    /// Large things hang.
    Large,
    /// Nothing is seen; somebody asks what is open.
    Audit,
}

/// A symptom, and whom it is about.
#[derive(Debug, Clone, Default)]
pub(super) struct SymptomReport {
    pub(super) symptom: Symptom,
    pub(super) from: Machine,
    pub(super) to: Machine,
    pub(super) service: Service,
    pub(super) partner: String,
}

impl SymptomReport {
    pub(super) fn flow(symptom: Symptom, from: Machine, to: Machine, service: Service) -> Self {
        Self { symptom, from, to, service, partner: String::new() }
    }

    pub(super) fn between(symptom: Symptom, from: Machine, to: Machine) -> Self {
        Self { symptom, from, to, ..Self::default() }
    }

    pub(super) fn at(symptom: Symptom, vm: Machine) -> Self {
        Self::between(symptom, vm, vm.other())
    }

    /// Writes it as somebody would.
    pub(super) fn text(&self, rng: &mut Rng) -> String {
        let text = rng.one(self.symptom.templates());
        let mut text = text.to_owned();
        for (slot, value) in [
            ("{from}", self.from.text(rng)),
            ("{to}", self.to.text(rng)),
            ("{service}", self.service.text(rng)),
            ("{partner}", self.partner.clone()),
            ("{account}", ACCOUNT.to_owned()),
        ] {
            text = text.replace(slot, &value);
        }
        text
    }
}

impl Symptom {
    /// What people may see where nothing is wrong: it was so for a moment, or they believe it.
    pub(super) const FALSE_REPORTS: [Self; 7] = [
        Self::Unreachable,
        Self::Slow,
        Self::Throughput,
        Self::Lossy,
        Self::Internet,
        Self::Storage,
        Self::Names,
    ];

    fn templates(self) -> &'static [&'static str] {
        match self {
            Self::Unreachable => &[
                "{from} cannot reach {service} on {to}: connections time out.",
                "{service} at {to} does not answer any more when called from {from}.",
                "Calls from {from} to {to}, {service}, hang until they time out.",
                "Since this morning {service} on {to} is unreachable for {from}; the process is up and listening.",
                "We get no response at all from {service} on {to} (client: {from}).",
                "From {from} to {to}: {service} times out without a reset.",
                "Clients on {from} report timeouts towards {to}, {service}.",
            ],
            Self::Refused => &[
                "{from} gets connection refused from {service} on {to}.",
                "{service} on {to} refuses connections from {from} at once.",
                "Calls from {from} to {to}, {service}, fail immediately: connection refused.",
                "Since the last deployment {to} rejects {from} on {service} right away.",
                "Some calls from {from} to {to} are refused at once, namely {service}.",
                "Connecting from {from} to {service} on {to} says \"Connection refused\".",
            ],
            Self::Lost => &[
                "{from} cannot reach {to} at all any more, no port, no ping.",
                "All traffic from {from} to {to} is lost since the network change this morning.",
                "Nothing gets through from {from} to {to}; the security groups were checked already.",
                "{to} has vanished for {from}: every connection times out.",
                "Total silence between {from} and {to} since the routing work.",
                "From {from} we reach nothing on {to}, whatever the port.",
            ],
            Self::Ping => &[
                "Ping from {from} to {to} gets no answer.",
                "{to} does not answer ping from {from}.",
                "Monitoring on {from} says that {to} is down: ICMP echo is lost.",
                "We cannot ping {to} from {from} any more.",
                "ICMP from {from} to {to} gets no reply.",
                "The ping check of {to}, run on {from}, fails.",
            ],
            Self::Slow => &[
                "Responses between {from} and {to} are slow, latency went up.",
                "Everything that goes from {from} to {to} takes longer than it did last week.",
                "High latency between {from} and {to}; users complain that pages are slow.",
                "Round trips from {from} to {to} are much too long for one subnet.",
                "The app on {from} is sluggish whenever it talks to {to}.",
                "Queries from {from} to {to} have become slow, nothing was deployed.",
            ],
            Self::Throughput => &[
                "Copies from {from} to {to} crawl: a few megabits at most.",
                "Throughput from {from} to {to} collapsed.",
                "Backups from {from} to {to} take hours, bandwidth is far below what it was.",
                "File transfers {from} to {to} are very slow, although latency seems fine when idle.",
                "We get hardly any bandwidth from {from} to {to}.",
                "Bulk transfers between {from} and {to} are slow since the maintenance.",
            ],
            Self::Lossy => &[
                "Packet loss between {from} and {to}: transfers stall and go on again.",
                "Connections from {from} to {to} are unreliable: retransmissions and stalls.",
                "Transfers from {from} to {to} are erratic, sometimes fast, sometimes they hang.",
                "We see dropped and damaged packets between {from} and {to}.",
                "Traffic from {from} to {to} is lossy; random resets and slow transfers.",
                "The link from {from} to {to} has become unstable, throughput jumps up and down.",
            ],
            Self::Internet => &[
                "{from} has lost the internet: package updates and HTTPS calls time out.",
                "No outbound internet from {from} any more.",
                "{from} cannot reach anything outside the virtual network.",
                "apt update and curl to public sites hang on {from}.",
                "External APIs are unreachable from {from} since the change window.",
                "Egress to the internet is dead on {from}.",
            ],
            Self::Storage => &[
                "{from} cannot write to storage account {account} any more.",
                "Jobs on {from} fail with authorization errors on the storage account {account}.",
                "Blob uploads from {from} to {account} are rejected since today.",
                "The storage account {account} is not reachable from {from}.",
                "Reads of blobs in {account} fail on {from}; the keys are fine.",
                "Backup from {from} to storage {account} is broken since the platform team worked on the network.",
            ],
            Self::Names => &[
                "DNS is broken on {from}: names do not resolve.",
                "{from} cannot resolve host names any more.",
                "Name resolution fails on {from}, addresses work.",
                "Lookups on {from} fail or time out; the DNS server is 168.63.129.16.",
                "Applications on {from} complain about DNS errors.",
                "DNS queries from {from} get no proper answer.",
            ],
            Self::Partner => &[
                "Our partner at {partner} cannot SSH to {from} any more.",
                "SSH from {partner} to {from} is refused or times out, port 22 is allowed.",
                "{partner} is locked out of {from}: SSH fails for them alone.",
                "The admin at {partner} cannot open an SSH session to {from}; others can.",
                "Since last night {partner} gets no SSH connection to {from}.",
                "SSH to {from} works for us but not from {partner}.",
            ],
            Self::Container => &[
                "Containers on {from} have no network since the Docker daemon was restarted.",
                "Container traffic through {from} is broken after the Docker upgrade.",
                "Docker containers on {from} cannot talk to each other or to the outside.",
                "After a restart of Docker on {from} container networking is dead.",
                "Pods in Docker on {from} lost their connections, the host itself is fine.",
                "The containers on {from} are cut off; Docker was updated today.",
            ],
            Self::Flapping => &[
                "Connections from {from} to {to} break off now and then; another host seems to answer.",
                "{to} is reachable from {from} only intermittently. Please look at the wire.",
                "Traffic from {from} to {to} goes to the wrong place at times, we suspect a duplicate address.",
                "Sessions between {from} and {to} die at random since a new appliance was connected; capture it please.",
                "Intermittent connectivity {from} to {to}; a second machine may use the same IP.",
                "{from} loses {to} again and again for seconds. We need evidence from the wire (ARP?).",
            ],
            Self::Large => &[
                "Small requests from {from} to {service} on {to} work, large ones hang.",
                "Uploads from {from} to {to} ({service}) stall, while short requests pass. Evidence from the wire, please.",
                "{service} on {to}: from {from} the handshake works and big transfers freeze. Could be the MTU.",
                "Large payloads from {from} to {to}, {service}, never arrive; small ones do.",
                "Requests with big bodies from {from} to {service} on {to} hang since jumbo frames were turned on.",
                "From {from} to {to}, {service}: tiny messages are fine, anything larger times out.",
            ],
            Self::Audit => &[
                "{from} is up for a compliance review: what is it exposed to?",
                "Please audit the security rules of {from}: what is open to the internet?",
                "Security wants to know which ports of {from} are exposed to everybody.",
                "Which rules in front of {from} are too permissive? This is an audit, nothing is broken.",
                "Compliance check for {from}: list what the whole world can reach.",
                "We need an exposure review of {from} before the auditors come.",
            ],
        }
    }
}
