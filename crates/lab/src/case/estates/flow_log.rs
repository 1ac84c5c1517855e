//! Flow logs that are on: the records of a flow of a complaint, as it is decided now, or as a rule that is gone denied it.

use super::draw::Tried;
use super::walk::Flow;
use super::write::PROVIDERS;
use crate::case::random::Rng;

/// Where the platform keeps its watchers.
const WATCHERS: &str =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/NetworkWatcherRG/providers";

/// Whoever complains knows of the log, or does not.
const WORDS: [&str; 6] = [
    "",
    "",
    "",
    " The flow logs of the network are on.",
    " Was it denied? The flow logs should say.",
    " Stehen dazu Einträge in den Flow Logs?",
];

/// Turns the log of the called machine's network on, with records of a flow.
pub(super) fn flow_log(tried: &mut Tried, flow: &Flow, healthy: bool, rng: &mut Rng) {
    let estate = &tried.drawn.estate;
    let (Some(from), Some(to)) = (estate.owner(flow.source), estate.owner(flow.destination)) else { return };
    let network = to.subnet.split('/').next().unwrap_or_default();
    let mut text = format!(
        "[[change]]\nput = \"{WATCHERS}/Microsoft.Network/networkWatchers/NetworkWatcher_eastus/flowLogs/{network}-flows\"\n\n\
         [change.body]\nlocation = \"eastus\"\n\n[change.body.properties]\n\
         targetResourceId = \"{PROVIDERS}/Microsoft.Network/virtualNetworks/{network}\"\n\
         storageId = \"{PROVIDERS}/Microsoft.Storage/storageAccounts/nwlogs080613\"\nenabled = {}\n\
         format = {{ type = \"JSON\", version = 2 }}\nretentionPolicy = {{ days = 7, enabled = true }}\n\n",
        // One that somebody turned off says nothing of today.
        !rng.percent(15)
    );
    let mut logged = |since: usize, until: usize, rule: &str| {
        let rule = if rule.is_empty() { String::new() } else { format!("rule = \"{rule}\"\n") };
        text.push_str(&format!(
            "[[logged]]\nfrom = \"{}\"\nto = \"{}\"\nport = {}\nsince = {since}\nuntil = {until}\n{rule}\n",
            from.name, to.name, flow.port
        ));
    };
    // Nothing is wrong now, and something was.
    if healthy && rng.percent(50) {
        let over = 15 + rng.below(20);
        logged(over + 10 + rng.below(30), over, rng.one(&["deny-lockdown", "tmp-block", "chg-0042-deny"]));
        logged(over - 1, 3, "");
    } else {
        logged(20 + rng.below(60), 3, "");
    }
    if let Some(last) = tried.complaints.last_mut() {
        last.text.push_str(rng.one(&WORDS));
    }
    tried.more.push_str(&text);
}
