//! `ghost qdisc`: what traffic shaping does to packets.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::global::Global;
use super::input;
use super::print::{Hinted, line};
use super::tone::{Tone, tinted};
use ghost_inspect::qdisc::{Flow, Hit, MAX_TEXT_BYTES, Qdisc, Read, ReadError, Warning, hit, read};

const BAD_NEWS: u8 = 3;
const OPEN: u8 = 4;

/// The arguments of `ghost qdisc`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Reads what `tc` printed and says which discipline delays, loses or limits what.
    #[command(
        after_help = "Examples:\n  tc -s qdisc show | ghost qdisc parse -\n  (tc -s qdisc show dev eth0; tc -s class show dev eth0; tc filter show dev eth0) | ghost qdisc parse - --json\n\nText and -j output, one after another. With --exit-code: 3 where anything impairs."
    )]
    Parse {
        /// The file; `-` is standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where traffic is impaired.
        #[arg(long)]
        exit_code: bool,
    },
    /// Reads a running guest.
    #[command(
        after_help = "Examples:\n  ghost qdisc inspect --vm-name web-1 -g prod\n  ghost qdisc inspect --provider ssh --target-vm-ip 10.0.0.4 --target-ssh-key ~/.ssh/id_ed25519 --json\n\nIt reads only, by a script that the policy declares: nobody is asked. With --exit-code: 3 where anything impairs."
    )]
    Inspect {
        #[command(flatten)]
        guest: Box<super::guest::Guest>,
        /// Print every command that it would run, with its verdict, and run none.
        #[arg(long)]
        plan: bool,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where traffic is impaired.
        #[arg(long)]
        exit_code: bool,
    },
    /// Says which disciplines a described packet meets when it is sent.
    #[command(
        after_help = "Examples:\n  ghost qdisc hit tc.txt --protocol tcp --src 10.0.0.1 --dst 10.0.0.2 --dport 22\n\nWith --exit-code: 3 where it meets one that impairs, 4 where that is undecided."
    )]
    Hit {
        /// The file; `-` is standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// tcp, udp, icmp or a number.
        #[arg(long, value_parser = protocol)]
        protocol: u8,
        /// Where the packet comes from.
        #[arg(long, value_name = "IP")]
        src: IpAddr,
        /// Where it goes.
        #[arg(long, value_name = "IP")]
        dst: IpAddr,
        /// Its source port.
        #[arg(long, value_name = "N")]
        sport: Option<u16>,
        /// Its destination port.
        #[arg(long, value_name = "N")]
        dport: Option<u16>,
        /// Its priority on this host, which chooses a band where no filter does; plain traffic has 0.
        #[arg(long, value_name = "N")]
        priority: Option<u32>,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where an impairing discipline is met, with 4 where that is undecided.
        #[arg(long)]
        exit_code: bool,
    },
}

fn protocol(text: &str) -> Result<u8, String> {
    match text {
        "tcp" => Ok(6),
        "udp" => Ok(17),
        "icmp" => Ok(1),
        "icmpv6" => Ok(58),
        _ => text.parse().map_err(|_| "tcp, udp, icmp, icmpv6 or a number is expected".to_owned()),
    }
}

/// The words with which lines begin that matter, and how they are meant.
const WORDS: &[(&str, Tone)] = &[
    ("IMPAIRED", Tone::Bad),
    ("not impaired", Tone::Good),
    ("nothing impairs", Tone::Good),
    ("!", Tone::Bad),
    ("hit by", Tone::Bad),
    ("led around", Tone::Good),
    ("unknown:", Tone::Odd),
    ("warning", Tone::Odd),
];

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Parse { file, json, exit_code } => {
            let found = understood(read(&input::text(file, MAX_TEXT_BYTES)?))?;
            line(&if *json { serde_json::to_string(&found)? } else { tinted(&page(&found), WORDS) })?;
            Ok(if *exit_code && found.impaired { BAD_NEWS } else { 0 })
        }
        Sub::Inspect { guest, plan, json, exit_code } => {
            use ghost_cloud::probe::{GuestProbe, qdisc::WANTED};
            let setup = super::setup::Setup::new(global)?;
            let reach = guest.reach(&setup)?;
            let gathering = GuestProbe::new(reach.clone(), &WANTED);
            let Some(found) = super::live::gather(&setup, &reach, gathering, (*plan, *json), None)? else {
                return Ok(0);
            };
            line(&if *json { serde_json::to_string(&found)? } else { tinted(&page(&found), WORDS) })?;
            Ok(if *exit_code && found.impaired { BAD_NEWS } else { 0 })
        }
        Sub::Hit { file, protocol, src, dst, sport, dport, priority, json, exit_code } => {
            let text = input::text(file, MAX_TEXT_BYTES)?;
            let found = understood(read(&text))?;
            let (sport, dport, priority) = (*sport, *dport, *priority);
            let flow = Flow { protocol: *protocol, src: *src, dst: *dst, sport, dport, priority };
            let hits = understood(hit(&text, &flow))?;
            let met: Vec<(&Qdisc, &Hit)> =
                found.devices.iter().zip(&hits).filter(|(qdisc, _)| qdisc.impairs).collect();
            line(&if *json {
                documented(&met, &found.warnings).to_string()
            } else {
                tinted(&format!("{}{}", met_in_words(&met), warned(&found.warnings)), WORDS)
            })?;
            let meets = met.iter().any(|(_, hit)| matches!(hit, Hit::Meets(_)));
            let unknown = met.iter().any(|(_, hit)| matches!(hit, Hit::Unknown(_)));
            Ok(match (*exit_code, meets, unknown) {
                (true, true, _) => BAD_NEWS,
                (true, false, true) => OPEN,
                _ => 0,
            })
        }
    }
}

