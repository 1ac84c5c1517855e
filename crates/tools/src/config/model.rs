//! `[model]` and `[limits]`: who thinks, and what a session may spend.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// `[model]`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// What investigates, unless the command line says: `playbook`, `anthropic`, `gemini` or `openai`; the playbook unless said.
    pub brain: Option<Provider>,
    /// Who goes on where that one cannot, in order.
    pub fallback: Vec<Provider>,
    /// Conversations stay on this machine, and at the addresses of `allowed`.
    pub no_egress: bool,
    /// What base addresses may begin with under `no_egress`.
    pub allowed: Vec<String>,
    /// The absolute path of a text that is added to the system prompt: names, conventions, what is where.
    pub site_prompt: Option<PathBuf>,
    pub anthropic: Option<Named>,
    pub gemini: Option<Named>,
    /// OpenAI, or a server that speaks like it.
    pub openai: Option<OpenAi>,
    /// Dollars for a million tokens, by the name of the model; `*` at its end stands for anything.
    pub prices: BTreeMap<String, Price>,
}

/// Who can think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The playbook: no model, no key.
    Playbook,
    Anthropic,
    Gemini,
    /// OpenAI, or a server that speaks like it.
    OpenAi,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The model's name.
    pub model: String,
    /// The absolute path of a file that holds the key and nothing else; the provider's variable wins over it.
    #[serde(default)]
    pub key_file: Option<PathBuf>,
    /// What addresses begin with; the provider's own unless said.
    #[serde(default)]
    pub base_url: Option<String>,
    /// How many tokens fit into its window; 200,000 unless said.
    #[serde(default = "window")]
    pub window: u32,
}

/// `[model.openai]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenAi {
    /// The model's name, or that of a deployment.
    pub model: String,
    /// The absolute path of a file that holds the key and nothing else; `$OPENAI_API_KEY` wins over it. A server on this
    /// machine needs none.
    #[serde(default)]
    pub key_file: Option<PathBuf>,
    /// What addresses begin with, the version included; OpenAI's own unless said.
    #[serde(default)]
    pub base_url: Option<String>,
    /// How many tokens fit into its window; 128,000 unless said.
    #[serde(default = "smaller_window")]
    pub window: u32,
    /// `responses` or `chat`; `responses` for OpenAI itself and `chat` for all others unless said.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// `bearer` or `api-key`; `bearer` unless said.
    #[serde(default)]
    pub sign: Sign,
}

/// Which interface a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `POST /responses`.
    Responses,
    /// `POST /chat/completions`.
    Chat,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// As `Authorization: Bearer`.
    #[default]
    Bearer,
    /// As `api-key`.
    ApiKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that are read.
    pub input: f64,
    /// Tokens that come from a cache; as much as `input` unless said.
    pub cached: Option<f64>,
    /// Tokens that are put into a cache; as much as `input` unless said.
    pub cache_write: Option<f64>,
    /// Tokens that are written.
    pub output: f64,
}

/// `[limits]`: the budgets of a session. A session keeps those that it began with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Turns of the model; 50 unless said.
    pub turns: u32,
    /// Commands; 200 unless said.
    pub commands: u32,
    /// Minutes at work; 60 unless said. Time in which a human is waited for does not count.
    pub minutes: u32,
    /// Megabytes of packets captured; 200 unless said.
    pub captured_megabytes: u32,
    /// Tokens read and written; 0, no limit, unless said.
    pub tokens: u64,
    /// Dollars; 0, no limit, unless said. Turns whose price is not known count as nothing and are reported.
    pub dollars: f64,
    /// Tokens of one result that a model reads; 4,000 unless said.
    pub result_tokens: u32,
    /// Tokens of one answer; 8,192 unless said.
    pub answer_tokens: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 50,
            commands: 200,
            minutes: 60,
            captured_megabytes: 200,
            tokens: 0,
            dollars: 0.0,
            result_tokens: 4_000,
            answer_tokens: 8_192,
        }
    }
}

fn window() -> u32 {
    200_000
}

fn smaller_window() -> u32 {
    128_000
}

impl Model {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let files = [
            ("site_prompt", self.site_prompt.as_ref()),
            ("anthropic.key_file", self.anthropic.as_ref().and_then(|named| named.key_file.as_ref())),
            ("gemini.key_file", self.gemini.as_ref().and_then(|named| named.key_file.as_ref())),
            ("openai.key_file", self.openai.as_ref().and_then(|named| named.key_file.as_ref())),
        ];
        for (name, path) in files.into_iter().filter_map(|(name, path)| Some((name, path?))) {
            if !path.is_absolute() {
                problems.push(format!("[model] {name} = {path:?}: the path has to be absolute"));
            }
        }
        let windows = [
            ("anthropic", self.anthropic.as_ref().map(|named| named.window)),
            ("gemini", self.gemini.as_ref().map(|named| named.window)),
            ("openai", self.openai.as_ref().map(|named| named.window)),
        ];
        for (name, window) in windows {
            // The system prompt and the tools alone take a good part of it.
            if window.is_some_and(|window| window < 24_000) {
                problems.push(format!("[model.{name}] window: it has to be 24000 at least"));
            }
        }
        for provider in self.brain.iter().chain(&self.fallback) {
            let (name, there) = match provider {
                Provider::Playbook => continue,
                Provider::Anthropic => ("anthropic", self.anthropic.is_some()),
                Provider::Gemini => ("gemini", self.gemini.is_some()),
                Provider::OpenAi => ("openai", self.openai.is_some()),
            };
            if !there {
                problems.push(format!("[model] names {name}, and there is no [model.{name}]"));
            }
        }
        for (name, price) in &self.prices {
            let all = [Some(price.input), price.cached, price.cache_write, Some(price.output)];
            if all.into_iter().flatten().any(|dollars| !(0.0..=1_000_000.0).contains(&dollars)) {
                problems.push(format!("[model.prices.{name:?}]: a price lies between 0 and 1000000 dollars"));
            }
        }
        problems
    }
}

impl Limits {
    /// Returns everything that is wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let within = [
            ("turns", u64::from(self.turns), 1, 10_000),
            ("commands", u64::from(self.commands), 1, 100_000),
            ("minutes", u64::from(self.minutes), 1, 7 * 24 * 60),
            ("captured_megabytes", u64::from(self.captured_megabytes), 1, 100_000),
            ("result_tokens", u64::from(self.result_tokens), 200, 100_000),
            ("answer_tokens", u64::from(self.answer_tokens), 256, 200_000),
        ];
        let mut problems: Vec<String> = within
            .into_iter()
            .filter(|(_, value, least, most)| !(least..=most).contains(&value))
            .map(|(name, value, least, most)| {
                format!("[limits] {name} = {value}: it has to lie between {least} and {most}")
            })
            .collect();
        if !(0.0..=1_000_000.0).contains(&self.dollars) {
            problems.push("[limits] dollars: it has to lie between 0 and 1000000".to_owned());
        }
        problems
    }
}
