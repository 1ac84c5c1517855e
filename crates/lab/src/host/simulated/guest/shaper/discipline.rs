//! Disciplines and what they are asked to do.

use crate::host::simulated::guest::machine::Count;

use super::unit::{rate, share, size, time};

/// A discipline on a device.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Discipline {
    pub(super) device: String,
    pub(super) handle: u32,
    /// `1:3`; nothing at the root.
    pub(super) parent: Option<String>,
    pub(super) kind: Kind,
    /// What passed it.
    pub(super) count: Count,
}

/// What kind of discipline it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Prio { bands: u32, map: Vec<u32> },
    Netem(Box<Netem>),
    Tbf { rate: f64, burst: f64, latency: f64 },
    Htb { default: u32 },
    FqCodel,
    Fq,
    Pfifo { limit: u32, bytes: bool },
}

/// What `netem` does; shares in percent, times in microseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Netem {
    pub(super) limit: u32,
    pub(super) delay: Option<(f64, f64, f64)>,
    pub(super) distribution: Option<String>,
    pub(super) loss: Option<(f64, f64)>,
    pub(super) duplicate: Option<(f64, f64)>,
    pub(super) reorder: Option<(f64, f64)>,
    pub(super) corrupt: Option<(f64, f64)>,
    pub(super) rate: Option<f64>,
    pub(super) gap: u32,
    pub(super) ecn: bool,
}

/// Reads the words behind the kind.
pub(super) fn read(kind: &str, words: &[String]) -> Result<Kind, String> {
    let mut words = Words { words, at: 0 };
    match kind {
        "netem" => netem(&mut words),
        "prio" => {
            let (mut bands, mut map) = (3, vec![1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
            while let Some(word) = words.next() {
                match word {
                    "bands" => {
                        bands = words.number("bands")?;
                        if !(2..=16).contains(&bands) {
                            return Err("RTNETLINK answers: Invalid argument".to_owned());
                        }
                    }
                    "priomap" => {
                        for place in &mut map {
                            if let Some(number) = words.peek().and_then(|word| word.parse().ok()) {
                                *place = number;
                                words.at += 1;
                            }
                        }
                    }
                    other => {
                        return Err(format!(
                            "What is \"{other}\"?\nUsage: ... prio bands NUMBER priomap P1 P2...[multiqueue]"
                        ));
                    }
                }
            }
            if map.iter().any(|band| *band >= bands) {
                return Err("RTNETLINK answers: Invalid argument".to_owned());
            }
            Ok(Kind::Prio { bands, map })
        }
        "tbf" => tbf(&mut words),
        "htb" => {
            let mut default = 0;
            while let Some(word) = words.next() {
                match word {
                    "default" => {
                        let text = words.value("default")?;
                        default = u32::from_str_radix(text.trim_start_matches("0x"), 16)
                            .map_err(|_| format!("Illegal \"default\": {text}"))?;
                    }
                    "r2q" => drop(words.value("r2q")?),
                    other => {
                        return Err(format!(
                            "What is \"{other}\"?\nUsage: ... qdisc add ... htb [default N] [r2q N]"
                        ));
                    }
                }
            }
            Ok(Kind::Htb { default })
        }
        "fq_codel" => Ok(Kind::FqCodel),
        "fq" => Ok(Kind::Fq),
        "pfifo" | "bfifo" => {
            let mut limit = 1_000;
            while let Some(word) = words.next() {
                match word {
                    "limit" => limit = words.number("limit")?,
                    other => return Err(format!("What is \"{other}\"?\nUsage: ... {kind} [ limit NUMBER ]")),
                }
            }
            Ok(Kind::Pfifo { limit, bytes: kind == "bfifo" })
        }
        other => Err(format!(
            "Unknown qdisc \"{other}\", hence option \"{}\" is unparsable",
            words.next().unwrap_or_default()
        )),
    }
}

struct Words<'a> {
    words: &'a [String],
    at: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.peek();
        self.at += usize::from(word.is_some());
        word
    }

    fn value(&mut self, of: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("Command line is not complete. Try option \"help\"\n({of})"))
    }

    fn number(&mut self, of: &str) -> Result<u32, String> {
        let text = self.value(of)?;
        text.parse().map_err(|_| format!("Illegal \"{of}\": {text}"))
    }

    /// Takes a share and the correlation that may stand behind it.
    fn shares(&mut self, of: &str) -> Result<(f64, f64), String> {
        let text = self.value(of)?;
        let first = share(text).ok_or_else(|| format!("Illegal \"{of} percent\""))?;
        let second =
            self.peek().filter(|word| word.starts_with(|char: char| char.is_ascii_digit())).and_then(share);
        self.at += usize::from(second.is_some());
        Ok((first, second.unwrap_or(0.0)))
    }
}