fn understood<T>(read: Result<T, ReadError>) -> anyhow::Result<T> {
    Ok(read.map_err(|error| {
        Hinted::new(
            error,
            "give what `tc -s qdisc show` printed, with `class show` and `filter show` behind it",
        )
    })?)
}

fn warned(warnings: &[Warning]) -> String {
    warnings.iter().map(|warning| format!("\nwarning: {warning}")).collect()
}

fn documented(met: &[(&Qdisc, &Hit)], warnings: &[Warning]) -> serde_json::Value {
    let rows = met.iter().map(|(qdisc, hit)| {
        let (answer, why) = answer(hit);
        json!({ "dev": qdisc.dev, "discipline": qdisc.discipline, "handle": qdisc.handle, "hit": answer, "reason": why })
    });
    json!({ "hits": rows.collect::<Vec<_>>(), "warnings": warnings })
}

fn answer(hit: &Hit) -> (Option<bool>, &str) {
    match hit {
        Hit::Meets(why) => (Some(true), why),
        Hit::Around(why) => (Some(false), why),
        Hit::Unknown(why) => (None, why),
    }
}

fn met_in_words(met: &[(&Qdisc, &Hit)]) -> String {
    if met.is_empty() {
        return "nothing impairs: the packet meets plain queueing alone".to_owned();
    }
    let row = |(qdisc, hit): &(&Qdisc, &Hit)| {
        let (answer, why) = answer(hit);
        let word = match answer {
            Some(true) => "hit by",
            Some(false) => "led around",
            None => "unknown:",
        };
        format!("{word} {} on {} ({why})", figures(qdisc), qdisc.dev.as_deref().unwrap_or("its device"))
    };
    met.iter().map(row).collect::<Vec<_>>().join("\n")
}

fn page(found: &Read) -> String {
    let mut text = if found.impaired { "IMPAIRED" } else { "not impaired" }.to_owned();
    for qdisc in &found.devices {
        let mark = if qdisc.impairs { "!" } else { " " };
        let place = qdisc
            .parent
            .as_deref()
            .map_or_else(|| "at the root".to_owned(), |parent| format!("below {parent}"));
        let device = qdisc.dev.as_deref().unwrap_or("-");
        text.push_str(&format!("\n{mark} {device:<12} {} {place}", figures(qdisc)));
        if let Some(drops) = qdisc.drops.filter(|drops| *drops > 0) {
            text.push_str(&format!(", {drops} dropped"));
        }
        if !qdisc.exempt.is_empty() {
            text.push_str(&format!(", exempt: {}", qdisc.exempt.join(", ")));
        }
    }
    text + &warned(&found.warnings)
}

fn figures(qdisc: &Qdisc) -> String {
    let mut text = qdisc.discipline.clone();
    let some = |figure: Option<f64>| figure.filter(|figure| *figure > 0.0);
    for (name, figure, unit) in [
        ("delay", qdisc.delay_ms, " ms"),
        ("jitter", qdisc.jitter_ms, " ms"),
        ("loss", qdisc.loss_pct, "%"),
        ("corrupt", qdisc.corrupt_pct, "%"),
        ("duplicate", qdisc.duplicate_pct, "%"),
        ("reorder", qdisc.reorder_pct, "%"),
        ("rate", qdisc.rate_bps, " bit/s"),
    ] {
        if let Some(figure) = some(figure) {
            text.push_str(&format!(" {name} {figure}{unit}"));
        }
    }
    text
}
