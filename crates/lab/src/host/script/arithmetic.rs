//! `$(( … ))`.

/// Works out a number; names are asked for their values.
pub(super) fn work_out(text: &str, value: &dyn Fn(&str) -> String) -> Result<i64, String> {
    let mut sum = Arithmetic { text: text.as_bytes(), at: 0, depth: 0, value };
    let number = sum.choice()?;
    sum.blanks();
    if sum.at < sum.text.len() {
        return Err(format!("{text}: syntax error in expression"));
    }
    Ok(number)
}

struct Arithmetic<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    value: &'a dyn Fn(&str) -> String,
}

/// Operators by how strongly they bind, the weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Arithmetic<'_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.blanks();
        let found = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(wanted.as_bytes()));
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn choice(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > 60 {
            return Err("expression recursion level exceeded".to_owned());
        }
        let condition = self.level(0)?;
        let number = if self.take("?") {
            let yes = self.choice()?;
            if !self.take(":") {
                return Err("`:' expected for conditional expression".to_owned());
            }
            let no = self.choice()?;
            if condition == 0 { no } else { yes }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(number)
    }

    fn level(&mut self, level: usize) -> Result<i64, String> {
        let Some(operators) = LEVELS.get(level) else { return self.single() };
        let mut left = self.level(level + 1)?;
        loop {
            self.blanks();
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(operator) = operators.iter().find(|operator| {
                rest.starts_with(operator.as_bytes()) && !longer(operator, rest.get(operator.len()).copied())
            }) else {
                return Ok(left);
            };
            self.at += operator.len();
            let right = self.level(level + 1)?;
            left = apply(operator, left, right)?;
        }
    }

    fn single(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > 60 {
            return Err("expression recursion level exceeded".to_owned());
        }
        let number = if self.take("-") {
            self.single()?.wrapping_neg()
        } else if self.take("+") {
            self.single()?
        } else if self.take("!") {
            i64::from(self.single()? == 0)
        } else if self.take("~") {
            !self.single()?
        } else if self.take("(") {
            let inner = self.choice()?;
            if !self.take(")") {
                return Err("missing `)'".to_owned());
            }
            inner
        } else {
            self.leaf()?
        };
        self.depth -= 1;
        Ok(number)
    }

    fn leaf(&mut self) -> Result<i64, String> {
        self.blanks();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let word = String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned();
        self.at += length;
        if word.starts_with(|char: char| char.is_ascii_digit()) {
            return number(&word).ok_or_else(|| format!("{word}: value too great for base"));
        }
        if word.is_empty() {
            return Err("syntax error: operand expected".to_owned());
        }
        let value = (self.value)(&word);
        let value = value.trim();
        if value.is_empty() {
            return Ok(0);
        }
        let (sign, digits) = value.strip_prefix('-').map_or((1, value), |digits| (-1, digits));
        number(digits)
            .map(|number| number.wrapping_mul(sign))
            .ok_or_else(|| format!("{value}: syntax error: operand expected"))
    }
}

/// Whether an operator is only the beginning of another.
fn longer(operator: &str, next: Option<u8>) -> bool {
    matches!((operator, next), ("|", Some(b'|')) | ("&", Some(b'&')) | ("<", Some(b'<')) | (">", Some(b'>')))
}

fn number(text: &str) -> Option<i64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return i64::from_str_radix(hex, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return i64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

fn apply(operator: &str, left: i64, right: i64) -> Result<i64, String> {
    let shift = || u32::try_from(right & 63).unwrap_or_default();
    Ok(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.wrapping_shl(shift()),
        ">>" => left.wrapping_shr(shift()),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" if right != 0 => left.wrapping_div(right),
        "%" if right != 0 => left.wrapping_rem(right),
        _ => return Err("division by 0".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_worked_out_as_a_shell_does() {
        let value = |name: &str| if name == "x" { "7".to_owned() } else { String::new() };
        for (text, wanted) in [
            ("1+2*3", 7),
            ("(1+2)*3", 9),
            ("x % 4", 3),
            ("-x + 1", -6),
            ("nothing", 0),
            ("x > 3 && x < 10", 1),
            ("x == 7 ? 10 : 20", 10),
            ("1 << 4 | 1", 17),
            ("0x10 + 010", 24),
        ] {
            assert_eq!(work_out(text, &value), Ok(wanted), "{text}");
        }
        assert!(work_out("1 / 0", &value).is_err());
        assert!(work_out("1 +", &value).is_err());
        assert!(work_out(&"(".repeat(500), &value).is_err());
        assert!(work_out(&"-".repeat(500), &value).is_err());
    }
}