fn netem(words: &mut Words<'_>) -> Result<Kind, String> {
    let mut netem = Netem { limit: 1_000, ..Netem::default() };
    while let Some(word) = words.next() {
        match word {
            "limit" => netem.limit = words.number("limit")?,
            "delay" | "latency" => {
                let text = words.value("delay")?;
                let delay = time(text).ok_or_else(|| "Illegal \"latency\"".to_owned())?;
                let digit = |word: &&str| word.starts_with(|char: char| char.is_ascii_digit());
                let jitter = words.peek().filter(digit).and_then(time);
                words.at += usize::from(jitter.is_some());
                let correlation = words.peek().filter(digit).filter(|_| jitter.is_some()).and_then(share);
                words.at += usize::from(correlation.is_some());
                netem.delay = Some((delay, jitter.unwrap_or(0.0), correlation.unwrap_or(0.0)));
            }
            "distribution" => netem.distribution = Some(words.value("distribution")?.to_owned()),
            "loss" | "drop" => {
                match words.peek() {
                    Some("random") => words.at += 1,
                    Some("state" | "gemodel") => return Err("only random loss is known here".to_owned()),
                    Some(other) if share(other).is_none() => {
                        return Err(format!("Unknown loss parameter: {other}"));
                    }
                    _ => {}
                }
                netem.loss = Some(words.shares("loss")?);
            }
            "corrupt" => netem.corrupt = Some(words.shares("corrupt")?),
            "duplicate" => netem.duplicate = Some(words.shares("duplicate")?),
            "reorder" => netem.reorder = Some(words.shares("reorder")?),
            "gap" => netem.gap = words.number("gap")?,
            "ecn" => netem.ecn = true,
            "rate" => netem.rate = Some(rate(words.value("rate")?).ok_or("Illegal \"rate\"")?),
            other => {
                return Err(format!(
                    "What is \"{other}\"?\nUsage: ... netem [ limit PACKETS ]\n                 [ delay TIME [ JITTER [CORRELATION]]]"
                ));
            }
        }
    }
    if netem.reorder.is_some() && netem.delay.is_none() {
        return Err("reordering not possible without specifying some delay".to_owned());
    }
    if netem.reorder.is_some() && netem.gap == 0 {
        netem.gap = 1;
    }
    Ok(Kind::Netem(Box::new(netem)))
}

fn tbf(words: &mut Words<'_>) -> Result<Kind, String> {
    let (mut bits, mut burst, mut latency, mut limit) = (None, None, None, None);
    while let Some(word) = words.next() {
        match word {
            "rate" => bits = Some(rate(words.value("rate")?).ok_or("Illegal \"rate\"")?),
            "burst" | "buffer" | "maxburst" => {
                let text = words.value("burst")?;
                burst = Some(size(text.split('/').next().unwrap_or(text)).ok_or("Illegal \"buffer\"")?);
            }
            "latency" => latency = Some(time(words.value("latency")?).ok_or("Illegal \"latency\"")?),
            "limit" => limit = Some(size(words.value("limit")?).ok_or("Illegal \"limit\"")?),
            "peakrate" | "mtu" | "minburst" | "mpu" | "overhead" => drop(words.value(word)?),
            other => {
                return Err(format!(
                    "What is \"{other}\"?\nUsage: ... tbf limit BYTES burst BYTES[/BYTES] rate KBPS"
                ));
            }
        }
    }
    let Some(rate) = bits else { return Err("\"rate\" is required.".to_owned()) };
    let Some(burst) = burst.filter(|burst| *burst > 0.0) else {
        return Err("\"burst\" is required.".to_owned());
    };
    let latency = match (latency, limit) {
        (Some(latency), _) => latency,
        (None, Some(limit)) => ((limit - burst) * 8e6 / rate).max(0.0),
        (None, None) => return Err("Either \"limit\" or \"latency\" is required.".to_owned()),
    };
    Ok(Kind::Tbf { rate, burst, latency })
}
