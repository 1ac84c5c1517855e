//! A verdict from two JSON files: the effective routes and the effective security rules of one network interface.
//!
//! `cargo run -p ghost-inspect --example verdict -- ROUTES RULES DIRECTION PROTOCOL SOURCE DESTINATION PORT`
#![expect(clippy::print_stdout, reason = "an example prints")]

use ghost_inspect::{nsg, route};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let arguments = if given.len() == 7 {
        given
    } else {
        let files = ["routes.json", "rules.json"].map(|name| format!("{HERE}/{name}"));
        let flow = ["outbound", "tcp", "10.0.1.4", "10.0.2.4", "5001"].map(str::to_owned);
        files.into_iter().chain(flow).collect()
    };
    let [routes, rules, direction, protocol, source, destination, port] = &arguments[..] else {
        return Err("seven arguments".into());
    };
    let table = route::Table::parse(&std::fs::read_to_string(routes)?, None)?;
    let rules = nsg::Ruleset::parse(&std::fs::read_to_string(rules)?, Default::default())?;
    let (source, destination) = (source.parse()?, destination.parse()?);
    let packet = nsg::Packet::new(direction, protocol, source, None, destination, port.parse()?)?;

    println!("{}", serde_json::to_string_pretty(&table.select(destination))?);
    println!("{}", serde_json::to_string_pretty(&rules.verdict(&packet))?);
    Ok(())
}
