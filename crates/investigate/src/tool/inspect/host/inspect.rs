//! The inspector: gathers on all machines side by side, then judges them together.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::asked::{self, Asked, Attempt};
use super::judge::{Read, document};
use super::kept;
use crate::event::{ObservationId, SessionHost};
use crate::suspect::plain;
use crate::tool::Site;
use crate::tool::argument::incident_text;
use crate::tool::call_replay::CallReplay;
use crate::tool::inspect::argument::{Refused, refuse};
use crate::tool::inspect::changes::IncidentTime;
use crate::tool::inspect::inspector::{Inspection, Inspector, Unfinished};
use crate::tool::inspect::path::sentence;
use ghost_base::Limit;
use ghost_cloud::guest::HostAccess;
use ghost_cloud::operation::Issue;
use ghost_cloud::probe::{HostProbe, HostQuestion};
use ghost_inspect::host::{Gathered, Host};

/// For so many seconds counters are watched.
const SECONDS: u8 = 2;
/// What logs said so many seconds before it failed counts as well.
const BEFORE_SECONDS: i64 = 3600;
/// How many machines are read in one call.
const HOSTS: Limit = Limit::new("host.hosts", 64);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tool::inspect) struct Arguments {
    /// Which of the machines of the session; all of them, where none is named.
    #[serde(default)]
    hosts: Vec<String>,
}

/// See the folder.
pub(in crate::tool::inspect) struct InspectHosts;

impl Inspector for InspectHosts {
    type Arguments = Arguments;
    type Request = Vec<String>;
    const NAME: &'static str = crate::judged::HOSTS;
    const DESCRIPTION: &'static str = "Reads the whole network of the machines that the session names, on the machines themselves and in one \
        run each: devices, addresses, routes, rules, neighbors, packet filters, shaping, name servers, listeners, connections and \
        counters. It tries the destinations that people named, and says what explains what they complain about, what else seems odd, and \
        what could not be read. Only in sessions that name machines; call it first there. Example: {\"reasoning\":\"what is wrong with \
        names on web-1?\",\"hosts\":[\"web-1\"]}";

    fn check(
        &self,
        arguments: &Arguments,
        _group: Option<&str>,
        _site: &Site,
    ) -> Result<Vec<String>, Refused> {
        if arguments.hosts.len() > HOSTS.most() {
            return Err(refuse(format!("one call reads at most {} machines", HOSTS.most())));
        }
        Ok(arguments.hosts.clone())
    }

    fn inspect(
        &self,
        named: &Vec<String>,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let state = replay.context().state;
        let mut hosts = chosen(named, &state.opened.hosts)?;
        let cut = HOSTS.cut(&mut hosts);
        let session: Vec<&str> = state.opened.hosts.iter().map(|host| host.name.as_str()).collect();
        // What an alert says are no words of people: nothing is called because of it.
        let text = incident_text(replay.context());
        let may_try = !state.opened.by_program;
        let names = if may_try { asked::names(&text) } else { Vec::new() };
        let failed_at = IncidentTime::read(state).at.as_millis() / 1000;
        let mut read = Read { since: Some(failed_at.saturating_sub(BEFORE_SECONDS)), ..Read::default() };
        let question = HostQuestion { names: names.clone(), to: Vec::new(), seconds: SECONDS };
        let asked: Vec<_> = hosts.iter().map(|host| (*host, question.clone())).collect();
        gather(&asked, &mut read, replay)?;
        if read.hosts.is_empty() {
            return Err(none_read(&read.unread).into());
        }
        let mut ahead = Asked::read(&text, &read.hosts, &session, Attempt::Ahead);
        let mut to = if may_try { ahead.destinations() } else { BTreeMap::new() };
        ahead.shorten(&mut to);
        // Counters were watched before; this is about the destinations.
        let question = |to| HostQuestion { names: names.clone(), to, seconds: 1 };
        let trying = hosts.iter().filter_map(|host| Some((*host, question(to.remove(&host.name)?))));
        gather(&trying.collect::<Vec<_>>(), &mut read, replay)?;
        let mut asked = Asked::read(&text, &read.hosts, &session, Attempt::Made);
        asked.unjudged.extend(ahead.unjudged);
        if cut > 0 {
            asked.unjudged.push(format!("{cut} more machines"));
        }
        kept::recall(&asked, &mut read, replay)?;
        set_apart(&hosts, &mut read);
        let mut seen = Inspection::default();
        let judged = document(&asked, &read, &mut seen);
        seen.facts = json!(judged);
        Ok(seen)
    }
}

