//! Queueing disciplines: what they do to packets.

use super::supported::plain;
use super::{Suspect, once};
use crate::finding::Fault;
use ghost_inspect::qdisc::{Qdisc, Read};

/// Returns what impairs traffic on a machine.
pub(crate) fn shaped(machine: &str, read: &Read) -> Vec<Suspect> {
    once(read.devices.iter().filter(|one| one.impairs).flat_map(|one| faults(machine, one)).collect())
}

fn faults(machine: &str, found: &Qdisc) -> Vec<Suspect> {
    let device = found.dev.as_deref().map_or_else(|| "unknown".to_owned(), plain);
    let object = format!("qdisc/{}/{device}", plain(machine));
    let spared = if found.exempt.is_empty() { "" } else { "; filters exempt some traffic from it" };
    let some = |value: Option<f64>| value.filter(|value| *value > 0.0);
    let shares = [
        (Fault::NetemLoss, "drops", some(found.loss_pct)),
        (Fault::NetemCorrupt, "damages", some(found.corrupt_pct)),
        (Fault::NetemDuplicate, "doubles", some(found.duplicate_pct)),
        (Fault::NetemReorder, "reorders", some(found.reorder_pct)),
    ];
    let mut all = Vec::new();
    if let Some(delay) = some(found.delay_ms) {
        let jitter = some(found.jitter_ms).map_or_else(String::new, |jitter| format!(" ± {jitter} ms"));
        let why = format!("{device} holds every packet back for {delay} ms{jitter}{spared}");
        all.push(Suspect::new(Fault::NetemDelay, object.clone(), why));
    }
    for (fault, does, share) in shares {
        if let Some(share) = share {
            let why = format!("{device} {does} {share} % of the packets{spared}");
            all.push(Suspect::new(fault, object.clone(), why));
        }
    }
    if let Some(rate) = some(found.rate_bps) {
        let what = plain(&found.discipline);
        let why = format!("{what} on {device} lets through {} Mbit/s at most{spared}", rate / 1e6);
        all.push(Suspect::new(Fault::RateLimit, object, why));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<String> {
        let read = ghost_inspect::qdisc::read(text).unwrap();
        shaped("web-1", &read).into_iter().map(|one| format!("{} {}", one.code, one.object)).collect()
    }

    #[test]
    fn one_line_can_be_several_faults() {
        let text = "qdisc netem 1: dev eth0 root refcnt 2 limit 1000 delay 50ms loss 5% corrupt 2%\n";
        assert_eq!(
            codes(text),
            ["netem_delay qdisc/web-1/eth0", "netem_loss qdisc/web-1/eth0", "netem_corrupt qdisc/web-1/eth0"]
        );
    }

    #[test]
    fn what_a_fresh_machine_has_is_no_fault() {
        for text in [
            "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn\n",
            "qdisc noqueue 0: dev lo root refcnt 2\n",
            "qdisc mq 0: dev eth0 root\nqdisc pfifo_fast 0: dev eth0 parent :1 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n",
        ] {
            assert!(codes(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_bucket_is_a_limit() {
        let text = "qdisc tbf 1: dev eth0 root refcnt 2 rate 5Mbit burst 20Kb lat 400ms\n";
        assert_eq!(codes(text), ["rate_limit qdisc/web-1/eth0"]);
    }
}
