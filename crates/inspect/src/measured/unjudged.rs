//! What of a Linux machine no judge follows: where a measurement contradicts the documents, it is there that the reason may be.

/// What changes the fate of packets on a Linux machine, and is not judged.
const UNJUDGED: [&str; 7] = [
    "filters and actions of tc",
    "IPVS",
    "peers and allowed addresses of WireGuard",
    "policies of IPsec",
    "Open vSwitch",
    "VLANs of bridges",
    "programs of BPF and XDP",
];

/// Names what no judge follows on the machines of a flow, in a phrase.
#[must_use]
pub fn unjudged() -> String {
    format!("not judged on these machines: {}", UNJUDGED.join(", "))
}
