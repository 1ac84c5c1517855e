//! Faults of application gateways in the words of whoever is paged.

use super::cause::Place;
use crate::finding::Fault;

/// Says what a fault does and what to do about it; the title alone for a fault of something else.
pub(super) fn words(fault: Fault, place: &Place<'_>) -> (String, String) {
    let (one, two) = (place.at(1), place.at(2));
    let (what, action) = if fault == Fault::AppgwProbeMismatch {
        (
            format!(
                "The probe {} of {one} gets another answer from the servers than it expects, so callers see 502",
                place.rest(2)
            ),
            "Let the application answer that page again, or let the probe ask for one that it does.",
        )
    } else if fault == Fault::AppgwBackendTls {
        (
            format!(
                "{one} does not take the certificate of its servers (settings {}), so callers see 502",
                place.rest(2)
            ),
            "Give the servers a certificate for that name from somebody the gateway trusts, or correct the name in the settings.",
        )
    } else if fault == Fault::AppgwCertExpired {
        (
            format!("The certificate of the listener {} of {one} has expired", place.rest(2)),
            "Renew it, and put the new one in its place.",
        )
    } else if fault == Fault::AppgwPoolEmpty {
        (
            format!("The pool {} of {one} has no server, so callers see 502", place.rest(2)),
            "Put the servers into the pool.",
        )
    } else if fault == Fault::AppgwStopped {
        (
            format!("The application gateway {} is stopped", place.rest(1)),
            "Start it, once it is known who stopped it.",
        )
    } else if fault == Fault::AppgwBackendDown {
        (
            format!(
                "{} in the pool {two} does not answer {one}, and nothing that was read says why",
                place.rest(3)
            ),
            "See whether it runs, listens, and answers in time.",
        )
    } else {
        (fault.title(&place.parts.join("/")), "")
    };
    (what, action.to_owned())
}

/// Says what a rule does that keeps out whom a gateway needs, or keeps a gateway from its servers: no caller has to be let in then.
pub(super) fn kept_out(place: &Place<'_>) -> Option<(String, String)> {
    let (group, rule) = (place.at(1), place.rest(2));
    let whom = [
        "GatewayManager on the ports 65200-65535",
        "GatewayManager on the ports 65503-65534",
        "AzureLoadBalancer",
    ];
    if let Some(whom) = whom.into_iter().find(|whom| place.why.contains(&format!("keeps {whom} from"))) {
        let what = format!("{group} keeps {whom} from the subnet of an application gateway: rule {rule}");
        return Some((what, format!("Let {whom} in before that rule.")));
    }
    for (whom, words) in [
        ("GatewayManager on port 443", "keeps GatewayManager on port 443 from the bastion host "),
        ("users on port 443", "keeps its users on port 443 from the bastion host "),
    ] {
        if let Some((_, behind)) = place.why.split_once(words) {
            let bastion = behind.split([',', ' ']).next().unwrap_or_default();
            let what = format!("{group} keeps {whom} from the bastion host {bastion}: rule {rule}");
            return Some((what, format!("Let {whom} in before that rule.")));
        }
    }
    if let Some((before, _)) = place.why.split_once(" from AzureCloud on port 443") {
        let bastion = before.rsplit(' ').next().unwrap_or_default();
        let what =
            format!("{group} keeps the bastion host {bastion} from AzureCloud on port 443: rule {rule}");
        return Some((what, "Let it reach AzureCloud on port 443 before that rule.".to_owned()));
    }
    let (_, behind) = place.why.split_once(", so that ")?;
    let (gateway, rest) = behind.split_once(" gets no answer of ")?;
    let server = rest.split([' ', '(']).next().unwrap_or_default();
    let what = format!("{group} keeps {gateway} from its server {server}: rule {rule}");
    Some((what, format!("Delete that rule, or allow the subnet of {gateway} before it.")))
}
