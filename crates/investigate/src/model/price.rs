//! What a turn costs. What is not known costs an unknown amount, never nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;

use serde::{Deserialize, Serialize};

use crate::model::Usage;

/// The highest price of a million tokens that can be one, in dollars.
const HIGHEST: f64 = 1_000_000.0;

/// An amount in millionths of a dollar, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Cost(u64);

impl Cost {
    /// Returns the millionths of a dollar.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }
}

/// Adds costs up; a sum stays at the highest number instead of overflowing.
impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        Self(costs.fold(0, |sum, cost| sum.saturating_add(cost.0)))
    }
}

/// Prints as dollars, with as many digits as an amount below a cent needs.
impl fmt::Display for Cost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, rest) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if dollars == 0 && rest < 10_000 {
            return write!(out, "$0.{rest:06}");
        }
        let cents = rest.div_ceil(10_000);
        write!(out, "${}.{:02}", dollars + cents / 100, cents % 100)
    }
}

/// What a model's tokens cost, in dollars for a million of each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Written")]
pub struct Price {
    input: f64,
    cached: f64,
    cache_write: f64,
    output: f64,
}

/// A price as the configuration has it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    input: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
    output: f64,
}

/// A price is no amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a price of a million tokens lies between 0 and 1000000 dollars")]
pub struct PriceError;

impl TryFrom<Written> for Price {
    type Error = PriceError;

    fn try_from(written: Written) -> Result<Self, PriceError> {
        Self::new(written.input, written.cached, written.cache_write, written.output)
    }
}

impl Price {
    /// Builds a price from dollars for a million tokens. Tokens of a cache cost what others cost where nothing else is known.
    ///
    /// # Errors
    /// Fails where one is negative, no number or beyond reason.
    pub fn new(
        input: f64,
        cached: Option<f64>,
        cache_write: Option<f64>,
        output: f64,
    ) -> Result<Self, PriceError> {
        let price = Self {
            input,
            cached: cached.unwrap_or(input),
            cache_write: cache_write.unwrap_or(input),
            output,
        };
        let all = [price.input, price.cached, price.cache_write, price.output];
        if all.iter().all(|price| (0.0..=HIGHEST).contains(price)) { Ok(price) } else { Err(PriceError) }
    }

    /// Returns what a turn costs, nothing where the provider did not count its tokens or counted them so that they do not add
    /// up.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        let (cached, written) = (usage.cached.unwrap_or(0), usage.cache_written.unwrap_or(0));
        let plain = usage.input?.checked_sub(cached)?.checked_sub(written)?;
        let parts = [
            (plain, self.input),
            (cached, self.cached),
            (written, self.cache_write),
            (usage.output?, self.output),
        ];
        let nanos = parts.into_iter().try_fold(0_u128, |sum, (tokens, price)| {
            sum.checked_add(u128::from(tokens).checked_mul(nanos(price))?)
        })?;
        u64::try_from(nanos.div_ceil(1000)).ok().map(Cost)
    }
}

/// Returns the price of one token in billionths of a dollar, which is exact for every price in whole thousandths of a dollar.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a price lies between zero and a million"
)]
fn nanos(price: f64) -> u128 {
    (price * 1000.0).round() as u128
}

/// The prices of models: by name, or by the beginning of a name with `*` behind it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// Returns a model's price: the one of its name, else the one of the longest beginning.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&Price> {
        let begins = |(name, price)| {
            let name: &String = name;
            let start = name.strip_suffix('*')?;
            model.starts_with(start).then_some((start.len(), price))
        };
        let longest = || self.0.iter().filter_map(begins).max_by_key(|(length, _)| *length);
        self.0.get(model).or_else(|| longest().map(|(_, price)| price))
    }

    /// Returns what a turn of a model costs, nothing where that is not known.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Cost> {
        self.of(model)?.cost(usage)
    }
}

