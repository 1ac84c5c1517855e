//! The inspector: reads each cluster once, then judges what people speak of.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::asked;
use super::judge::{Read, document};
use super::node::read_nodes;
use super::spoken::Inside;
use crate::event::SessionCluster;
use crate::suspect::plain;
use crate::symptom_text::names;
use crate::tool::Site;
use crate::tool::argument::incident_text;
use crate::tool::call_replay::CallReplay;
use crate::tool::inspect::argument::{Refused, refuse};
use crate::tool::inspect::inspector::{Inspection, Inspector, Unfinished};
use ghost_base::Limit;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::ClusterOperation;

/// How many clusters are read in one call.
const CLUSTERS: Limit = Limit::new("cluster.clusters", 8);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tool::inspect) struct Arguments {
    /// Which of the clusters of the session; those that people name, else all of them.
    #[serde(default)]
    clusters: Vec<String>,
}

/// See the folder.
pub(in crate::tool::inspect) struct InspectCluster;

impl Inspector for InspectCluster {
    type Arguments = Arguments;
    type Request = Vec<String>;
    const NAME: &'static str = crate::judged::CLUSTERS;
    const DESCRIPTION: &'static str = "Reads pods, services, endpoints and network policies of the Kubernetes clusters that the session \
        names, and says which of the flows that people speak of the cluster lets through, and what stops the others. Only in sessions \
        that name clusters. Example: {\"reasoning\":\"does a policy keep web from db?\"}";

    fn check(
        &self,
        arguments: &Arguments,
        _group: Option<&str>,
        _site: &Site,
    ) -> Result<Vec<String>, Refused> {
        if arguments.clusters.len() > CLUSTERS.most() {
            return Err(refuse(format!("one call reads at most {} clusters", CLUSTERS.most())));
        }
        Ok(arguments.clusters.clone())
    }

    fn inspect(
        &self,
        named: &Vec<String>,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let text = incident_text(replay.context());
        let mut clusters = chosen(named, &text, &replay.context().state.opened.clusters)?;
        let mut read = Read::default();
        let cut = CLUSTERS.cut(&mut clusters);
        if cut > 0 {
            read.unjudged.push(format!("{cut} more clusters"));
        }
        for own in &clusters {
            let before = replay.observations().len();
            match replay.run(&mut ClusterOperation::new(&own.name, &own.context))? {
                Ok(cluster) => {
                    let observed = replay.observations();
                    read.observed.push(observed.get(before..).unwrap_or_default().to_vec());
                    read.clusters.push(Inside::new(own.name.clone(), own.context.clone(), cluster));
                }
                Err(issue) => read.unread.push((own.name.clone(), issue)),
            }
        }
        if read.clusters.is_empty() {
            return Err(none_read(read.unread).into());
        }
        let asked = asked::read(&text, &read.clusters);
        read_nodes(&asked.complaints, &clusters, &mut read, replay)?;
        let mut seen = Inspection { notes: read.notes.clone(), ..Inspection::default() };
        let judged = document(&asked, &read, &mut seen);
        seen.facts = json!(judged);
        Ok(seen)
    }
}

/// Returns the clusters that are read.
fn chosen<'a>(
    named: &[String],
    text: &str,
    clusters: &'a [SessionCluster],
) -> Result<Vec<&'a SessionCluster>, Issue> {
    if clusters.is_empty() {
        return Err(Issue::hinted(
            "this session names no cluster",
            "look at the cloud with topology and check_path",
        ));
    }
    let find = |name: &String| {
        clusters.iter().find(|own| own.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<&str> = clusters.iter().map(|own| own.name.as_str()).collect();
            let known = known.join(", ");
            Issue::new(format!("{} is no cluster of this session; there are {known}", plain(name)))
        })
    };
    if !named.is_empty() {
        return named.iter().map(find).collect();
    }
    let spoken: Vec<&SessionCluster> = clusters.iter().filter(|own| names(text, &own.name)).collect();
    Ok(if spoken.is_empty() { clusters.iter().collect() } else { spoken })
}

/// Says why nothing was read at all.
fn none_read(unread: Vec<(String, Issue)>) -> Issue {
    let others = match unread.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" ({more} more could not be read either)"),
    };
    let first = unread.into_iter().next().map(|(_, issue)| issue);
    let first = first.unwrap_or_else(|| Issue::new("no cluster was read"));
    Issue { text: format!("{}{others}", first.text), ..first }
}
