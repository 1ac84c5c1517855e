//! A table of effective routes, ready for questions.

use std::net::IpAddr;
use std::sync::Arc;

use super::decode::{Decoded, decode};
use super::index::Index;
use super::row::{Route, Row};
use crate::net::{DocumentError, Tags, Warning};

/// Why a table cannot answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no document of routes.
    #[error("the route table cannot be read")]
    Document(#[source] DocumentError),
    /// Not one row of it could be read, so that "no route" would be a guess.
    #[error("not one of the {rows} rows of the route table could be read: {first}")]
    NoRow {
        /// How many rows there are.
        rows: usize,
        /// The first warning.
        first: Warning,
    },
    /// A table of a network interface is never empty.
    #[error("the route table has no rows")]
    NoRows,
}

/// Effective routes of one network interface, compiled: a question takes a search among the prefixes.
#[derive(Debug, Clone)]
pub struct Table {
    pub(super) routes: Vec<Route>,
    pub(super) tags: Vec<(String, Arc<Row>)>,
    pub(super) listed: usize,
    pub(super) warnings: Vec<Warning>,
    pub(super) index: Index,
}

impl Table {
    /// Reads what `az network nic show-effective-route-table -o json` prints.
    ///
    /// # Errors
    /// Fails where the text is no such document, or where no row of it could be read.
    pub fn parse(text: &str, tags: Option<&Tags>) -> Result<Self, Error> {
        let Decoded { routes, tags, listed, rows, warnings } = decode(text, tags).map_err(Error::Document)?;
        let warnings = warnings.into_vec();
        if listed == 0 {
            return Err(match warnings.first() {
                Some(first) => Error::NoRow { rows, first: first.clone() },
                None => Error::NoRows,
            });
        }
        Ok(Self { tags, listed, warnings, ..Self::new(routes) })
    }

    /// Compiles routes that the caller has.
    #[must_use]
    pub fn new(routes: Vec<Route>) -> Self {
        let index = Index::new(&routes);
        Self { listed: routes.len(), routes, tags: Vec::new(), warnings: Vec::new(), index }
    }

    /// Returns the routes, a row per prefix.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns every route that contains an address: the longest prefix first, of one prefix what is in use and ranks highest.
    pub fn containing(&self, address: IpAddr) -> impl Iterator<Item = &Route> {
        self.at(self.index.containing(address.to_canonical()))
    }

    /// Returns the routes at some places.
    pub(super) fn at(&self, places: impl Iterator<Item = u32>) -> impl Iterator<Item = &Route> {
        places.filter_map(|at| self.routes.get(usize::try_from(at).ok()?))
    }
}
