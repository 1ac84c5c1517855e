//! A judgement as a page for people.

use super::remedy::Remedy;
use crate::page::{Cell, Page, Tone, plain};
use ghost_inspect::path::{Kind, PlatformVerdict, Report, ReportedFlow, ReportedHop, Verdict};

/// So many of a kind are shown.
const SHOWN: usize = 12;

/// Returns the exit code of a verdict.
pub(super) fn code(verdict: &str) -> u8 {
    match verdict {
        "PASSES" => 0,
        "INDETERMINATE" => 4,
        _ => 3,
    }
}

pub(super) fn page(report: &Report, remedies: &[Remedy], azure: &[PlatformVerdict], explain: bool) -> Page {
    let mut page = Page::for_output();
    let tone = match code(report.verdict) {
        0 => Tone::Good,
        4 => Tone::Odd,
        _ => Tone::Bad,
    };
    page.add(tone, report.verdict).add(Tone::Plain, &format!("  {}", words(&report.flow))).end();
    page.add(Tone::Plain, &format!("  {}", report.fate)).end();
    for cause in &report.causes {
        page.add(Tone::Bad, &format!("  ! {}", cause.fault))
            .add(Tone::Plain, &format!(" {}", cause.object))
            .end();
        page.add(Tone::Plain, &format!("    {}", cause.reason)).end();
    }
    if !report.behind.is_empty() {
        page.title("Behind it: would stop or hurt the flow next");
        page.first(&report.behind, SHOWN, |cause| {
            vec![plain(cause.fault.to_string()), plain(cause.object.to_string()), plain(&cause.reason)]
        });
    }
    if !remedies.is_empty() {
        page.title("What takes it away, tried on what was read; nothing of it was carried out");
    }
    for remedy in remedies {
        page.add(Tone::Plain, &format!("  {}", remedy.what)).end();
        for one in &remedy.commands {
            page.add(Tone::Strong, &format!("    {}", one.command))
                .add(Tone::Odd, &format!("  {}", one.class))
                .end();
        }
        page.add(Tone::Faint, &format!("    {}", remedy.effect)).end();
    }
    if explain {
        page.title("There");
        page.rows(&report.forward.iter().map(hop).collect::<Vec<_>>());
        page.title("Back");
        page.rows(&report.back.iter().map(hop).collect::<Vec<_>>());
    }
    if !azure.is_empty() {
        page.title("Azure's own verdicts");
        page.rows(&azure.iter().map(verdict).collect::<Vec<_>>());
    }
    if !report.missing.is_empty() {
        page.title("Not read, and it could matter");
        page.first(&report.missing, SHOWN, |one| vec![plain(&one.what), (Tone::Faint, one.why.clone())]);
    }
    if !report.noticed.is_empty() {
        page.title("Noticed, and not the cause");
        page.first(&report.noticed, SHOWN, |one| {
            vec![plain(one.object.to_string()), plain(&one.what), (Tone::Faint, one.why_not.clone())]
        });
    }
    if !report.warnings.is_empty() {
        page.title("Not understood");
        page.first(&report.warnings, SHOWN, |warning| vec![(Tone::Odd, warning.clone())]);
    }
    if !explain {
        let text = format!(
            "  {} hops there, {} back; --explain shows them",
            report.forward.len(),
            report.back.len()
        );
        page.end().add(Tone::Faint, &text).end();
    }
    page
}

fn words(flow: &ReportedFlow) -> String {
    let port = flow.dst_port.map(|port| format!(" port {port}")).unwrap_or_default();
    format!("{} from {} to {}{port}", flow.protocol, flow.src, flow.dst)
}

fn verdict(own: &PlatformVerdict) -> Vec<Cell> {
    let (tone, word) = match own.agrees {
        Some(true) => (Tone::Good, "agrees"),
        Some(false) => (Tone::Bad, "disagrees"),
        None => (Tone::Odd, "not compared"),
    };
    vec![(tone, word.to_owned()), plain(own.command), plain(&own.said), plain(&own.why)]
}

fn hop(hop: &ReportedHop) -> Vec<Cell> {
    let (tone, verdict) = match hop.verdict {
        Verdict::Passes => (Tone::Good, "passes"),
        Verdict::Degrades => (Tone::Bad, "degrades"),
        Verdict::Unknown => (Tone::Odd, "unknown"),
        Verdict::Stops => (Tone::Bad, "stops"),
    };
    vec![(tone, verdict.to_owned()), plain(&hop.hop), plain(kind(hop.kind)), plain(&hop.reason)]
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Machine => "machine",
        Kind::GuestOutput => "packet filter, output",
        Kind::GuestRoute => "routes of the machine",
        Kind::Shaping => "traffic shaping",
        Kind::GroupOutbound => "security group, outbound",
        Kind::Route => "effective route",
        Kind::Peering => "peering",
        Kind::GroupInbound => "security group, inbound",
        Kind::Forwarding => "forwarding",
        Kind::GuestForward => "packet filter, forward",
        Kind::GuestInput => "packet filter, input",
        Kind::Name => "name",
        Kind::Balancer => "load balancer",
        Kind::ApplicationGateway => "application gateway",
        Kind::Cluster => "API server",
        Kind::Bastion => "bastion host",
        Kind::Firewall => "firewall",
        Kind::Endpoint => "private endpoint",
        Kind::Gateway => "gateway",
        Kind::Egress => "leaving to the internet",
        Kind::Listener => "listening socket",
        Kind::Platform => "the platform",
        Kind::Outside => "outside of the estate",
    }
}
