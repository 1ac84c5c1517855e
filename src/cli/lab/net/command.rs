//! The subcommands of `ghost lab net`.

use clap::{Args, Subcommand};
use serde_json::json;

use super::served::{Request, ask, serve};
use ghost_lab::host::net::{FAULTS, HEALTHY, Spec, Topology};
use ghost_tools::global::Global;
use ghost_tools::list::{ListForm, ListOutput};
use ghost_tools::print::{Hinted, line};
use ghost_tools::setup::Setup;

/// The arguments of `ghost lab net`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost lab net up router            # in one terminal, as root\n  ghost lab net inject ip_forward_off\n  ghost lab net check\n  ghost lab net reset\n  ghost lab net down\n  ghost lab net faults\n  ghost lab eval --net --all\n\nThe networks are namespaces of this kernel with real programs in them; `up` prints how to look into each. They are gone when `up` ends."
)]
pub(in crate::cli::lab) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Builds a network, and keeps it until Ctrl-C or `down`.
    Up {
        /// lan, router, nat, dual, clos, bgp, ospf, overlay or dhcp.
        #[arg(value_name = "TOPOLOGY", value_parser = topology)]
        topology: Topology,
        /// The seed from which its addresses are drawn.
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
    },
    /// Puts a fault or a look-alike into the network that is up.
    Inject {
        /// Its name, as `faults` lists it.
        #[arg(value_name = "FAULT")]
        fault: String,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Reads every machine with `ghost host` and compares what it says with what is right.
    Check {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where something is not said, or wrongly said.
        #[arg(long)]
        exit_code: bool,
    },
    /// Makes the network as it was.
    Reset {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Takes the network down.
    Down {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Lists the faults and the look-alikes.
    Faults(ListOutput),
}

fn topology(text: &str) -> Result<Topology, String> {
    let names: Vec<&str> = Topology::ALL.iter().map(|topology| topology.as_str()).collect();
    Topology::named(text).ok_or_else(|| format!("it is one of {}", names.join(", ")))
}

/// Finds a fault or a look-alike by its name.
pub(super) fn named(name: &str) -> anyhow::Result<&'static Spec> {
    FAULTS.iter().chain(HEALTHY).find(|spec| spec.name == name).ok_or_else(|| {
        let error = anyhow::anyhow!("there is no fault `{}`", ghost_tools::print::harmless(name));
        Hinted::new(error, "`ghost lab net faults` lists them").into()
    })
}

/// Runs the subcommand.
pub(in crate::cli::lab) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let setup = || Setup::new(global);
    let tell = |request: &Request, json: bool| -> anyhow::Result<serde_json::Value> {
        let answer = ask(setup()?.data()?, request)?;
        let text = answer.get("text").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        line(&if json { answer.to_string() } else { text })?;
        Ok(answer)
    };
    match &arguments.command {
        Sub::Up { topology, seed } => serve(setup()?.data()?, *topology, *seed).map(|()| 0),
        Sub::Inject { fault, json } => {
            named(fault)?;
            tell(&Request::Inject { fault: fault.clone() }, *json).map(|_| 0)
        }
        Sub::Check { json, exit_code } => {
            let answer = tell(&Request::Check, *json)?;
            Ok(if *exit_code && answer.get("agrees") != Some(&json!(true)) { 3 } else { 0 })
        }
        Sub::Reset { json } => tell(&Request::Reset, *json).map(|_| 0),
        Sub::Down { json } => tell(&Request::Down, *json).map(|_| 0),
        Sub::Faults(output) => faults(output.form()).map(|()| 0),
    }
}

fn faults(form: ListForm) -> anyhow::Result<()> {
    let pairs = |spec: &Spec| -> Vec<String> {
        spec.truth.iter().map(|(fault, object)| format!("{fault} {object}")).collect()
    };
    if form == ListForm::Json {
        let rows = |specs: &[Spec]| -> Vec<_> {
            specs
                .iter()
                .map(|spec| json!({"name": spec.name, "topology": spec.topology.as_str(), "truth": pairs(spec)}))
                .collect()
        };
        return line(&json!({"faults": rows(FAULTS), "healthy": rows(HEALTHY)}).to_string());
    }
    let row = |spec: &Spec| {
        let truth = pairs(spec);
        let truth = if truth.is_empty() { "healthy".to_owned() } else { truth.join(", ") };
        vec![spec.name.to_owned(), spec.topology.as_str().to_owned(), truth]
    };
    let rows: Vec<Vec<String>> = FAULTS.iter().chain(HEALTHY).map(row).collect();
    form.lines(&["FAULT", "NETWORK", "WHAT IS RIGHT"], &rows).iter().try_for_each(|text| line(text))
}
