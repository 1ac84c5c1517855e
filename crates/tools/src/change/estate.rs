//! Where the estate comes from that a change is judged on.

use std::path::PathBuf;

use clap::Args;

use crate::guest;
use crate::live::Live;
use crate::path::{LiveEstate, bundle, place};
use crate::setup::Setup;
use ghost_inspect::path::{Bundle, Estate, Flow, Protocol};

/// The estate, and the flows that matter most.
#[derive(Debug, Args)]
pub(super) struct Source {
    /// The documents that were read: a JSON file, or a folder as `ghost path collect` writes it.
    #[arg(long, value_name = "PATH", conflicts_with = "resource_group")]
    bundle: Option<PathBuf>,
    /// The resource group to read them from now.
    #[arg(long, short = 'g', value_name = "GROUP")]
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID", requires = "resource_group")]
    subscription: Option<String>,
    /// A flow that matters: who calls; repeatable.
    #[arg(long, value_name = "WHERE", requires = "to")]
    from: Vec<String>,
    /// Who is called, and on which port; repeatable. Each --from is tried with each --to.
    #[arg(long, value_name = "WHERE[:PORT]", requires = "from")]
    to: Vec<String>,
}

impl Source {
    /// Reads the estate, where one is named.
    pub(super) fn read(&self, setup: &Setup) -> anyhow::Result<Option<Bundle>> {
        match (&self.bundle, &self.resource_group) {
            (Some(path), _) => bundle::read(path).map(Some),
            (None, Some(group)) => {
                let group = guest::place(group, self.subscription.as_deref())?;
                let mut live = LiveEstate::open(Live::open(setup, "change", None, None)?, group)?;
                live.read_all()?;
                Ok(Some(live.bundle().clone()))
            }
            (None, None) => Ok(None),
        }
    }

    /// Returns the flows that were named.
    pub(super) fn flows(&self, bundle: &Bundle) -> anyhow::Result<Vec<Flow>> {
        let estate = Estate::of(bundle);
        let mut flows = Vec::new();
        for from in &self.from {
            for to in &self.to {
                flows.push(place::flow(&estate, from, to, Protocol::Tcp)?);
            }
        }
        Ok(flows)
    }
}
