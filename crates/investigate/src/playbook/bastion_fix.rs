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
