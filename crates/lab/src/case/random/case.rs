//! The whole case.

use super::fault::{DrawnFault, UsedNames, draw, listens};
use super::kind::Kind;
use super::place::{DESTINATION, SOURCE, TCP};
use super::rng::Rng;
use super::symptom::{Symptom, SymptomReport};
use crate::case::model::Pair;

/// How many of a hundred are healthy.
const HEALTHY_PERCENT: usize = 20;
/// How many faults at most.
const MAX_FAULTS: usize = 4;

const OPENERS: [&str; 8] = [
    "",
    "",
    "",
    "Hi, we need help. ",
    "Incident since last night: ",
    "Please look into this: ",
    "Ticket from operations: ",
    "Morning! ",
];
const JOINTS: [&str; 6] =
    ["Also: ", "On top of that: ", "Another thing: ", "At the same time: ", "", "And: "];
const CLOSERS: [&str; 6] = [
    "Resource group nw-forensics-rg.",
    "nw-forensics-rg.",
    "Everything is in nw-forensics-rg. We want all causes, not only the first.",
    "It is nw-forensics-rg; may be one cause or several.",
    "What is going on in nw-forensics-rg?",
    "(nw-forensics-rg)",
];

/// Draws a case: the text of a file on the usual estate. The same seed and number always give the same.
#[must_use]
pub fn random(seed: u64, number: u64) -> String {
    let rng = &mut Rng::new(seed, number);
    let mut taken = UsedNames::default();
    let faults = if rng.percent(HEALTHY_PERCENT) { Vec::new() } else { faults(rng) };
    let mut drawn: Vec<DrawnFault> = faults.iter().map(|kind| draw(*kind, rng, &mut taken)).collect();
    if faults.is_empty() {
        drawn.push(imagined(rng, &mut taken));
    }
    let alone = faults.contains(&Kind::Exposure);
    let distractors = if alone { 0 } else { rng.one(&[0, 0, 1, 1, 2]) };
    let harmless: String = (0..distractors).map(|at| distractor(at, rng, &mut taken)).collect();
    let reports: Vec<String> = drawn.iter().map(|drawn| drawn.report.text(rng)).collect();
    let prompt = joined(&reports, rng);
    let outcome =
        if faults.is_empty() { "\"NO_FAULT_FOUND\", \"INCONCLUSIVE\"" } else { "\"CONFIRMED\", \"LIKELY\"" };
    let mut text = format!(
        "id = \"r{seed}-{number}\"\ntitle = \"Drawn: {} faults\"\nprompt = \"\"\"\n{prompt}\"\"\"\noutcome = [{outcome}]\n\n",
        faults.len()
    );
    drawn.iter().for_each(|drawn| text.push_str(&drawn.text));
    text.push_str(&harmless);
    drawn
        .iter()
        .flat_map(|drawn| &drawn.expected)
        .for_each(|pair| text.push_str(&pair_table("expected", pair)));
    drawn.iter().flat_map(|drawn| &drawn.may).for_each(|pair| text.push_str(&pair_table("may", pair)));
    text
}

fn pair_table(table: &str, pair: &Pair) -> String {
    format!("[[{table}]]\nfault = \"{}\"\nobject = \"{}\"\n\n", pair.fault, pair.object)
}

/// Draws one to four faults that are compatible with each other.
fn faults(rng: &mut Rng) -> Vec<Kind> {
    let wanted = rng.one(&[1, 1, 2, 2, 3, MAX_FAULTS]);
    let mut all = Kind::ALL.to_vec();
    rng.mix(&mut all);
    let mut chosen: Vec<Kind> = Vec::new();
    for kind in all {
        let shapes = chosen.iter().filter(|known| known.is_shape()).count();
        // There are two machines that can be shaped.
        let room = !kind.is_shape() || shapes < 2;
        if chosen.len() < wanted && room && chosen.iter().all(|known| known.compatible_with(kind)) {
            chosen.push(kind);
        }
    }
    chosen
}

/// What somebody believes to see where nothing is wrong.
fn imagined(rng: &mut Rng, taken: &mut UsedNames) -> DrawnFault {
    let to = rng.one(&[DESTINATION, SOURCE]);
    let symptom = rng.one(&Symptom::FALSE_REPORTS);
    let service = taken.service(rng, &TCP);
    let report = SymptomReport::flow(symptom, to.other(), to, service);
    DrawnFault { text: listens(to, service), report, ..DrawnFault::default() }
}

/// Something that changed, and harms nobody.
fn distractor(at: usize, rng: &mut Rng, taken: &mut UsedNames) -> String {
    let vm = rng.one(&[SOURCE, DESTINATION]);
    let service = taken.service(rng, &TCP);
    match rng.below(4) {
        0 => format!(
            "[[fault]]\nkind = \"nsg_rule\"\nnsg = \"{}-nsg\"\nname = \"allow-{}\"\npriority = {}\naccess = \"Allow\"\n\
             protocol = \"Tcp\"\nsource = \"10.0.1.0/24\"\nports = [\"{}\"]\n\n",
            vm.name,
            service.program.replace('.', "-"),
            3_000 + at,
            service.port
        ),
        1 => format!(
            "[[fault]]\nkind = \"iptables\"\nvm = \"{}\"\nprotocol = \"tcp\"\nport = \"{}\"\ntarget = \"ACCEPT\"\n\n",
            vm.name, service.port
        ),
        2 => format!(
            "[[fault]]\nkind = \"nft\"\nvm = \"{}\"\ntable = \"stats{at}\"\nprotocol = \"tcp\"\nport = \"{}\"\nverdict = \"accept\"\n\n",
            vm.name, service.port
        ),
        _ => listens(vm, service),
    }
}

fn joined(reports: &[String], rng: &mut Rng) -> String {
    let mut text = rng.one(&OPENERS).to_owned();
    for (at, one) in reports.iter().enumerate() {
        if at > 0 {
            text.push(' ');
            text.push_str(rng.one(&JOINTS));
        }
        text.push_str(one);
    }
    if rng.percent(80) {
        text.push(' ');
        text.push_str(rng.one(&CLOSERS));
    }
    text
}
