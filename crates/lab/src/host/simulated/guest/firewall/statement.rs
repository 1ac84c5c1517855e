//! What stands in a rule of `nft`: matches, verdicts, and what else is done with a packet.

use serde_json::{Map, Value, json};

use super::syntax::{Reader, Token};
use crate::host::simulated::world::set;

/// The deepest nesting of braces.
const MAX_DEPTH: usize = 8;

impl Reader {
    /// Reads one expression of a rule.
    pub(super) fn expression(&mut self, out: &mut Vec<Value>) -> Result<(), String> {
        let word = self.word()?;
        let left = match word.as_str() {
            "accept" | "drop" | "return" | "continue" | "notrack" | "jump" | "goto" => {
                out.push(self.verdict(word)?);
                return Ok(());
            }
            "counter" => {
                if self.take("packets") {
                    self.word()?;
                    self.take("bytes");
                    self.word()?;
                }
                out.push(json!({"counter": {"packets": 0, "bytes": 0}}));
                return Ok(());
            }
            "reject" => {
                out.push(self.reject()?);
                return Ok(());
            }
            "log" => {
                let prefix = if self.take("prefix") { json!({"prefix": self.word()?}) } else { Value::Null };
                out.push(json!({"log": prefix}));
                return Ok(());
            }
            "masquerade" => {
                out.push(json!({"masquerade": null}));
                return Ok(());
            }
            "snat" | "dnat" => {
                if !self.take("to") {
                    return Err("syntax error, to is expected".to_owned());
                }
                let to = self.word()?;
                let (address, port) = to.split_once(':').unwrap_or((&to, ""));
                let body = match port.parse::<u16>() {
                    Ok(port) => json!({"addr": address, "port": port}),
                    Err(_) => json!({"addr": address}),
                };
                out.push(if word == "snat" { json!({"snat": body}) } else { json!({"dnat": body}) });
                return Ok(());
            }
            "limit" => {
                self.take("rate");
                let inverted = self.take("over");
                let rate = self.word()?;
                let (count, per) = rate.split_once('/').unwrap_or((&rate, "second"));
                let count: u64 = count.parse().map_err(|_| format!("`{rate}' is no rate"))?;
                let mut limit = json!({"rate": count, "burst": 5, "per": per});
                if inverted {
                    set(&mut limit, "inv", json!(true));
                }
                if self.take("burst") {
                    set(&mut limit, "burst", json!(self.word()?.parse::<u64>().unwrap_or(5)));
                    self.take("packets");
                }
                out.push(json!({"limit": limit}));
                return Ok(());
            }
            "meta" => json!({"meta": {"key": self.word()?}}),
            "iifname" | "oifname" | "iif" | "oif" | "mark" | "skuid" | "l4proto" => {
                json!({"meta": {"key": word}})
            }
            "ct" => json!({"ct": {"key": self.word()?}}),
            "ip" | "ip6" | "tcp" | "udp" | "icmp" | "icmpv6" | "th" | "sctp" => {
                json!({"payload": {"protocol": word, "field": self.word()?}})
            }
            other => return Err(format!("syntax error, unexpected {other}")),
        };
        if self.take("vmap") {
            let verdicts = self.verdicts()?;
            out.push(json!({"vmap": {"key": left, "data": {"set": verdicts}}}));
            return Ok(());
        }
        let is_mark = left.pointer("/meta/key").is_some_and(|key| key == "mark");
        if is_mark && self.take("set") {
            let value = self.value(0)?;
            out.push(json!({"mangle": {"key": left, "value": value}}));
            return Ok(());
        }
        let left = if self.take("&") { json!({"&": [left, self.bits()?]}) } else { left };
        let state = word == "ct";
        let flags = left.pointer("/payload/field").is_some_and(|field| field == "flags");
        let operator = ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|operator| self.take(operator));
        let mut right = self.value(0)?;
        if (state || flags) && self.sign(',') {
            let mut all = vec![right];
            loop {
                all.push(self.value(0)?);
                if !self.sign(',') {
                    break;
                }
            }
            right = if operator.is_some() { json!({"|": all}) } else { json!(all) };
        }
        // Of what consists of bits one is enough.
        let bits = (state || flags) && !matches!(right, Value::Object(_));
        let operator = operator.unwrap_or(if bits { "in" } else { "==" });
        out.push(json!({"match": {"op": operator, "left": left, "right": right}}));
        Ok(())
    }

    fn verdict(&mut self, word: String) -> Result<Value, String> {
        let inside = match word.as_str() {
            "jump" | "goto" => json!({"target": self.word()?}),
            _ => Value::Null,
        };
        let mut object = Map::new();
        object.insert(word, inside);
        Ok(Value::Object(object))
    }

    /// Reads what becomes of which value: `{ 22 : accept, 53-80 : drop }`.
    fn verdicts(&mut self) -> Result<Vec<Value>, String> {
        if !self.sign('{') {
            return Err("syntax error, only maps in braces are known here".to_owned());
        }
        let mut all = Vec::new();
        loop {
            self.ends();
            if self.sign('}') {
                return Ok(all);
            }
            let word = self.word()?;
            let key = match word.strip_suffix(':') {
                Some(key) => key.to_owned(),
                None if self.take(":") => word,
                None => return Err("syntax error, a colon is expected".to_owned()),
            };
            let verdict = self.word()?;
            if !matches!(verdict.as_str(), "accept" | "drop" | "return" | "continue" | "jump" | "goto") {
                return Err(format!("syntax error, unexpected {verdict}"));
            }
            all.push(json!([scalar(&key), self.verdict(verdict)?]));
            self.ends();
            self.sign(',');
        }
    }

    /// Reads the bits that are looked at: a number, or flags as in `(syn | ack)`.
    fn bits(&mut self) -> Result<Value, String> {
        let mut text = self.word()?;
        while (text.starts_with('(') && !text.ends_with(')')) || text.ends_with('|') || self.is("|") {
            text.push_str(&self.word()?);
        }
        let flags: Vec<&str> = text.trim_matches(['(', ')']).split('|').collect();
        Ok(match flags.as_slice() {
            [one] => scalar(one),
            many => json!(many),
        })
    }

    fn reject(&mut self) -> Result<Value, String> {
        if !self.take("with") {
            return Ok(json!({"reject": null}));
        }
        let kind = self.word()?;
        if kind == "tcp" {
            self.take("reset");
            return Ok(json!({"reject": {"type": "tcp reset"}}));
        }
        self.take("type");
        Ok(json!({"reject": {"type": kind, "expr": self.word()?}}))
    }

    /// Reads a value, or several in braces.
    pub(super) fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err("sets stand too deep in each other".to_owned());
        }
        if self.sign('{') {
            let mut elements = Vec::new();
            loop {
                self.ends();
                if self.sign('}') {
                    return Ok(json!({"set": elements}));
                }
                elements.push(self.value(depth + 1)?);
                self.ends();
                self.sign(',');
            }
        }
        let is_text = matches!(self.peek(), Some(Token::Text(_)));
        let word = self.word()?;
        Ok(if is_text { json!(word) } else { scalar(&word) })
    }
}

fn scalar(word: &str) -> Value {
    if let Ok(number) = word.parse::<u64>() {
        return json!(number);
    }
    if let Some(number) = word.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        return json!(number);
    }
    if let Some((address, length)) = word.split_once('/')
        && let Ok(length) = length.parse::<u8>()
    {
        return json!({"prefix": {"addr": address, "len": length}});
    }
    if let Some((from, to)) = word.split_once('-')
        && from.starts_with(|char: char| char.is_ascii_digit())
        && to.starts_with(|char: char| char.is_ascii_digit())
    {
        return json!({"range": [scalar(from), scalar(to)]});
    }
    const SERVICES: [(&str, u16); 6] =
        [("ssh", 22), ("http", 80), ("https", 443), ("domain", 53), ("postgresql", 5432), ("redis", 6379)];
    match SERVICES.iter().find(|(name, _)| *name == word) {
        Some((_, port)) => json!(port),
        None => json!(word),
    }
}
