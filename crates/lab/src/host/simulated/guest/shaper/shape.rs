//! What all disciplines of a device together do to a packet.
//!
//! `ghost_inspect::qdisc` reads what `tc` shows, which is also what the inspector does: model and inspector cannot disagree.

use std::time::Duration;

use super::change::Shaper;
use super::discipline::Kind;
use super::print::Form;
use crate::host::simulated::guest::machine::{Count, Shaping};
use ghost_inspect::qdisc::{Flow, Hit, hit};

impl Shaper {
    /// Says what a device does to a packet that leaves by it.
    pub(in crate::host::simulated) fn shaping(&self, device: &str, flow: &Flow) -> Shaping {
        let mut shaping = Shaping::default();
        let mut kept = (1.0, 1.0);
        let met = self.met(device, flow);
        for discipline in met.into_iter().filter_map(|at| self.disciplines.get(at)) {
            match &discipline.kind {
                Kind::Netem(netem) => {
                    if let Some((delay, jitter, _)) = netem.delay {
                        shaping.delay += Duration::from_secs_f64(delay / 1e6);
                        shaping.jitter += Duration::from_secs_f64(jitter / 1e6);
                    }
                    let share = |share: Option<(f64, f64)>| share.map_or(0.0, |(share, _)| share / 100.0);
                    kept.0 *= 1.0 - share(netem.loss);
                    kept.1 *= 1.0 - share(netem.corrupt);
                    shaping.duplicate = shaping.duplicate.max(share(netem.duplicate));
                    shaping.reorder = shaping.reorder.max(share(netem.reorder));
                    if let Some(rate) = netem.rate {
                        limit(&mut shaping, rate, 1_500.0);
                    }
                }
                Kind::Tbf { rate, burst, .. } => limit(&mut shaping, *rate, *burst),
                Kind::Htb { default } => {
                    // The class of most traffic is the one that nothing else chose.
                    let id = format!("{:x}:{default:x}", discipline.handle);
                    if let Some(class) =
                        self.classes.iter().find(|class| class.device == device && class.id == id)
                    {
                        limit(&mut shaping, class.ceil, 1_600.0);
                    }
                }
                Kind::Prio { .. } | Kind::FqCodel | Kind::Fq | Kind::Pfifo { .. } => {}
            }
        }
        (shaping.loss, shaping.corrupt) = (1.0 - kept.0, 1.0 - kept.1);
        shaping
    }

    /// Returns the disciplines of a device that a packet meets.
    fn met(&self, device: &str, flow: &Flow) -> Vec<usize> {
        let own: Vec<usize> = self
            .disciplines
            .iter()
            .enumerate()
            .filter(|(_, own)| own.device == device)
            .map(|(at, _)| at)
            .collect();
        if own.is_empty() {
            return own;
        }
        let name = [device.to_owned()];
        let form = Form::default();
        let mut text = self.show(Some(device), &name, form);
        text.push_str(&self.show_classes(device, form));
        text.push_str(&self.show_filters(device, None, form));
        let hits = hit(&text, flow).unwrap_or_default();
        // A device without a root of its own shows its first ones before them.
        let ahead = hits.len().saturating_sub(own.len());
        let meets = own.into_iter().zip(hits.into_iter().skip(ahead));
        meets.filter(|(_, hit)| matches!(hit, Hit::Meets(_))).map(|(at, _)| at).collect()
    }

    /// Counts what passed a device.
    pub(in crate::host::simulated) fn count(&mut self, device: &str, flow: &Flow, count: Count) {
        self.passed.entry(device.to_owned()).or_default().add(count);
        for at in self.met(device, flow) {
            if let Some(discipline) = self.disciplines.get_mut(at) {
                discipline.count.add(count);
            }
        }
    }
}

/// The slowest of several decides.
fn limit(shaping: &mut Shaping, rate: f64, burst: f64) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates and sizes are bounded where they are read"
    )]
    let (rate, burst) = (rate.max(1.0) as u64, burst.max(1.0) as u64);
    if shaping.rate.is_none_or(|(before, _)| rate < before) {
        shaping.rate = Some((rate, burst));
    }
}
