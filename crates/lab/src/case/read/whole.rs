//! Reading, and everything that can be checked without an estate.

use std::collections::BTreeSet;

use serde::Deserialize as _;
use toml::Spanned;

use super::file::{BaselineText, File, LaterPhase};
use super::file::{line_of, line_of_field};
use crate::case::fault::{self, Fault};
use crate::case::model::{Baseline, Case, Pair, Phase, PlacedFault, Service};
use crate::case::problem::{Problem, Problems};
use crate::kubernetes::{ExpectedPhase, WrittenCluster};
use ghost_base::SessionId;

/// A case file may have so many bytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// So far back flows are logged.
const MAX_LOGGED_MINUTES: u16 = 600;
/// So many entries of a kind there are.
const MAX_ITEMS: usize = 500;

const SHAPE: &str =
    "`ghost lab cases a` prints a case file to begin with; demo/README.md explains every field";

impl Case {
    /// Reads a case file.
    ///
    /// # Errors
    /// Returns everything that is wrong with it.
    pub fn read(text: &str) -> Result<Self, Problems> {
        if text.len() > MAX_FILE_BYTES {
            let what = format!("the file has {} bytes; a case has {MAX_FILE_BYTES} at most", text.len());
            return Err(Problem::new(what, SHAPE).into());
        }
        let file: File = toml::from_str(text).map_err(|error| unread(text, &error))?;
        let mut reader = Reader { text, problems: Vec::new() };
        let case = reader.case(file);
        Problems::none(reader.problems)?;
        Ok(case)
    }
}

fn unread(text: &str, error: &toml::de::Error) -> Problem {
    let line = error.span().map(|span| line_of_field(text, span, error.message()));
    let what: String = error.message().lines().collect::<Vec<_>>().join("; ");
    Problem::new(what, SHAPE).at(line)
}

struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn at<T>(&self, part: &Spanned<T>) -> Option<usize> {
        Some(line_of(self.text, part.span().start))
    }

    fn wrong(&mut self, line: Option<usize>, problem: impl IntoIterator<Item = Problem>) {
        self.problems.extend(problem.into_iter().map(|problem| problem.at(line)));
    }

    fn case(&mut self, file: File) -> Case {
        let line = self.at(&file.id);
        self.wrong(line, fault::name("id", file.id.get_ref()));
        let counts = [
            file.fault.len(),
            file.service.len(),
            file.traffic.len(),
            file.logged.len(),
            file.baseline.len(),
            file.vm.len(),
            file.kubernetes.len(),
            file.change.len(),
            file.seen.len(),
        ];
        if counts.iter().any(|count| *count > MAX_ITEMS) {
            self.wrong(
                None,
                [Problem::new(format!("there are more than {MAX_ITEMS} entries of a kind"), SHAPE)],
            );
        }
        for vm in &file.vm {
            let own = vm.get_ref();
            let line = self.at(vm);
            let nsg = own.nsg.as_deref().and_then(|nsg| fault::group("nsg", nsg));
            self.wrong(
                line,
                [fault::machine("name", &own.name), fault::vnet("subnet", &own.subnet), nsg]
                    .into_iter()
                    .flatten(),
            );
        }
        for public in &file.public {
            let (own, line) = (public.get_ref(), self.at(public));
            self.wrong(
                line,
                [fault::machine("vm", &own.vm), fault::name("name", &own.name)].into_iter().flatten(),
            );
        }
        for change in &file.change {
            let (own, line) = (change.get_ref(), self.at(change));
            let parts: Vec<&str> = own.below().split('/').collect();
            let good = parts.len() >= 3
                && parts.len() % 2 == 1
                && parts.iter().all(|part| fault::name("put", part).is_none());
            self.wrong(
                line,
                (!good || !own.body.is_object()).then(|| {
                    Problem::new(
                        "`put` names no resource",
                        "write put = \"Microsoft.Network/virtualNetworks/NAME\" and a body",
                    )
                }),
            );
        }
        for service in &file.service {
            let (own, line) = (service.get_ref(), self.at(service));
            let odd = [
                fault::machine("vm", &own.vm),
                fault::port("port", own.port),
                fault::interface("program", &own.program),
            ];
            self.wrong(line, odd.into_iter().flatten());
        }
        for traffic in &file.traffic {
            let (own, line) = (traffic.get_ref(), self.at(traffic));
            let often = (own.every_ms < 10 || own.parallel == 0 || own.parallel > 100).then(|| {
                Problem::new(
                    "`every_ms` or `parallel` is out of range",
                    "every_ms is 10 or more, parallel 1 to 100",
                )
            });
            self.wrong(line, [often, fault::machine("from", &own.from)].into_iter().flatten());
        }
        for logged in &file.logged {
            let (own, line) = (logged.get_ref(), self.at(logged));
            let is_odd = own.until > own.since || own.since > MAX_LOGGED_MINUTES || own.phase == 0;
            let odd = is_odd.then(|| {
                Problem::new(
                    "`since`, `until` or `phase` is out of range",
                    "since is at most 600 minutes, until no more than that, phase 1 or more",
                )
            });
            let named = [fault::machine("from", &own.from), fault::port("port", own.port)];
            self.wrong(line, [odd].into_iter().chain(named).flatten());
        }
        let faults: Vec<PlacedFault> = file.fault.into_iter().filter_map(|table| self.fault(table)).collect();
        let known: BTreeSet<&str> = faults.iter().filter_map(|fault| fault.id.as_deref()).collect();
        let inside: Vec<&str> = file.kubernetes.iter().flat_map(|own| own.get_ref().ids()).collect();
        let fixable: BTreeSet<&str> = known.iter().chain(&inside).copied().collect();
        if fixable.len() != faults.iter().filter(|fault| fault.id.is_some()).count() + inside.len() {
            self.wrong(None, [Problem::new("two faults have the same id", "give each its own")]);
        }
        let baselines: Vec<Baseline> =
            file.baseline.into_iter().filter_map(|baseline| self.baseline(baseline, &known)).collect();
        let mut seen = Vec::new();
        for written in file.seen {
            let line = self.at(&written);
            match written.into_inner().seen() {
                Ok(one) => seen.push(one),
                Err(problem) => self.wrong(line, [problem]),
            }
        }
        for forbidden in &file.forbidden {
            let line = self.at(forbidden);
            let bad = forbidden.get_ref().says.iter().find(|says| regex::Regex::new(says).is_err());
            self.wrong(
                line,
                bad.map(|says| {
                    Problem::new(
                        format!("`{says}` is no regular expression"),
                        "escape ( ) [ ] . * + ? with \\\\",
                    )
                }),
            );
        }
        let first = Phase {
            prompt: file.prompt.trim().to_owned(),
            expected: file.expected,
            may: file.may,
            outcome: file.outcome,
            fixes: Vec::new(),
        };
        let mut phases = vec![first];
        phases.extend(self.later(file.phase, &fixable));
        self.clusters(&file.kubernetes, &phases);
        for pair in phases.iter().flat_map(|phase| phase.expected.iter().chain(&phase.may)) {
            let is_known = fault::CODES.iter().any(|(code, _)| *code == pair.fault)
                || fault::DOCUMENT_CODES.contains(&pair.fault.as_str())
                || fault::CLUSTER_CODES.iter().any(|(code, _)| *code == pair.fault);
            if pair.fault != "no_drift" && !is_known {
                self.problems.push(Problem::new(
                    format!("`{}` is no code of a fault", pair.fault),
                    "demo/README.md lists them",
                ));
            }
        }
        if phases.iter().any(|phase| phase.prompt.is_empty() || phase.outcome.is_empty()) {
            self.problems.push(Problem::new(
                "a prompt or an outcome is missing",
                "say what is asked, and how it may end",
            ));
        }
        Case {
            id: file.id.into_inner(),
            title: file.title,
            estate: file.estate.map(Spanned::into_inner),
            closed: file.closed,
            blob_role: file.blob_role,
            logged: file.logged.into_iter().map(Spanned::into_inner).collect(),
            vms: file.vm.into_iter().map(Spanned::into_inner).collect(),
            publics: file.public.into_iter().map(Spanned::into_inner).collect(),
            changes: file.change.into_iter().map(Spanned::into_inner).collect(),
            services: file.service.into_iter().map(Spanned::into_inner).collect::<Vec<Service>>(),
            traffic: file.traffic.into_iter().map(Spanned::into_inner).collect(),
            faults,
            clusters: file.kubernetes.into_iter().map(Spanned::into_inner).collect(),
            baselines,
            seen,
            forbidden: file.forbidden.into_iter().map(Spanned::into_inner).collect(),
            phases,
            notes: file.notes.trim().to_owned(),
        }
    }

    fn fault(&mut self, table: Spanned<toml::Table>) -> Option<PlacedFault> {
        let span = table.span();
        let line = self.at(&table);
        let mut table = table.into_inner();
        let id = match table.remove("id") {
            None => None,
            Some(toml::Value::String(id)) if fault::name("id", &id).is_none() => Some(id),
            Some(_) => {
                self.wrong(
                    line,
                    [Problem::new("`id` is no name", "write letters, digits, `_`, `.` and `-`")],
                );
                None
            }
        };
        match Fault::deserialize(table) {
            Ok(fault) => {
                let problems = fault.problems();
                for problem in problems {
                    let line = line_of_field(self.text, span.clone(), &problem.what);
                    self.wrong(Some(line), [problem]);
                }
                Some(PlacedFault { id, line, fault })
            }
            Err(error) => {
                let message: String = error.message().lines().collect::<Vec<_>>().join("; ");
                let line = line_of_field(self.text, span, &message);
                let hint = if message.contains("missing field `kind`") {
                    format!("write kind = one of {}", Fault::KINDS.join(", "))
                } else {
                    SHAPE.to_owned()
                };
                self.wrong(Some(line), [Problem::new(message, hint)]);
                None
            }
        }
    }

    /// Holds each cluster against what is said of it.
    fn clusters(&mut self, clusters: &[Spanned<WrittenCluster>], phases: &[Phase]) {
        fn pairs(all: &[Pair]) -> BTreeSet<(&str, &str)> {
            all.iter().map(|pair| (pair.fault.as_str(), pair.object.as_str())).collect()
        }
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        let expected: Vec<ExpectedPhase<'_>> = phases
            .iter()
            .map(|phase| {
                gone.extend(phase.fixes.iter().map(String::as_str));
                let (expected, may) = (pairs(&phase.expected), pairs(&phase.may));
                ExpectedPhase { gone: gone.clone(), expected, may }
            })
            .collect();
        let mut names = BTreeSet::new();
        for placed in clusters {
            let (own, line) = (placed.get_ref(), self.at(placed));
            if !names.insert(own.name.as_str()) {
                let what = format!("there are two clusters {}", own.name);
                self.wrong(line, [Problem::new(what, "give each its own name")]);
            }
            for flaw in own.flaws(&expected) {
                let line = flaw.at.map(|at| line_of(self.text, at)).or(line);
                self.wrong(line, [Problem::new(flaw.what, flaw.hint)]);
            }
        }
    }

    fn baseline(&mut self, written: Spanned<BaselineText>, known: &BTreeSet<&str>) -> Option<Baseline> {
        let line = self.at(&written);
        let own = written.into_inner();
        let unknown = own.after.iter().find(|id| !known.contains(id.as_str()));
        self.wrong(
            line,
            unknown.map(|id| {
                Problem::new(
                    format!("no fault has the id `{id}`"),
                    "give the fault that was there before an id",
                )
            }),
        );
        let name = own.id.parse::<SessionId>().is_err().then(|| {
            Problem::new(
                format!("`{}` is no name of a baseline", own.id),
                "write 1 to 64 letters, digits, `_` and `-`",
            )
        });
        self.wrong(line, [name, fault::machine("vm", &own.vm)].into_iter().flatten());
        let Some(age) = fault::instant(&own.age) else {
            self.wrong(
                line,
                [Problem::new(
                    format!("`age` is `{}`", own.age),
                    "write how long ago it was taken: 90m, 26h, 3d",
                )],
            );
            return None;
        };
        Some(Baseline { kind: own.kind, id: own.id, vm: own.vm, after: own.after, age, line })
    }

    fn later(
        &mut self,
        phases: std::collections::BTreeMap<String, LaterPhase>,
        known: &BTreeSet<&str>,
    ) -> Vec<Phase> {
        let mut found = Vec::new();
        for (at, (number, later)) in phases.into_iter().enumerate() {
            if number != (at + 2).to_string() || at > 7 {
                let what = format!("`phase.{number}` is not the next phase");
                self.problems.push(Problem::new(what, "phases are [phase.2], [phase.3] and so on, up to 9"));
            }
            for id in later.fixes.iter().filter(|id| !known.contains(id.as_str())) {
                let what = format!("`phase.{number}` fixes `{id}`, and no fault has that id");
                self.problems.push(Problem::new(what, "give the fault an id"));
            }
            found.push(Phase {
                prompt: later.prompt.trim().to_owned(),
                expected: later.expected,
                may: later.may,
                outcome: later.outcome,
                fixes: later.fixes,
            });
        }
        found
    }
}
