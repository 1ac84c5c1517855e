//! How long a program runs and how often it connects, as the policy files say it.

use serde::Deserialize;

use super::Given;

/// How many places one command connects to, or asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Targets {
    /// One.
    #[default]
    One,
    /// `nc`: every port behind the host; a range counts in full.
    Ports,
    /// `curl`: every URL.
    Urls,
    /// `mtr`: every operand.
    Operands,
    /// `dig`: every name; a server, a switch and a type of record are none.
    Questions,
}

/// A cost as it stands in a policy file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawCost {
    targets: Targets,
    seconds: Vec<String>,
    once: Vec<String>,
    deadline: Vec<String>,
    repeats: Vec<String>,
    endless: Vec<String>,
    never: Vec<String>,
    types: Vec<String>,
}

/// The cost of one program.
///
/// Its seconds are the product of its factors, plus what is waited once, for each target.
#[derive(Debug, Clone, Default)]
pub(crate) struct CostRule {
    /// What it connects to.
    pub(crate) targets: Targets,
    /// The factors of the seconds; without any the program ends at once.
    pub(crate) factors: Vec<Factor>,
    /// Options with seconds that are waited once, at the end.
    pub(crate) once: Vec<String>,
    /// Options with the seconds after which the program ends, which it may also wait for.
    pub(crate) deadline: Vec<String>,
    /// If it names options, the seconds count only with one of them.
    pub(crate) repeats: Vec<String>,
    /// Options with which the program has no end in a guest.
    pub(crate) endless: Vec<String>,
    /// Options that a guest never gets.
    pub(crate) never: Vec<String>,
    /// For [`Targets::Questions`]: operands that name a type or a class of records.
    pub(crate) types: Vec<String>,
}

/// One factor of the seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Factor {
    /// The options whose value it is, each with the number that is added to the value. The greatest counts.
    pub(crate) options: Vec<(String, u64)>,
    /// Its value in thousandths without any of the options; `None` if the program then has no end.
    pub(crate) default: Option<u64>,
    /// The product so far is divided by it, and rounded up to a whole number.
    pub(crate) divides: bool,
    /// It is the product of the numbers behind all other operands: an interval and a count.
    pub(crate) is_numbers: bool,
}

impl RawCost {
    /// Compiles the lines; the message says what is wrong with one.
    pub(super) fn compile(&self) -> Result<CostRule, String> {
        Ok(CostRule {
            targets: self.targets,
            factors: self.seconds.iter().map(|line| Factor::parse(line)).collect::<Result<_, _>>()?,
            once: self.once.clone(),
            deadline: self.deadline.clone(),
            repeats: self.repeats.clone(),
            endless: self.endless.clone(),
            never: self.never.clone(),
            types: self.types.clone(),
        })
    }
}

impl Factor {
    /// Reads `-i --interval 1`, `+tries +retry+1 3`, `/ -N 16` or `NUMBERS`.
    fn parse(line: &str) -> Result<Self, String> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let divides = words.first() == Some(&"/");
        let default = words.last().copied().and_then(thousandths);
        words.drain(..usize::from(divides));
        words.truncate(words.len().saturating_sub(usize::from(default.is_some())));
        if words == ["NUMBERS"] {
            return Ok(Self { options: Vec::new(), default: None, divides: false, is_numbers: true });
        }
        let option = |word: &str| match word.rsplit_once('+') {
            Some((name, more)) if !name.is_empty() => {
                let more = more.parse().map_err(|_| format!("no number behind `{word}`"))?;
                Ok((name.to_owned(), more))
            }
            _ if word.starts_with(['-', '+']) => Ok((word.to_owned(), 0)),
            _ => Err(format!("`{word}` is no option of a factor")),
        };
        let options = words.into_iter().map(option).collect::<Result<Vec<_>, String>>()?;
        if options.is_empty() && default.is_none() {
            return Err("a factor needs an option or a number".to_owned());
        }
        Ok(Self { options, default, divides, is_numbers: false })
    }
}

impl Given<'_> {
    /// Lists the values of a factor's option. `+time` stands among the operands, where `dig` takes it shortened.
    pub(crate) fn factor_values<'g>(&'g self, name: &'g str) -> impl Iterator<Item = &'g str> {
        let named = self.options.iter().filter(move |(option, _)| option == name);
        let switch = name.strip_prefix('+');
        let switches = self.operands.iter().filter_map(move |operand| {
            let (given, value) = operand.strip_prefix('+')?.split_once('=')?;
            let given = given.to_ascii_lowercase();
            (given.len() > 1 && switch?.starts_with(given.as_str())).then_some(value)
        });
        named.filter_map(|(_, value)| *value).chain(switches)
    }
}

/// Reads `5`, `0.5`, `.5` as thousandths, rounded up; `None` for anything else.
pub(crate) fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() || !digits(whole) || !digits(part) || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let first: String = part.chars().chain("000".chars()).take(3).collect();
    let more = part.bytes().skip(3).any(|byte| byte != b'0');
    let part = first.parse::<u64>().ok()?.saturating_add(u64::from(more));
    Some(whole.saturating_mul(1_000).saturating_add(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_options_with_a_default() {
        let factor = |line: &str| Factor::parse(line).unwrap();
        let option = |name: &str, more| (name.to_owned(), more);
        assert_eq!(
            factor("-i --interval 0.5"),
            Factor {
                options: vec![option("-i", 0), option("--interval", 0)],
                default: Some(500),
                divides: false,
                is_numbers: false,
            }
        );
        assert_eq!(factor("-c").default, None);
        assert_eq!(factor("+tries +retry+1 3").options, [option("+tries", 0), option("+retry", 1)]);
        assert!(factor("/ -N 16").divides && factor("NUMBERS").is_numbers);
        for wrong in ["", "x", "-i+x 1", "/"] {
            assert!(Factor::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn seconds_are_read_in_thousandths_and_rounded_up() {
        let all = [("5", 5_000), ("0.2", 200), (".5", 500), ("1.", 1_000), ("0.0001", 1), ("1.9999", 2_000)];
        for (text, expected) in all {
            assert_eq!(thousandths(text), Some(expected), "{text}");
        }
        for text in ["", ".", "-1", "1e9", "inf", "1,5", "1s", "99999999999999999999999"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
    }
}
