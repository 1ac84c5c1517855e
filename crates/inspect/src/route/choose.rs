//! Azure's selection: which routes carry a packet, and why.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use super::index::IndexMatch;
use super::report::{Outcome, Reason};
use super::row::{Route, Row, Source, State};
use super::table::Table;
use crate::net::Platform;

/// What decides over a packet beside the routes of users.
const UNLISTED: &str = "the routes of the platform and of gateways, which the document does not list";

/// The routes that carry packets to an address. Nothing is copied; `Table::select` gives the full result.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    table: &'a Table,
    found: Option<IndexMatch<'a>>,
    open: bool,
}

impl Table {
    /// Answers which routes carry packets to an address, in less than a microsecond however long the table is.
    #[must_use]
    pub fn choose(&self, to: IpAddr) -> Choice<'_> {
        if let Some(platform) = self.platform.as_deref().filter(|_| Platform::of(to).is_some()) {
            return platform.choose(to);
        }
        let mut choice = Choice { table: self, found: self.index.find(to.to_canonical()), open: false };
        choice.open = self.partial || choice.ahead().next().is_some();
        choice
    }
}

impl<'a> Choice<'a> {
    /// Returns what became of the question.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.found.map_or(0, |found| found.best.len()) {
            _ if self.open => Outcome::Indeterminate,
            0 => Outcome::NoRoute,
            1 => Outcome::Winner,
            _ => Outcome::Tied,
        }
    }

    /// Returns the best routes: one, or several that share the load.
    pub fn best(&self) -> impl Iterator<Item = &'a Route> + use<'a> {
        self.table.at(self.found.map_or(&[][..], |found| found.best).iter().copied())
    }

    /// Returns the route that carries the packet, where it is one and nothing unresolved could go before it.
    #[must_use]
    pub fn winner(&self) -> Option<&'a Route> {
        self.best().next().filter(|_| self.outcome() == Outcome::Winner)
    }

    /// Tells whether a route of BGP was passed over for one of the platform that it cannot beat.
    pub(super) fn excludes(&self, route: &Route) -> bool {
        route.row.source == Source::Gateway && self.found.is_some_and(|found| found.preferred)
    }

    /// Returns why the best routes are the best.
    #[must_use]
    pub fn reason(&self) -> Reason {
        let Some((found, best)) = self.found.zip(self.best().next()) else { return Reason::LpmOnly };
        let in_use = || self.table.at(found.finalists.iter().copied()).filter(|route| route.is_active());
        let mut finalists = in_use().filter(|route| !self.excludes(route));
        let (tier, tagged) = best.rank();
        if found.passed_over || (tier == 0 && finalists.nth(1).is_some()) {
            return Reason::SystemPreferred;
        }
        if in_use().nth(1).is_none() {
            return Reason::LpmOnly;
        }
        let mut finalists = in_use().filter(|route| !self.excludes(route)).map(Route::rank);
        let (mut same, mut by_tag) = (true, false);
        finalists.by_ref().for_each(|rank| {
            same &= rank.0 == tier;
            by_tag |= rank.0 == tier && rank.1 != tagged;
        });
        if same && by_tag { Reason::ExplicitPrefix } else { Reason::SourcePrecedence }
    }

    /// Returns the names of the unresolved service tags that could go before the best routes.
    #[must_use]
    pub fn unresolved(&self) -> Vec<String> {
        let names: BTreeSet<&str> = self.ahead().collect();
        let unlisted = self.table.partial.then(|| UNLISTED.to_owned());
        unlisted.into_iter().chain(names.into_iter().map(str::to_owned)).collect()
    }

    fn ahead(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let best = self.best().next();
        let alone = self.best().nth(1).is_none();
        let could = move |row: &Arc<Row>| {
            best.is_none_or(|best| {
                // What is not known of the row that carries the packet anyway sends it nowhere else.
                !(alone && Arc::ptr_eq(&best.row, row))
                    && (best.prefix.prefix_len() < best.prefix.max_prefix_len()
                        || (row.source.rank() + 1, true) <= best.rank())
            })
        };
        let tags = self.table.tags.iter();
        tags.filter(move |(_, row)| row.state == State::Active && could(row)).map(|(name, _)| name.as_str())
    }
}
