//! The answer as a page for people.

use super::report::{Missing, Report, ReportedFinding, ReportedProbe, Verdict};
use crate::page::{Page, Tone, counted, few, plain};
use ghost_inspect::host::{Certainty, Handshake, Weight};

/// So many of a kind are shown.
const SHOWN: usize = 12;

const NO_ROOT: &str =
    "without root rights; as root, or with the sudo rules of docs/tools/host.md, it reads more";

/// Makes the page.
pub(super) fn page(report: &Report) -> Page {
    let mut page = Page::for_output();
    headline(&mut page, report);
    let several = report.hosts.len() > 1;
    for found in &report.findings {
        finding(&mut page, found, several);
    }
    if !report.reached.is_empty() {
        page.title("Tried");
        let rows: Vec<_> = report.reached.iter().map(|one| tried(one, several)).collect();
        page.rows(&rows);
    }
    if let (Some(changes), Some(since)) = (&report.changes, &report.since) {
        let none = if changes.is_empty() { ": nothing" } else { "" };
        page.title(&format!("Changed since {since}{none}"));
        page.first(changes, SHOWN * 3, |one| {
            let place = if several { one.host.clone() } else { String::new() };
            vec![plain(one.change.to_string()), (Tone::Faint, place)]
        });
    }
    container_networks(&mut page, report);
    unread(&mut page, report);
    page
}

/// Lists networks of containers: elsewhere only their bridges are seen, which have no names that anybody knows.
fn container_networks(page: &mut Page, report: &Report) {
    let all: Vec<_> = report
        .hosts
        .iter()
        .flat_map(|host| host.container_networks.iter().map(move |own| (host, own)))
        .filter(|(_, own)| own.device.is_some() || !own.subnets.is_empty())
        .collect();
    if all.is_empty() {
        return;
    }
    page.title("Networks of containers");
    let several = report.hosts.len() > 1;
    page.first(&all, SHOWN, |(host, own)| {
        let subnets: Vec<String> = own.subnets.iter().map(ToString::to_string).collect();
        let containers: Vec<String> = own
            .containers
            .iter()
            .map(|one| {
                one.name.as_ref().map_or_else(|| one.ip.to_string(), |name| format!("{name} {}", one.ip))
            })
            .collect();
        let containers: Vec<&str> = containers.iter().map(String::as_str).collect();
        let place = if several { host.name.clone() } else { String::new() };
        vec![
            plain(format!("{} {}", own.engine, own.name)),
            plain(own.device.clone().unwrap_or_default()),
            plain(subnets.join(" ")),
            plain(few(&containers, SHOWN)),
            (Tone::Faint, place),
        ]
    });
}

fn headline(page: &mut Page, report: &Report) {
    let count = |weight: Weight| report.findings.iter().filter(|found| found.weight == weight).count();
    let names: Vec<&str> = report.hosts.iter().map(|host| host.name.as_str()).collect();
    let tone = match report.verdict {
        Verdict::Broken | Verdict::NotReached => Tone::Bad,
        Verdict::Degraded | Verdict::Changed | Verdict::Indeterminate => Tone::Odd,
        Verdict::Ok => Tone::Good,
    };
    let word = report.verdict.word();
    let (noticed, hurting) = (count(Weight::Noticed), count(Weight::Broken) + count(Weight::Degraded));
    let mut said = Vec::new();
    if hurting > 0 {
        said.push(format!("{hurting} found"));
    }
    let failed: Vec<String> =
        report.reached.iter().filter(|one| one.is_reached == Some(false)).map(destination).collect();
    if !failed.is_empty() {
        let failed: Vec<&str> = failed.iter().map(String::as_str).collect();
        let unexplained = if hurting == 0 { ", and nothing that was read explains it" } else { "" };
        said.push(format!("{} not reached{unexplained}", few(&failed, SHOWN)));
    }
    if let Some(changes) = report.changes.as_ref().filter(|changes| !changes.is_empty()) {
        said.push(counted(changes.len(), "change"));
    }
    if noticed > 0 {
        said.push(format!("{noticed} noticed"));
    }
    if !report.missing.is_empty() {
        let mut whats: Vec<&str> = report.missing.iter().map(|one| one.what.as_str()).collect();
        whats.sort_unstable();
        whats.dedup();
        said.push(format!("not read: {}", few(&whats, SHOWN)));
    }
    if said.is_empty() {
        said.push("nothing odd".to_owned());
    }
    page.add(tone, word).add(Tone::Plain, &format!("  {}: {}", few(&names, SHOWN), said.join("; "))).end();
    // The steps that would complete the answer come first, where it is not complete.
    if report.verdict == Verdict::Indeterminate {
        let mut steps: Vec<&str> = report.missing.iter().filter_map(|one| one.remedy.as_deref()).collect();
        steps.sort_unstable();
        steps.dedup();
        for step in steps.into_iter().take(SHOWN) {
            page.add(Tone::Plain, &format!("  → {step}")).end();
        }
    }
}

fn destination(one: &ReportedProbe) -> String {
    let port = one.probe.port.map(|port| format!(" port {port}")).unwrap_or_default();
    format!("{}{port}", one.probe.host)
}

