//! The documents of a run.

use serde_json::{Value, json};

use super::guest;
use super::progress::{Run, State};
use super::request::AccessMethod;
use super::sample::{Series, judge, put};
use super::step::Side;
use ghost_inspect::nsg::Verdict;

impl Run {
    /// Returns the documents that there are by now, each with the end of its file's name.
    #[must_use]
    pub fn documents(&self) -> Vec<(&'static str, Value)> {
        let mut all = vec![("preflight", self.preflight(true))];
        let [judged, back] = self.judged();
        if judged.is_none() && back.is_none() {
            return all;
        }
        all.push(("raw", self.raw()));
        if let Some(judged) = judged {
            all.push(("computed", judged.to_json()));
        }
        if let Some(comparison) = self.comparison() {
            all.push(("comparison", comparison.to_json()));
        }
        if !matches!(self.state, State::Preflight | State::Measuring) {
            all.push(("result", self.result()));
        }
        all
    }

    /// Returns the ports of the test that the effective rules deny, each once.
    #[must_use]
    pub fn blocked_ports(&self) -> Vec<u16> {
        let blocked = self.passages.iter().filter(|passage| passage.verdict == Verdict::Deny);
        let mut ports: Vec<u16> = blocked.map(|passage| passage.port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Returns the names of both ends: as they were found, else as they were given.
    #[must_use]
    pub fn end_names(&self) -> [&str; 2] {
        match &self.ends {
            Some(ends) => ends.each_ref().map(|end| end.name.as_str()),
            None => [&self.ask.source, &self.ask.destination].map(String::as_str),
        }
    }

    /// Returns what each iteration toward the destination measured, latencies or throughputs; `None` where one counted for nothing.
    #[must_use]
    pub fn samples(&self, latency: bool) -> Vec<Option<f64>> {
        Side::Destination.of(&self.series).samples(latency)
    }

    /// Returns what the preflight found.
    fn preflight(&self, whole: bool) -> Value {
        let ports = self.blocked_ports();
        let test = self.ask.test_type;
        let lacks = |side: Side| !side.of(&self.checks).lacks(test.latency(), test.throughput()).is_empty();
        let looked = |side: Side| !side.of(&self.checks).iperf.is_empty();
        let ready = Side::BOTH.into_iter().all(|side| looked(side) && !lacks(side));
        let open = (!self.passages.is_empty()).then_some(ports.is_empty());
        let mut document = json!({
            "ports_open": open, "tools_ready": ready, "actions_taken": self.actions, "blocked_ports": ports,
            "ports": guest::ports(test), "checked": self.passages, "warnings": self.warnings,
        });
        if whole {
            put(&mut document, "session_id", json!(self.ask.session.as_str()));
            put(&mut document, "timestamp_utc", json!(self.begun.to_string()));
            let aborted = self.state == State::AbortedPreflight;
            put(&mut document, "aborted", json!(self.trouble.as_ref().filter(|_| aborted)));
        }
        document
    }

    fn raw(&self) -> Value {
        let of = |series: &Series| {
            json!({"latency_samples_us": series.counted(true), "throughput_samples_gbps": series.counted(false),
                "iteration_data": series.iterations()})
        };
        let mut document = of(Side::Destination.of(&self.series));
        put(&mut document, "session_id", json!(self.ask.session.as_str()));
        put(&mut document, "test_type", json!(self.ask.test_type));
        put(&mut document, "iterations", json!(self.ask.iterations));
        put(&mut document, "state", json!(self.state.word()));
        if self.ask.both_directions {
            put(&mut document, "way_back", of(Side::Source.of(&self.series)));
        }
        document
    }

    /// Returns what stands in the `result` document.
    #[must_use]
    pub fn result(&self) -> Value {
        let [source, destination] = match &self.ends {
            Some(ends) => ends.each_ref().map(|end| (end.name.clone(), end.address.to_string())),
            None => [&self.ask.source, &self.ask.destination].map(|name| (name.clone(), name.clone())),
        };
        let ask = &self.ask;
        let ssh = match &ask.access {
            AccessMethod::Platform => None,
            AccessMethod::Ssh(source, _) => Some(source.target().to_string()),
        };
        let metadata = json!({
            "session_id": ask.session.as_str(), "source_ip": source.1, "destination_ip": destination.1,
            "source": source.0, "destination": destination.0, "direction": "source to destination",
            "both_directions": ask.both_directions,
            "ssh_user": ssh.as_ref().and_then(|target| target.split('@').next()), "provider": if ssh.is_some() { "ssh" } else { "azure" },
            "test_type": ask.test_type, "iterations": ask.iterations, "is_baseline": ask.is_baseline,
            "timestamp": self.measured.or(self.over).unwrap_or(self.begun).to_string(),
            "resource_group": ask.place.as_ref().map(|place| place.group.as_str()),
            "storage_account": ask.storage.as_ref().map(|(account, _)| account.as_str()),
            "container": ask.storage.as_ref().map(|(_, container)| container.as_str()),
        });
        let judged = |side: Side| {
            let series = side.of(&self.series);
            let mut results = judge(ask.test_type, ask.iterations, series).to_json();
            put(&mut results, "iteration_data", series.iterations());
            results
        };
        let mut results = judged(Side::Destination);
        if ask.both_directions {
            put(&mut results, "way_back", judged(Side::Source));
        }
        let mut document = json!({
            "format": 1, "status": self.state.word(), "trouble": self.trouble, "test_metadata": metadata,
            "preflight": self.preflight(false), "results": results,
            "comparison": self.comparison().map(|comparison| comparison.to_json()),
            "needs_cleanup": self.left(),
        });
        if let Some(Value::Object(comparison)) = document.get_mut("comparison") {
            comparison.insert("write_as_baseline".to_owned(), json!(self.is_baseline()));
        }
        document
    }
}