impl FromIterator<(String, Price)> for Prices {
    fn from_iter<I: IntoIterator<Item = (String, Price)>>(prices: I) -> Self {
        Self(prices.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, cache_written: u64, output: u64) -> Usage {
        Usage {
            input: Some(input),
            cached: Some(cached),
            cache_written: Some(cache_written),
            output: Some(output),
        }
    }

    fn price() -> Price {
        Price::new(3.0, Some(0.3), Some(3.75), 15.0).unwrap()
    }

    fn prices(names: &[&str]) -> Prices {
        let price = |n: usize| Price::new(f64::from(u32::try_from(n).unwrap()), None, None, 0.0).unwrap();
        names.iter().enumerate().map(|(n, name)| ((*name).to_owned(), price(n))).collect()
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        assert_eq!(price().cost(&usage(1000, 0, 0, 0)), Some(Cost(3000)));
        assert_eq!(price().cost(&usage(1000, 1000, 0, 0)), Some(Cost(300)));
        assert_eq!(price().cost(&usage(1000, 0, 1000, 0)), Some(Cost(3750)));
        assert_eq!(price().cost(&usage(0, 0, 0, 1000)), Some(Cost(15000)));
        assert_eq!(price().cost(&usage(10_000, 7000, 2000, 500)), Some(Cost(3000 + 2100 + 7500 + 7500)));
    }

    #[test]
    fn what_was_not_counted_has_no_known_cost() {
        assert_eq!(price().cost(&Usage::default()), None);
        assert_eq!(price().cost(&Usage { output: None, ..usage(1, 0, 0, 0) }), None);
        assert_eq!(price().cost(&Usage { input: None, ..usage(0, 0, 0, 1) }), None);
        assert_eq!(price().cost(&usage(10, 8, 3, 0)), None, "more from the cache than there is");
    }

    #[test]
    fn without_a_word_about_the_cache_every_token_is_a_plain_one() {
        let plain = Usage { cached: None, cache_written: None, ..usage(1000, 0, 0, 0) };
        assert_eq!(price().cost(&plain), Some(Cost(3000)));
        let price = Price::new(3.0, None, None, 15.0).unwrap();
        assert_eq!(price.cost(&usage(1000, 600, 100, 0)), Some(Cost(3000)));
    }

    #[test]
    fn a_part_of_a_millionth_is_rounded_up_and_a_sum_cannot_overflow() {
        let cheap = Price::new(0.075, None, None, 0.3).unwrap();
        assert_eq!(cheap.cost(&usage(1, 0, 0, 0)), Some(Cost(1)));
        assert_eq!(cheap.cost(&usage(1_000_000, 0, 0, 0)), Some(Cost(75_000)));
        assert_eq!(Price::new(HIGHEST, None, None, 0.0).unwrap().cost(&usage(u64::MAX, 0, 0, 0)), None);
        assert_eq!([Cost(u64::MAX), Cost(1)].into_iter().sum::<Cost>(), Cost(u64::MAX));
    }

    #[test]
    fn an_unknown_model_has_an_unknown_cost() {
        assert_eq!(prices(&["a", "b*"]).cost("c", &usage(1, 0, 0, 1)), None);
        assert_eq!(Prices::default().cost("", &usage(1, 0, 0, 1)), None);
    }

    #[test]
    fn a_name_wins_over_a_beginning_and_a_longer_beginning_over_a_shorter() {
        let prices = prices(&["m", "m*", "m-large*", "m-large-2"]);
        let input = |model| prices.of(model).map(|price| price.input);
        assert_eq!(input("m"), Some(0.0));
        assert_eq!(input("m-small"), Some(1.0));
        assert_eq!(input("m-large-1"), Some(2.0));
        assert_eq!(input("m-large-2"), Some(3.0));
        assert_eq!(input("n"), None);
    }

    #[test]
    fn the_configuration_holds_prices() {
        let text = "[\"m-*\"]\ninput = 3\ncached = 0.3\ncache_write = 3.75\noutput = 15.0\n";
        let prices: Prices = toml::from_str(text).unwrap();
        assert_eq!(prices.of("m-1"), Some(&price()));
        for wrong in [
            "[m]\ninput = -1\noutput = 1\n",
            "[m]\ninput = nan\noutput = 1\n",
            "[m]\ninput = 1\n",
            "[m]\ninput = 1\noutput = 1\ncurrency = 1\n",
        ] {
            assert!(toml::from_str::<Prices>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_cost_prints_as_dollars() {
        assert_eq!(Cost(0).to_string(), "$0.000000");
        assert_eq!(Cost(1234).to_string(), "$0.001234");
        assert_eq!(Cost(12_345).to_string(), "$0.02");
        assert_eq!(Cost(1_999_999).to_string(), "$2.00");
        assert_eq!(Cost(12_340_000).to_string(), "$12.34");
    }
}
