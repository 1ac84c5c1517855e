//! One case after another: build, gather while it is well, put the fault in, gather, judge, take it away.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use super::draw::Draw;
use super::place::Net;
use super::score::Outcome;
use super::topology::{Spec, Topology};
use super::trace::traces;
use super::{FAULTS, HEALTHY};
use crate::host::port::HostError;
use ghost_inspect::host::{Context, Flow, Gathered, Host, Protocol, Weight, judge};

/// How often a network is described until it is as before.
const MAX_READS: usize = 20;

/// Some faults in one network.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What is put into it, in this order.
    pub specs: Vec<Spec>,
    /// The draw of its addresses.
    pub seed: u64,
}

impl Trial {
    /// Returns the names of its faults.
    #[must_use]
    pub fn name(&self) -> String {
        self.specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join("+")
    }

    fn topology(&self) -> Topology {
        self.specs.first().map_or(Topology::Lan, |spec| spec.topology)
    }
}

/// Draws combinations: two or three faults of one network, at most one of which hides what lies behind it.
#[must_use]
pub fn pick(count: usize, seed: u64) -> Vec<Trial> {
    let mut draw = Draw::new(seed);
    let mut trials = Vec::new();
    // A combination would be skipped as a whole where the kernel has no netem.
    let anywhere = |specs: &'static [Spec]| -> Vec<&Spec> {
        specs.iter().filter(|spec| !spec.steps.contains("netem")).collect()
    };
    let (faults, well) = (anywhere(FAULTS), anywhere(HEALTHY));
    let size = |draw: &mut Draw, all: usize| {
        usize::try_from(draw.below(u64::try_from(all).unwrap_or(1))).unwrap_or(0)
    };
    while trials.len() < count {
        let healthy = draw.below(5) == 0;
        let pool = if healthy { &well } else { &faults };
        let Some(first) = pool.get(size(&mut draw, pool.len())).copied() else { continue };
        let mut specs = vec![*first];
        // A healthy oddity may stand beside a fault, and two faults that let the flow pass beside one another.
        let near = |spec: &&Spec| {
            spec.topology == first.topology
                // What is given away is one thing, and each of these changes it.
                && spec.topology != Topology::Dhcp
                && spec.to == first.to
                && spec.hidden == first.hidden
                && spec.name != first.name
        };
        let others: Vec<&Spec> =
            faults.iter().copied().filter(near).filter(|spec| !healthy && !spec.stops).collect();
        for _ in 0..draw.below(3) {
            if let Some(other) = others.get(size(&mut draw, others.len())) {
                let touched =
                    |spec: &Spec| spec.truth.iter().map(|(_, object)| *object).collect::<BTreeSet<_>>();
                let is_new = specs.iter().all(|own| {
                    own.name != other.name
                        && touched(own).is_disjoint(&touched(other))
                        && own.steps.contains("@off") == other.steps.contains("@off")
                        && !own.steps.contains("@off")
                        && goes_with(own, other)
                });
                if is_new && !first.stops {
                    specs.push(**other);
                }
            }
        }
        let odd: Vec<&Spec> = well
            .iter()
            .copied()
            .filter(near)
            .filter(|spec| specs.iter().all(|own| goes_with(own, spec)))
            .filter(|spec| !spec.steps.contains("hosts") && !spec.steps.contains("flush"))
            .collect();
        if let Some(odd) = odd
            .get(size(&mut draw, odd.len()))
            .filter(|_| !healthy && specs.len() == 1 && !first.steps.contains("flush"))
        {
            specs.push(**odd);
        }
        trials.push(Trial { specs, seed: draw.below(u64::MAX) });
    }
    trials
}

/// Tells whether both can be put into one network: what is there already cannot be put in again, nor anything at a device that is gone.
fn goes_with(one: &Spec, other: &Spec) -> bool {
    one.steps
        .lines()
        .all(|step| step.trim().is_empty() || !other.steps.lines().any(|own| own.trim() == step.trim()))
        && ![(one, other), (other, one)].iter().any(|(one, other)| {
            removed(one).any(|(machine, device)| {
                let at = |step: &str| step.starts_with(machine) && step.split(' ').any(|word| word == device);
                other.steps.lines().map(str::trim).any(at)
            })
        })
}

/// The devices that a fault takes away, each with its machine.
fn removed(spec: &Spec) -> impl Iterator<Item = (&str, &str)> {
    spec.steps.lines().filter_map(|step| match step.trim().split(' ').collect::<Vec<_>>().as_slice() {
        [machine, "ip", "link", "set", device, "netns", _] => Some((*machine, *device)),
        _ => None,
    })
}

/// A network that is up, and how it was when it was well.
#[derive(Debug)]
pub struct Session {
    net: Net,
    well: BTreeMap<String, Gathered>,
    print: String,
    specs: Vec<Spec>,
}

impl Session {
    /// Builds a network and gathers on it with the program at `ghost`; `folder` is for what it writes.
    ///
    /// # Errors
    /// Fails where the network cannot be built or gathered; [`HostError::Lacking`] says that this machine cannot do it.
    pub fn open(topology: Topology, seed: u64, ghost: &Path, folder: &Path) -> Result<Self, HostError> {
        let net = Net::up(topology, seed, folder)?;
        let plain = HEALTHY.iter().find(|spec| spec.topology == topology && spec.steps.is_empty());
        let plain = plain.ok_or_else(|| HostError::Lacking("the network has no plain state".to_owned()))?;
        let well = net.gather(ghost, plain)?;
        // By now everything listens that was started.
        let print = net.print()?;
        Ok(Self { net, well, print, specs: Vec::new() })
    }

