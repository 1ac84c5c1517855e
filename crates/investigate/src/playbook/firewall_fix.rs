//! What to do where a firewall of the platform stops a flow.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

/// Takes a rule away, or lets this one flow in before it.
pub(super) fn rule(
    context: &PlaybookContext<'_>,
    group: &str,
    (firewall, collection, rule): (&str, &str, &str),
) -> Fix {
    Fix {
        what: format!(
            "Let this flow through before the rule {rule} of the collection {collection} of {firewall}, or delete that rule if nobody meant it."
        ),
        check: format!(
            "`az network firewall show -g {group} -n {firewall} -o json`, and where it names a policy `az network firewall policy rule-collection-group list -g {group} --policy-name POLICY -o json`; keep what they print, it is what to restore"
        ),
        command: String::new(),
        verify: verification(context, ""),
        risk: "a rule is about everybody whom it names; one for this caller and this port opens less. A change of a firewall takes minutes.".to_owned(),
    }
}

/// Adds a rule where none lets a port through.
pub(super) fn allow(
    context: &PlaybookContext<'_>,
    group: &str,
    (firewall, protocol, port): (&str, &str, &str),
) -> Fix {
    let what = if port == "any" { protocol.to_owned() } else { format!("{protocol} port {port}") };
    Fix {
        what: format!("Add a network rule to {firewall} that lets this caller reach {what} of this address, if it is meant to."),
        check: format!(
            "`az network firewall show -g {group} -n {firewall} -o json`: whether rules stand there or in a policy, and which numbers are taken"
        ),
        command: String::new(),
        verify: verification(context, port),
        risk: "whatever the rule names passes. A change of a firewall takes minutes, and connections that are open stay.".to_owned(),
    }
}

/// Lets the firewall answer questions for names.
pub(super) fn proxy(context: &PlaybookContext<'_>, group: &str, firewall: &str) -> Fix {
    Fix {
        what: format!("Turn the DNS proxy of {firewall} on, or let the network ask another name server."),
        check: format!("`az network firewall show -g {group} -n {firewall} --query firewallPolicy.id`"),
        command: format!(
            "`az network firewall policy update -g {group} -n POLICY --enable-dns-proxy true`, where it has a policy"
        ),
        verify: verification(context, ""),
        risk: "machines that keep old answers go on with them until these end.".to_owned(),
    }
}