fn finding(page: &mut Page, found: &ReportedFinding, several: bool) {
    let (tone, word) = match found.weight {
        Weight::Broken => (Tone::Bad, "broken"),
        Weight::Degraded => (Tone::Odd, "degraded"),
        Weight::Noticed => (Tone::Faint, "noticed"),
    };
    let likely = match found.certainty {
        Certainty::Confirmed => "",
        Certainty::Likely => "likely: ",
    };
    page.end().add(tone, word).add(Tone::Strong, &format!("  {likely}{}", found.words)).end();
    page.add(Tone::Faint, &format!("  {} {}", found.fault, found.object)).end();
    for proof in &found.evidence {
        let place = if several { format!("{} ", proof.host) } else { String::new() };
        page.add(Tone::Plain, &format!("  {}", proof.shows))
            .add(Tone::Faint, &format!("  ({place}{})", proof.part))
            .end();
    }
    if !found.is_refuted {
        page.add(Tone::Plain, &format!("  → {}", found.remedy)).end();
    }
}

fn tried(one: &ReportedProbe, several: bool) -> Vec<crate::page::Cell> {
    let probe = &one.probe;
    let port = probe.port.map(|port| format!(" port {port}")).unwrap_or_default();
    let from = if several { format!("{} → ", one.from) } else { String::new() };
    let (tone, word) = match one.is_reached {
        Some(true) => (Tone::Good, "reached"),
        Some(false) => (Tone::Bad, "not reached"),
        None => (Tone::Odd, "not known"),
    };
    vec![(tone, word.to_owned()), plain(format!("{from}{}{port}", probe.host)), plain(said(one))]
}

fn said(one: &ReportedProbe) -> String {
    let probe = &one.probe;
    let Some(address) = probe.address else { return "the name has no address".to_owned() };
    let mut parts = Vec::new();
    if address.to_string() != probe.host {
        parts.push(format!("is {address}"));
    }
    match &probe.tcp {
        Some(Handshake::Open) => parts.push("connects".to_owned()),
        Some(Handshake::Refused) => parts.push("connection refused".to_owned()),
        Some(Handshake::Silent) => parts.push("connection times out".to_owned()),
        Some(Handshake::Unreachable) => parts.push("unreachable".to_owned()),
        Some(Handshake::Other(said)) => parts.push(said.clone()),
        None => {}
    }
    if let Some((sent, received)) = probe.echoes {
        let time = probe.round_trip.as_deref().and_then(|times| times.split('/').nth(1));
        let time = time.map(|time| format!(" in {time} ms")).unwrap_or_default();
        parts.push(format!("{received} of {sent} echoes{time}"));
    }
    parts.extend(probe.notices.first().cloned());
    match (probe.passes, probe.lost.is_empty()) {
        (Some(passes), false) => parts.push(format!("packets of {passes} bytes pass, larger ones do not")),
        (Some(passes), true) => parts.push(format!("{passes} bytes pass")),
        (None, false) => parts.push("no packet size that was tried passes".to_owned()),
        (None, true) => {}
    }
    parts.extend(one.why.clone());
    parts.join(", ")
}

/// Programs say much where they fail; the first line is what it is about, and `--json` has all of it.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Lists what the answer needs and does not have: reads that failed for one reason stand in one row.
fn missing(page: &mut Page, report: &Report, several: bool) {
    let mut groups: Vec<(&Missing, Vec<&str>)> = Vec::new();
    for one in &report.missing {
        let reason = |missing: &Missing| (missing.host.clone(), missing.why.clone(), missing.remedy.clone());
        match groups.iter_mut().find(|(first, _)| reason(first) == reason(one)) {
            Some((_, whats)) => whats.push(&one.what),
            None => groups.push((one, vec![&one.what])),
        }
    }
    if groups.is_empty() {
        return;
    }
    page.title("Needed for the answer, and not read");
    page.first(&groups, SHOWN * 2, |(one, whats)| {
        let mut whats = whats.clone();
        whats.dedup();
        let place = if several { format!("{} ", one.host) } else { String::new() };
        vec![
            (Tone::Odd, format!("{place}{}", few(&whats, SHOWN))),
            plain(first_line(&one.why)),
            (Tone::Faint, one.remedy.clone().unwrap_or_default()),
        ]
    });
}

fn unread(page: &mut Page, report: &Report) {
    let several = report.hosts.len() > 1;
    missing(page, report, several);
    let is_listed = |host: &str, part: &str| {
        report.missing.iter().any(|one| one.host == host && one.document.as_deref() == Some(part))
    };
    let mut rows = Vec::new();
    for one in &report.unread {
        rows.push(vec![
            (Tone::Bad, one.name.clone()),
            plain(&one.why),
            (Tone::Faint, one.hint.clone().unwrap_or_default()),
        ]);
    }
    for host in &report.hosts {
        let place = |what: &str| if several { format!("{} {what}", host.name) } else { what.to_owned() };
        let closed = host.closed.iter().filter(|one| !is_listed(&host.name, &one.part));
        let closed = closed.map(|one| vec![(Tone::Odd, place(&one.part)), plain(first_line(&one.why))]);
        rows.extend(closed);
        if !host.missing.is_empty() {
            rows.push(vec![(Tone::Faint, place("not installed")), (Tone::Faint, host.missing.join(", "))]);
        }
        rows.extend(
            host.warnings.iter().take(SHOWN).map(|warning| vec![(Tone::Odd, place("odd")), plain(warning)]),
        );
    }
    if !rows.is_empty() {
        page.title(if report.missing.is_empty() { "Not read" } else { "Not read either" });
        page.rows(&rows);
    }
    if report.hosts.iter().any(|host| host.is_root == Some(false) && !host.closed.is_empty()) {
        page.add(Tone::Faint, &format!("  {NO_ROOT}")).end();
    }
}
