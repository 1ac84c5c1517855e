//! The addresses of a network, drawn from a seed.

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
        draw
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
    use super::*;

    #[test]
    fn a_seed_gives_one_network_and_another_seed_another() {
        let text = "{n}.1.{h}/{l} {m}.1.{i} {j}";
        assert_eq!(Draw::new(7).fill(text), Draw::new(7).fill(text));
        assert_ne!(Draw::new(7).fill(text), Draw::new(8).fill(text));
        assert!(!Draw::new(7).fill(text).contains('{'));
    }
}
