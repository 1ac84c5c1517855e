//! Words of a line → what is to be read. Whatever is not understood to the last word is left to `az`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::query::Query;
use super::table::{Form, HEALTH, Opt, ROWS, Row};
use super::watch::is_end;

/// The longest value.
const MAX_VALUE_BYTES: usize = 256;

/// The longest time that an activity log is kept, and more.
const MAX_LENGTH_SECONDS: u64 = 400 * 86_400;

/// What is to be read.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) row: &'static Row,
    pub(super) values: BTreeMap<&'static str, String>,
    /// The subscription that the line names, by id or name.
    pub(super) subscription: Option<String>,
    pub(super) query: Option<Query>,
    pub(super) output: Format,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    /// A line for each entry, with tabs between the values.
    Tsv,
}

/// Why a line is left to `az`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Left {
    /// It is no line of `az`, or one that may change something.
    Other,
    Command(String),
    /// An option, or the value of one.
    Option(String),
    Missing(&'static str),
    Output,
    Query,
    /// A variable of the environment that would change what is read.
    Variable(&'static str),
}

impl fmt::Display for Left {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => out.write_str("it is no reading line of az"),
            Self::Command(name) => write!(out, "`az {name}` has no request of its own"),
            Self::Option(word) => write!(out, "`{word}` is not understood"),
            Self::Missing(name) => write!(out, "`{name}` is missing"),
            Self::Output => out.write_str("the output has another form"),
            Self::Query => out.write_str("the query is not understood"),
            Self::Variable(name) => write!(out, "${name} changes what it means"),
        }
    }
}

/// Variables by which `az` fills in what a line leaves out.
const DEFAULTS: [&str; 3] = ["AZURE_DEFAULTS_GROUP", "AZURE_DEFAULTS_LOCATION", "AZURE_DEFAULTS_VM"];

impl Request {
    /// Reads a line.
    pub(super) fn read(words: &[String], environment: &BTreeMap<String, OsString>) -> Result<Self, Left> {
        let Some((first, rest)) = words.split_first() else { return Err(Left::Other) };
        if first != "az" {
            return Err(Left::Other);
        }
        let length = rest.iter().position(|word| word.starts_with('-')).unwrap_or(rest.len());
        let (path, options) = rest.split_at(length);
        let name = path.join(" ");
        let row = ROWS.iter().find(|row| row.name == name).ok_or(Left::Command(name))?;
        if let Some(set) = DEFAULTS.into_iter().find(|set| environment.contains_key(*set)) {
            return Err(Left::Variable(set));
        }
        let mut request =
            Self { row, values: BTreeMap::new(), subscription: None, query: None, output: Format::Json };
        let mut output = None;
        let mut words = options.iter();
        while let Some(word) = words.next() {
            request.option(word, &mut words, &mut output)?;
        }
        let usual = environment.get("AZURE_CORE_OUTPUT").map(|form| form.to_str().unwrap_or_default());
        request.output = match output.as_deref().or(usual).unwrap_or("json") {
            "json" => Format::Json,
            // The order that a query gives to names is not kept here.
            "tsv" if request.query.as_ref().is_none_or(|query| !query.names_fields()) => Format::Tsv,
            _ => return Err(Left::Output),
        };
        let missing = row.options.iter().find(|opt| opt.needed && !request.values.contains_key(opt.key));
        match missing.and_then(|opt| opt.names.first()) {
            Some(name) => Err(Left::Missing(name)),
            None => Ok(request),
        }
    }

    fn option<'a>(
        &mut self,
        word: &str,
        rest: &mut impl Iterator<Item = &'a String>,
        output: &mut Option<String>,
    ) -> Result<(), Left> {
        let wrong = |word: &str| Left::Option(word.to_owned());
        if word == "--only-show-errors" {
            return Ok(());
        }
        let known = self.row.options.iter().find(|opt| opt.names.contains(&word));
        if let Some(opt) = known.filter(|opt| opt.form == Form::Flag) {
            let given = self.values.insert(opt.key, String::new());
            return if given.is_none() { Ok(()) } else { Err(wrong(word)) };
        }
        let value = rest.next().ok_or_else(|| wrong(word))?;
        let is_long = word == "--query" || known.is_some_and(|opt| opt.form == Form::Health);
        if value.len() > MAX_VALUE_BYTES && !is_long {
            return Err(wrong(word));
        }
        let twice = match (word, known) {
            (_, Some(opt)) => {
                if !fits(opt, value) {
                    return Err(wrong(value));
                }
                self.values.insert(opt.key, value.clone()).is_some()
            }
            ("--output" | "-o", None) => output.replace(value.clone()).is_some(),
            ("--query", None) => self.query.replace(Query::read(value).ok_or(Left::Query)?).is_some(),
            ("--subscription", None) if is_name(value) => self.subscription.replace(value.clone()).is_some(),
            _ => return Err(wrong(word)),
        };
        if twice { Err(wrong(word)) } else { Ok(()) }
    }

    /// Returns the value of an option.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Fills the options into a path. Every value is a name: nothing in it has to be escaped, and none leads elsewhere.
    pub(super) fn filled(&self, path: &str) -> String {
        let fill = |path: String, (key, value): (&&str, &String)| path.replace(&format!("{{{key}}}"), value);
        self.values.iter().fold(path.to_owned(), fill)
    }
}

fn fits(opt: &Opt, value: &str) -> bool {
    match opt.form {
        Form::Name => is_name(value),
        Form::Number => value.parse::<u32>().is_ok_and(|number| number > 0 && value == number.to_string()),
        Form::Moment => OffsetDateTime::parse(value, &Rfc3339).is_ok(),
        Form::Length => seconds(value).is_some(),
        Form::Address => value.parse::<std::net::Ipv4Addr>().is_ok(),
        Form::End => is_end(value),
        Form::Word(words) => words.contains(&value),
        Form::Health => health(value).is_some(),
        Form::Flag => false,
    }
}

/// Returns what an address of the platform's health names below the subscription in use; nothing of any other address.
pub(super) fn health(address: &str) -> Option<&str> {
    let path = address.strip_prefix("/subscriptions/{subscriptionId}")?;
    let path = path.strip_suffix(HEALTH)?.strip_suffix("?api-version=")?;
    let parts: Vec<&str> = path.split('/').collect();
    let is_known = match parts.as_slice() {
        ["", "providers", "Microsoft.ResourceHealth", "events"] => true,
        [
            "",
            "resourceGroups",
            group,
            "providers",
            "Microsoft.Compute",
            "virtualMachines",
            machine,
            "providers",
            "Microsoft.ResourceHealth",
            "availabilityStatuses",
            "current",
        ] => is_name(group) && is_name(machine),
        _ => false,
    };
    is_known.then_some(path)
}

/// Tells whether a text is a part of a path as it stands.
fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.()".contains(&byte);
    let begins =
        text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric() || b"_(".contains(&first));
    begins && !text.contains("..") && text.bytes().all(plain)
}

/// Reads a length of time: numbers and units, as in `1d6h30m`.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (mut total, mut number) = (0_u64, None);
    for letter in text.chars() {
        if let Some(digit) = letter.to_digit(10) {
            number = Some(number.unwrap_or(0_u64).checked_mul(10)?.checked_add(u64::from(digit))?);
            continue;
        }
        let unit = match letter {
            'd' => 86_400,
            'h' => 3_600,
            'm' => 60,
            _ => return None,
        };
        total = total.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    (number.is_none() && (1..=MAX_LENGTH_SECONDS).contains(&total)).then_some(total)
}
