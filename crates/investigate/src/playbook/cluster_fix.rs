//! What to do where the API server of a cluster does not answer.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

/// Starts a cluster.
pub(super) fn start(context: &PlaybookContext<'_>, group: &str, cluster: &str) -> Fix {
    Fix {
        what: format!("Start {cluster}, once it is known who stopped it and why."),
        check: format!(
            "`az aks show -g {group} -n {cluster} --query powerState -o json`; the activity log names who stopped it"
        ),
        command: format!("`az aks start -g {group} -n {cluster}`"),
        verify: verification(context, ""),
        risk: format!(
            "its nodes cost money while they run, and all that is deployed there starts. `az aks stop -g {group} -n {cluster}` takes it back."
        ),
    }
}

/// Lets an address call the API server.
pub(super) fn authorize(context: &PlaybookContext<'_>, group: &str, cluster: &str) -> Fix {
    Fix {
        what: format!("Add the address of the caller to the authorized ranges of {cluster}, beside those that are there."),
        check: format!("`az aks show -g {group} -n {cluster} --query apiServerAccessProfile.authorizedIpRanges -o tsv`; keep what it prints: the command replaces the list"),
        command: format!("`az aks update -g {group} -n {cluster} --api-server-authorized-ip-ranges ALL_RANGES_THAT_WERE_THERE,ADDRESS/32`"),
        verify: verification(context, ""),
        risk: "whoever is left out of the list is locked out, the nodes among them where their own address is missing; it takes minutes. The same command with the kept list takes it back.".to_owned(),
    }
}
