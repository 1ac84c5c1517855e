//! The full result of a selection.

use std::borrow::Cow;
use std::net::IpAddr;

use super::anomaly::{Anomaly, Code, asymmetry, invalid, of_route, own_address};
use super::choose::Choice;
use super::report::{Entry, Outcome, Selection, SelectionStep};
use super::row::{Route, Source};
use super::table::Table;
use crate::net::{Inventory, Platform};

impl Table {
    /// Answers which route carries a packet to an address.
    #[must_use]
    pub fn select(&self, to: IpAddr) -> Selection<'_> {
        self.select_knowing(to, None)
    }

    /// Answers which route carries a packet to an address, knowing whose the appliances' addresses are.
    #[must_use]
    pub fn select_knowing(&self, to: IpAddr, inventory: Option<&Inventory>) -> Selection<'_> {
        let choice = self.choose(to);
        let platform = Platform::of(to);
        let (result, chosen) = (choice.outcome(), choice.best().next());
        let mut anomalies: Vec<_> = choice.best().flat_map(|route| of_route(route, inventory)).collect();
        let won = match result {
            Outcome::Winner => "carries the packet",
            Outcome::Tied => "shares the load with its equals",
            Outcome::NoRoute | Outcome::Indeterminate => "would carry it, if nothing unresolved does",
        };
        let mut trace: Vec<SelectionStep<'_>> = Vec::with_capacity(8);
        trace.extend(choice.best().map(|route| SelectionStep { route: route.into(), what: won }));
        let (first_beaten, mut idle) = (trace.len(), Vec::new());
        for route in self.containing(to) {
            if platform.is_some() && route.row.source != Source::System {
                let what = "does not apply to an address of the platform itself";
                if route.is_active() { &mut trace } else { &mut idle }
                    .push(SelectionStep { route: route.into(), what });
            } else if !route.is_active() {
                anomalies.extend(invalid(route, chosen).filter(|_| platform.is_none()));
                idle.push(SelectionStep { route: route.into(), what: "is not in use" });
            } else if let Some(what) = chosen.and_then(|chosen| beats(&choice, chosen, route)) {
                trace.push(SelectionStep { route: route.into(), what });
            }
        }
        anomalies.extend(platform.zip(chosen).map(|(_, chosen)| own_address(to, &chosen.row)));
        let shadowed = trace.iter().skip(first_beaten).map(|step| step.route).collect();
        trace.append(&mut idle);
        let tied = match choice.best().nth(1) {
            Some(_) => choice.best().map(Entry::from).collect(),
            None => Vec::new(),
        };
        Selection {
            format: 1,
            result,
            winner: choice.winner().map(Entry::from),
            tied,
            reason: (result == Outcome::Winner).then(|| choice.reason()),
            anomalies,
            shadowed,
            unresolved: if result == Outcome::Indeterminate { choice.unresolved() } else { Vec::new() },
            trace,
            warnings: Cow::Borrowed(&self.warnings),
        }
    }

    /// Adds to a selection what is odd about the return path: `table` is the other end's, `from` the address there is an answer to.
    ///
    /// Where the return path is not decided, its service tags stand among what is unresolved.
    pub fn compare_return(&self, selection: &mut Selection<'_>, to: IpAddr, table: &Self, from: IpAddr) {
        let (there, back) = (self.choose(to), table.choose(from));
        if back.outcome() == Outcome::Indeterminate {
            let names = back.unresolved().into_iter().map(|name| format!("{name} (of the return table)"));
            selection.unresolved.extend(names);
        }
        if [&there, &back].iter().any(|choice| choice.outcome() == Outcome::Indeterminate) {
            return;
        }
        // Of several equals any may carry a packet: only paths that always differ are reported.
        let parted = |there: &Route| back.best().all(|back| asymmetry(there, back).is_some());
        match (there.best().next(), back.best().next()) {
            (Some(first), None) => {
                let detail = format!("no route of the return table carries an answer to {from}");
                selection.anomalies.push(Anomaly::new(Code::NoReturn, &first.row, detail));
            }
            (Some(first), Some(answer)) if there.best().all(parted) => {
                selection.anomalies.extend(asymmetry(first, answer));
            }
            (Some(_) | None, Some(_)) | (None, None) => {}
        }
    }
}

/// Says in what a route in use was beaten, where it was.
fn beats(choice: &Choice<'_>, chosen: &Route, route: &Route) -> Option<&'static str> {
    if choice.excludes(route) {
        Some("is BGP, to which the platform prefers its own route")
    } else if route.prefix.prefix_len() != chosen.prefix.prefix_len() {
        Some("has a shorter prefix")
    } else if route.rank() != chosen.rank() {
        Some("has a source that ranks lower")
    } else {
        None
    }
}
