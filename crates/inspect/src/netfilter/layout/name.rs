//! Names that programs give to chains, tables and sets.

/// How the names of a program's chains begin; the longer beginning stands before the shorter.
const CHAINS: &[(&str, &str)] = &[
    ("f2b-", "fail2ban"),
    ("fail2ban-", "fail2ban"),
    ("DOCKER", "docker"),
    ("KUBE-", "kubernetes"),
    ("CNI-", "cni"),
    ("cali-", "calico"),
    ("cali_", "calico"),
    ("CILIUM_", "cilium"),
    ("OLD_CILIUM_", "cilium"),
    ("FLANNEL-", "flannel"),
    ("WEAVE", "weave"),
    ("ISTIO_", "istio"),
    ("LIBVIRT_", "libvirt"),
    ("guest_", "libvirt"),
    ("ufw-", "ufw"),
    ("ufw6-", "ufw"),
    ("ts-", "tailscale"),
    ("CROWDSEC_CHAIN", "crowdsec"),
    ("crowdsec-", "crowdsec"),
    ("NETAVARK", "podman"),
    ("wg-quick", "wireguard"),
    ("nm-sh-", "networkmanager"),
    ("sshuttle-", "sshuttle"),
    ("INPUT_direct", "firewalld"),
    ("FORWARD_direct", "firewalld"),
    ("OUTPUT_direct", "firewalld"),
    ("PREROUTING_direct", "firewalld"),
    ("POSTROUTING_direct", "firewalld"),
    ("INPUT_ZONES", "firewalld"),
    ("FORWARD_IN_ZONES", "firewalld"),
    ("FORWARD_OUT_ZONES", "firewalld"),
    ("PREROUTING_ZONES", "firewalld"),
    ("POSTROUTING_ZONES", "firewalld"),
    ("FWDI_", "firewalld"),
    ("FWDO_", "firewalld"),
    ("IN_public", "firewalld"),
    ("PRE_public", "firewalld"),
    ("filter_IN_", "firewalld"),
    ("filter_FWD", "firewalld"),
    ("filter_INPUT_", "firewalld"),
];

const TABLES: &[(&str, &str)] = &[
    ("f2b-table", "fail2ban"),
    ("firewalld", "firewalld"),
    ("docker-bridges", "docker"),
    ("kube-proxy", "kubernetes"),
    ("kube-nftables", "kubernetes"),
    ("wg-quick-", "wireguard"),
    ("libvirt_network", "libvirt"),
    ("calico", "calico"),
    ("crowdsec", "crowdsec"),
    ("crowdsec6", "crowdsec"),
    ("netavark", "podman"),
    ("nm-shared-", "networkmanager"),
    ("tailscale", "tailscale"),
];

const SETS: &[(&str, &str)] = &[
    ("f2b-", "fail2ban"),
    ("fail2ban-", "fail2ban"),
    ("addr-set-", "fail2ban"),
    ("addr6-set-", "fail2ban"),
    ("crowdsec", "crowdsec"),
    ("KUBE-", "kubernetes"),
    ("cali40", "calico"),
    ("cali60", "calico"),
    ("cilium_", "cilium"),
    ("docker-", "docker"),
];

/// How the names of chains begin that a program makes for one service or workload, and takes away with it.
const EPHEMERAL: &[&str] = &[
    "KUBE-SEP-",
    "KUBE-SVC-",
    "KUBE-SVL-",
    "KUBE-FW-",
    "KUBE-XLB-",
    "KUBE-EXT-",
    "KUBE-POD-FW-",
    "KUBE-NWPLCY-",
    "CNI-DN-",
    "CNI-SN-",
    "cali-tw-",
    "cali-fw-",
    "cali-sm-",
    "cali-th-",
    "cali-fh-",
    "NETAVARK-DN-",
    "service-",
    "endpoint-",
    "external-",
];

/// Returns the program whose names begin so.
fn find(names: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    names.iter().find(|(start, _)| name.starts_with(start)).map(|(_, program)| *program)
}

/// Returns the program that made a chain; a table that belongs to one program makes its chains.
pub(in crate::netfilter) fn owner(table: &str, chain: &str) -> Option<&'static str> {
    table_owner(table).or_else(|| find(CHAINS, chain)).or_else(|| {
        // Calico writes its chains with a colon where the name was shortened.
        (chain.starts_with("cali:")).then_some("calico")
    })
}

/// Returns the program that made a table.
pub(in crate::netfilter) fn table_owner(table: &str) -> Option<&'static str> {
    find(TABLES, table.split_once(' ').map_or(table, |(_, name)| name))
}

/// Returns the program that made a set.
pub(in crate::netfilter) fn set_owner(set: &str) -> Option<&'static str> {
    find(SETS, set)
}

/// Whether a chain stands for one service or workload and comes and goes with it.
pub(in crate::netfilter) fn is_ephemeral(table: &str, chain: &str) -> bool {
    // The short words of the native proxy mean that only in its own table.
    let native = table_owner(table) == Some("kubernetes");
    EPHEMERAL.iter().any(|start| {
        chain.starts_with(start)
            && (native
                || start.starts_with(|first: char| first.is_ascii_uppercase())
                || start.starts_with("cali-"))
    })
}
