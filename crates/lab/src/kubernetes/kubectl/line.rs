//! The words of a line.

use super::Answered;
use super::kind::Kind;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) context: Option<String>,
    pub(super) order: Order,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    Get(Get),
    ContextNames,
    Contexts,
    CurrentContext,
    Version,
}

/// What `get` is to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Get {
    /// The kinds, each with the names that are asked for; all objects where there are none.
    pub(super) wanted: Vec<(Kind, Vec<String>)>,
    /// Nothing where all namespaces are meant.
    pub(super) namespace: Option<String>,
    pub(super) form: Form,
    pub(super) has_heads: bool,
    /// Labels that are asked for.
    pub(super) labels: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Name,
    Table,
    Wide,
}

/// Options that are read.
#[derive(Debug, Default)]
struct Options {
    context: Option<String>,
    namespace: Option<String>,
    output: Option<String>,
    labels: Option<String>,
    is_everywhere: bool,
    has_no_heads: bool,
    is_client: bool,
}

impl Command {
    /// Reads the words behind `kubectl`.
    pub(super) fn of(words: &[String]) -> Result<Self, Answered> {
        let mut options = Options::default();
        let mut plain: Vec<&str> = Vec::new();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                None => plain.push(word),
                Some(option) => options.take(option, &mut words)?,
            }
        }
        let order = match plain.as_slice() {
            ["version"] if options.is_client => Order::Version,
            ["config", "get-contexts"] if options.output.as_deref() == Some("name") => Order::ContextNames,
            ["config", "get-contexts"] => Order::Contexts,
            ["config", "current-context"] => Order::CurrentContext,
            ["get", rest @ ..] => Order::Get(Get::of(rest, &options)?),
            _ => {
                let shown = plain.join(" ");
                return Err(Answered::failed(format!(
                    "error: the lab answers `kubectl get`, `config get-contexts`, `config current-context` and `version --client`, and not `{shown}`"
                )));
            }
        };
        Ok(Self { context: options.context, order })
    }
}

impl Options {
    fn take<'a>(
        &mut self,
        option: &'a str,
        words: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), Answered> {
        let Some(long) = option.strip_prefix('-') else { return self.short(option, words) };
        let (name, given) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        match name {
            "all-namespaces" => self.is_everywhere = given.is_none_or(|value| value == "true"),
            "no-headers" => self.has_no_heads = given.is_none_or(|value| value == "true"),
            "client" => self.is_client = given.is_none_or(|value| value == "true"),
            "context" | "namespace" | "output" | "selector" | "request-timeout" | "chunk-size" => {
                let value = given.or_else(|| words.next());
                let value = value.ok_or_else(|| needs(&format!("--{name}")))?.to_owned();
                match name {
                    "context" => self.context = Some(value),
                    "namespace" => self.namespace = Some(value),
                    "output" => self.output = Some(value),
                    "selector" => self.labels = Some(value),
                    // How long to wait, and how many at once, changes nothing here.
                    _ => {}
                }
            }
            name => {
                return Err(Answered::failed(format!(
                    "error: unknown flag: --{name}\nSee 'kubectl --help' for usage."
                )));
            }
        }
        Ok(())
    }

    /// Reads letters behind one dash: flags, and one at the end that takes a word.
    fn short<'a>(
        &mut self,
        letters: &'a str,
        words: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), Answered> {
        for (at, letter) in letters.char_indices() {
            let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            let mut value = || {
                let rest = rest.strip_prefix('=').unwrap_or(rest);
                let value = if rest.is_empty() { words.next() } else { Some(rest) };
                value.map(str::to_owned).ok_or_else(|| {
                    Answered::failed(format!(
                        "error: flag needs an argument: '{letter}' in -{letters}\nSee 'kubectl --help' for usage."
                    ))
                })
            };
            match letter {
                'A' => self.is_everywhere = true,
                'n' => return value().map(|value| self.namespace = Some(value)),
                'o' => return value().map(|value| self.output = Some(value)),
                'l' => return value().map(|value| self.labels = Some(value)),
                other => {
                    return Err(Answered::failed(format!(
                        "error: unknown shorthand flag: '{other}' in -{letters}\nSee 'kubectl --help' for usage."
                    )));
                }
            }
        }
        Ok(())
    }
}

fn needs(option: &str) -> Answered {
    Answered::failed(format!("error: flag needs an argument: {option}\nSee 'kubectl --help' for usage."))
}

const FORMATS: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,template,templatefile,wide,yaml";

impl Get {
    fn of(words: &[&str], options: &Options) -> Result<Self, Answered> {
        let form = match options.output.as_deref() {
            None | Some("") => Form::Table,
            Some("json") => Form::Json,
            Some("name") => Form::Name,
            Some("wide") => Form::Wide,
            Some(other) if FORMATS.split(',').any(|known| other.split('=').next() == Some(known)) => {
                return Err(Answered::failed(format!(
                    "error: the lab prints json, name, wide and tables, and not {other}"
                )));
            }
            Some(other) => {
                return Err(Answered::failed(format!(
                    "error: unable to match a printer suitable for the output format \"{other}\", allowed formats are: {FORMATS}"
                )));
            }
        };
        let labels = options.labels.as_deref().unwrap_or_default().split(',').filter(|own| !own.is_empty());
        let labels = labels.map(|own| {
            let pair = own.split_once("==").or_else(|| own.split_once('='));
            pair.map(|(key, value)| (key.trim_end_matches('!').to_owned(), value.to_owned())).ok_or_else(
                || Answered::failed(format!("error: the lab reads selectors such as app=web, and not {own}")),
            )
        });
        Ok(Self {
            wanted: wanted(words)?,
            namespace: (!options.is_everywhere)
                .then(|| options.namespace.clone().unwrap_or_else(|| "default".to_owned())),
            form,
            has_heads: !options.has_no_heads,
            labels: labels.collect::<Result<_, _>>()?,
        })
    }
}

/// Reads `KIND[,KIND] [NAME…]` or `KIND/NAME…`.
fn wanted(words: &[&str]) -> Result<Vec<(Kind, Vec<String>)>, Answered> {
    let kind = |text: &str| {
        Kind::named(text).ok_or_else(|| {
            Answered::failed(format!("error: the server doesn't have a resource type \"{text}\""))
        })
    };
    let Some((first, names)) = words.split_first() else {
        return Err(Answered::failed(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported resources.\n\n\
             error: Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).\n\
             See 'kubectl get -h' for help and examples",
        ));
    };
    if first.contains('/') {
        let pair = |word: &&str| {
            let (of, name) = word.split_once('/').ok_or_else(|| {
                Answered::failed("error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'")
            })?;
            Ok((kind(of)?, vec![name.to_owned()]))
        };
        return words.iter().map(pair).collect();
    }
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    first.split(',').filter(|text| !text.is_empty()).map(|text| Ok((kind(text)?, names.clone()))).collect()
}
