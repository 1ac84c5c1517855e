//! A verdict as a page for people.

use crate::page::{Cell, Page, Tone, counted, plain};
use ghost_inspect::cluster::{Passage, Report, Target, Verdict};

/// So many targets and sentences are shown.
const SHOWN: usize = 40;

pub(super) fn page(report: &Report) -> Page {
    let mut page = Page::for_output();
    let tone = tone(report.verdict);
    page.add(tone, word(report.verdict));
    page.add(Tone::Plain, &format!("  {} → {} {}", report.from, report.to, report.protocol)).end();
    for cause in &report.causes {
        let tone = if cause.is_proven { Tone::Bad } else { Tone::Odd };
        let doubt = if cause.is_proven { "" } else { "perhaps " };
        page.add(tone, &format!("  {doubt}{} {}", cause.fault, cause.object));
        page.add(Tone::Plain, &format!(": {}", cause.why)).end();
        page.add(Tone::Faint, &format!("    what to do: {}", cause.remedy)).end();
    }
    if !report.targets.is_empty() {
        let service = report.service.as_ref().map(|name| format!("{name} leads to ")).unwrap_or_default();
        page.title(&format!("{service}{}", counted(report.targets.len(), "target")));
        page.first(&report.targets, SHOWN, row);
    }
    let engine = report.engine.map_or_else(
        || "What enforces policies was not found among the pods of kube-system.".to_owned(),
        |engine| format!("Policies are enforced by {engine}."),
    );
    page.end().add(Tone::Faint, &engine).end();
    sentences(&mut page, "Not known", &report.missing);
    sentences(&mut page, "Beside it", &report.noticed);
    sentences(&mut page, "Not read", &report.warnings);
    if report.more_warnings > 0 {
        page.remark(Some(&format!("and {} more", report.more_warnings)));
    }
    page
}

fn sentences(page: &mut Page, title: &str, all: &[String]) {
    if !all.is_empty() {
        page.title(title);
        page.first(all, SHOWN, |one| vec![(Tone::Odd, one.clone())]);
    }
}

fn row(target: &Target) -> Vec<Cell> {
    let address = target.address.map(|address| address.to_string());
    vec![
        (tone(target.verdict), word(target.verdict).to_owned()),
        plain(target.pod.clone().unwrap_or_else(|| "no pod".to_owned())),
        plain(format!("{}:{}", address.unwrap_or_else(|| "?".to_owned()), target.port)),
        plain(target.egress.as_ref().map(|own| format!("out: {}", passage(own))).unwrap_or_default()),
        plain(target.ingress.as_ref().map(|own| format!("in: {}", passage(own))).unwrap_or_default()),
    ]
}

fn passage(passage: &Passage) -> String {
    match passage {
        Passage::Open { why } => format!("open, {why}"),
        Passage::Allowed { policy } => format!("let through by {policy}"),
        Passage::Closed { policies } => format!("closed by {}", policies.join(", ")),
        Passage::Unknown { .. } => "not known".to_owned(),
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passes => "PASSES",
        Verdict::Blocked => "BLOCKED",
        Verdict::Degraded => "DEGRADED",
        Verdict::Indeterminate => "INDETERMINATE",
    }
}

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Passes => Tone::Good,
        Verdict::Blocked => Tone::Bad,
        Verdict::Degraded | Verdict::Indeterminate => Tone::Odd,
    }
}
