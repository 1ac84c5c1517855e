//! Azure's selection.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::anomaly::{asymmetry, invalid, of_route};
use super::report::{Entry, Outcome, Reason, Selection, Step};
use super::row::{Route, Source, State};
use super::table::Table;
use crate::net::Inventory;

/// The routes that won, why, and what they beat.
struct Choice<'a> {
    best: Vec<&'a Route>,
    reason: Reason,
    beaten: Vec<(&'a Route, &'static str)>,
}

impl Table {
    /// Answers which route carries a packet to an address.
    #[must_use]
    pub fn select(&self, to: IpAddr) -> Selection {
        self.select_knowing(to, None)
    }

    /// Answers which route carries a packet to an address, knowing whose the appliances' addresses are.
    #[must_use]
    pub fn select_knowing(&self, to: IpAddr, inventory: Option<&Inventory>) -> Selection {
        let Choice { best, reason, beaten } = self.choose(to);
        let chosen = best.first().copied();
        let unresolved = self.could_win(chosen);
        let result = match best.as_slice() {
            _ if !unresolved.is_empty() => Outcome::Indeterminate,
            [] => Outcome::NoRoute,
            [_] => Outcome::Winner,
            [_, ..] => Outcome::Tied,
        };
        let mut anomalies: Vec<_> = best.iter().flat_map(|route| of_route(route, inventory)).collect();
        anomalies.extend(invalid(self.containing(to), chosen));
        let won = match result {
            Outcome::Winner => "carries the packet",
            Outcome::Tied => "shares the load with its equals",
            Outcome::NoRoute | Outcome::Indeterminate => "would carry it, if no unresolved service tag does",
        };
        let trace = best.iter().map(|route| (*route, won)).chain(beaten.iter().copied());
        let mut trace: Vec<Step> = trace.map(|(route, what)| Step { route: route.into(), what }).collect();
        let idle = self.containing(to).filter(|route| !route.is_active());
        trace.extend(idle.map(|route| Step { route: route.into(), what: "is not in use" }));
        let entries = |routes: &[&Route]| routes.iter().map(|route| Entry::from(*route)).collect();
        Selection {
            format: 1,
            result,
            winner: chosen.filter(|_| result == Outcome::Winner).map(Entry::from),
            tied: if best.len() > 1 { entries(&best) } else { Vec::new() },
            reason: (result == Outcome::Winner).then_some(reason),
            anomalies,
            shadowed: beaten.iter().map(|(route, _)| Entry::from(*route)).collect(),
            unresolved,
            trace,
            warnings: self.warnings.clone(),
        }
    }

    /// Adds to a selection what is odd about the way back: `table` is the other end's, `from` the address there is an answer to.
    pub fn compare_return(&self, selection: &mut Selection, to: IpAddr, table: &Self, from: IpAddr) {
        let (there, back) = (self.choose(to), table.choose(from));
        // Of several equals any may carry a packet: only ways that always part are told.
        let parted = |there: &Route| back.best.iter().all(|back| asymmetry(there, back).is_some());
        if let (Some(first), Some(answer)) = (there.best.first(), back.best.first())
            && there.best.iter().all(|there| parted(there))
        {
            selection.anomalies.extend(asymmetry(first, answer));
        }
    }

    fn choose(&self, to: IpAddr) -> Choice<'_> {
        let active: Vec<&Route> = self.containing(to).filter(|route| route.is_active()).collect();
        let preferred = active.iter().any(|route| route.beats_bgp());
        let competes = |route: &Route| !(preferred && route.row.source == Source::Gateway);
        let longest =
            active.iter().filter(|route| competes(route)).map(|route| route.prefix.prefix_len()).max();
        let longest_of_all = active.first().map(|route| route.prefix.prefix_len());
        let finalists =
            || active.iter().filter(|route| competes(route) && Some(route.prefix.prefix_len()) == longest);
        let rank = finalists().map(|route| route.rank()).min();
        let (mut best, mut beaten) = (Vec::new(), Vec::new());
        for route in active.iter().copied() {
            if !competes(route) {
                beaten.push((route, "is BGP, to which the platform prefers its own route"));
            } else if Some(route.prefix.prefix_len()) != longest {
                beaten.push((route, "has a shorter prefix"));
            } else if Some(route.rank()) != rank {
                beaten.push((route, "has a source that ranks lower"));
            } else {
                best.push(route);
            }
        }
        let at_longest =
            active.iter().filter(|route| Some(route.prefix.prefix_len()) == longest_of_all).count();
        let endpoint = rank.is_some_and(|(tier, _)| tier == 0) && finalists().nth(1).is_some();
        let by_tag = finalists().any(|route| {
            best.first().is_some_and(|best| best.rank().0 == route.rank().0 && best.rank() != route.rank())
        });
        let reason = if longest != longest_of_all || endpoint {
            Reason::SystemPreferred
        } else if at_longest <= 1 {
            Reason::LpmOnly
        } else if by_tag && finalists().all(|route| Some(route.rank().0) == rank.map(|rank| rank.0)) {
            Reason::ExplicitPrefix
        } else {
            Reason::SourcePrecedence
        };
        Choice { best, reason, beaten }
    }

    /// Returns the unresolved service tags that could go before the chosen route.
    fn could_win(&self, chosen: Option<&Route>) -> Vec<String> {
        let ahead = |source: &Source| {
            chosen.is_none_or(|chosen| {
                chosen.prefix.prefix_len() < chosen.prefix.max_prefix_len()
                    || (source.rank() + 1, true) <= chosen.rank()
            })
        };
        let could = self.tags.iter().filter(|(_, row)| row.state == State::Active && ahead(&row.source));
        let names: BTreeSet<&String> = could.map(|(name, _)| name).collect();
        names.into_iter().cloned().collect()
    }
}
