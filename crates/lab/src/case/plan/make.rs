//! All steps of a case, in their order.

use std::collections::{BTreeMap, BTreeSet};

use super::stage::stage;
use super::step::{PlanAction, PlanStep};
use super::view::View;
use crate::case::fault::Fault;
use crate::case::model::{Baseline, Case};
use crate::case::problem::{Problem, Problems};
use crate::host::Stage;

/// What is done to inject a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The steps, in their order.
    pub steps: Vec<PlanStep>,
    /// Services, traffic and oddities while all faults are there.
    pub stage: Stage,
}

/// Returns what takes some faults away, the last first. A step that several faults need goes with the last of them.
pub(in crate::case) fn lift<'a>(steps: &'a [PlanStep], gone: &BTreeSet<usize>) -> Vec<&'a PlanStep> {
    let only =
        |step: &&PlanStep| !step.faults.is_empty() && step.faults.iter().all(|fault| gone.contains(fault));
    steps.iter().rev().filter(only).collect()
}

/// Makes the plan of a case for an estate.
///
/// # Errors
/// Returns everything in the case that does not fit the estate, or itself.
pub fn plan(case: &Case, view: &View) -> Result<Plan, Problems> {
    let mut maker = Maker {
        view: view.clone(),
        steps: Vec::new(),
        shared: BTreeMap::new(),
        problems: Vec::new(),
        line: None,
        fault: 0,
    };
    maker.estate(case);
    maker.machines(case);
    let mut done = BTreeSet::new();
    for baseline in ordered(&case.baselines) {
        for (at, placed) in case.faults.iter().enumerate() {
            if placed.id.as_ref().is_some_and(|id| baseline.after.contains(id)) && done.insert(at) {
                maker.add(case, at);
            }
        }
        let there: Vec<&str> = done
            .iter()
            .filter_map(|at| case.faults.get(*at))
            .filter_map(|placed| placed.id.as_deref())
            .filter(|id| !baseline.after.iter().any(|after| after == id))
            .collect();
        if !there.is_empty() {
            maker.line = baseline.line;
            maker.wrong(
                format!(
                    "`{}` is to be taken before `{}` and after another baseline that is after it",
                    baseline.id,
                    there.join("`, `")
                ),
                "a later baseline is taken after all faults that an earlier one is taken after",
            );
        }
        maker.remember(baseline);
    }
    for at in 0..case.faults.len() {
        if done.insert(at) {
            maker.add(case, at);
        }
    }
    let stage = maker.stage(case);
    Problems::none(maker.problems)?;
    Ok(Plan { steps: maker.steps, stage })
}

/// Baselines that are taken before fewer faults come later.
fn ordered(baselines: &[Baseline]) -> Vec<&Baseline> {
    let mut ordered: Vec<&Baseline> = baselines.iter().collect();
    ordered.sort_by_key(|baseline| baseline.after.len());
    ordered
}

/// What makes a plan.
pub(super) struct Maker {
    pub(super) view: View,
    pub(super) steps: Vec<PlanStep>,
    /// Steps that several faults need, by what they make.
    pub(super) shared: BTreeMap<String, usize>,
    problems: Vec<Problem>,
    /// Where what is planned stands in the file.
    pub(super) line: Option<usize>,
    /// Which fault is planned.
    pub(super) fault: usize,
}

impl Maker {
    /// Something does not fit.
    pub(super) fn wrong(&mut self, what: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Problem::new(what, hint).at(self.line));
    }

    /// Something is not there.
    pub(super) fn absent(&mut self, what: &str, name: &str, kind: &str) {
        let names = self.view.names(kind).join(", ");
        let hint = if names.is_empty() { "there is none".to_owned() } else { format!("there is {names}") };
        self.wrong(format!("there is no {what} `{name}`"), hint);
    }

    /// Adds a step of the fault.
    pub(super) fn step(&mut self, what: impl Into<String>, acts: Vec<PlanAction>, undo: Vec<PlanAction>) {
        self.steps.push(PlanStep { what: what.into(), faults: vec![self.fault], acts, undo });
    }

    /// Tells whether a step that several faults need is there, and that this fault needs it, too.
    pub(super) fn shares(&mut self, key: &str) -> bool {
        let Some(at) = self.shared.get(key) else { return false };
        if let Some(step) = self.steps.get_mut(*at) {
            step.faults.push(self.fault);
        }
        true
    }

    /// Adds a step that several faults may need.
    pub(super) fn share(
        &mut self,
        key: String,
        what: impl Into<String>,
        acts: Vec<PlanAction>,
        undo: Vec<PlanAction>,
    ) {
        self.shared.insert(key, self.steps.len());
        self.step(what, acts, undo);
    }

    fn machines(&mut self, case: &Case) {
        let services = case.services.iter().map(|service| (None, service.vm.as_str()));
        let flows = case.traffic.iter().map(|traffic| (None, traffic.from.as_str()));
        let baselines = case.baselines.iter().map(|baseline| (baseline.line, baseline.vm.as_str()));
        let faults = case.faults.iter();
        let faults =
            faults.flat_map(|placed| placed.fault.machines().into_iter().map(|vm| (placed.line, vm)));
        let named: Vec<(Option<usize>, &str)> =
            services.chain(flows).chain(baselines).chain(faults).collect();
        let mut reported = BTreeSet::new();
        for (line, vm) in named {
            if self.view.vm(vm).is_none() && reported.insert(vm) {
                self.line = line;
                self.absent("machine", vm, "Microsoft.Compute/virtualMachines");
            }
        }
    }

    fn remember(&mut self, baseline: &Baseline) {
        let nics = self.view.nics(&baseline.vm);
        let what = format!("the baseline {} of {}", baseline.id, baseline.vm);
        let acts = vec![PlanAction::Remember { baseline: baseline.clone(), nics }];
        self.steps.push(PlanStep { what, faults: Vec::new(), acts, undo: Vec::new() });
    }

    fn add(&mut self, case: &Case, at: usize) {
        let Some(placed) = case.faults.get(at) else { return };
        self.line = placed.line;
        self.fault = at;
        match &placed.fault {
            Fault::NsgRule(fault) => self.nsg_rule(fault),
            Fault::Route(fault) => self.route(fault),
            Fault::ServiceEndpoint(fault) => self.service_endpoint(fault),
            Fault::StorageFirewall(fault) => self.storage_firewall(fault),
            Fault::Peering(fault) => self.peering(fault),
            Fault::MachineStopped(fault) => self.machine_stopped(fault),
            Fault::Netem(fault) => {
                self.shaping(&fault.vm, &fault.device, fault.also_ssh, "netem", &fault.words());
            }
            Fault::RateLimit(fault) => {
                self.shaping(&fault.vm, &fault.device, fault.also_ssh, "tbf", &fault.words());
            }
            Fault::Iptables(fault) => self.iptables(fault),
            Fault::IptablesPolicy(fault) => self.policy(fault),
            Fault::IptablesChain(fault) => self.chain(fault),
            Fault::Fail2ban(fault) => self.fail2ban(fault),
            Fault::Docker(fault) => self.docker(fault),
            Fault::Nft(fault) => self.nft(fault),
            Fault::PathMtu(fault) => self.path_mtu(fault),
            // These are the stage's alone.
            Fault::PortClosed(_)
            | Fault::PortSilent(_)
            | Fault::Dns(_)
            | Fault::ArpConflict(_)
            | Fault::AsymmetricPath(_) => {}
        }
    }

    fn stage(&mut self, case: &Case) -> Stage {
        let (stage, problems) = stage(case, &self.view, &BTreeSet::new());
        self.problems.extend(problems);
        stage
    }
}
