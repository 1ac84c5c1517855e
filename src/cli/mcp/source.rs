//! Documents that a call brings: a file that may be read, or the text itself.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::workplace::Workplace;
use ghost_tools::input;
use ghost_tools::live::LiveQuery;
use ghost_tools::print::Hinted;

/// A document: exactly one of the two.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    /// A file below the working folder, the data folder, the captures folder or a shared one.
    file: Option<String>,
    /// The document itself.
    text: Option<String>,
}

/// A network interface of the cloud, in place of a document.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloudInterface {
    /// The resource group.
    resource_group: String,
    /// The machine; its primary interface unless `interface` names another.
    machine: Option<String>,
    /// The interface.
    interface: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    subscription: Option<String>,
}

impl Source {
    /// Reads it, up to a limit.
    pub(super) fn read(&self, place: &Workplace, limit: usize) -> anyhow::Result<String> {
        match (&self.file, &self.text) {
            (Some(file), None) => input::text(&place.readable(file)?, limit),
            (None, Some(text)) => Ok(text.clone()),
            (Some(_), Some(_)) | (None, None) => {
                let error = anyhow::anyhow!("a document is either a file or a text");
                Err(Hinted::new(error, "give {\"file\": PATH} or {\"text\": DOCUMENT}").into())
            }
        }
    }

    /// Says in words where it comes from.
    pub(super) fn name(&self) -> String {
        self.file.as_ref().map_or_else(|| "the text".to_owned(), |file| format!("{file:?}"))
    }
}

impl From<CloudInterface> for LiveQuery {
    fn from(asked: CloudInterface) -> Self {
        Self::of(asked.machine, asked.interface, asked.resource_group, asked.subscription)
    }
}

/// Returns a file that may be read.
pub(super) fn file(place: &Workplace, name: &str) -> anyhow::Result<PathBuf> {
    let path = place.readable(name)?;
    if !path.is_file() {
        let error = anyhow::anyhow!("{name:?} is no file");
        return Err(Hinted::new(error, "name a file").into());
    }
    Ok(path)
}
