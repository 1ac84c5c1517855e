//! A forecast as a page for people.

use crate::page::{Cell, Page, Tone, plain};
use ghost_inspect::forecast::{Difference, Edit, Forecast, Plan, Verdict};

/// So many of a kind are shown.
const SHOWN: usize = 20;

pub(super) fn page(verdict: &str, found: &Forecast, plan: &Plan) -> Page {
    let Plan { edits, ignored, irrelevant, .. } = plan;
    let mut page = Page::for_output();
    let tone = match verdict {
        "HARMLESS" => Tone::Good,
        "HARMFUL" => Tone::Bad,
        _ => Tone::Odd,
    };
    page.add(tone, verdict).add(Tone::Plain, &format!("  {}", summary(found, edits))).end();
    if !edits.is_empty() {
        page.title("What changes");
        page.first(edits, SHOWN, |edit| vec![plain(edit.to_string())]);
    }
    if !found.flows.is_empty() {
        page.title("Flows that end otherwise");
        page.first(&found.flows, SHOWN, row);
    }
    if !found.rules.is_empty() {
        page.title("Rules");
        page.first(&found.rules, SHOWN, |note| {
            let packet = note.packet.as_ref().map(|packet| format!(" ({packet})")).unwrap_or_default();
            vec![
                (Tone::Bad, note.effect.to_owned()),
                plain(&note.object),
                plain(format!("{}{packet}", note.why)),
            ]
        });
    }
    if !found.unknown.is_empty() {
        page.title("Not judged");
        page.first(&found.unknown, SHOWN, |one| vec![plain(&one.what), (Tone::Faint, one.why.clone())]);
    }
    if !ignored.is_empty() {
        page.title("Changed, and not judged here");
        page.first(ignored, SHOWN, |name| vec![plain(name)]);
    }
    if !irrelevant.is_empty() {
        page.title("Changes that no flow depends on");
        page.first(irrelevant, SHOWN, |one| vec![plain(&one.what), (Tone::Faint, one.why.to_owned())]);
    }
    let mut last = format!("  {} flows were compared", found.compared);
    if found.undecided > 0 {
        last.push_str(&format!("; {} are undecided before and after", found.undecided));
    }
    if found.left_out > 0 {
        last.push_str(&format!("; {} more were left out", found.left_out));
    }
    page.end().add(Tone::Faint, &last).end();
    page
}

/// Says in one line what it comes to.
fn summary(found: &Forecast, edits: &[Edit]) -> String {
    if edits.is_empty() {
        return "nothing of the network changes".to_owned();
    }
    if found.compared == 0 && edits.iter().any(Edit::needs_flows) {
        return "no machine is known, so that no flow could be compared: name --bundle or -g".to_owned();
    }
    let count = |verdict: Verdict| found.flows.iter().filter(|one| one.verdict == verdict).count();
    let all = [
        (Verdict::OpenedToInternet, "opened to the internet"),
        (Verdict::Cut, "cut"),
        (Verdict::Degraded, "degraded"),
        (Verdict::Unknown, "not known any more"),
        (Verdict::Opened, "opened"),
        (Verdict::Eased, "eased"),
    ];
    let rules = |effect: &str| found.rules.iter().filter(|note| note.effect == effect).count();
    if found.compared == 0 {
        let (open, more) = (rules("open"), rules("opened"));
        return format!(
            "rules: {open} let in anybody, {more} let in more networks, {} not judged",
            found.unknown.len()
        );
    }
    let said: Vec<String> = all
        .into_iter()
        .filter(|(verdict, _)| count(*verdict) > 0)
        .map(|(verdict, word)| format!("{} {word}", count(verdict)))
        .collect();
    if said.is_empty() {
        "every flow ends as before".to_owned()
    } else {
        format!("flows: {}", said.join(", "))
    }
}

fn row(one: &Difference) -> Vec<Cell> {
    let tone = match one.verdict {
        Verdict::OpenedToInternet | Verdict::Cut | Verdict::Degraded => Tone::Bad,
        Verdict::Unknown => Tone::Odd,
        Verdict::Opened | Verdict::Eased => Tone::Good,
    };
    let port = one.flow.dst_port.map(|port| format!(":{port}")).unwrap_or_default();
    let listens = match one.listens {
        Some(false) => "; nobody listens there",
        Some(true) | None => "",
    };
    vec![
        (tone, one.verdict.to_string()),
        plain(format!("{} {} -> {}{port}", one.flow.protocol, one.from, one.to)),
        plain(format!("{}{listens}", one.reason.as_deref().unwrap_or("nothing stops it any more"))),
    ]
}
