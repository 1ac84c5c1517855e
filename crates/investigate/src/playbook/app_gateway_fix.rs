//! What to do where an application gateway does not answer, or answers for servers that are not there.

use crate::playbook::agenda::PlaybookContext;
use crate::playbook::fix::{Fix, verification};

fn shown(group: &str, gateway: &str) -> String {
    format!(
        "`az network application-gateway show -g {group} -n {gateway} -o json`; keep what it prints, it is what to restore"
    )
}

/// A change takes minutes, and callers notice it where it goes wrong.
const SLOW: &str = "the gateway takes minutes for a change, and all of its sites wait for it.";

/// Lets a probe and the servers agree.
pub(super) fn probe(context: &PlaybookContext<'_>, group: &str, gateway: &str, probe: &str) -> Fix {
    Fix {
        what: format!(
            "Let the probe {probe} of {gateway} ask for a page that the servers answer as it expects, or let the application answer that page again."
        ),
        check: format!(
            "`az network application-gateway show-backend-health -g {group} -n {gateway} -o json`; {}",
            shown(group, gateway)
        ),
        command: format!(
            "`az network application-gateway probe update -g {group} --gateway-name {gateway} -n {probe} --path PATH_THAT_ANSWERS`"
        ),
        verify: verification(context, ""),
        risk: format!(
            "a page that is answered though the application is broken brings callers to broken servers; {SLOW} The same command with the path that was kept takes it back."
        ),
    }
}

/// Lets a gateway take the certificate of its servers.
pub(super) fn trust(context: &PlaybookContext<'_>, group: &str, gateway: &str, settings: &str) -> Fix {
    Fix {
        what: format!(
            "Give the servers a certificate that {gateway} takes. It has to be for the name in the settings {settings}, signed by somebody the gateway trusts, and not expired. Or set the name that the certificate has."
        ),
        check: format!(
            "`az network application-gateway http-settings show -g {group} --gateway-name {gateway} -n {settings} -o json`; keep what it prints, it is what to restore"
        ),
        command: format!(
            "`az network application-gateway http-settings update -g {group} --gateway-name {gateway} -n {settings} --host-name NAME_IN_THE_CERTIFICATE`"
        ),
        verify: verification(context, ""),
        risk: format!("the servers see that name in every request, and may answer for another site; {SLOW}"),
    }
}

/// Renews the certificate of a listener.
pub(super) fn certificate(context: &PlaybookContext<'_>, group: &str, gateway: &str, listener: &str) -> Fix {
    Fix {
        what: format!("Renew the certificate of the listener {listener} of {gateway}."),
        check: format!(
            "`az network application-gateway http-listener show -g {group} --gateway-name {gateway} -n {listener} --query sslCertificate.id -o tsv` names the certificate"
        ),
        command: format!(
            "`az network application-gateway ssl-cert update -g {group} --gateway-name {gateway} -n CERTIFICATE --cert-file FILE.pfx --cert-password PASSWORD`, by whoever has the key"
        ),
        verify: verification(context, ""),
        risk: format!(
            "every listener with that certificate shows the new one; {SLOW} A key stands in no chat and no log."
        ),
    }
}

/// Fills a pool.
pub(super) fn pool(context: &PlaybookContext<'_>, group: &str, gateway: &str, pool: &str) -> Fix {
    Fix {
        what: format!("Put the servers of the site into the pool {pool} of {gateway}."),
        check: shown(group, gateway),
        command: format!(
            "`az network application-gateway address-pool update -g {group} --gateway-name {gateway} -n {pool} --servers ADDRESS ADDRESS`"
        ),
        verify: verification(context, ""),
        risk: format!("the command replaces the whole list; {SLOW}"),
    }
}

/// Starts a gateway.
pub(super) fn start(context: &PlaybookContext<'_>, group: &str, gateway: &str) -> Fix {
    let named = format!("-g {group} -n {gateway}");
    Fix {
        what: format!("Start {gateway}, once it is known who stopped it and why."),
        check: format!(
            "`az network application-gateway show {named} --query operationalState -o tsv`; the activity log names who stopped it"
        ),
        command: format!("`az network application-gateway start {named}`"),
        verify: verification(context, ""),
        risk: format!(
            "it costs money while it runs, and takes minutes to start. `az network application-gateway stop {named}` takes it back."
        ),
    }
}

/// Finds out about a server that does not answer.
pub(super) fn server(context: &PlaybookContext<'_>, group: &str, gateway: &str, server: &str) -> Fix {
    Fix {
        what: format!(
            "Find out why {server} does not answer {gateway}: whether it runs, listens, and answers in time."
        ),
        check: format!(
            "`az network application-gateway show-backend-health -g {group} -n {gateway} -o json`"
        ),
        command: String::new(),
        verify: verification(context, ""),
        risk: "none from looking.".to_owned(),
    }
}

/// Lets a gateway come to its servers.
pub(super) fn allow(
    context: &PlaybookContext<'_>,
    group: &str,
    (nsg, rule): (&str, &str),
    server: &str,
) -> Fix {
    Fix {
        what: format!("No rule of {nsg} lets the gateway in, so {rule} denies it. Add one rule before it for the subnet of the gateway; {rule} stays."),
        check: format!("`az network nsg rule list -g {group} --nsg-name {nsg} --query \"[].priority\" -o tsv`; choose a number that is free and lower than that of {rule}"),
        command: format!("`az network nsg rule create -g {group} --nsg-name {nsg} -n allow-gateway-subnet --priority FREE_NUMBER --direction Inbound --access Allow --protocol Tcp --source-address-prefixes SUBNET_OF_THE_GATEWAY --destination-address-prefixes {server} --destination-port-ranges PORT_OF_THE_SETTINGS`"),
        verify: verification(context, ""),
        risk: "whoever is in that subnet gets through to that port. `az network nsg rule delete` with the same name takes it back.".to_owned(),
    }
}
