//! What carries out lines of `az` that only read: `az`, or this process.

use std::sync::Arc;

use anyhow::Context as _;

use super::print::Hinted;
use super::setup::Setup;
use crate::config::Reader;
use ghost_cloud::reader::{NativeReader, Place};
use ghost_shell::{Processes, Runner};

impl Setup {
    /// Returns who carries out what is permitted; nothing where it is the machine alone.
    pub fn permitted_runner(&self) -> anyhow::Result<Option<Arc<dyn Runner>>> {
        match self.config.cloud.reader {
            Reader::Az => Ok(self.runner.clone()),
            Reader::Native => {
                let other = self.runner.clone().unwrap_or_else(|| Arc::new(Processes));
                self.native_before(other).map(Some)
            }
        }
    }

    /// Puts the reader of this process before who carries out the rest.
    pub fn native_before(&self, other: Arc<dyn Runner>) -> anyhow::Result<Arc<dyn Runner>> {
        Ok(Arc::new(self.native_reader()?.before(other)))
    }

    /// Returns the reader. It is made once: all sessions share its token, its connections and its patience.
    fn native_reader(&self) -> anyhow::Result<NativeReader> {
        if let Some(known) = self.known_reader.get() {
            return Ok(known.clone());
        }
        let hint = "see [cloud] and [azure.reader] of the configuration, or write reader = \"az\"";
        let unusable = |what: &str| Hinted::new(anyhow::anyhow!("{what}"), hint);
        let reader = self.config.azure.reader.as_ref();
        let reader =
            reader.ok_or_else(|| unusable("[azure.reader] does not say as whom the cloud is read"))?;
        let account = self.account("reader", reader)?;
        let identities = self.identities()?;
        let folder = identities.reader().folder().context("finding the folder of the reader")?;
        let place = Place::read(self.like().as_deref(), self.environment.all())
            .map_err(|error| Hinted::new(error, hint))?;
        let native = NativeReader::new(&account, folder.to_owned(), place, Arc::new(Processes));
        let native = native.ok_or_else(|| unusable("[azure.reader] is signed in to az alone"))?;
        Ok(self.known_reader.get_or_init(|| native).clone())
    }
}