    /// Returns the network.
    #[must_use]
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Puts a fault into it.
    ///
    /// # Errors
    /// Fails where the fault is one of another network, and where a step fails.
    pub fn inject(&mut self, spec: &Spec) -> Result<(), HostError> {
        if spec.topology != self.net.topology() {
            let why = format!("`{}` needs the network `{}`", spec.name, spec.topology.as_str());
            return Err(HostError::Lacking(why));
        }
        self.specs.push(*spec);
        self.net.inject(spec)
    }

    /// Gathers on every machine and judges, as `ghost host --diff WELL --to …` does.
    ///
    /// # Errors
    /// Fails where a machine cannot be gathered.
    pub fn check(&self, ghost: &Path) -> Result<Outcome, HostError> {
        let plain = HEALTHY.iter().find(|spec| spec.topology == self.net.topology());
        let asked = self.specs.first().or(plain);
        let asked = asked.ok_or_else(|| HostError::Lacking("nothing is asked".to_owned()))?;
        let begun = Instant::now();
        let found = self.net.gather(ghost, asked)?;
        let gathered_in = begun.elapsed();
        let truth = self.specs.iter().flat_map(|spec| spec.truth);
        Ok(Outcome {
            name: self.specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join("+"),
            topology: self.net.topology(),
            truth: truth.map(|(fault, object)| format!("{fault} {}", self.net.fill(object))).collect(),
            said: judged(&self.well, &found, asked, &self.net),
            traces: traces(&self.well, &found, &self.specs.iter().map(|spec| spec.name).collect::<Vec<_>>()),
            gathered_in,
            is_restored: false,
        })
    }

    /// Makes the network as it was; returns whether the kernel describes it as before.
    ///
    /// # Errors
    /// Fails where it cannot be built anew.
    pub fn reset(&mut self) -> Result<bool, HostError> {
        self.specs.clear();
        self.net.reset()?;
        // What was started last may not listen at once: no event says so.
        for _ in 0..MAX_READS {
            if self.net.print()? == self.print {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Runs a case from its beginning to its end.
///
/// # Errors
/// Fails as [`Session::open`] and [`Session::check`] do.
pub fn run(trial: &Trial, ghost: &Path, folder: &Path) -> Result<Outcome, HostError> {
    let mut session = Session::open(trial.topology(), trial.seed, ghost, folder)?;
    trial.specs.iter().try_for_each(|spec| session.inject(spec))?;
    let outcome = session.check(ghost)?;
    Ok(Outcome { is_restored: session.reset()?, ..outcome })
}

fn machines(gathered: &BTreeMap<String, Gathered>) -> Vec<Host> {
    gathered.iter().map(|(name, one)| Host::read(name, one)).collect()
}

fn judged(
    well: &BTreeMap<String, Gathered>,
    found: &BTreeMap<String, Gathered>,
    spec: &Spec,
    net: &Net,
) -> BTreeSet<String> {
    let mut context = Context { whole: true, ..Context::default() };
    machines(well).iter().for_each(|host| context.expect(host));
    if let Ok(to) = net.fill(spec.to.0).parse() {
        let port = Some(spec.to.1);
        context.flows.push(Flow {
            from: "a".to_owned(),
            source: None,
            to,
            protocol: Protocol::Tcp,
            port,
            is_marked: false,
        });
    }
    let judged = judge(&machines(found), &context);
    let hurts = judged.findings.iter().filter(|one| one.weight != Weight::Noticed);
    hurts.map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_put_twice_into_one_network() {
        for trial in pick(400, 7) {
            for (at, one) in trial.specs.iter().enumerate() {
                for other in trial.specs.iter().skip(at + 1) {
                    assert!(goes_with(one, other), "{}", trial.name());
                }
            }
        }
    }

    #[test]
    fn no_name_of_a_table_a_chain_or_a_device_is_one_that_faults_alone_have() {
        let names = |steps: &'static str| {
            let words: Vec<&str> = steps.split_whitespace().collect();
            let named = |window: &[&'static str]| match window {
                ["table", _, name] | ["chain", "ip", _, name] | ["link", "add", name] => Some(*name),
                ["chain", name, "{"] => Some(*name),
                _ => None,
            };
            let all = (3..=4).flat_map(|size| words.windows(size).filter_map(named).collect::<Vec<_>>());
            all.filter(|name| !name.starts_with('{')).collect::<BTreeSet<_>>()
        };
        let plans = Topology::ALL.into_iter().map(|topology| topology.plan().steps);
        let well: BTreeSet<&str> =
            HEALTHY.iter().map(|spec| spec.steps).chain(plans).flat_map(names).collect();
        assert!(well.contains("docker0") && well.contains("nat") && well.contains("post"), "{well:?}");
        for spec in FAULTS {
            let alone: Vec<&str> = names(spec.steps).difference(&well).copied().collect();
            assert!(alone.is_empty(), "{}: {alone:?}", spec.name);
        }
    }

    #[test]
    fn nothing_is_put_at_a_device_that_another_fault_takes_away() {
        let named = |name: &str| FAULTS.iter().chain(HEALTHY).find(|spec| spec.name == name).unwrap();
        assert!(!goes_with(named("link_detach"), named("permanent_and_right")));
        assert!(!goes_with(named("permanent_and_right"), named("link_detach")));
        assert!(goes_with(named("link_flap"), named("permanent_and_right")));
    }
}
