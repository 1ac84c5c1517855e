//! `capture_traffic`: packets of one machine or of two, from the first look to the removal of what was left in the cloud.

use serde_json::{Map, Value};

use super::order::{self, Arguments, CAPTURE, machines};
use super::walk::Walked;
use super::{history, purpose, told};
use crate::model::ToolSpec;
use crate::suspect::Borne;
use crate::tool::argument::schema;
use crate::tool::errand::Trail;
use crate::tool::{Bench, Move, Site, Tool};

/// See the module.
pub(super) struct CaptureTraffic {
    site: Site,
}

impl CaptureTraffic {
    pub(super) fn new(site: Site) -> Self {
        Self { site }
    }

    fn walk(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Result<Walked, Box<Move>> {
        let read = order::read(arguments)?;
        purpose::check(read.purpose(), read.hypothesis_id.as_deref(), bench)?;
        let wanted = machines(&read.target);
        let same = |other: &Value| {
            other.get("target").and_then(Value::as_str).is_some_and(|target| machines(target) == wanted)
        };
        purpose::denied_before("a capture of these machines", same, bench)?;
        let mut walked = history::fresh(arguments, bench, &self.site)?;
        walked.along(&mut Trail::new(bench, read.hypothesis_id))?;
        Ok(walked)
    }
}

impl Tool for CaptureTraffic {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: CAPTURE.to_owned(),
            description: "Records packets on one machine, or on two at once, fetches and analyzes them, and removes what it left in \
                the cloud, all in one call. A human is asked once before it begins and once before the removal. It takes its duration \
                and a minute or two beside; use it when rules, routes and guests leave it open what the wire does. Only headers are \
                kept. Examples: {\"target\":\"web-1 to db-1\",\"duration_seconds\":20,\"filters\":[{\"protocol\":\"tcp\",\
                \"port\":5001}],\"reasoning\":\"do the SYNs leave web-1 and arrive at db-1?\",\"hypothesis_id\":\"H2\"}, \
                {\"target\":\"web-1\",\"reasoning\":\"does anything answer its DNS queries?\",\"hypothesis_id\":\"H3\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Move {
        match self.walk(arguments, bench) {
            Ok(walked) => Move::Return(Box::new(told::outcome(told::status(&walked), &walked, bench))),
            Err(next) => *next,
        }
    }

    fn bears(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Borne {
        let Ok(mut walked) = history::fresh(arguments, bench, &self.site) else { return Borne::default() };
        // A call that was cut off bears out what it had come to.
        let _ = walked.along(&mut Trail::new(bench, None));
        told::borne(&walked)
    }
}
