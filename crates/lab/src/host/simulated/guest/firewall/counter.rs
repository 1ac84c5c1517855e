//! Counts packets where rules judged them.

use super::table::{Firewall, Side};

impl Firewall {
    /// Counts a packet at a rule of `iptables`.
    pub(super) fn count(&mut self, side: Side, table: &str, chain: &str, position: usize, bytes: u64) {
        let found = self.tables.iter_mut().find(|own| own.side == side && own.name == table);
        let chain = found.and_then(|table| table.chain_mut(chain));
        if let Some(rule) = chain.and_then(|chain| chain.rules.get_mut(position.wrapping_sub(1))) {
            rule.packets = rule.packets.saturating_add(1);
            rule.bytes = rule.bytes.saturating_add(bytes);
        }
    }

    /// Counts a packet at the policy of a chain, told as `filter INPUT`.
    pub(super) fn count_policy(&mut self, side: Side, policy: &str, bytes: u64) {
        let Some((table, chain)) = policy.split_once(' ') else { return };
        let found = self.tables.iter_mut().find(|own| own.side == side && own.name == table);
        if let Some(chain) = found.and_then(|table| table.chain_mut(chain)) {
            chain.packets = chain.packets.saturating_add(1);
            chain.bytes = chain.bytes.saturating_add(bytes);
        }
    }
}
