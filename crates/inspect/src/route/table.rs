//! A table of effective routes, ready for questions.

use std::net::IpAddr;
use std::sync::Arc;

use super::decode::{Decoded, decode};
use super::index::Index;
use super::row::{Hop, Source, State};
use super::row::{Route, Row};
use crate::net::{DocumentError, Platform, Tags, Warning};

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
    /// The table lists the routes of users alone, so that what it does not list may carry any packet.
    pub(super) partial: bool,
    /// What carries packets to the platform's own addresses.
    pub(super) platform: Option<Box<Table>>,
}

impl Table {
    /// Reads what `az network nic show-effective-route-table -o json` prints, or `az network route-table show` and
    /// `az network route-table route list`: those list the routes of users alone, and no answer from them is certain.
    ///
    /// # Errors
    /// Fails where the text is no such document, or where no row of it could be read.
    pub fn parse(text: &str, tags: Option<&Tags>) -> Result<Self, Error> {
        let Decoded { routes, tags, listed, rows, partial, warnings } =
            decode(text, tags).map_err(Error::Document)?;
        let warnings = warnings.into_vec();
        if listed == 0 && !partial {
            return Err(match warnings.first() {
                Some(first) => Error::NoRow { rows, first: first.clone() },
                None => Error::NoRows,
            });
        }
        let mut table = Self { listed, warnings, partial, ..Self::new(routes) };
        if let Some(platform) = &mut table.platform {
            let system = tags.iter().filter(|(_, row)| row.source == Source::System);
            platform.tags = system.map(|(name, row)| (name.clone(), Arc::clone(row))).collect();
        }
        table.tags = tags;
        Ok(table)
    }

    /// Compiles routes that the caller has.
    #[must_use]
    pub fn new(routes: Vec<Route>) -> Self {
        let platform = Self::only(of_platform(&routes), None);
        Self::only(routes, Some(Box::new(platform)))
    }

    fn only(routes: Vec<Route>, platform: Option<Box<Self>>) -> Self {
        let index = Index::new(&routes);
        let (tags, warnings) = (Vec::new(), Vec::new());
        Self { listed: routes.len(), routes, tags, warnings, index, partial: false, platform }
    }

    /// Returns it without some routes: what it would say if they were not there.
    #[must_use]
    pub fn without(&self, gone: impl Fn(&Route) -> bool) -> Self {
        let mut table = Self::new(self.routes.iter().filter(|route| !gone(route)).cloned().collect());
        table.tags.clone_from(&self.tags);
        table.warnings.clone_from(&self.warnings);
        table.partial = self.partial;
        if let (Some(own), Some(other)) = (&mut table.platform, &self.platform) {
            own.tags.clone_from(&other.tags);
        }
        table
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

/// Returns what carries packets to the platform's own addresses: its routes in use, or where it lists none, its host.
fn of_platform(routes: &[Route]) -> Vec<Route> {
    let mut found = Vec::new();
    for address in Platform::ALL.map(Platform::address) {
        let system = |route: &&Route| route.row.source == Source::System && route.is_active();
        let mut carry =
            routes.iter().filter(system).filter(|route| route.prefix.contains(&address)).peekable();
        if carry.peek().is_none() {
            let row = Row {
                number: 0,
                source: Source::System,
                hop: Hop::Other,
                hop_type: "Internet".to_owned(),
                hop_ips: Vec::new(),
                name: None,
                state: State::Active,
            };
            found.push(Route { prefix: address.into(), tag: None, row: Arc::new(row) });
        }
        // Both addresses may be in one prefix.
        let known = |route: &&Route| !found.iter().any(|other: &Route| other == *route);
        let more: Vec<Route> = carry.filter(known).cloned().collect();
        found.extend(more);
    }
    found
}
