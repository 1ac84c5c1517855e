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
        /// How many warnings there are.
        rows: usize,
        /// The first of them.
        first: Warning,
    },
    /// A table of a network interface is never empty.
    #[error("the route table has no rows")]
    NoRows,
}

/// Effective routes of one network interface.
#[derive(Debug, Clone)]
pub struct Table {
    pub(super) routes: Vec<Route>,
    pub(super) tags: Vec<(String, Arc<Row>)>,
    pub(super) listed: usize,
    pub(super) warnings: Vec<Warning>,
    index: Index,
}

impl Table {
    /// Reads what `az network nic show-effective-route-table -o json` prints.
    ///
    /// # Errors
    /// Fails where the text is no such document, or where no row of it could be read.
    pub fn parse(text: &str, tags: Option<&Tags>) -> Result<Self, Error> {
        let Decoded { routes, tags, listed, warnings } = decode(text, tags).map_err(Error::Document)?;
        if listed == 0 {
            return Err(match warnings.first() {
                Some(first) => Error::NoRow { rows: warnings.len(), first: first.clone() },
                None => Error::NoRows,
            });
        }
        let index = Index::new(&routes);
        Ok(Self { routes, tags, listed, warnings, index })
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

    /// Returns every route that contains an address, in use or not, the longest prefix first.
    pub fn containing(&self, address: IpAddr) -> impl Iterator<Item = &Route> {
        self.index.containing(address).filter_map(|at| self.routes.get(at))
    }
}
