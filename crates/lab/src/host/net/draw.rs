//! The addresses of a network, and names that somebody gave to tables, chains and bridges in it: drawn from a seed.

/// Names of tables, each with what stands for it in steps. Which one a fault gets says nothing: another seed gives it to a look-alike.
const TABLES: [&str; 8] = ["fw", "edge", "site", "guard", "acl", "corp", "inside", "custom"];
const TABLE_NAMES: [&str; 5] = ["tl", "tlb", "tq", "tt", "tz"];
/// Names of chains, the same.
const CHAINS: [&str; 8] = ["chk", "rules", "stage1", "svc", "pass1", "front", "lan", "east"];
const CHAIN_NAMES: [&str; 5] = ["ke", "kf", "ki", "ko", "kp"];

/// A draw: the same number gives the same addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    state: u64,
    values: Vec<(&'static str, String)>,
}

impl Draw {
    /// Draws.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut draw = Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, values: Vec::new() };
        let net = 16 + draw.below(200);
        let under = 16 + (net - 16 + 1 + draw.below(190)) % 200;
        let first = 10 + draw.below(30);
        let second = 41 + draw.below(30);
        let third = 72 + draw.below(30);
        let length = 24 + draw.below(2);
        draw.values = vec![
            ("n", format!("10.{net}")),
            ("m", format!("10.{under}")),
            ("h", first.to_string()),
            ("i", second.to_string()),
            ("j", third.to_string()),
            ("l", length.to_string()),
        ];
        // Two ranges that a DHCP server may give, one behind the other.
        let from = 104 + first % 6;
        let to = from + 4 + second % 6;
        let ranges = [("u", from), ("s", to - 1), ("v", to), ("w", to + 1), ("x", to + 5)];
        draw.values.extend(ranges.map(|(name, number)| (name, number.to_string())));
        draw.given_names(seed);
        draw
    }

    /// Draws what an administrator or a program would have named.
    fn given_names(&mut self, seed: u64) {
        // Apart from the addresses: a network of a seed keeps them when a name is added here.
        let mut names = Self { state: seed.wrapping_mul(0xd134_2543_de82_ef95) | 1, values: Vec::new() };
        for (stands, pool) in [(TABLE_NAMES, TABLES), (CHAIN_NAMES, CHAINS)] {
            let mut pool = pool.to_vec();
            for name in stands {
                let at = names.below(u64::try_from(pool.len()).unwrap_or(1));
                let drawn = pool.swap_remove(usize::try_from(at).unwrap_or_default());
                self.values.push((name, drawn.to_owned()));
            }
        }
        let mut bytes = |count: usize| (0..count).map(|_| names.below(256)).collect::<Vec<_>>();
        let bridge: String = bytes(6).iter().map(|byte| format!("{byte:02x}")).collect();
        let card: String = bytes(3).iter().map(|byte| format!(":{byte:02x}")).collect();
        self.values.extend([("bridge", format!("br-{bridge}")), ("card", format!("52:54:00{card}"))]);
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 33) % bound.max(1)
    }

    /// Adds names of their own that stand for addresses.
    pub(super) fn name(&mut self, name: &'static str, text: &str) {
        let text = self.fill(text);
        self.values.push((name, text));
    }

    /// Puts the values in the place of their names.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, value) in &self.values {
            filled = filled.replace(&format!("{{{name}}}"), value);
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_gives_one_network_and_another_seed_another() {
        let text = "{n}.1.{h}/{l} {m}.1.{i} {j}";
        assert_eq!(Draw::new(7).fill(text), Draw::new(7).fill(text));
        assert_ne!(Draw::new(7).fill(text), Draw::new(8).fill(text));
        assert!(!Draw::new(7).fill(text).contains('{'));
    }

    #[test]
    fn no_two_tables_and_no_two_chains_of_a_network_have_one_name() {
        for seed in 0..50 {
            let draw = Draw::new(seed);
            for names in [TABLE_NAMES, CHAIN_NAMES] {
                let names: BTreeSet<String> =
                    names.iter().map(|name| draw.fill(&format!("{{{name}}}"))).collect();
                assert_eq!(names.len(), 5, "{names:?}");
            }
        }
    }
}
