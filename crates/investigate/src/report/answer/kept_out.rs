//! A service of the platform that is kept from whom it needs, in the words of whoever is paged.

use super::cause::Place;
use ghost_inspect::nsg::Direction;
use ghost_inspect::path::{KeptOut, PlatformService, Unanswered};

/// Says what a rule does that keeps out whom a service of the platform needs, or keeps a gateway from its servers: no caller has to be let in
/// then.
pub(super) fn words(place: &Place<'_>) -> Option<(String, String)> {
    let (group, rule) = (place.at(1), place.rest(2));
    if let Some(kept) = KeptOut::read(place.why) {
        let whom = kept.whom();
        let whom = whom.strip_prefix("its ").unwrap_or(&whom);
        let service = match &kept.service {
            PlatformService::AppGateway(_) => "the subnet of an application gateway".to_owned(),
            PlatformService::Bastion(name) => format!("the bastion host {name}"),
        };
        return Some(match kept.direction {
            Direction::Inbound => (
                format!("{group} keeps {whom} from {service}: rule {rule}"),
                format!("Let {whom} in before that rule."),
            ),
            Direction::Outbound => (
                format!("{group} keeps {service} from {whom}: rule {rule}"),
                format!("Let it reach {whom} before that rule."),
            ),
        });
    }
    let Unanswered { gateway, server } = Unanswered::read(place.why)?;
    let what = format!("{group} keeps {gateway} from its server {server}: rule {rule}");
    Some((what, format!("Delete that rule, or allow the subnet of {gateway} before it.")))
}
