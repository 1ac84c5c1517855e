//! The whole case.

use super::dice::Dice;
use super::fault::{Drawn, Taken, draw, listens};
use super::kind::Kind;
use super::place::{DESTINATION, SOURCE, TCP};
use super::symptom::{Symptom, Told};
use crate::case::story::Pair;

/// So many of a hundred are healthy.
const HEALTHY: usize = 20;
/// So many faults at most.
const MOST: usize = 4;

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
    let dice = &mut Dice::new(seed, number);
    let mut taken = Taken::default();
    let faults = if dice.percent(HEALTHY) { Vec::new() } else { faults(dice) };
    let mut drawn: Vec<Drawn> = faults.iter().map(|kind| draw(*kind, dice, &mut taken)).collect();
    if faults.is_empty() {
        drawn.push(imagined(dice, &mut taken));
    }
    let alone = faults.contains(&Kind::Exposure);
    let herrings = if alone { 0 } else { dice.one(&[0, 0, 1, 1, 2]) };
    let harmless: String = (0..herrings).map(|at| herring(at, dice, &mut taken)).collect();
    let said: Vec<String> = drawn.iter().map(|drawn| drawn.told.said(dice)).collect();
    let prompt = joined(&said, dice);
    let outcome =
        if faults.is_empty() { "\"NO_FAULT_FOUND\", \"INCONCLUSIVE\"" } else { "\"CONFIRMED\", \"LIKELY\"" };
    let mut text = format!(
        "id = \"r{seed}-{number}\"\ntitle = \"Drawn: {} faults\"\nprompt = \"\"\"\n{prompt}\"\"\"\noutcome = [{outcome}]\n\n",
        faults.len()
    );
    drawn.iter().for_each(|drawn| text.push_str(&drawn.text));
    text.push_str(&harmless);
    drawn.iter().flat_map(|drawn| &drawn.expected).for_each(|pair| text.push_str(&told("expected", pair)));
    drawn.iter().flat_map(|drawn| &drawn.may).for_each(|pair| text.push_str(&told("may", pair)));
    text
}

fn told(table: &str, pair: &Pair) -> String {
    format!("[[{table}]]\nfault = \"{}\"\nobject = \"{}\"\n\n", pair.fault, pair.object)
}

/// Draws one to four faults that bear each other.
fn faults(dice: &mut Dice) -> Vec<Kind> {
    let wanted = dice.one(&[1, 1, 2, 2, 3, MOST]);
    let mut all = Kind::ALL.to_vec();
    dice.mix(&mut all);
    let mut chosen: Vec<Kind> = Vec::new();
    for kind in all {
        let shapes = chosen.iter().filter(|known| known.is_shape()).count();
        // There are two machines that can be shaped.
        let room = !kind.is_shape() || shapes < 2;
        if chosen.len() < wanted && room && chosen.iter().all(|known| known.bears(kind)) {
            chosen.push(kind);
        }
    }
    chosen
}

/// What somebody believes to see where nothing is wrong.
fn imagined(dice: &mut Dice, taken: &mut Taken) -> Drawn {
    let to = dice.one(&[DESTINATION, SOURCE]);
    let symptom = dice.one(&Symptom::IMAGINED);
    let service = taken.service(dice, &TCP);
    let told = Told::flow(symptom, to.other(), to, service);
    Drawn { text: listens(to, service), told, ..Drawn::default() }
}

/// Something that changed, and harms nobody.
fn herring(at: usize, dice: &mut Dice, taken: &mut Taken) -> String {
    let vm = dice.one(&[SOURCE, DESTINATION]);
    let service = taken.service(dice, &TCP);
    match dice.below(4) {
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

fn joined(said: &[String], dice: &mut Dice) -> String {
    let mut text = dice.one(&OPENERS).to_owned();
    for (at, one) in said.iter().enumerate() {
        if at > 0 {
            text.push(' ');
            text.push_str(dice.one(&JOINTS));
        }
        text.push_str(one);
    }
    if dice.percent(80) {
        text.push(' ');
        text.push_str(dice.one(&CLOSERS));
    }
    text
}
