//! The sections, in the order in which they are read.
//!
//! What differs from session to session stands last, so that a provider's cache can hold everything before it.
//!
//! The gates stand here in the words of the prompt.

macro_rules! texts {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("section/", $folder, $name, ".md")))),+]
    };
}

/// The section that is left out where the operator added nothing.
pub(super) const SITE: &str = "23-site";

/// Every section: the name of its file and its text.
pub(super) const SECTIONS: &[(&str, &str)] = texts!["":
    "01-role", "02-hypotheses", "03-commands", "04-denials", "05-probes", "06-layers", "07-symptoms",
    "08-measurement", "09-guest", "10-shaping", "11-routes", "12-nsg", "13-storage", "14-wire", "15-evidence",
    "16-distractors", "17-several", "18-results", "19-findings", "20-tools", "21-gates", "22-report", "23-site",
    "24-untrusted",
];

/// Every tool that a section may speak of: its name, and when to use it.
pub(super) const TOOLS: &[(&str, &str)] = texts!["tool/":
    "manage_hypotheses", "inspect_hosts", "topology", "check_path", "run_shell_cmd", "effective_route_inspector", "inspect_nsg",
    "detect_effective_network_drift", "run_pipe_meter", "detect_config_drift", "walk_packet", "inspect_qdisc",
    "capture_traffic", "check_task", "cancel_task", "cleanup_task", "recall_observation",
    "complete_investigation",
];

/// The name of each gate and what it requires. The code that checks it has the same name.
pub const GATES: [(&str, &str); 7] = [
    (
        "hypotheses_first",
        "No diagnostic runs while the board is empty. An empty board is filled again; it is never an end.",
    ),
    (
        "board_settled",
        "No hypothesis is ACTIVE at the end. Each is CONFIRMED, REFUTED, CONTRADICTED or UNVERIFIABLE.",
    ),
    (
        "claims_match_board",
        "What you claim of a hypothesis at the end is what the board says, and every id in it exists.",
    ),
    (
        "flows_explained",
        "Whatever stops or degrades a flow that people complain about is among the findings, and nothing that leaves these flows alone is.",
    ),
    (
        "findings_hold",
        "Every finding has a known code, a well-formed object and existing observations; its quotes stand in them, and \
         what code can read there supports the claim.",
    ),
    (
        "denied_stays_denied",
        "What a human denied is not proposed again. The third denial for a hypothesis makes it UNVERIFIABLE.",
    ),
    (
        "no_repetition",
        "The same call with the same arguments, again and again, is refused: its answer is there.",
    ),
];