/// Returns the machines that are read.
fn chosen<'a>(named: &[String], hosts: &'a [SessionHost]) -> Result<Vec<&'a SessionHost>, Issue> {
    if hosts.is_empty() {
        return Err(Issue::hinted(
            "this session names no machine",
            "look at the cloud with topology and check_path",
        ));
    }
    let find = |name: &String| {
        hosts.iter().find(|host| host.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            Issue::new(format!(
                "{} is no machine of this session; there are {}",
                plain(name),
                known.join(", ")
            ))
        })
    };
    if named.is_empty() { Ok(hosts.iter().collect()) } else { named.iter().map(find).collect() }
}

/// Reads machines, side by side. One that cannot be read does not keep the others; a second reading that fails leaves the first.
fn gather(
    asked: &[(&SessionHost, HostQuestion)],
    read: &mut Read,
    replay: &mut CallReplay<'_, '_>,
) -> Result<(), Unfinished> {
    let probe =
        |(host, question): &(&SessionHost, HostQuestion)| HostProbe::by(&host.carrier, &host.name, question);
    let mut probes: Vec<HostProbe> = asked.iter().map(probe).collect();
    for ((host, _), (gathered, observed)) in asked.iter().zip(replay.run_all(&mut probes)?) {
        take(host, gathered, observed, read);
    }
    Ok(())
}

/// Takes in what came of one machine.
fn take(
    host: &SessionHost,
    gathered: Result<Gathered, Issue>,
    observed: Option<ObservationId>,
    read: &mut Read,
) {
    match gathered {
        Ok(gathered) => {
            let again = Host::read(&host.name, &gathered);
            read.observed.extend(observed.map(|id| (host.name.clone(), id)));
            match read.hosts.iter_mut().find(|known| known.name == host.name) {
                Some(known) => *known = again,
                None => read.hosts.push(again),
            }
        }
        Err(issue) if read.hosts.iter().any(|known| known.name == host.name) => {
            read.notes.push(format!(
                "{}: the destinations were not tried: {}",
                plain(&host.name),
                sentence(&issue.text)
            ));
        }
        Err(issue) => read.unread.push((host.name.clone(), issue)),
    }
}

/// Sets those apart that are one machine by several names: two names of one machine share every address.
fn set_apart(hosts: &[&SessionHost], read: &mut Read) {
    let target = |name: &str| {
        let host = hosts.iter().find(|host| host.name == name)?;
        match HostAccess::of_carrier(&host.carrier)? {
            HostAccess::Here => Some(("here".to_owned(), None)),
            HostAccess::Ssh(ssh) => Some((ssh.target().to_string(), ssh.bastion().map(ToString::to_string))),
        }
    };
    let mut known = Vec::new();
    for host in std::mem::take(&mut read.hosts) {
        let own = target(&host.name);
        if own.is_some() && known.contains(&own) {
            read.notes.push(format!("{} is another name of a machine that was read", plain(&host.name)));
            read.same.push(host);
        } else {
            known.push(own);
            read.hosts.push(host);
        }
    }
}

/// Says why nothing was read at all.
fn none_read(unread: &[(String, Issue)]) -> Issue {
    let Some((_, first)) = unread.first() else { return Issue::new("no machine was read") };
    let others = match unread.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more could not be read either)"),
    };
    Issue { text: format!("{}{others}", first.text), ..first.clone() }
}
