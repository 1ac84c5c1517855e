//! What to do where a bastion host does not bring people to their machines.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

/// Turns on what is wanted of it.
pub(super) fn feature(context: &PlaybookContext<'_>, group: &str, bastion: &str) -> Fix {
    Fix {
        what: format!("Turn on what is wanted of {bastion}, in the Standard tier: tunneling for clients of people's own, IP-based connection for addresses of other sites. Sessions in the portal go on without either."),
        check: format!("`az network bastion show -g {group} -n {bastion} -o json`; keep what it prints: a tier can be raised, and not lowered again"),
        command: format!("`az network bastion update -g {group} -n {bastion} --enable-tunneling true`; for addresses of other sites `--enable-ip-connect true`"),
        verify: verification(context, ""),
        risk: "sessions that are open may be cut while it is changed, which takes minutes; the Standard tier costs more.".to_owned(),
    }
}

/// Lets a bastion host have what it does not work without; nothing where the words are about something else.
pub(super) fn management(
    context: &PlaybookContext<'_>,
    group: &str,
    (nsg, rule): (&str, &str),
    reason: &str,
) -> Option<Fix> {
    let whom = [
        ("GatewayManager", "keeps GatewayManager on port 443 from the bastion"),
        ("Internet", "keeps its users on port 443 from the bastion"),
        ("AzureCloud", "from AzureCloud on port 443"),
    ];
    let (tag, _) = whom.into_iter().find(|(_, words)| reason.contains(words))?;
    let (name, ends) = match tag {
        "AzureCloud" => (
            "allow-azure-cloud",
            "--direction Outbound --source-address-prefixes '*' --destination-address-prefixes AzureCloud"
                .to_owned(),
        ),
        "Internet" => (
            "allow-bastion-users",
            "--direction Inbound --source-address-prefixes YOUR_USERS --destination-address-prefixes '*'"
                .to_owned(),
        ),
        _ => (
            "allow-gateway-manager",
            format!("--direction Inbound --source-address-prefixes {tag} --destination-address-prefixes '*'"),
        ),
    };
    Some(Fix {
        what: format!("Let {tag} on port 443 pass before {rule} of {nsg}: a bastion host does not work without."),
        check: format!("`az network nsg rule list -g {group} --nsg-name {nsg} --query \"[].priority\" -o tsv`; choose a number that is free and lower than that of {rule}"),
        command: format!("`az network nsg rule create -g {group} --nsg-name {nsg} -n {name} --priority FREE_NUMBER --access Allow --protocol Tcp {ends} --destination-port-ranges 443`"),
        verify: verification(context, ""),
        risk: "only the subnet of the bastion host is touched. `az network nsg rule delete` with the same name takes it back.".to_owned(),
    })
}
