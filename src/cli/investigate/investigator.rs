//! What investigates: from the command line, else from the configuration, else the playbook.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use clap::ValueEnum;

use ghost_base::Secret;
use ghost_investigate::model::anthropic::{self, Anthropic};
use ghost_investigate::model::gemini::{self, Gemini};
use ghost_investigate::model::openai::{self, Limit, OpenAi};
use ghost_investigate::model::{Egress, Fallback, Model, Price, Prices, Retries, Scripted, Timeouts};
use ghost_investigate::playbook::Playbook;
use ghost_tools::config::{self, Provider, read_small};
use ghost_tools::print::Hinted;
use ghost_tools::setup::Setup;

/// No script is longer.
const MAX_SCRIPT_BYTES: u64 = 64 << 20;

/// What investigates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum InvestigatorKind {
    /// A fixed procedure, without a model and without a key.
    Playbook,
    /// Turns from a file.
    Scripted,
    /// Anthropic.
    Anthropic,
    /// Gemini.
    Gemini,
    /// OpenAI, or a server that speaks like it.
    Openai,
}

/// Makes the investigator ready.
pub(in crate::cli) fn investigator(
    setup: &Setup,
    named: Option<InvestigatorKind>,
    script: Option<&Path>,
) -> anyhow::Result<Arc<dyn Model>> {
    let provider = match (named, script) {
        (Some(InvestigatorKind::Scripted), Some(script)) | (None, Some(script)) => return scripted(script),
        (Some(InvestigatorKind::Scripted), None) => {
            return Err(Hinted::new(
                anyhow::anyhow!("the scripted investigator has no script"),
                "name one with --script",
            )
            .into());
        }
        (Some(InvestigatorKind::Anthropic), _) => Provider::Anthropic,
        (Some(InvestigatorKind::Gemini), _) => Provider::Gemini,
        (Some(InvestigatorKind::Openai), _) => Provider::OpenAi,
        (Some(InvestigatorKind::Playbook), _) => Provider::Playbook,
        (None, None) => setup.config.model.brain.unwrap_or(Provider::Playbook),
    };
    let first = ready(setup, provider)?;
    let others = setup.config.model.fallback.iter().filter(|other| **other != provider);
    let mut others: Vec<Arc<dyn Model>> =
        others.map(|other| ready(setup, *other)).collect::<anyhow::Result<_>>()?;
    if provider == Provider::Playbook {
        return Ok(first);
    }
    // Where every model fails the playbook brings the investigation to its end.
    if !setup.config.model.fallback.contains(&Provider::Playbook) {
        others.push(Arc::new(Playbook));
    }
    Ok(Arc::new(Fallback::new(first, others)))
}

fn scripted(script: &Path) -> anyhow::Result<Arc<dyn Model>> {
    let reading = || format!("reading the script {}", script.display());
    let mut text = String::new();
    let file = File::open(script).with_context(reading)?;
    file.take(MAX_SCRIPT_BYTES + 1).read_to_string(&mut text).with_context(reading)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_SCRIPT_BYTES) {
        return Err(anyhow::anyhow!("it is longer than {MAX_SCRIPT_BYTES} bytes")).with_context(reading);
    }
    Ok(Arc::new(Scripted::parse(&text).with_context(reading)?))
}

/// Makes one provider ready. Nothing is sent.
pub(in crate::cli) fn ready(setup: &Setup, provider: Provider) -> anyhow::Result<Arc<dyn Model>> {
    let config = &setup.config.model;
    let egress = if config.no_egress { Egress::Only(config.allowed.clone()) } else { Egress::Anywhere };
    let (retries, timeouts) = (Retries::default(), Timeouts::default());
    let missing = |name: &str| {
        let error = anyhow::anyhow!("there is no [model.{name}] in the configuration");
        Hinted::new(error, format!("[model.{name}] with model = \"…\" names the model"))
    };
    Ok(match provider {
        Provider::Playbook => Arc::new(Playbook),
        Provider::Anthropic => {
            let named = config.anthropic.as_ref().ok_or_else(|| missing("anthropic"))?;
            let key = key(setup, "ANTHROPIC_API_KEY", named.key_file.as_deref())?
                .unwrap_or_else(|| Secret::new(""));
            let (model, base, window) = (named.model.clone(), named.base_url.clone(), named.window);
            Arc::new(Anthropic::new(anthropic::Options {
                model,
                key,
                base,
                window,
                retries,
                timeouts,
                egress,
            })?)
        }
        Provider::Gemini => {
            let named = config.gemini.as_ref().ok_or_else(|| missing("gemini"))?;
            let key =
                key(setup, "GEMINI_API_KEY", named.key_file.as_deref())?.unwrap_or_else(|| Secret::new(""));
            let (model, base, window) = (named.model.clone(), named.base_url.clone(), named.window);
            Arc::new(Gemini::new(gemini::Options { model, key, base, window, retries, timeouts, egress })?)
        }
        Provider::OpenAi => {
            let named = config.openai.as_ref().ok_or_else(|| missing("openai"))?;
            let key = key(setup, "OPENAI_API_KEY", named.key_file.as_deref())?;
            // OpenAI itself speaks the newer interface and has caches with names.
            let own = named.base_url.is_none();
            let dialect =
                named.dialect.unwrap_or(if own { config::Dialect::Responses } else { config::Dialect::Chat });
            Arc::new(OpenAi::new(openai::Options {
                model: named.model.clone(),
                key,
                sign: match named.sign {
                    config::Sign::Bearer => openai::Sign::Bearer,
                    config::Sign::ApiKey => openai::Sign::ApiKey,
                },
                base: named.base_url.clone(),
                dialect: match dialect {
                    config::Dialect::Responses => openai::Dialect::Responses,
                    config::Dialect::Chat => openai::Dialect::Chat,
                },
                limit: if own { Limit::MaxCompletionTokens } else { Limit::MaxTokens },
                reasons: None,
                cache_key: own.then(|| "ghost".to_owned()),
                window: named.window,
                egress,
                timeouts,
                retries,
            })?)
        }
    })
}

/// Returns the key of a provider: from the environment, else from its file.
fn key(setup: &Setup, variable: &str, file: Option<&Path>) -> anyhow::Result<Option<Secret>> {
    if let Some(key) = setup.environment.text(variable).filter(|key| !key.trim().is_empty()) {
        return Ok(Some(Secret::new(key)));
    }
    let Some(file) = file else { return Ok(None) };
    let text = read_small(file).map_err(anyhow::Error::msg);
    let text = text.with_context(|| format!("reading the key {}", file.display()))?;
    Ok(Some(Secret::new(&text)))
}

/// Returns what turns cost.
pub(in crate::cli) fn prices(setup: &Setup) -> anyhow::Result<Prices> {
    let price = |(name, price): (&String, &config::Price)| {
        Ok((name.clone(), Price::new(price.input, price.cached, price.cache_write, price.output)?))
    };
    setup.config.model.prices.iter().map(price).collect()
}
